"""The size of a no-limit subgame, counted before it is built."""

from __future__ import annotations

from typing import NamedTuple

from rlccfr.games.public.betting import Round
from rlccfr.games.public.records import CHANCE, NODE, SHORT

BYTES_OF_MOVE = 12
"""Largest number of bytes of an action's name, except in games with very small chips."""

BYTES_OF_ROW = 120
"""Bytes of a row's entries in the view, such as its weight, and of their copies while the view is made."""

BYTES_OF_HAND = 48
"""Bytes of the entries of a hand on a board, such as its cards and its row, and of their copies."""


class SubgameSize(NamedTuple):
    """The size of a subgame, or of a part of it.

    Attributes:
        nodes: number of public nodes.
        infosets: number of infosets; those that share a row count once.
        sequences: number of a table's entries.
        rows: number of both players' rows on all boards; each row of a board has entries in the view.
        hands: number of both players' hands on all boards; each hand of a board has entries in the view.
    """

    nodes: int
    infosets: int
    sequences: int
    rows: int = 0
    hands: int = 0

    @classmethod
    def of_round(cls, tree: Round, num_deals: int, rows: tuple[int, int]) -> SubgameSize:
        """Return the size of a street's nodes and tables, without the rows and hands of its deals.

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
        """Return the sum of the sizes of two parts of a game."""
        return SubgameSize(*(ours + theirs for ours, theirs in zip(self, other, strict=True)))

    @property
    def least_bytes(self) -> int:
        """Bytes of the public tree while it is built, and of a run's tables of 16-bit numbers."""
        bytes_of_nodes = 2 * (NODE.itemsize + BYTES_OF_MOVE) * self.nodes
        bytes_of_deals = BYTES_OF_ROW * self.rows + BYTES_OF_HAND * self.hands
        return 2 * SHORT.itemsize * self.sequences + bytes_of_nodes + bytes_of_deals
