"""All-in equities of hold'em hands before the flop, over all boards, beside published ones."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from rlccfr.games.public.cards import RANKS, SUITS, card_sets, strengths

PUBLISHED = {
    # boards that the first hand wins, and that nobody wins, of 1,712,304
    ("AcAs", "2h7d"): (1_493_820 / 1_712_304, 2 * 3_118 / 1_712_304),  # github.com/GregorDeCillia/pokerstoveR
    ("AsAc", "KsQc"): (0.8765, 0.0049),  # Wikipedia, "Poker probability (Texas hold 'em)"
    ("AsAc", "7d6d"): (0.7681, 0.0032),
}


def cards(hand: str) -> list[int]:
    return [4 * RANKS.index(rank) + SUITS.index(suit) for rank, suit in zip(hand[::2], hand[1::2], strict=True)]


@pytest.mark.verify
@pytest.mark.parametrize("hands", PUBLISHED)
def test_equities_are_the_published_ones(hands):
    first, second = map(cards, hands)
    rest = np.setdiff1d(np.arange(52), first + second)
    won = tied = boards = 0
    for begin in combinations(range(len(rest) - 3), 2):  # the two lowest cards, so that memory stays small
        low = rest[list(begin)]
        high = card_sets(rest[begin[1] + 1 :], 3)
        sets = np.hstack([np.broadcast_to(low, (len(high), 2)), high])
        found = [strengths(np.hstack([np.broadcast_to(own, (len(sets), 2)), sets]), 13, 4) for own in (first, second)]
        won, tied = won + int((found[0] > found[1]).sum()), tied + int((found[0] == found[1]).sum())
        boards += len(sets)
    assert boards == comb(48, 5)
    wins, ties = PUBLISHED[hands]
    assert won / boards == pytest.approx(wins, abs=5e-5)
    assert tied / boards == pytest.approx(ties, abs=5e-5)
