"""Games in which only chance hides anything, represented by their public trees and private states.

A *public node* stands for what both players have seen: actions, and public chance outcomes. A *private state* is what
one player alone has been dealt. A node's tables have a row for each private state, so a pass over the public tree
handles all private states of a node at once.

Between two chance nodes the private states do not change; together with the public cards they are a *deal*. Private
states that symmetry makes equal, such as hands that differ only by a permutation of suits, share one row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rlccfr.errors import GameError, PolicyError
from rlccfr.game import ZERO_SUM, Form, OpponentPayoffs, in_repr
from rlccfr.games.public.cards import action_in_words
from rlccfr.games.public.deals import Deal
from rlccfr.games.public.records import CHANCE, DOUBLE, SINGLE, PublicView
from rlccfr.games.target_runs import ON_PUBLIC_TREES

LARGE = 2_000_000
"""Least number of table entries for which tables are in single precision by default."""

PUBLIC_TREE = Form(
    title="as a public tree",
    visited="private states met",
    has_histories=False,
    catalogs=("public",),
    policy="rlccfr.policies.public_policy:PublicPolicy",
    run_tables="rlccfr.engine.public.public_state:PublicState",
    steppers="rlccfr.engine.public.public_components:STEPPERS",
    check_components="rlccfr.engine.public.public_components:check_components",
    merge="rlccfr.games.merging.bucketed:bucketed",
    lock="rlccfr.games.public.locked_game:PublicLocks",
    features="rlccfr.envs.game_features:features_of_public_tree",
    iteration_cost="rlccfr.engine.public.evaluation:iteration_cost",
    states="rlccfr.policies.listing:states_of_public_tree",
    gains="rlccfr.policies.gains:gains_of_public_nodes",
    page="rlccfr.explorer.public_points:public_page",
    states_below="rlccfr.explorer.public_points:num_states_below",
    table="rlccfr.play.public_table:PublicTable",
    best_run_function="rlccfr.engine.public.public_components:best_run_of",
    best_run={"control": "schedule", "blend": True},
    least_blended=500,
    target_runs=ON_PUBLIC_TREES,
    tables_fit="rlccfr.engine.public.public_components:tables_fit",
)
"""The form of games that are built as public trees."""


@dataclass(frozen=True, eq=False)
class PublicGame:
    """A public-tree game, made by :func:`rlccfr.load_game` and never changed afterwards.

    Table entries are ordered by decision, then by action, then by row.

    Attributes:
        name: the name by which it was loaded.
        view: the public tree as arrays.
        pair_probability: probability of a pair of private states at the root if both have a weight of 1. Tables omit
            this factor and a deal's ``share`` from counterfactual values.
        mass: for each player, (rows,) the number of private states that each row of the root stands for, times the
            weight that each of them has in the player's range.
        utility_range: largest minus smallest terminal utility.
        depth: number of edges on the longest path.
        big_blind: chips in the big blind; exploitability in poker is reported in thousandths of it. None for other
            games.
        pot: in no-limit subgames, the pot at the start; targets may be given in per cent of it. None for other games.
        moves: (nodes,) name of the action that leads to each node, such as ``r``; empty for games derived from a
            compiled one.
        deals: (deals,) the board of each of the view's deals, with the hands on it; empty for games without cards.
        private_names: in games without cards, for each player, the names of its rows; empty for games with cards and
            for games derived from a compiled one.
        lock: the :class:`rlccfr.locks.Lock` of a locked game; None for other games.
    """

    name: str
    view: PublicView
    pair_probability: float
    mass: tuple[np.ndarray, np.ndarray]
    utility_range: float
    depth: int
    big_blind: float | None = None
    pot: float | None = None
    moves: np.ndarray = field(default_factory=lambda: np.zeros(0, "S1"))
    deals: tuple[Deal, ...] = ()
    private_names: tuple[tuple[str, ...], ...] = ()
    lock: Any = None
    form: ClassVar[Form] = PUBLIC_TREE
    opponent_payoffs: ClassVar[OpponentPayoffs] = ZERO_SUM
    draws_chance: ClassVar[bool] = True  # chance deals the private states

    @property
    def full_name(self) -> str:
        """The name by which the game was loaded; it has all parameters that differ from their defaults."""
        return self.name

    @property
    def source(self) -> dict[str, str]:
        """The name from which the game can be built again."""
        return {"name": self.name}

    @cached_property
    def decisions(self) -> np.ndarray:
        """Indices of the nodes at which a player acts, in the order of their table entries."""
        nodes = self.view.nodes
        decisions = np.flatnonzero(nodes["kind"] < CHANCE)
        return decisions[np.argsort(nodes["table"][decisions], kind="stable")]

    @cached_property
    def rows(self) -> np.ndarray:
        """Number of rows of the player who acts at each decision, (decisions,)."""
        nodes = self.view.nodes[self.decisions]
        rows: np.ndarray = self.view.deals["rows"][nodes["deal"], nodes["kind"]].astype(np.int64)
        return rows

    @cached_property
    def actions(self) -> np.ndarray:
        """Number of actions at each decision, (decisions,)."""
        actions: np.ndarray = self.view.nodes["num_children"][self.decisions].astype(np.int64)
        return actions

    @cached_property
    def scale(self) -> np.ndarray:
        """Factor from a table's regrets to regrets in the game's units, (decisions,)."""
        scale: np.ndarray = self.pair_probability * self.view.deals["share"][self.view.nodes["deal"][self.decisions]]
        return scale

    @cached_property
    def num_infosets(self) -> int:
        """Number of infosets; those that share a row count once."""
        return int(self.rows.sum())

    @cached_property
    def num_sequences(self) -> int:
        """Number of a table's entries: pairs of an infoset and an action."""
        return int((self.rows * self.actions).sum())

    @property
    def is_large(self) -> bool:
        """Whether the game is so large that tables are in single precision by default, and evaluations take seconds."""
        return self.num_sequences >= LARGE

    @property
    def dtype(self) -> np.dtype:
        """Default type of a table's numbers."""
        return SINGLE if self.is_large else DOUBLE

    @property
    def num_nodes(self) -> int:
        """Number of public nodes."""
        return len(self.view.nodes)

    @cached_property
    def pass_size(self) -> int:
        """Number of private states that a pass for one player meets, of both players and at all public nodes."""
        return int(self.view.deals["rows"].sum(axis=1)[self.view.nodes["deal"]].sum())

    @cached_property
    def content_hash(self) -> str:
        """Hash of the view and the masses, which determine the game's values."""
        digest = hashlib.sha256()
        for array in (*self._hashed_arrays(), *self.mass):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def _hashed_arrays(self) -> Iterator[np.ndarray]:
        """Yield the arrays that are hashed; each field of records is an array of its own, since padding is arbitrary.

        This method serves games in which both players can hold the same hands. It leaves out what only other games
        need, so that hashes stay those of earlier versions, which did not have it.
        """
        for name, array in self.view._asdict().items():
            if name in ("reach", "same"):
                continue
            for field_name in array.dtype.names or ((),):
                is_shared = field_name in ("row", "hand", "group")
                yield array[field_name][:, 0] if is_shared else array[field_name]

    @cached_property
    def parents(self) -> np.ndarray:
        """Index of each node's parent, (nodes,); -1 at the root."""
        nodes = self.view.nodes
        parents = np.full(self.num_nodes, -1)
        children = ranges(nodes["first_child"], nodes["num_children"])
        parents[children] = np.repeat(np.arange(self.num_nodes), nodes["num_children"])
        return parents

    @cached_property
    def deal_parents(self) -> np.ndarray:
        """Index of the deal from which each deal follows, (deals,); -1 for the first."""
        nodes = self.view.nodes
        chances = nodes[nodes["kind"] == CHANCE]
        children = ranges(chances["first_child"], chances["num_children"])
        deal_parents = np.full(len(self.view.deals), -1)
        deal_parents[nodes["deal"][children]] = np.repeat(chances["deal"], chances["num_children"])
        return deal_parents

    def dealt_to(self, player: int) -> tuple[Deal, ...]:
        """Return each of the view's deals with a player's hands; here, both players have the same."""
        return self.deals

    def deal_at(self, node: int, player: int | None = None) -> Deal:
        """Return the board at a node with a player's hands; by default, the player is the one who acts there.

        Raises:
            GameError: nobody acts there, and no player is given.
        """
        player = self._actor(node) if player is None else player
        return self.dealt_to(player)[int(self.view.nodes["deal"][node])]

    def _actor(self, node: int) -> int:
        """Return the player who acts at a node.

        Raises:
            GameError: nobody does.
        """
        kind = int(self.view.nodes["kind"][node])
        if kind >= CHANCE:
            raise GameError(f"nobody acts at node {node} of {self.name!r}: name a player, 0 or 1")
        return kind

    def path(self, node: int) -> str:
        """Return the path to a node, such as ``rc/Kh7d2c/cr``: actions, and after each chance node the whole board."""
        steps: list[str] = []
        while (parent := int(self.parents[node])) >= 0:
            steps.append(self._step(parent, node))
            node = parent
        return "".join(reversed(steps)).strip()

    def node(self, path: str) -> int:
        """Return the node to which a path leads; the path is a string in the form that :meth:`path` returns.

        The cards of a board may be in any order. Cards dealt earlier may be left out, as the flop in ``cc/Kh/``. Of
        boards that differ only by a permutation of suits, only one is dealt, and a path must name that one.

        Raises:
            GameError: no node has this path.

        Examples:
            >>> import rlccfr
            >>> game = rlccfr.load_game("holdem(rounds=1,ranks=6,suits=2)")
            >>> game.letters(game.node("r"))
            ['f', 'c']
        """
        node = 0
        remaining = path.strip()
        while remaining:
            first_child = int(self.view.nodes["first_child"][node])
            num_children = int(self.view.nodes["num_children"][node])
            steps = [self._step(node, child).strip() for child in range(first_child, first_child + num_children)]
            fitting = [step for step in steps if step and remaining.startswith(step)]
            if not fitting and self.view.nodes["kind"][node] == CHANCE:
                before = self.deals[self.view.nodes["deal"][node]].board_name
                cards, _, beyond = remaining.removeprefix("/").partition("/")
                fitting = [step for step in steps if _is_board(step.strip("/"), cards, before)]
                remaining = "".join(fitting) + beyond
            if not fitting:
                raise self._no_node(path, node, steps)
            longest = max(fitting, key=len)  # b500, not b50
            node = first_child + steps.index(longest)
            remaining = remaining[len(longest) :].lstrip()
        return node

    def _no_node(self, path: str, node: int, steps: list[str]) -> GameError:
        """Return the error for a path whose next step after ``node`` is not one of the possible ``steps``."""
        reached = self.path(node) or "the root"
        follows = f"the next step is one of {', '.join(steps[:3])}" if steps else "the game is over"
        if len(steps) > 3:
            follows = f"{follows} and {len(steps) - 3:,} more"
        return GameError(f"no node of {self.name!r} has the path {path!r}: after {reached}, {follows}")

    def _step(self, parent: int, node: int) -> str:
        """Return the step from ``parent`` to its child ``node``: a board between slashes, or an action."""
        if self.view.nodes["kind"][parent] == CHANCE:
            return f"/{self.deals[self.view.nodes['deal'][node]].board_name}/"
        move: str = self.moves[node].decode()
        return move

    def row_names(self, node: int, player: int | None = None) -> list[str]:
        """Return the names of a player's rows at a node; by default, the player is the one who acts there.

        A row's name is that of its first private state.

        Raises:
            GameError: nobody acts there, and no player is given.
        """
        player = self._actor(node) if player is None else player
        if self.private_names:
            return list(self.private_names[player])
        deal = self.deal_at(node, player)
        return [deal.hand_name(hand) for hand in deal.firsts.tolist()]

    def require_names(self) -> None:
        """Check that the game's private states have names.

        Raises:
            PolicyError: they have none, since the game is derived from a compiled one.
        """
        if not (self.deals or self.private_names):
            raise PolicyError(f"the private states of {self.name!r} have no names")

    def letters(self, node: int) -> list[str]:
        """Return the short names of the actions at a node, such as ``f`` and ``b50``."""
        first_child = int(self.view.nodes["first_child"][node])
        num_children = int(self.view.nodes["num_children"][node])
        return [move.decode().strip() for move in self.moves[first_child : first_child + num_children].tolist()]

    def action_words(self, node: int) -> list[str]:
        """Return the actions at a node in words, such as ``fold`` and ``call``; for Bluff, their short names."""
        letters = self.letters(node)
        if not self.deals:
            return letters
        return [action_in_words(letter, can_fold="f" in letters) for letter in letters]

    def step_in_words(self, node: int) -> str:
        """Return in words the action, or the board, that leads to a node from its parent; not for the root."""
        parent = int(self.parents[node])
        if self.view.nodes["kind"][parent] == CHANCE:
            return self.deals[int(self.view.nodes["deal"][node])].board_name
        return self.action_words(parent)[node - int(self.view.nodes["first_child"][parent])]

    def path_in_words(self, node: int) -> str:
        """Return the path to a node in words, such as ``raise, call, Kh7d2c, check``; ``the start`` for the root."""
        steps: list[str] = []
        while self.parents[node] >= 0:
            steps.append(self.step_in_words(node))
            node = int(self.parents[node])
        return ", ".join(reversed(steps)) or "the start"

    def sizes(self) -> dict[str, Any]:
        """Return the game's name and sizes; ``gigabytes_of_tables`` counts the tables of regrets and of policy sums."""
        return {
            "name": self.name,
            "public_nodes": self.num_nodes,
            "infosets": self.num_infosets,
            "sequences": self.num_sequences,
            "depth": self.depth,
            "max_actions": int(self.actions.max()),
            "utility_range": self.utility_range,
            "big_blind": self.big_blind,
            "gigabytes_of_tables": 2 * self.dtype.itemsize * self.num_sequences / 1e9,
        }

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}, nodes={self.num_nodes:,}, infosets={self.num_infosets:,}, "
            f"sequences={self.num_sequences:,}{in_repr(self.lock)})"
        )


def _is_board(board: str, cards: str, before: str) -> bool:
    """Return whether cards, in any order, are all cards of a board or all its new cards.

    Args:
        board: the board, such as ``Kh7d2c``.
        cards: the cards, such as ``2c``.
        before: the board before the new cards were dealt.
    """
    named, on_board, known = (
        frozenset(text[k : k + 2] for k in range(0, len(text), 2)) for text in (cards, board, before)
    )
    return named in (on_board, on_board - known)


def ranges(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return ranges of consecutive numbers, one range after another.

    Args:
        first: (ranges,) first number of each range.
        counts: (ranges,) size of each range.
    """
    counts = counts.astype(np.int64)
    offsets = first - (np.cumsum(counts) - counts)
    numbers: np.ndarray = np.repeat(offsets, counts) + np.arange(counts.sum())
    return numbers
