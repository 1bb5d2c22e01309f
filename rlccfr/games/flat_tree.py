"""A compiled two-player zero-sum game: the same tree in two flat views.

The *history view* serves sampled walks. It has one record per history. Siblings are neighbours, and the histories below
a history are mostly near it. The *sequence view* serves exact passes. It has the infosets in topological order with
their parent sequence. It also has the terminal payoffs, aggregated over chance for each pair (sequence of player 0,
sequence of player 1), after von Stengel, "Efficient computation of behavior strategies", GEB 1996.

Both players share one numbering: infosets and sequences of player 0 come first. A *sequence* is a pair
(infoset, action). The two empty sequences come after all others, at ``num_sequences + player``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from rlccfr.errors import PolicyError
from rlccfr.games.records import BLOCK, HISTORY, TERMINAL, SequenceView, utility_of


class Classes(NamedTuple):
    """The classes of infosets and sequences that have equal values, numbered by their first member.

    See :mod:`rlccfr.games.symmetry`.
    """

    infoset: np.ndarray  # (n,): class of each infoset
    sequence: np.ndarray  # (m + 2,): class of each sequence; the two empty sequences come last


class SequenceForm:
    """What exact passes need to know of a game; ``view`` is its sequence form."""

    view: SequenceView

    @property
    def num_infosets(self) -> int:
        return len(self.view.parent)

    @property
    def num_sequences(self) -> int:
        """Number of pairs (infoset, action) of both players, without the two empty sequences."""
        return int(self.view.first_sequence[-1])

    @property
    def owner(self) -> np.ndarray:
        """The infoset of each sequence, (m,)."""
        counts: np.ndarray = np.diff(self.view.first_sequence.astype(np.int64))
        return np.repeat(np.arange(self.num_infosets), counts)

    def infosets_of(self, player: int) -> slice:
        begin = self.view.infoset_begin
        return slice(int(begin[player]), int(begin[player + 1]))

    def sequences_of(self, player: int) -> slice:
        """Return the sequences of ``player`` as a slice of any table over sequences."""
        infosets = self.infosets_of(player)
        first = self.view.first_sequence
        return slice(int(first[infosets.start]), int(first[infosets.stop]))

    def infoset_sequences(self, infoset: int) -> slice:
        first = self.view.first_sequence
        return slice(int(first[infoset]), int(first[infoset + 1]))

    def uniform_policy(self) -> np.ndarray:
        """Return probabilities, (m,), that are uniform over each infoset's actions."""
        counts = np.diff(self.view.first_sequence)
        return np.repeat(1.0 / counts, counts)

    def row_sums(self, table: np.ndarray) -> np.ndarray:
        """Return the sums, (n,), of a table, (m,), over each infoset's sequences."""
        return np.add.reduceat(table, self.view.first_sequence[:-1]) if self.num_infosets else np.zeros(0)

    def check_policy(self, probabilities: np.ndarray) -> None:
        """Check that numbers, (m,), are at least 0 and sum to 1 over each infoset's sequences.

        Raises:
            PolicyError: they don't.
        """
        with np.errstate(invalid="ignore"):  # of infinities
            sums = self.row_sums(probabilities)
            is_distribution = np.isclose(sums, 1) & (self.row_sums(~(probabilities >= 0)) == 0)
        if not is_distribution.all():
            infoset = int(np.flatnonzero(~is_distribution)[0])
            least = probabilities[self.infoset_sequences(infoset)].min()
            raise PolicyError(
                "probabilities must be at least 0 and sum to 1 over each infoset's sequences; those of infoset "
                f"{infoset} sum to {sums[infoset]:.6g}, and the least is {least:.6g}"
            )

    def normalised(self, sums: np.ndarray) -> np.ndarray:
        """Return probabilities, (m,), in proportion to ``sums``, (m,); uniform at infosets whose sums are 0."""
        totals = np.repeat(self.row_sums(sums), np.diff(self.view.first_sequence))
        policy: np.ndarray = np.divide(sums, totals, out=self.uniform_policy(), where=totals > 0)
        return policy


class OpponentPayoffs(NamedTuple):
    """Player 1's payoffs, in a game that is solved as the zero-sum game of player 0's.

    At each end, player 1 gets ``constant - slope * payoff`` where player 0 gets ``payoff``. Both players then order all
    strategies as in the zero-sum game, so the equilibria are the same.

    Attributes:
        constant: what both players' payoffs add up to, if the slope is 1; 0 in a zero-sum game.
        slope: number above 0; 1 in a zero-sum or constant-sum game.

    Examples:
        >>> import rlccfr
        >>> rlccfr.matrix_game([[1, 0], [0, 1]], [[0, 1], [1, 0]]).opponent_payoffs.at(0.25)
        0.75
    """

    constant: float = 0.0
    slope: float = 1.0

    def at(self, payoff: float) -> float:
        """Return player 1's expected payoff where player 0's is ``payoff``."""
        return self.constant - self.slope * payoff

    def of_both(self, payoff: float) -> tuple[float, float]:
        """Return both players' own expected payoffs where player 0's is ``payoff``."""
        return payoff, self.at(payoff)

    def of_best_responses(self, values: tuple[float, float]) -> tuple[float, float]:
        """Return each player's own payoff from a best response, from the values in the zero-sum game."""
        return values[0], self.at(-values[1])


ZERO_SUM = OpponentPayoffs()


@dataclass(frozen=True, eq=False)
class GameTree(SequenceForm):
    """A game ready to be solved, made by :func:`rlccfr.load_game` and never changed afterwards."""

    name: str
    openspiel_name: str
    restore_recall: bool
    histories: np.ndarray  # (num_histories,) of HISTORY
    probability: np.ndarray  # (num_histories,): of the chance outcome that leads to each history; 1 elsewhere
    edge_action: np.ndarray  # (num_histories,): the OpenSpiel action that leads to each history, -1 at the root
    view: SequenceView
    infoset_keys: tuple[str, ...]  # OpenSpiel's information state string of each infoset
    sequence_action: np.ndarray  # (m,): OpenSpiel's action of each sequence
    depth: int  # edges on the longest path
    classes: Classes
    opponent_payoffs: OpponentPayoffs = ZERO_SUM
    big_blind: ClassVar[None] = None  # only public-tree games know theirs

    @property
    def num_histories(self) -> int:
        return len(self.histories)

    @property
    def pass_size(self) -> int:
        """Number of histories that a pass for one player touches."""
        return len(self.histories)

    def levels(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield, depth by depth from 1 on, the histories of that depth, their parents, and their places among siblings.

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
        """Number of pairs of the players' last sequences whose leaves have a payoff other than 0."""
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
        """Largest minus smallest terminal utility."""
        utility = self.utility[self.histories["actor"] == TERMINAL]
        return float(utility.max() - utility.min())

    @property
    def utility(self) -> np.ndarray:
        """Player 0's utility at each terminal, and 0 at all other histories, (num_histories,)."""
        return np.where(self.histories["actor"] == TERMINAL, utility_of(self.histories), 0.0)

    @cached_property
    def content_hash(self) -> str:
        """Hash of both views, which are all that a run without models reads: equal hashes give equal runs."""
        fields = {name: self.histories[name] for name in HISTORY.names or ()}
        is_terminal = self.histories["actor"] == TERMINAL
        for name in ("first_child", "first_sequence"):  # as in earlier layouts, so that kept hashes stay valid
            fields[name] = np.where(is_terminal, np.int32(-1), fields[name])
        digest = hashlib.sha256()
        for array in (self.utility, self.probability, *fields.values(), *self.view):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def __repr__(self) -> str:
        return (
            f"GameTree({self.name!r}, histories={self.num_histories:,}, "
            f"infosets={self.num_infosets:,}, sequences={self.num_sequences:,})"
        )
