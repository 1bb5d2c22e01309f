"""The abstract game of a card game with a public tree, with hands merged into buckets: a small compiled game.

In each round, chance deals each player a bucket. The probability of a pair of buckets is the probability, over all
boards, that the players hold hands of these buckets. At a showdown, players get the mean payoff of such hands. So the
abstract game has no boards, and a run on it makes no passes over the public tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.games import records as tree_records
from rlccfr.games.claims import check_claims
from rlccfr.games.compiler import build
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.histories import Traversal
from rlccfr.games.merging.hands import refuse_lock, rounds_by_cards
from rlccfr.games.merging.merged import hash_of
from rlccfr.games.merging.pairs import Pairs, numbered, pairs_of
from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import CHANCE, SHOWDOWN
from rlccfr.games.public.view import PublicGame, ranges
from rlccfr.kernels.public.buckets import expand


@dataclass(frozen=True, eq=False)
class BucketedGame:
    """A public-tree game, and the abstract game in which players see buckets instead of hands.

    Attributes:
        whole: the game before merging.
        tree: the abstract game.
        bucket: (rows,) bucket of each private state in its round, in the order of the public view's ``above``.
        place: (nodes,) for each decision node of ``whole``, where the entries of its betting line begin in ``first``.
        first: (infosets of ``tree``,) the first sequence in ``tree`` of each bucket, betting line by betting line.
        mass: (rows,) mass of each row of player 0, in the order of ``bucket``; see
            :func:`rlccfr.games.public.masses.row_masses`.
    """

    whole: PublicGame
    tree: GameTree
    bucket: np.ndarray
    place: np.ndarray
    first: np.ndarray
    mass: np.ndarray

    @property
    def walked(self) -> GameTree:
        """The game on which components and samplers work: the abstract game."""
        return self.tree

    @property
    def content_hash(self) -> str:
        """Hash of the buckets."""
        return hash_of(self.bucket)

    def alike(self, other: object) -> bool:
        """Return whether this game and another one merge the same private states."""
        return type(other) is BucketedGame and np.array_equal(self.bucket, other.bucket)

    def expand(self, table: np.ndarray) -> np.ndarray:
        """Return a policy of ``whole``, (m,), in which each private state has the policy of its bucket.

        Args:
            table: (sequences of ``tree``,) table to which the buckets' policies are proportional.
        """
        policy = np.empty(self.whole.num_sequences, self.whole.dtype)
        expand(self.whole.view, self.place, self.first, self.bucket, self.tree.normalised(table), policy)
        return policy


def bucketed(game: PublicGame, bucket: np.ndarray) -> BucketedGame:
    """Merge hands of a public-tree game into buckets.

    Args:
        bucket: bucket of each private state in its round, in the order of the view's ``above``.

    Raises:
        ComponentError: the game has no cards or has a lock; the buckets do not split the buckets of the round before;
            or there are so many buckets that the abstract game is too large.
    """
    refuse_lock(game)
    if not game.deals:
        raise ComponentError(
            f"on public trees, buckets are made of hands, which {game.name!r} lacks: use abstraction='none'"
        )
    bucket, parent_buckets = numbered(game, bucket)
    exemplar = exemplars(game)
    rounds = pairs_of(game, bucket, parent_buckets, _uses(game, np.unique(exemplar)))
    histories = _Histories(game, rounds)
    tree = histories.compiled()
    # The compiler renumbers infosets, so those of each betting line are looked up by their names.
    infosets = {key: infoset for infoset, key in enumerate(tree.infoset_keys)}
    first_sequence = tree.view.first_sequence[[infosets[key] for key in histories.keys]].astype(np.int64)
    return BucketedGame(
        whole=game,
        tree=tree,
        bucket=bucket,
        place=histories.place[exemplar],
        first=first_sequence,
        mass=row_masses(game, 0),
    )


def _uses(game: PublicGame, lines: np.ndarray) -> np.ndarray:
    """Return how many histories there are in each round per pair of buckets, and per half of a pair, (rounds, 2).

    For halves, see :class:`rlccfr.games.merging.pairs.Pairs`.

    Args:
        lines: a public node of each betting line.
    """
    nodes = game.view.nodes[lines]
    rounds = rounds_by_cards(game)
    first_deals = np.array([deals.start for deals in rounds])
    round_of_line = first_deals.searchsorted(nodes["deal"], side="right") - 1
    # Each betting line has a history per pair. After each line that ends in chance, halves are dealt in the next round.
    uses_of_pair = np.bincount(round_of_line, minlength=len(rounds))
    uses_of_half = np.bincount(round_of_line[nodes["kind"] == CHANCE] + 1, minlength=len(rounds))
    uses_of_half[0] = 1
    return np.stack([uses_of_pair, uses_of_half], axis=1)


def exemplars(game: PublicGame) -> np.ndarray:
    """Return for each public node the first node with the same betting line on any board, (nodes,)."""
    nodes = game.view.nodes
    exemplar = np.zeros(game.num_nodes, np.int64)
    level = np.zeros(1, np.int64)
    while len(level):
        counts = nodes["num_children"][level].astype(np.int64)
        children = ranges(nodes["first_child"][level], counts)
        child_index = ranges(np.zeros(len(level), np.int64), counts)
        # All outcomes of a chance node have the betting line of the first one.
        is_dealt = np.repeat(nodes["kind"][level] == CHANCE, counts)
        first_children = nodes["first_child"][np.repeat(exemplar[level], counts)]
        exemplar[children] = first_children + np.where(is_dealt, 0, child_index)
        level = children
    return exemplar


class _Edges(NamedTuple):
    """How the histories of a block are reached; the arrays are (histories,)."""

    parent: np.ndarray
    action: np.ndarray  # index of the action, or the bucket dealt
    probability: np.ndarray  # probability of the bucket dealt; 1 after an action
    depth: int


class _Histories:
    """The histories of an abstract game, in blocks; most blocks have one history per pair of buckets at a betting line.

    Args:
        rounds: the pairs of each round.

    Attributes:
        keys: name of each infoset; the infosets of a betting line are in the order of their buckets.
        place: (nodes,) index in ``keys`` of the betting line's first infoset, set at only one node of each line.
    """

    def __init__(self, game: PublicGame, rounds: list[Pairs]) -> None:
        self.game = game
        self.rounds = rounds
        self.keys: list[str] = []
        self.place = np.zeros(game.num_nodes, np.int64)
        self._players: list[int] = []
        self._levels: list[int] = []
        self._blocks: list[dict[str, np.ndarray]] = []
        self._size = 0
        root = _Edges(np.full(1, -1), np.full(1, -1), np.ones(1), 0)
        self._add(root, tree_records.CHANCE)
        self._deal(0, 0, 0, 1, (0, 0))

    def _add(self, edges: _Edges, actor: int, **columns: np.ndarray) -> int:
        """Add a block, and return the index of its first history."""
        size = len(edges.parent)
        begin = self._size
        block: dict[str, np.ndarray] = {
            "parent": edges.parent,
            "depth": np.full(size, edges.depth, np.int32),
            "action": edges.action,
            "actor": np.full(size, actor, np.int8),
            "infoset": np.full(size, -1, np.int32),
            "probability": edges.probability,
            "utility": np.zeros(size),
            "opponent_utility": np.zeros(size),
        }
        self._blocks.append(block | columns)
        self._size += size
        return begin

    def _deal(self, node: int, round_index: int, begin: int, depth: int, moves: tuple[int, int]) -> None:
        """Add the histories that chance deals in a round, and all histories below.

        Args:
            node: the public node after the deal.
            round_index: the round's index, from 0.
            begin: index of the first history at which chance deals; there is one per pair of the round before.
            depth: depth of the first histories that are added.
            moves: number of earlier moves of each player.
        """
        pairs = self.rounds[round_index]
        # Pairs of one half are neighbours, so a half begins where the number changes.
        first_of_half = np.flatnonzero(np.diff(pairs.half, prepend=-1))
        to_halves = _Edges(begin + pairs.parent, pairs.buckets[first_of_half, 0], pairs.half_probability, depth)
        begin_halves = self._add(to_halves, tree_records.CHANCE)
        to_pairs = _Edges(begin_halves + pairs.half, pairs.buckets[:, 1], pairs.probability, depth + 1)
        self._follow(node, round_index, to_pairs, moves)

    def _follow(self, node: int, round_index: int, edges: _Edges, moves: tuple[int, int]) -> None:
        """Add a betting line's histories, and all histories below; see :meth:`_deal`."""
        record = self.game.view.nodes[node]
        kind = int(record["kind"])
        first_child = int(record["first_child"])
        num_pairs = len(edges.parent)
        # All boards have the same betting below them, so the first child stands for all.
        if kind == CHANCE:
            begin = self._add(edges, tree_records.CHANCE)
            self._deal(first_child, round_index + 1, begin, edges.depth + 1, moves)
        elif kind > CHANCE:
            # A fold pays the same whatever the hands are.
            margin = self.rounds[round_index].win_margin if kind == SHOWDOWN else np.ones(num_pairs)
            payoff = float(record["payoff"]) * margin
            self._add(edges, tree_records.TERMINAL, utility=payoff, opponent_utility=-payoff)
        else:
            begin = self._add(edges, kind, infoset=self._infosets(node, round_index, kind, moves[kind]))
            moves_after = (moves[0] + (kind == 0), moves[1] + (kind == 1))
            parents = begin + np.arange(num_pairs)
            certain = np.ones(num_pairs)
            for k in range(int(record["num_children"])):
                to_children = _Edges(parents, np.full(num_pairs, k), certain, edges.depth + 1)
                self._follow(first_child + k, round_index, to_children, moves_after)

    def _infosets(self, node: int, round_index: int, player: int, moves: int) -> np.ndarray:
        """Name the infosets of a betting line, and return the infoset of each pair of buckets."""
        pairs = self.rounds[round_index]
        self.place[node] = len(self.keys)
        betting_line = re.sub("/[^/]*/", "/", self.game.path(node))  # without the boards
        self.keys.extend(f"{betting_line} bucket {bucket}".strip() for bucket in range(pairs.num_buckets))
        self._players.extend([player] * pairs.num_buckets)
        self._levels.extend([moves] * pairs.num_buckets)
        infosets: np.ndarray = (self.place[node] + pairs.buckets[:, player]).astype(np.int32)
        return infosets

    def compiled(self) -> GameTree:
        """Compile the histories, and return the abstract game."""
        columns = {name: np.concatenate([block[name] for block in self._blocks]) for name in self._blocks[0]}
        order = self._breadth_first(columns["parent"], columns["depth"], columns["action"])
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        columns = {name: column[order] for name, column in columns.items()}
        columns["parent"] = np.where(columns["parent"] >= 0, rank[columns["parent"]], -1)
        walk = Traversal(
            **columns,
            infoset_player=np.array(self._players, np.int8),
            infoset_level=np.array(self._levels, np.int32),
            infoset_keys=self.keys,
        )
        # These histories come from no traversal, which would have checked them.
        check_claims(walk, self.game.name)
        return build(walk, name=self.game.name, openspiel_name="", restore_recall=False)

    def _breadth_first(self, parent: np.ndarray, depth: np.ndarray, action: np.ndarray) -> np.ndarray:
        """Return the histories level by level, children in the order of their parents and actions."""
        levels = [np.zeros(1, np.int64)]
        rank = np.zeros(len(parent), np.int64)  # index of each history within its level
        by_depth = np.argsort(depth, kind="stable")
        ends = np.cumsum(np.bincount(depth))
        for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            level = by_depth[begin:end]
            level = level[np.lexsort((action[level], rank[parent[level]]))]
            rank[level] = np.arange(len(level))
            levels.append(level)
        return np.concatenate(levels)
