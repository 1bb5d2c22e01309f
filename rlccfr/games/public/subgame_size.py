"""How large a no-limit subgame is, counted before it is built."""

from __future__ import annotations

from typing import NamedTuple

from rlccfr.games.public.betting import Round
from rlccfr.games.public.records import CHANCE, NODE, SHORT

BYTES_OF_MOVE = 12
"""Bytes of an action's name, at most, except in games with very small chips."""

BYTES_OF_ROW = 120
"""Bytes of a row's entries: where it comes from, its weight, hands and like, and their copies while they are made."""

BYTES_OF_HAND = 48
"""Bytes of a hand's entries on a board: cards, and its place among hands and rows, with their copies."""


class SubgameSize(NamedTuple):
    """How large a subgame is, before it is built.

    Attributes:
        nodes: number of public nodes.
        infosets: number of infosets; those in one row count once.
        sequences: number of a table's entries.
        rows: number of both players' rows on all boards, each of which has entries in the view.
        hands: number of both players' hands on all boards, likewise.
    """

    nodes: int
    infosets: int
    sequences: int
    rows: int = 0
    hands: int = 0

    @classmethod
    def of_round(cls, tree: Round, num_deals: int, rows: tuple[int, int]) -> SubgameSize:
        """Return the size of one street.

        Args:
            tree: the street's betting.
            num_deals: number of boards.
            rows: for each player, the number of its rows on all boards.
        """
        decisions = [(kind, count) for kind, count in zip(tree.kinds, tree.counts, strict=True) if kind < CHANCE]
        return cls(
            nodes=num_deals * tree.size,
            infosets=sum(rows[player] for player, _ in decisions),
            sequences=sum(count * rows[player] for player, count in decisions),
        )

    def __add__(self, other: tuple[int, ...]) -> SubgameSize:  # type: ignore[override]
        """Return the size of two parts of a game together."""
        return SubgameSize(*(ours + theirs for ours, theirs in zip(self, other, strict=True)))

    @property
    def least_bytes(self) -> int:
        """Bytes of the public tree while it is made, and of a run's tables with 16-bit numbers."""
        bytes_of_nodes = 2 * (NODE.itemsize + BYTES_OF_MOVE) * self.nodes
        bytes_of_deals = BYTES_OF_ROW * self.rows + BYTES_OF_HAND * self.hands
        return 2 * SHORT.itemsize * self.sequences + bytes_of_nodes + bytes_of_deals
