"""A public-tree game of cards whose hands are merged into buckets: a small game, compiled history by history.

In each round, chance deals each player a bucket, with the probability that hands of the two buckets meet on any board.
At a showdown, players get the mean payoff of such hands. So the boards are gone, and a run over the small game costs
nothing of what passes over the public tree cost.
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
from rlccfr.games.merging.hands import rounds_by_cards
from rlccfr.games.merging.merged import hash_of
from rlccfr.games.merging.pairs import Pairs, numbered, pairs_of
from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import CHANCE, SHOWDOWN
from rlccfr.games.public.view import PublicGame, ranges
from rlccfr.kernels.public.buckets import expand


@dataclass(frozen=True, eq=False)
class BucketedGame:
    """A public-tree game, and the game in which players see buckets.

    Attributes:
        whole: the game before.
        tree: the game of buckets.
        bucket: bucket of each private state in its round, placed like the public view's ``above``.
        place: (nodes,) first entry of ``first`` at each decision of ``whole``; equal at all nodes of a betting line.
        first: for each betting line, (buckets,) the first sequence of each bucket in ``tree``.
        mass: what each row counts for, placed like ``bucket``; see :func:`rlccfr.games.public.masses.row_masses`.
    """

    whole: PublicGame
    tree: GameTree
    bucket: np.ndarray
    place: np.ndarray
    first: np.ndarray
    mass: np.ndarray

    @property
    def content_hash(self) -> str:
        """Hash of the buckets."""
        return hash_of(self.bucket)

    def alike(self, other: object) -> bool:
        """Return whether both merge the same private states."""
        return isinstance(other, BucketedGame) and np.array_equal(self.bucket, other.bucket)

    def expand(self, table: np.ndarray) -> np.ndarray:
        """Return the policies of buckets for each private state, (m,).

        Args:
            table: (sequences of ``tree``,) what the policies are proportional to.
        """
        found = np.empty(self.whole.num_sequences, self.whole.dtype)
        expand(self.whole.view, self.place, self.first, self.bucket, self.tree.normalised(table), found)
        return found


def bucketed(game: PublicGame, bucket: np.ndarray) -> BucketedGame:
    """Merge hands of a game.

    Args:
        bucket: bucket of each private state in its round, placed like the view's ``above``.

    Raises:
        ComponentError: the game has no cards; the buckets do not split those of the round before; or there are so many
            that the game of buckets does not fit.
    """
    if not game.deals:
        raise ComponentError(
            f"on public trees, buckets are made of hands, which {game.name!r} lacks: take abstraction='none'"
        )
    bucket, ups = numbered(game, bucket)
    same = exemplars(game)
    rounds = pairs_of(game, bucket, ups, _uses(game, np.unique(same)))
    histories = _Histories(game, rounds)
    tree = histories.compiled()
    infosets = {key: infoset for infoset, key in enumerate(tree.infoset_keys)}
    first = tree.view.first_sequence[[infosets[key] for key in histories.keys]].astype(np.int64)
    return BucketedGame(game, tree, bucket, histories.place[same], first, row_masses(game, 0))


def _uses(game: PublicGame, lines: np.ndarray) -> np.ndarray:
    """Return how many histories each pair of buckets makes in a round, and each half of a pair, (rounds, 2).

    Args:
        lines: a public node of each betting line.
    """
    own, rounds = game.view.nodes[lines], rounds_by_cards(game)
    number = np.array([deals.start for deals in rounds]).searchsorted(own["deal"], side="right") - 1
    halves = np.bincount(number[own["kind"] == CHANCE] + 1, minlength=len(rounds))
    halves[0] = 1
    return np.stack([np.bincount(number, minlength=len(rounds)), halves], axis=1)


def exemplars(game: PublicGame) -> np.ndarray:
    """Return for each public node the first one with the same betting line, whatever the boards, (nodes,)."""
    nodes, found, level = game.view.nodes, np.zeros(game.num_nodes, np.int64), np.zeros(1, np.int64)
    while len(level):
        counts = nodes["num_children"][level].astype(np.int64)
        children, number = ranges(nodes["first_child"][level], counts), ranges(np.zeros(len(level), np.int64), counts)
        dealt = np.repeat(nodes["kind"][level] == CHANCE, counts)
        found[children] = nodes["first_child"][np.repeat(found[level], counts)] + np.where(dealt, 0, number)
        level = children
    return found


class _Edges(NamedTuple):
    """How the histories of a block are reached."""

    parent: np.ndarray
    action: np.ndarray  # number of the action, or the bucket dealt
    probability: np.ndarray  # that of the bucket dealt, else 1
    depth: int


class _Histories:
    """The histories of a game of buckets, block by block: one for each pair of buckets at a betting line.

    Args:
        rounds: the pairs of each round.

    Attributes:
        keys: name of each infoset, those of a betting line in the order of the buckets.
        place: (nodes,) index of the first of these names at one node of each betting line.
    """

    def __init__(self, game: PublicGame, rounds: list[Pairs]) -> None:
        self.game, self.rounds = game, rounds
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
        """Add a block, and return the number of its first history."""
        size, begin = len(edges.parent), self._size
        found: dict[str, np.ndarray] = {
            "parent": edges.parent,
            "depth": np.full(size, edges.depth, np.int32),
            "action": edges.action,
            "actor": np.full(size, actor, np.int8),
            "infoset": np.full(size, -1, np.int32),
            "probability": edges.probability,
            "utility": np.zeros(size),
            "opponent_utility": np.zeros(size),
        }
        self._blocks.append(found | columns)
        self._size += size
        return begin

    def _deal(self, node: int, number: int, begin: int, depth: int, moves: tuple[int, int]) -> None:
        """Add what chance deals, and what follows.

        Args:
            node: the public node after the deal.
            number: the round's number.
            begin: the first of the histories at which chance deals, one for each pair of the round before.
            moves: number of earlier moves of each player.
        """
        own = self.rounds[number]
        begins = np.flatnonzero(np.diff(own.half, prepend=-1))
        half = self._add(_Edges(begin + own.before, own.held[begins, 0], own.half_share, depth), tree_records.CHANCE)
        self._follow(node, number, _Edges(half + own.half, own.held[:, 1], own.share, depth + 1), moves)

    def _follow(self, node: int, number: int, edges: _Edges, moves: tuple[int, int]) -> None:
        """Add a betting line's histories, and those that follow; see :meth:`_deal`."""
        record, depth = self.game.view.nodes[node], edges.depth + 1
        kind, first = int(record["kind"]), int(record["first_child"])
        if kind == CHANCE:
            self._deal(first, number + 1, self._add(edges, tree_records.CHANCE), depth, moves)
        elif kind > CHANCE:
            chance = self.rounds[number].won if kind == SHOWDOWN else np.ones(len(edges.parent))
            payoff = float(record["payoff"]) * chance
            self._add(edges, tree_records.TERMINAL, utility=payoff, opponent_utility=-payoff)
        else:
            begin = self._add(edges, kind, infoset=self._infosets(node, number, kind, moves[kind]))
            later = (moves[0] + (kind == 0), moves[1] + (kind == 1))
            parents, sure = begin + np.arange(len(edges.parent)), np.ones(len(edges.parent))
            for k in range(int(record["num_children"])):
                self._follow(first + k, number, _Edges(parents, np.full(len(sure), k), sure, depth), later)

    def _infosets(self, node: int, number: int, player: int, moves: int) -> np.ndarray:
        """Name the infosets of a betting line, and return that of each pair."""
        own = self.rounds[number]
        self.place[node] = len(self.keys)
        line = re.sub("/[^/]*/", "/", self.game.path(node))
        self.keys.extend(f"{line} bucket {bucket}".strip() for bucket in range(own.buckets))
        self._players.extend([player] * own.buckets)
        self._levels.extend([moves] * own.buckets)
        found: np.ndarray = (self.place[node] + own.held[:, player]).astype(np.int32)
        return found

    def compiled(self) -> GameTree:
        """Return the game."""
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
        check_claims(walk, self.game.name)
        return build(walk, name=self.game.name, openspiel_name="", restore_recall=False)

    def _breadth_first(self, parent: np.ndarray, depth: np.ndarray, action: np.ndarray) -> np.ndarray:
        """Return the histories level by level, children in the order of their parents and actions."""
        levels, rank = [np.zeros(1, np.int64)], np.zeros(len(parent), np.int64)
        by_depth = np.argsort(depth, kind="stable")
        ends = np.cumsum(np.bincount(depth))
        for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            own = by_depth[begin:end]
            own = own[np.lexsort((action[own], rank[parent[own]]))]
            rank[own] = np.arange(len(own))
            levels.append(own)
        return np.concatenate(levels)
