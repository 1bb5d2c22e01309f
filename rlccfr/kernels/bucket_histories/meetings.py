"""Counts of pairs of hands that are dealt together, and of wins and ties, for each pair of bucket histories."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.bucket_histories.histories import bucket_of
from rlccfr.kernels.bucket_histories.strengths import HAND, STRONGER
from rlccfr.kernels.jit import inlined, kernel

I8S = types.int64[::1]
I8M = types.int64[:, ::1]
I4S = types.int32[::1]
I4M = types.int32[:, ::1]
U4S = types.uint32[::1]  # unsigned, which saves a test for negative indices at every access
U4M = types.uint32[:, ::1]
I2M = types.int16[:, ::1]
U2M = types.uint16[:, ::1]
F8M = types.float64[:, ::1]


class Showdowns(NamedTuple):
    """Hands on whole boards, in the order of their strength."""

    hands: np.ndarray  # (hands, 2): cards of each hand; if it has one card, the deck's size stands in for the second
    hand_masks: np.ndarray  # (hands,): cards of each hand, as bits
    holds_two: int  # 1 if a hand has two cards, 0 if it has one
    origin: np.ndarray  # (permutations, hands): the hand that each permutation maps to each hand
    orders: np.ndarray  # (rows, possible hands): see kernels/bucket_histories/strengths.py
    half_pairs: np.ndarray  # (rows, hands): strengths in the last round


class Dealing(NamedTuple):
    """The boards of the round before the last, and the whole boards that follow each of them."""

    masks: np.ndarray  # (boards before,): cards of each board before the last round, as bits
    images: np.ndarray  # (boards before,): number of boards that each stands for
    begin: np.ndarray  # (boards before + 1,): the first whole board that follows each of them
    next_row: np.ndarray  # (whole boards,): index of each board's first image, see HistoryTables.row
    next_turning: np.ndarray  # (whole boards,): index of the permutation that maps each board to its first image
    next_images: np.ndarray  # (whole boards,): number of boards that each stands for, among those after the same board


class Side(NamedTuple):
    """One player's histories, and working memory in which those that occur are renumbered without gaps.

    A history of the last round is *local* to a board of the round before if it may follow that board, and is *shown* on
    a whole board if some hand has it there.
    """

    histories: np.ndarray  # (boards before, hands): history of each hand in the round before the last
    starts: np.ndarray  # (histories before, buckets - 1): least strength in each bucket but the first
    first: np.ndarray  # (histories before + 1,): the first continuation of each history; last, the number of all
    begin: np.ndarray  # (histories before,): the first local history that continues each history; -1 for none
    history: np.ndarray  # (local histories,): the history of each
    shown: np.ndarray  # (local histories,): the shown history of each; -1 for none
    local: np.ndarray  # (shown histories,): the local history of each
    of_hand: np.ndarray  # (possible hands,): the shown history of each hand of an order


class Sums(NamedTuple):
    """Working memory for sums over pairs of hands; a hand that is beaten counts twice, one that ties counts once."""

    total: np.ndarray  # (shown histories,): count of the hands so far, by history
    holding: np.ndarray  # (cards + 1, shown histories): count of those that hold each card
    shown: np.ndarray  # (shown histories, shown histories): sums on one whole board
    local: np.ndarray  # (local histories, local histories): sums over all whole boards that follow one board


SHOWDOWNS = types.NamedTuple((U4M, I8S, types.int64, I2M, U2M, U2M), Showdowns)
DEALING = types.NamedTuple((I8S, I8S, I8S, I4S, I4S, I4S), Dealing)
SIDE = types.NamedTuple((I4M, I4M, I8S, I8S, U4S, I8S, U4S, U4S), Side)
SUMS = types.NamedTuple((I4S, I4M, I4M, I4M), Sums)


@inlined
def place_local(showdowns, board, mask, side):
    """Give local indices to the histories that may follow a board; return how many there are.

    Args:
        showdowns: see :class:`Showdowns`.
        board: the board.
        mask: its cards, as bits.
        side: see :class:`Side`; ``begin`` and ``history`` are overwritten.
    """
    side.begin[:] = -1
    for hand in range(len(showdowns.hand_masks)):
        if not showdowns.hand_masks[hand] & mask:
            side.begin[side.histories[board, hand]] = 0
    count = 0
    for before in range(len(side.begin)):
        if side.begin[before] == 0:
            side.begin[before] = count
            for history in range(side.first[before], side.first[before + 1]):
                side.history[count] = history
                count += 1
    return count


@inlined
def place_shown(showdowns, board, row, turn, num_local, side):
    """Give indices to the histories that hands have on a whole board; return how many there are.

    Args:
        showdowns: see :class:`Showdowns`.
        board: the board of the round before.
        row, turn: index of the whole board's first image, and of the permutation that maps the board to it.
        num_local: number of local histories.
        side: see :class:`Side`; ``shown``, ``local`` and ``of_hand`` are overwritten.
    """
    side.shown[:num_local] = -1
    order = showdowns.orders[row]
    origin = showdowns.origin[turn]
    half_pairs = showdowns.half_pairs[row]
    histories = side.histories[board]
    # 1. Find the local history of each hand, and mark those that occur.
    for k in range(len(order)):
        turned = order[k] & HAND
        history = histories[origin[turned]]
        local = side.begin[history] + bucket_of(side.starts[history], np.int64(half_pairs[turned]))
        side.shown[local] = 0
        side.of_hand[k] = local
    # 2. Number the marked ones without gaps.
    count = 0
    for local in range(num_local):
        if side.shown[local] == 0:
            side.shown[local] = count
            side.local[count] = local
            count += 1
    # 3. Replace each hand's local history by the shown one.
    for k in range(len(order)):
        side.of_hand[k] = side.shown[side.of_hand[k]]
    return count


@inlined
def add_hands(showdowns, order, begin, end, column_of_hand, sums):
    """Add hands ``begin`` to ``end - 1`` of an order to the running sums: each adds 1 to the column of its history."""
    for k in range(begin, end):
        hand = order[k] & HAND
        column = column_of_hand[k]
        sums.total[column] += 1
        sums.holding[showdowns.hands[hand, 0], column] += 1
        sums.holding[showdowns.hands[hand, 1], column] += showdowns.holds_two


@inlined
def add_showdown(showdowns, order, row_of_hand, column_of_hand, num_rows, num_columns, sums):
    """Fill ``sums.shown`` on one board: for each pair of histories, 2 x (number of wins) + (number of ties).

    The wins are those of the hand with the row's history. Only pairs of hands that share no card count.
    """
    total = sums.total[:num_columns]
    total[:] = 0
    sums.holding[:, :num_columns] = 0
    for row in range(num_rows):
        sums.shown[row, :num_columns] = 0
    # A hand counts once against hands of its own strength, and a second time against stronger ones.
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and not order[end] & STRONGER:
            end += 1
        add_hands(showdowns, order, begin, end, column_of_hand, sums)
        for k in range(begin, end):
            hand = order[k] & HAND
            row = sums.shown[row_of_hand[k]]
            with_first = sums.holding[showdowns.hands[hand, 0]]
            with_second = sums.holding[showdowns.hands[hand, 1]]
            for column in range(num_columns):
                row[column] += total[column] - with_first[column] - with_second[column]
            # The hand itself was counted once, and subtracted once for each of its cards.
            row[column_of_hand[k]] += showdowns.holds_two
        add_hands(showdowns, order, begin, end, column_of_hand, sums)
        begin = end


@inlined
def move_local(rows, columns, num_rows, num_columns, images, sums, meetings):
    """Add the sums over local histories to those over all histories, and set the local ones to 0."""
    weight = np.float64(images)
    for row in range(num_rows):
        local_sums = sums.local[row]
        all_sums = meetings[rows.history[row]]
        for column in range(num_columns):
            all_sums[columns.history[column]] += weight * local_sums[column]
        local_sums[:num_columns] = 0


@kernel(types.void(SHOWDOWNS, DEALING, SIDE, SIDE, types.boolean, SUMS, F8M))
def add_meetings(showdowns, dealing, rows, columns, is_same, sums, meetings):
    """Add up wins and ties over some boards, for each pair of histories of the last round.

    A deal counts 2 if the hand with the row's history wins, 1 if the hands tie, and 0 if it loses.

    Args:
        showdowns: see :class:`Showdowns`.
        dealing: see :class:`Dealing`.
        rows, columns: the histories of the two players, see :class:`Side`.
        is_same: whether ``columns`` is ``rows``.
        sums: see :class:`Sums`; ``local`` must be 0, and is 0 again afterwards.
        meetings: (histories of rows, histories of columns) added to.
    """
    # On at most this many boards, a local sum fits into 32 bits even if all pairs of hands have the same histories.
    most_images = (2**31 - 1) // (2 * showdowns.orders.shape[1] ** 2)
    for board in range(len(dealing.masks)):
        num_rows = place_local(showdowns, board, dealing.masks[board], rows)
        num_columns = num_rows if is_same else place_local(showdowns, board, dealing.masks[board], columns)
        images_since = 0  # number of whole boards in the local sums, images included
        for whole in range(dealing.begin[board], dealing.begin[board + 1]):
            place = dealing.next_row[whole]
            turn = dealing.next_turning[whole]
            shown_rows = place_shown(showdowns, board, place, turn, num_rows, rows)
            shown_columns = shown_rows
            if not is_same:
                shown_columns = place_shown(showdowns, board, place, turn, num_columns, columns)
            order = showdowns.orders[place]
            add_showdown(showdowns, order, rows.of_hand, columns.of_hand, shown_rows, shown_columns, sums)
            images = dealing.next_images[whole]
            images_since += images
            if images_since > most_images:  # empty the local sums before they can overflow
                move_local(rows, columns, num_rows, num_columns, dealing.images[board], sums, meetings)
                images_since = images
            # Add the whole board's sums, once for each board that it stands for.
            for row in range(shown_rows):
                shown_sums = sums.shown[row]
                local_sums = sums.local[rows.local[row]]
                for column in range(shown_columns):
                    local_sums[columns.local[column]] += images * shown_sums[column]
        move_local(rows, columns, num_rows, num_columns, dealing.images[board], sums, meetings)


@kernel(types.int64(I4M, I8S, I8S, I8S, I8S))
def most_local(histories, masks, hand_masks, first, is_there):
    """Return the largest number of local histories (see :class:`Side`) that one of the boards has.

    Args:
        histories: (boards, hands) history of each hand on each board.
        masks: (boards,) cards of each board, as bits.
        hand_masks: (hands,) cards of each hand, as bits.
        first: see :class:`Side`.
        is_there: (histories,) working memory.
    """
    most = 0
    for board in range(len(masks)):
        is_there[:] = 0
        count = 0
        for hand in range(len(hand_masks)):
            history = histories[board, hand]
            if not hand_masks[hand] & masks[board] and not is_there[history]:
                is_there[history] = 1
                count += first[history + 1] - first[history]
        most = max(most, count)
    return most
