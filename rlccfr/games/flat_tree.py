"""A compiled two-player zero-sum game: the same tree in two flat views.

The *history view* is for sampled walks. It has one record per history. Siblings are neighbours, and the histories below
a history are mostly near it. The *sequence view* is for exact passes. It has the infosets in topological order with
their parent sequences. It also has the terminal payoffs, summed over chance for each pair (sequence of player 0,
sequence of player 1), after von Stengel, "Efficient computation of behavior strategies", GEB 1996.

Both players share one numbering: infosets and sequences of player 0 come first. A *sequence* is a pair
(infoset, action). The two empty sequences come after all others, at ``num_sequences + player``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rlccfr.errors import GameError, PolicyError
from rlccfr.game import ZERO_SUM, Form, OpponentPayoffs, checked_game, in_repr
from rlccfr.games.records import BLOCK, CHANCE, HISTORY, TERMINAL, SequenceView, utility_of
from rlccfr.games.target_runs import ON_COMPILED_GAMES

SUM_TOLERANCE = 1e-5
"""Largest difference that is allowed between a sum of probabilities and 1."""


class Classes(NamedTuple):
    """The classes of infosets and sequences that have equal values, numbered in the order of their first members.

    See :mod:`rlccfr.games.symmetry`.
    """

    infoset: np.ndarray  # (n,): class of each infoset
    sequence: np.ndarray  # (m + 2,): class of each sequence; the two empty sequences come last


class SequenceForm:
    """The sequence form of a game, which is all that exact passes read; ``view`` has its arrays."""

    view: SequenceView

    @property
    def num_infosets(self) -> int:
        """Number of infosets of both players, n."""
        return len(self.view.parent)

    @property
    def num_sequences(self) -> int:
        """Number of pairs (infoset, action) of both players, m; the two empty sequences are not counted."""
        return int(self.view.first_sequence[-1])

    @property
    def owner(self) -> np.ndarray:
        """The infoset of each sequence, (m,)."""
        counts: np.ndarray = np.diff(self.view.first_sequence.astype(np.int64))
        return np.repeat(np.arange(self.num_infosets), counts)

    @cached_property
    def infoset_levels(self) -> np.ndarray:
        """The level of each infoset, (n,): the number of its owner's earlier infosets on the way to it."""
        owner = self.owner
        parent = self.view.parent.astype(np.int64)
        is_first = parent >= self.num_sequences  # the sequence before it is the empty one
        parent_infoset = np.where(is_first, -1, owner[np.minimum(parent, max(len(owner) - 1, 0))])
        levels = np.zeros(self.num_infosets, np.int64)
        while True:  # each round settles one more level
            deeper = np.where(parent_infoset >= 0, levels[parent_infoset] + 1, 0)
            if np.array_equal(deeper, levels):
                return levels
            levels = deeper

    def infosets_of(self, player: int) -> slice:
        """Return the infosets of ``player`` as a slice of any table over infosets."""
        begin = self.view.infoset_begin
        return slice(int(begin[player]), int(begin[player + 1]))

    def sequences_of(self, player: int) -> slice:
        """Return the sequences of ``player`` as a slice of any table over sequences."""
        infosets = self.infosets_of(player)
        first = self.view.first_sequence
        return slice(int(first[infosets.start]), int(first[infosets.stop]))

    def infoset_sequences(self, infoset: int) -> slice:
        """Return the sequences of one infoset as a slice of any table over sequences."""
        first = self.view.first_sequence
        return slice(int(first[infoset]), int(first[infoset + 1]))

    def uniform_policy(self) -> np.ndarray:
        """Return probabilities, (m,), that are uniform over each infoset's actions."""
        counts = np.diff(self.view.first_sequence)
        return np.repeat(1.0 / counts, counts)

    def row_sums(self, table: np.ndarray) -> np.ndarray:
        """Return the sums, (n,), of a table, (m,), over each infoset's sequences."""
        return np.add.reduceat(table, self.view.first_sequence[:-1]) if self.num_infosets else np.zeros(0)

    def realization_weights(self, policy: np.ndarray) -> np.ndarray:
        """Return the realization weight of each sequence, (m,), under a policy, (m,).

        It is the product of the probabilities of the sequence's action and of its owner's actions before it.
        """
        counts = np.diff(self.view.first_sequence)
        parent = self.view.parent.astype(np.int64)
        parent_of_sequence = np.repeat(parent, counts)
        level_of_sequence = np.repeat(self.infoset_levels, counts)
        reach = policy.astype(np.float64)
        # Infosets of level 0 follow the empty sequence, whose reach is 1.
        for level in range(1, int(level_of_sequence.max(initial=0)) + 1):
            at_level = np.flatnonzero(level_of_sequence == level)
            reach[at_level] *= reach[parent_of_sequence[at_level]]
        return reach

    def check_policy(self, probabilities: np.ndarray) -> None:
        """Check that numbers, (m,), are at least 0 and sum to 1 over each infoset's sequences.

        Raises:
            PolicyError: they are not, or do not.
        """
        with np.errstate(invalid="ignore"):  # infinities give NaN
            sums = self.row_sums(probabilities)
            sums_to_one = np.abs(sums - 1.0) <= SUM_TOLERANCE
            if sums_to_one.all() and (probabilities >= 0).all():
                return
            is_distribution = sums_to_one & (self.row_sums(~(probabilities >= 0)) == 0)
        infoset = int(np.flatnonzero(~is_distribution)[0])
        least = probabilities[self.infoset_sequences(infoset)].min()
        raise PolicyError(
            "probabilities must be at least 0 and sum to 1 over each infoset's sequences; those of infoset "
            f"{infoset} sum to {sums[infoset]:.6g}, and the least is {least:.6g}"
        )

    def over_all_members(self, table: np.ndarray) -> np.ndarray:
        """Return a table, (m,), expanded to the sequences of the whole game; here, the table itself.

        A quotient has fewer sequences than its game, so there the result is longer.
        """
        return table

    def normalised(self, sums: np.ndarray) -> np.ndarray:
        """Return probabilities, (m,), in proportion to ``sums``, (m,); uniform at infosets whose sums are 0."""
        totals = np.repeat(self.row_sums(sums), np.diff(self.view.first_sequence))
        policy: np.ndarray = np.divide(sums, totals, out=self.uniform_policy(), where=totals > 0)
        return policy


COMPILED = Form(
    title="as a tree of histories",
    visited="histories touched",
    has_histories=True,
    catalogs=("paper", "extended-tabular"),
    policy="rlccfr.policy:Policy",
    run_tables="rlccfr.engine.state:RunState",
    steppers="rlccfr.engine.engine:STEPPERS",
    check_components="rlccfr.engine.binding:check_options_of_compiled",
    merge="rlccfr.games.merging.merged:merge",
    lock="rlccfr.games.locked_tree:TreeLocks",
    features="rlccfr.envs.game_features:features_of_histories",
    iteration_cost="rlccfr.engine.reduced:iteration_cost",
    states="rlccfr.policies.listing:compiled_states",
    gains="rlccfr.policies.gains:gains_of_infosets",
    page="rlccfr.explorer.points:whole_page",
    table="rlccfr.play.tables:CompiledTable",
    played_pairs="rlccfr.policies.matches:played_pairs",
    best_run={"control": "schedule", "blend": True},
    target_runs=ON_COMPILED_GAMES,
)
"""The form of games that are compiled to a tree of histories."""


@dataclass(frozen=True, eq=False)
class GameTree(SequenceForm):
    """A game ready to be solved, made by :func:`rlccfr.load_game` and never changed afterwards."""

    name: str  # the name by which the game was loaded, for display
    openspiel_name: str  # the string by which OpenSpiel loads the game; empty for an abstract game
    restore_recall: bool  # whether histories of one information state are distinguished by the player's own last move
    histories: np.ndarray  # (num_histories,) of type HISTORY
    probability: np.ndarray  # (num_histories,): probability of the chance outcome that leads here; 1 elsewhere
    edge_action: np.ndarray  # (num_histories,): the OpenSpiel action that leads to each history, -1 at the root
    view: SequenceView  # the sequence form
    infoset_keys: tuple[str, ...]  # OpenSpiel's information state string of each infoset
    sequence_action: np.ndarray  # (m,): OpenSpiel's action of each sequence
    depth: int  # number of moves on the longest path
    classes: Classes  # infosets and sequences that symmetry makes equal
    opponent_payoffs: OpponentPayoffs = ZERO_SUM  # player 1's payoffs as a function of player 0's
    big_blind: float | None = None  # chips in the larger blind, in a game of poker whose parameters name blinds
    centre: float = 0.0  # constant that is subtracted from the payoffs in ``view``; see rlccfr/games/centring.py
    lock: Any = None  # the lock of a locked game, a rlccfr.locks.Lock
    form: ClassVar[Form] = COMPILED
    pot: ClassVar[None] = None

    @property
    def full_name(self) -> str:
        """OpenSpiel's name of the game, with all parameters."""
        return self.openspiel_name

    @property
    def source(self) -> dict[str, Any]:
        """The arguments of :func:`rlccfr.games.openspiel.compile_game` that compile the game again."""
        return {
            "name": self.name,
            "openspiel_name": self.openspiel_name,
            "restore_recall": self.restore_recall,
            "max_histories": self.num_histories,
        }

    @property
    def num_histories(self) -> int:
        """Number of histories; chance nodes and terminals are histories, too."""
        return len(self.histories)

    @property
    def pass_size(self) -> int:
        """Number of histories that a pass for one player touches."""
        return len(self.histories)

    def levels(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield, for each depth from 1 on, its histories, their parents, and their indices among their siblings.

        Each is an array (histories of that depth,).
        """
        level = np.zeros(1, np.int64)
        while True:
            counts = self.histories["num_children"][level].astype(np.int64)
            above = np.repeat(level, counts)
            if not len(above):
                return
            place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            level = self.histories["first_child"][above] + place
            yield level, above, place

    @cached_property
    def num_leaf_pairs(self) -> int:
        """Number of pairs (sequence of player 0, sequence of player 1) with a payoff other than 0."""
        view = self.view
        num_paid_before = np.concatenate([[0], np.cumsum(view.payoff_0 != 0)])
        blocks = {name: view.blocks_0[name].astype(np.int64) for name in BLOCK.names or () if name != "factor"}
        begin = blocks["payoff"]
        end = begin + blocks["stride"] * (blocks["opponent_end"] - blocks["opponent"])
        return int((num_paid_before[end] - num_paid_before[begin]).sum())

    @cached_property
    def max_actions(self) -> int:
        """Largest number of children of a history; chance nodes count, too."""
        return int(self.histories["num_children"].max())

    @cached_property
    def utility_range(self) -> float:
        """Largest minus smallest utility of player 0 at a terminal history."""
        utility = self.utility[self.histories["actor"] == TERMINAL]
        return float(utility.max() - utility.min())

    @cached_property
    def num_chance_nodes(self) -> int:
        """Number of chance nodes."""
        return int((self.histories["actor"] == CHANCE).sum())

    @cached_property
    def draws_chance(self) -> bool:
        """Whether some chance node has several outcomes."""
        return bool((self.histories["num_children"][self.histories["actor"] == CHANCE] > 1).any())

    @property
    def utility(self) -> np.ndarray:
        """Player 0's utility at each terminal, and 0 at all other histories, (num_histories,)."""
        return np.where(self.histories["actor"] == TERMINAL, utility_of(self.histories), 0.0)

    @cached_property
    def content_hash(self) -> str:
        """Hash of both views. Runs without models read nothing else, so games with equal hashes give equal runs."""
        fields = {name: self.histories[name] for name in HISTORY.names or ()}
        is_terminal = self.histories["actor"] == TERMINAL
        for name in ("first_child", "first_sequence"):  # as in earlier layouts, so that kept hashes stay valid
            fields[name] = np.where(is_terminal, np.int32(-1), fields[name])
        digest = hashlib.sha256()
        for array in (self.utility, self.probability, *fields.values(), *self.view):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def sizes(self) -> dict[str, Any]:
        """Return the game's names and sizes; ``max_actions`` is the largest number of actions of an infoset."""
        blinds = {} if self.big_blind is None else {"big_blind": self.big_blind}
        return {
            "name": self.name,
            "openspiel": self.openspiel_name,
            "histories": self.num_histories,
            "infosets": self.num_infosets,
            "sequences": self.num_sequences,
            "depth": self.depth,
            "max_actions": int(np.diff(self.view.first_sequence).max(initial=0)),
            "utility_range": self.utility_range,
            **blinds,
        }

    def __repr__(self) -> str:
        return (
            f"GameTree({self.name!r}, histories={self.num_histories:,}, "
            f"infosets={self.num_infosets:,}, sequences={self.num_sequences:,}{in_repr(self.lock)})"
        )


def checked_tree(game: Any, use: str, remedy: str = "choose another game") -> GameTree:
    """Return a game unchanged if it is stored as a tree of histories.

    Args:
        game: the game.
        use: what needs the histories, for the error.
        remedy: what to do instead, for the error.

    Raises:
        TypeError: it is not a game.
        GameError: it is not stored as a tree of histories.
    """
    checked = checked_game(game)
    if not isinstance(checked, GameTree):
        raise GameError(
            f"{use} needs a game's histories, but {checked.name!r} is represented {checked.form.title}: {remedy}"
        )
    return checked
