"""The bucket histories of hands on boards, and how often each strength occurs within each history."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.bucket_histories.boards import number_of_set
from rlccfr.kernels.jit import inlined, kernel

I8S = types.int64[::1]
I8M = types.int64[:, ::1]
I4S = types.int32[::1]
I4M = types.int32[:, ::1]
I2M = types.int16[:, ::1]
U2M = types.uint16[:, ::1]


class HistoryTables(NamedTuple):
    """Tables from which bucket histories are read; see :class:`rlccfr.games.bucket_histories.bucketing.Bucketing`."""

    hand_masks: np.ndarray  # (hands,): cards of each hand, as bits
    choose: np.ndarray  # (cards + 1, sizes): binomial coefficients
    set_begin: np.ndarray  # (rounds + 1,): first set of board cards of each round in ``row`` and ``turning``
    row: np.ndarray  # (sets,): index of each set's first image among the first images of its round
    turning: np.ndarray  # (sets,): index of the permutation that maps each set to its first image
    image: np.ndarray  # (permutations, hands): the hand to which each permutation maps each hand
    row_begin: np.ndarray  # (rounds,): first row of each round in ``sums``; 0 for the last round
    sums: np.ndarray  # (rows of all rounds but the last, hands): the strengths in these rounds
    half_pairs: np.ndarray  # (rows of the last round, hands): the strengths in the last round
    history_begin: np.ndarray  # (rounds,): first row of each round in ``starts``
    starts: np.ndarray  # (histories before each round, buckets - 1): least strength in each bucket but the first
    first: np.ndarray  # (histories before each round,): the first continuation of each history


HISTORY_TABLES = types.NamedTuple((I8S, I8M, I8S, I4S, I4S, I2M, I8S, I4M, U2M, I8S, I4M, I4S), HistoryTables)


@inlined
def bucket_of(starts, value):
    """Return the bucket of a strength.

    Args:
        starts: (buckets - 1,) least strength in each bucket but the first; if a bucket does not exist, a number that is
            larger than any strength.
    """
    bucket = 0
    for k in range(len(starts)):
        bucket += starts[k] <= value
    return bucket


@inlined
def continued(tables, number, before, row, turn, hand):
    """Return the history of a hand in a round.

    Args:
        tables: see :class:`HistoryTables`.
        number: index of the round.
        before: the hand's history in the round before; 0 in the first round.
        row, turn: entries of ``tables.row`` and ``tables.turning`` for the board's cards.
        hand: the hand.
    """
    turned = tables.image[turn, hand]
    place = tables.history_begin[number] + before
    if number == len(tables.history_begin) - 1:
        value = np.int64(tables.half_pairs[row, turned])
    else:
        value = np.int64(tables.sums[tables.row_begin[number] + row, turned])
    return tables.first[place] + bucket_of(tables.starts[place], value)


@inlined
def write_board_histories(tables, masks, histories):
    """Write the bucket histories of all hands on a board; see :func:`fill_board_histories`."""
    for number in range(len(masks)):
        board = tables.set_begin[number] + number_of_set(masks[number], tables.choose)
        row = tables.row[board]
        turn = tables.turning[board]
        for hand in range(len(tables.hand_masks)):
            if tables.hand_masks[hand] & masks[number]:
                histories[number, hand] = -1
                continue
            before = np.int64(histories[number - 1, hand]) if number else 0
            histories[number, hand] = continued(tables, number, before, row, turn, hand)


@kernel(types.void(HISTORY_TABLES, I8S, I4M))
def fill_board_histories(tables, masks, histories):
    """Write the bucket histories of all hands on a board.

    Args:
        tables: see :class:`HistoryTables`.
        masks: (rounds,) all board cards that are known in each round, as bits. An incomplete board has fewer rounds.
        histories: (rounds, hands) overwritten by the history of each hand in each round; -1 for hands that hold a card
            of the board of that round.
    """
    write_board_histories(tables, masks, histories)


@kernel(types.void(HISTORY_TABLES, I8S, I8M, I4M))
def fill_hand_histories(tables, hands, masks, histories):
    """Write the bucket histories of some hands, each on a board of its own.

    Args:
        tables: see :class:`HistoryTables`.
        hands: (k,) indices of hands.
        masks: (k, rounds) all board cards that are known in each round, as bits.
        histories: (k, rounds) overwritten by the history of each hand in each round; -1 in rounds in which the hand
            holds a board card.
    """
    for k in range(len(hands)):
        hand = hands[k]
        before = 0
        for number in range(masks.shape[1]):
            if tables.hand_masks[hand] & masks[k, number]:
                histories[k, number] = -1
                continue
            board = tables.set_begin[number] + number_of_set(masks[k, number], tables.choose)
            before = np.int64(continued(tables, number, before, tables.row[board], tables.turning[board], hand))
            histories[k, number] = before


@kernel(types.void(HISTORY_TABLES, types.int64, I4M, I8S, I4S, I4S, I4M))
def fill_dealt_histories(tables, number, histories_before, before, row, turning, histories):
    """Write the history of each hand on some boards of a round, given its histories on the boards that these follow.

    Args:
        tables: see :class:`HistoryTables`.
        number: index of the round.
        histories_before: (boards of the round before, hands) history of each hand in the round before.
        before: (boards,) the board of the round before that each board follows.
        row, turning: (boards,) see :class:`rlccfr.games.bucket_histories.boards.Dealt`.
        histories: (boards, hands) overwritten; entries of hands that hold a card of the board have no meaning.
    """
    for board in range(len(row)):
        for hand in range(histories.shape[1]):
            history = np.int64(histories_before[before[board], hand])
            histories[board, hand] = continued(tables, number, history, row[board], turning[board], hand)


@kernel(types.void(I4M, I8S, I4S, I4S, I8S, I8S, I2M, I8S, I4M, I4M, types.int64, types.int64, I8M))
def count_sums(
    histories_before, before, row, turning, masks, weights, image, hand_masks, sums, places, high, low, counts
):
    """Count hands by their history in the round before, and by bits of their strength.

    The history and the upper bits of the strength choose the row of ``counts``; the strength's bits below these, except
    for the lowest ones, choose the column.

    Args:
        histories_before: (boards of the round before, hands) history of each hand in the round before.
        before: (boards,) index of the board in ``histories_before`` that each board follows.
        row, turning, masks: (boards,) see :class:`rlccfr.games.bucket_histories.boards.Dealt`.
        weights: (boards,) number of boards that each stands for.
        image: (permutations, hands) the hand to which each permutation maps each hand.
        hand_masks: (hands,) cards of each hand, as bits.
        sums: (rows, hands) strengths.
        places: (histories, values of the upper bits) row of ``counts``, or -1 for hands that do not count.
        high: number of bits below the upper ones.
        low: number of the lowest bits, which are ignored.
        counts: (rows, values of the ``high - low`` bits between) added to.
    """
    keep = (1 << (high - low)) - 1
    for board in range(len(row)):
        of_row = sums[row[board]]
        turned = image[turning[board]]
        histories = histories_before[before[board]]
        for hand in range(len(hand_masks)):
            if hand_masks[hand] & masks[board]:
                continue
            value = np.int64(of_row[turned[hand]])
            place = places[histories[hand], value >> high]
            if place >= 0:
                counts[place, value >> low & keep] += weights[board]


@kernel(types.void(I4M, I8S, I4S, I4S, I8S, I8S, I2M, I8S, U2M, I8M))
def count_half_pairs(histories_before, before, row, turning, masks, weights, image, hand_masks, half_pairs, counts):
    """Count hands by their history in the round before the last, and by their strength.

    Args:
        histories_before, before, row, turning, masks, weights, image, hand_masks: see :func:`count_sums`.
        half_pairs: (rows, hands) strengths in the last round.
        counts: (histories, strengths) added to.
    """
    for board in range(len(row)):
        of_row = half_pairs[row[board]]
        turned = image[turning[board]]
        histories = histories_before[before[board]]
        for hand in range(len(hand_masks)):
            if not hand_masks[hand] & masks[board]:
                counts[histories[hand], of_row[turned[hand]]] += weights[board]
