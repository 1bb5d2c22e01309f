"""The whole deck: known counts, exact totals, and real deals beside the matrices."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
import pytest
from scipy import stats

from rlccfr.games.bucket_histories.boards import Boards
from rlccfr.games.bucket_histories.bucketing import Bucketing, bucketing_of
from rlccfr.games.bucket_histories.meetings import Meetings, meetings_between, meetings_of
from rlccfr.games.bucket_histories.strengths import StrengthTables, orders_of, strength_tables
from rlccfr.games.public.cards import card_sets, strengths
from rlccfr.games.public.deals import Deck
from rlccfr.kernels.public.hand_strength import fill_strengths

DECK = Deck(13, 4, 2)
NEW_CARDS = (0, 3, 1, 1)
CLASSES = (169, 1_286_792, 55_190_538, 2_428_287_420)
"""Known numbers of classes of a hand and a board, for each round."""

DEALS = 55_627_620_048_000
DRAWN = 100_000
FUNCTIONALS = 100
LEVEL = 1e-3
"""Probability with which any of the comparisons with drawn deals fails by chance."""

whole_bucketing = cache(lambda buckets: bucketing_of(DECK, NEW_CARDS, buckets))
whole_meetings = cache(lambda buckets: meetings_of(whole_bucketing(buckets)))


@pytest.mark.verify
def test_there_are_as_many_classes_of_hands_and_boards_as_are_known():
    boards = Boards(DECK, NEW_CARDS)
    for dealt, size, expected in zip(boards.dealt, boards.sizes, CLASSES, strict=True):
        assert count_classes(boards, dealt.mask, dealt.symmetry, comb(52 - size, 2)) == expected


def count_classes(boards: Boards, masks: np.ndarray, symmetries: np.ndarray, num_hands: int) -> int:
    """Return the number of classes of hands on some boards under the boards' symmetries, by Burnside's lemma."""
    order = np.zeros(len(masks), np.int64)
    fixed = np.zeros(len(masks), np.int64)
    for p, image in enumerate(boards.image):
        has = symmetries >> p & 1 == 1
        order += has
        if p == 0:  # leaves all hands as they are
            fixed += num_hands
            continue
        unmoved = boards.hand_masks[image == np.arange(len(image))]
        places = np.flatnonzero(has)
        for part in np.array_split(places, 1 + len(places) // 100_000):
            fixed[part] += (masks[part, None] & unmoved == 0).sum(axis=1)
    assert (fixed % order == 0).all()
    return int((fixed // order).sum())


@pytest.mark.verify
def test_a_million_strengths_are_those_of_the_cards_module():
    rng = np.random.default_rng(2)
    found = np.zeros(DECK.num_hands, np.int64)
    for _ in range(1000):
        board = rng.permutation(52)[:5]
        fill_strengths(board, DECK.hands, found)
        possible = found >= 0
        sets = np.hstack([DECK.hands[possible], np.broadcast_to(board, (int(possible.sum()), 5))])
        assert len(sets) == comb(47, 2)
        assert np.array_equal(found[possible], strengths(sets, 13, 4))


@pytest.mark.verify
def test_seven_cards_have_as_many_strengths_as_are_known():
    boards = Boards(DECK, NEW_CARDS)
    found = np.zeros(DECK.num_hands, np.int64)
    occurs = np.zeros(9 * 13**5, bool)
    for board in boards.first_images(3):
        fill_strengths(board, DECK.hands, found)
        occurs[found[found >= 0]] = True
    assert occurs.sum() == 4824


def table_entry(tables: StrengthTables, hand: np.ndarray, board: np.ndarray) -> int:
    """Return what the tables have for a hand on a board of three, four or five cards."""
    boards = tables.boards
    number = boards.sizes.index(len(board))
    place = boards.set_begin[number] + sum(comb(card, k + 1) for k, card in enumerate(np.sort(board).tolist()))
    code = np.flatnonzero((DECK.hands == np.sort(hand)).all(axis=1))[0]
    row = boards.row[place] + tables.row_begin[number]
    return int((tables.half_pairs if len(board) == 5 else tables.sums)[row, boards.image[boards.turning[place], code]])


def half_pairs_by_hand(hand: np.ndarray, board: np.ndarray) -> int:
    """Return twice the hands that a hand beats on a whole board, and once those with which it ties."""
    others = card_sets(np.setdiff1d(np.arange(52), [*hand, *board]), 2)
    own = strengths(np.append(hand, board)[None], 13, 4)[0]
    theirs = strengths(np.hstack([others, np.tile(board, (len(others), 1))]), 13, 4)
    return int(2 * (own > theirs).sum() + (own == theirs).sum())


@pytest.mark.verify
def test_strengths_of_random_hands_are_those_counted_by_hand():
    tables = strength_tables(Boards(DECK, NEW_CARDS))
    rng = np.random.default_rng(3)
    for _ in range(200):
        hand, board = np.split(rng.permutation(52)[:7], [2])
        assert table_entry(tables, hand, board) == half_pairs_by_hand(hand, board)
    for _ in range(20):
        hand, board = np.split(rng.permutation(52)[:6], [2])
        rivers = np.setdiff1d(np.arange(52), [*hand, *board])
        expected = sum(half_pairs_by_hand(hand, np.append(board, river)) ** 2 for river in rivers)
        assert table_entry(tables, hand, board) == expected


@pytest.mark.verify
def test_sums_on_flops_are_in_the_order_of_those_on_the_turns_that_follow():
    """They do not fit into 32 bits, so the tables have their ranks."""
    tables = strength_tables(Boards(DECK, NEW_CARDS))
    rng = np.random.default_rng(5)
    ranks = []
    sums = []
    for _ in range(300):
        hand, board = np.split(rng.permutation(52)[:5], [2])
        suits = rng.permutation(4)  # hands that are equal up to suits must have equal ranks
        for turn in (np.arange(4), suits):
            hand = hand // 4 * 4 + turn[hand % 4]
            board = board // 4 * 4 + turn[board % 4]
            turns = np.setdiff1d(np.arange(52), [*hand, *board])
            ranks.append(table_entry(tables, hand, board))
            sums.append(sum(table_entry(tables, hand, np.append(board, card)) for card in turns))
    order = np.argsort(sums, kind="stable")
    assert np.array_equal(np.sign(np.diff(np.array(sums)[order])), np.sign(np.diff(np.array(ranks)[order])))
    assert len(np.unique(tables.sums[0])) == CLASSES[0]


@pytest.mark.verify
@pytest.mark.parametrize("buckets", [3, 5])
def test_totals_of_the_whole_deck_are_exact(buckets):
    check_totals(whole_bucketing(buckets), whole_meetings(buckets))


def check_totals(bucketing: Bucketing, meetings: Meetings) -> None:
    assert meetings.met.sum() == DEALS
    assert np.array_equal(meetings.met, meetings.met.T)
    assert np.array_equal(meetings.won, -meetings.won.T)
    assert (np.abs(meetings.won) <= meetings.met).all()
    # A hand on a whole board meets the same number of hands whatever it is.
    of_history = meetings.met.sum(axis=1)
    assert (of_history % comb(45, 2) == 0).all()
    # Before the flop, a history's deals are in proportion to its hands.
    for above in meetings.above[:0:-1]:
        of_history = np.bincount(above, of_history)
    hands = np.bincount(bucketing.histories_on(np.zeros(0, np.int64))[0])
    assert np.array_equal(of_history * DECK.num_hands, hands * DEALS)


@pytest.mark.verify
@pytest.mark.parametrize("buckets", [3, 5])
def test_drawn_deals_agree_with_the_matrices(buckets):
    check_drawn(whole_bucketing(buckets), whole_bucketing(buckets), whole_meetings(buckets))


@pytest.mark.verify
def test_drawn_deals_agree_with_matrices_between_two_bucketings():
    first = whole_bucketing(2)
    second = whole_bucketing(3)
    check_drawn(first, second, meetings_between(first, second))


def check_drawn(first: Bucketing, second: Bucketing, meetings: Meetings) -> None:
    """Compare drawn deals with the matrices: how often each history comes, and random sums over pairs of histories."""
    rng = np.random.default_rng(4)
    cards = rng.permuted(np.tile(np.arange(52), (DRAWN, 1)), axis=1)[:, :9]
    board = cards[:, 4:]
    rows = first.histories_of(cards[:, :2], board)[:, -1]
    columns = second.histories_of(cards[:, 2:4], board)[:, -1]
    own, other = (strengths(np.hstack([cards[:, k : k + 2], board]), 13, 4) for k in (0, 2))
    sign = np.sign(own - other)
    scores = []
    for histories, of_history in ((rows, meetings.met.sum(axis=1)), (columns, meetings.met.sum(axis=0))):
        share = of_history / DEALS
        counts = np.bincount(histories, minlength=len(share))
        scores += ((counts - DRAWN * share) / np.sqrt(DRAWN * share * (1 - share))).tolist()
    for _ in range(FUNCTIONALS):
        weight = rng.choice([-1.0, 1.0], meetings.met.shape)
        drawn = weight[rows, columns]
        for values, matrix in ((drawn, meetings.met), (drawn * sign, meetings.won)):
            expected = (weight * matrix).sum() / DEALS
            scores.append((values.mean() - expected) / (values.std() / np.sqrt(DRAWN)))
    # Holm's procedure rejects one of the comparisons if and only if the least p-value is below this.
    least = 2 * stats.norm.sf(np.abs(scores).max())
    assert least > LEVEL / len(scores), f"largest score {np.abs(scores).max():.2f} of {len(scores)}"


@pytest.mark.verify
def test_orders_of_hands_are_those_of_their_strengths():
    boards = Boards(DECK, NEW_CARDS)
    rows, orders = next(orders_of(boards))
    strength = np.zeros(DECK.num_hands, np.int64)
    for board, order in zip(boards.first_images(3)[rows], orders, strict=True):
        fill_strengths(board, DECK.hands, strength)
        ordered = strength[order & 0x7FFF]
        assert (np.diff(ordered) >= 0).all()
        assert np.array_equal(np.diff(ordered) > 0, order[1:] >= 0x8000)
        assert np.array_equal(np.sort(order & 0x7FFF), np.flatnonzero(strength >= 0))
