"""How often two players' bucket histories meet, and who wins then.

This first version builds the whole public tree of the cards, so it is only for small decks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from rlccfr.games.merging.hands import deal_nodes, rounds_by_cards, rows_of
from rlccfr.games.merging.percentiles import equity_buckets
from rlccfr.games.public.deals import Deck
from rlccfr.games.public.holdem import Holdem
from rlccfr.games.public.masses import row_masses, rows_above
from rlccfr.kernels.public.buckets import add_pairs, workspace_size


@dataclass(frozen=True, eq=False)
class Meetings:
    """How many deals give the two players each pair of bucket histories, and who wins them.

    A deal is an ordered pair of hands and a board. A round's board cards are a set, so a flop's order does not count.

    Attributes:
        above: for each round, (histories,) the history of the round before that each history continues; zeros in the
            first round. Ascending within a round, so the continuations of one history are neighbours.
        met: (histories, histories) of the last round: number of deals in which player 0 has the first history and
            player 1 the second. Whole numbers in double precision; symmetric.
        won: (histories, histories) likewise, deals that player 0 wins, less deals that it loses; antisymmetric.
    """

    above: tuple[np.ndarray, ...]
    met: np.ndarray
    won: np.ndarray


@dataclass(frozen=True, eq=False)
class Bucketing:
    """Percentile buckets of the hands of a deck in each round.

    Attributes:
        deck: the cards, and how many of them each player holds.
        board: number of board cards dealt before each round.
        buckets: number of parts into which each round splits the hands of a history.
    """

    deck: Deck
    board: tuple[int, ...]
    buckets: int


def bucketing_of(
    deck: Deck, board: tuple[int, ...], buckets: int, progress: Callable[[float], None] | None = None
) -> Bucketing:
    """Return the percentile buckets of a deck."""
    return Bucketing(deck, board, buckets)


def meetings_of(bucketing: Bucketing, progress: Callable[[float], None] | None = None) -> Meetings:
    """Return how often two players' bucket histories meet.

    Args:
        bucketing: the buckets.
        progress: called with the share of the work that is done.
    """
    num_rounds = len(bucketing.board)
    ones = (1,) * num_rounds
    game = Holdem(bucketing.deck, bucketing.board, (1, 2), ones, ones, ones).build("hands")
    bucket = equity_buckets(game, bucketing.buckets)
    rows_before = rows_above(game, 0)
    rounds = rounds_by_cards(game)
    above = []
    for number, deals in enumerate(rounds):
        own = bucket[rows_of(game, deals)]
        before = np.zeros(int(own.max()) + 1, np.int64)
        if number:
            before[own] = bucket[np.concatenate([rows_before[deal] for deal in deals])]
        above.append(before)
    size = len(above[-1])
    met = np.zeros((size, size))
    won = np.zeros((size, size))
    vectors = np.zeros(workspace_size(int(game.view.deals["rows"].max())))
    last_met = np.full(size, -1)
    add_pairs(game.view, deal_nodes(rounds[-1]), bucket, row_masses(game, 0), vectors, last_met, met, won)
    left = bucketing.deck.size - 2 * bucketing.deck.private
    boards = 1
    for cards in bucketing.board:
        boards *= comb(left, cards)
        left -= cards
    return Meetings(tuple(above), np.rint(met * boards), np.rint(won * boards))
