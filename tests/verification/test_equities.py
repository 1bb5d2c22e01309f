"""All-in equities of hold'em hands before the flop, over all boards, beside published ones."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest

from rlccfr.games.public.cards import RANKS, SUITS, card_sets, strengths
from rlccfr.games.public.deals import Deck

BOARDS = comb(48, 5)
"""Number of boards once two hands are dealt: 1,712,304."""

COUNTED = {
    # boards that the first hand wins, and that nobody wins
    ("AcAs", "2h7d"): (1_493_820, 2 * 3_118),  # github.com/GregorDeCillia/pokerstoveR
    ("AdAc", "KhKs"): (1_388_072, 6_538),  # brainwagon.org/2005/04/09/texas-holdem-trivia
    ("AdAc", "Td9d"): (1_338_249, 6_912),
    ("AdAc", "QcJh"): (1_450_987, 6_554),
    ("KcKs", "AcJs"): (1_221_273, 2 * 4_178.5),  # cardschat.com/f57/equity-rate-vs-win-rate-using-152684
    ("Ts2c", "3h5h"): (889_063, 34_593),  # github.com/gabrielferrer/eval, src/tests.c
    ("KcKs", "Kd2c"): (1_612_287, 26_192),  # preflop26.rssing.com/chan-21442239/article8.html
}

ROUNDED = {
    # shares of the boards that the first hand wins, and that nobody wins
    ("AsAc", "KsQc"): (0.8765, 0.0049),  # Wikipedia, "Poker probability (Texas hold 'em)"
    ("AsAc", "7d6d"): (0.7681, 0.0032),
}

SHARED_RANK = {
    # equity of a pair against a hand with its rank, whose other card is of the suit of one of the pair's
    ("QcQs", "Qd2c"): 0.9466,  # preflop26.rssing.com/chan-21442239/article8.html
    ("KcKs", "Kd3c"): 0.9448,
    ("JcJs", "Jd2c"): 0.9435,
    ("QcQs", "Qd3c"): 0.9422,
    ("AcAs", "Ad9c"): 0.9408,
    ("KcKs", "Kd4c"): 0.9404,
}

AGAINST_ANY = {
    # equity against a random hand: jazbo.com/poker/huholdem.html
    "AA": 0.8520371, "KK": 0.8239568, "QQ": 0.7992516, "JJ": 0.7746947, "TT": 0.7501178, "99": 0.7205725,
    "88": 0.6916304, "77": 0.6623602, "AKs": 0.6704463, "A4s": 0.5903364, "A7o": 0.5884120, "K8s": 0.5831235,
    "QJo": 0.5813469, "K5o": 0.5331397, "J9o": 0.5325120, "T8s": 0.5233437, "96s": 0.4742829, "Q2o": 0.4729544,
    "85o": 0.4142753, "64s": 0.4133332, "82s": 0.4027163, "73s": 0.4003594, "93o": 0.4001951,
}  # fmt: skip


def cards(hand: str) -> list[int]:
    return [4 * RANKS.index(rank) + SUITS.index(suit) for rank, suit in zip(hand[::2], hand[1::2], strict=True)]


@cache
def places() -> np.ndarray:
    """Return the place of each five cards' strength among all strengths, (52, 52, 52, 52, 52); 0 if a card is twice."""
    sets = card_sets(np.arange(52), 5)
    found = np.concatenate([strengths(part, 13, 4) for part in np.array_split(sets, 20)])
    place = np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int16) + 1
    table = np.zeros((52,) * 5, np.int16)
    for order in permutations(range(5)):
        table[tuple(sets[:, order].T)] = place
    return table


def best(boards: np.ndarray, hand: list[int]) -> np.ndarray:
    """Return the place of a hand's strength with each board, (boards,)."""
    sets = np.hstack([np.broadcast_to(hand, (len(boards), 2)), boards])
    return np.max([places()[tuple(sets[:, own].T)] for own in combinations(range(7), 5)], axis=0)


def counts(hands: tuple[str, str]) -> tuple[int, int]:
    """Return the numbers of boards that the first hand wins, and that nobody wins."""
    first, second = map(cards, hands)
    boards = card_sets(np.setdiff1d(np.arange(52), first + second), 5)
    assert len(boards) == BOARDS
    ours, theirs = best(boards, first), best(boards, second)
    return int((ours > theirs).sum()), int((ours == theirs).sum())


@pytest.mark.verify
def test_places_of_seven_cards_are_their_strengths():
    draws = np.random.default_rng(0)
    sets = np.array([draws.choice(52, 7, replace=False) for _ in range(2000)])
    places = np.concatenate([best(one[None, 2:], one[:2].tolist()) for one in sets])
    found = strengths(sets, 13, 4)
    assert np.array_equal(np.unique(found, return_inverse=True)[1], np.unique(places, return_inverse=True)[1])


@pytest.mark.verify
@pytest.mark.parametrize("hands", COUNTED)
def test_boards_won_are_those_counted_by_others(hands):
    assert counts(hands) == COUNTED[hands]


@pytest.mark.verify
@pytest.mark.parametrize("hands", ROUNDED)
def test_shares_of_boards_are_the_published_ones(hands):
    assert [number / BOARDS for number in counts(hands)] == pytest.approx(ROUNDED[hands], abs=5e-5)


@pytest.mark.verify
@pytest.mark.parametrize("hands", SHARED_RANK)
def test_equities_are_the_published_ones(hands):
    wins, ties = counts(hands)
    assert (wins + ties / 2) / BOARDS == pytest.approx(SHARED_RANK[hands], abs=5e-5)


def halves_won(board: np.ndarray) -> np.ndarray:
    """Return twice the pots that each hand wins on a board against all hands that share no card, (52, 52).

    Hands with a card of the board, or with one card twice, win none.
    """
    table, free = places(), np.setdiff1d(np.arange(52), board)
    one = np.max([table[own] for own in map(tuple, combinations(board, 4))], axis=0)  # with one card of the hand
    two = np.max([table[own] for own in map(tuple, combinations(board, 3))], axis=0)
    place = np.maximum(np.maximum(two, table[tuple(board)]), np.maximum(one[:, None], one))[np.ix_(free, free)]
    np.fill_diagonal(place, -1)
    every = np.sort(place[np.triu_indices(len(free), 1)])
    halves = np.searchsorted(every, place, "left") + np.searchsorted(every, place, "right")
    others = np.where(place < 0, np.iinfo(np.int16).max, place)[:, None]
    sharing = (place[:, :, None] > others).sum(2, np.int16) + (place[:, :, None] >= others).sum(2, np.int16)
    halves -= sharing + sharing.T  # hands with one of the cards
    halves += 1  # a hand ties with itself, which was taken off twice and counted once
    np.fill_diagonal(halves, 0)
    found = np.zeros((52, 52))
    found[np.ix_(free, free)] = halves
    return found


@pytest.mark.verify
def test_equities_against_any_hand_are_the_published_ones():
    """Boards that differ only by a permutation of suits are met once, as the library deals them."""
    won, boards = np.zeros((52, 52)), 0
    for deal in Deck(13, 4, 2).first().following(5):
        won += deal.orbit * halves_won(deal.board)
        boards += deal.orbit
    assert boards == comb(52, 5)
    by_rank = won.reshape(13, 4, 13, 4).transpose(0, 2, 1, 3)
    suited = np.eye(4, dtype=bool)
    for hand, equity in AGAINST_ANY.items():
        found = by_rank[RANKS.index(hand[0]), RANKS.index(hand[1])]
        pots = found[suited if hand[2:] == "s" else ~suited].mean() / 2
        assert pots / (comb(50, 5) * comb(45, 2)) == pytest.approx(equity, abs=1e-7), hand
