"""Strengths of hands: orders of hands on whole boards, numbers of hands that each beats, and sums for earlier rounds.

A hand's strength HS on a whole board is its probability of winning plus half that of a tie. In earlier rounds, the sum
of HS^2 over the whole boards that may follow takes the place of HS.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.bucket_histories.boards import count_up, fill_remaining, next_set, number_of_set
from rlccfr.kernels.jit import inlined, kernel

I8S = types.int64[::1]
I8M = types.int64[:, ::1]
I4S = types.int32[::1]
I2M = types.int16[:, ::1]
U2M = types.uint16[:, ::1]

STRONGER = 1 << 15
"""Bit of an entry in an order of hands; it is set if the entry's hand is stronger than the hand before it."""

HAND = STRONGER - 1
"""Mask of the other bits of such an entry, which hold the index of the hand."""

DIGIT = 11
"""Number of bits of a digit by which hands are sorted. Strengths have at most two digits, 22 bits."""


@inlined
def sort_by_digit(hands_in, hands_out, strength, shift, begin):
    """Sort hands by one digit of their strength; those with equal digits keep their order.

    Args:
        hands_in, hands_out: (hands,) indices of hands, before and after.
        strength: strength of each hand.
        shift: number of bits below the digit.
        begin: (2 ** DIGIT + 1,) working memory.
    """
    begin[:] = 0
    for k in range(len(hands_in)):
        begin[((strength[hands_in[k]] >> shift) & (2**DIGIT - 1)) + 1] += 1
    for digit in range(2**DIGIT):
        begin[digit + 1] += begin[digit]
    for k in range(len(hands_in)):
        digit = (strength[hands_in[k]] >> shift) & (2**DIGIT - 1)
        hands_out[begin[digit]] = hands_in[k]
        begin[digit] += 1


@kernel(types.void(I8M, I8S, I8S, I8S, U2M))
def fill_orders(strengths, unsorted, by_low_digit, begin, orders):
    """Write the possible hands on each board, the weakest first.

    Args:
        strengths: (boards, hands) strength of each hand; -1 for hands that hold a card of the board.
        unsorted, by_low_digit: (possible hands,) working memory.
        begin: (2 ** DIGIT + 1,) working memory.
        orders: (boards, possible hands) overwritten by the index of each hand, and the bit :data:`STRONGER`.
    """
    for board in range(len(strengths)):
        strength = strengths[board]
        count = 0
        for hand in range(len(strength)):
            if strength[hand] >= 0:
                unsorted[count] = hand
                count += 1
        sort_by_digit(unsorted, by_low_digit, strength, 0, begin)
        sort_by_digit(by_low_digit, unsorted, strength, DIGIT, begin)
        for k in range(count):
            hand = unsorted[k]
            is_stronger = k > 0 and strength[hand] > strength[unsorted[k - 1]]
            orders[board, k] = hand | STRONGER if is_stronger else hand


@kernel(types.void(U2M, I8M, types.int64, I8S, U2M))
def fill_half_pairs(orders, hands, holds_two, holding, half_pairs):
    """Write for each hand on each board: 2 x (number of hands that it beats) + (number of hands that it ties with).

    Only hands that share no card with it count. Divided by twice the number of these hands, this is the hand's strength
    HS: the probability of winning plus half the probability of a tie.

    Args:
        orders: see :func:`fill_orders`.
        hands: (hands, 2) cards.
        holds_two: 1 if a hand has two cards, 0 if it has one.
        holding: (cards + 1,) working memory.
        half_pairs: (boards, hands) overwritten; 0 for hands that hold a card of the board.
    """
    for board in range(len(orders)):
        order = orders[board]
        half_pairs[board, :] = 0
        # A hand counts once against hands of its own strength, and a second time against stronger ones.
        holding[:] = 0
        total = 0
        begin = 0
        while begin < len(order):
            end = begin
            while end < len(order) and (end == begin or not order[end] & STRONGER):
                hand = order[end] & HAND
                total += 1
                holding[hands[hand, 0]] += 1
                holding[hands[hand, 1]] += holds_two
                end += 1
            for k in range(begin, end):
                hand = order[k] & HAND
                # The hand itself was counted once, and subtracted once for each of its cards.
                met = total - holding[hands[hand, 0]] - holding[hands[hand, 1]] + holds_two
                half_pairs[board, hand] = met
            for k in range(begin, end):
                hand = order[k] & HAND
                total += 1
                holding[hands[hand, 0]] += 1
                holding[hands[hand, 1]] += holds_two
            begin = end


@inlined
def add_following(masks, choose, row, turning, image, values, squared, chosen, remaining, sums):
    """Add up values over the boards that follow each board; see :func:`add_sums`."""
    num_cards = len(remaining)
    for board in range(len(masks)):
        count = fill_remaining(masks[board], num_cards, remaining)
        count_up(chosen)
        sums[board, :] = 0
        while True:
            mask = masks[board]
            for k in range(len(chosen)):
                mask |= 1 << remaining[chosen[k]]
            number = number_of_set(mask, choose)
            next_row = row[number]
            turn = turning[number]
            for hand in range(image.shape[1]):
                value = np.int64(values[next_row, image[turn, hand]])
                sums[board, hand] += value * value if squared else value
            if not next_set(chosen, count):
                break


@kernel(types.void(I8S, I8M, I4S, I4S, I2M, U2M, I8S, I8S, I8M))
def add_squares(masks, choose, row, turning, image, values, chosen, remaining, sums):
    """Add up HS^2 over the whole boards that follow each board of the round before the last.

    For earlier rounds, see :func:`add_sums`, which also explains the arguments.
    """
    add_following(masks, choose, row, turning, image, values, True, chosen, remaining, sums)


@kernel(types.void(I8S, I8M, I4S, I4S, I2M, I8M, I8S, I8S, I8M))
def add_sums(masks, choose, row, turning, image, values, chosen, remaining, sums):
    """Compute each board's sums of HS^2 from those of the boards that follow it in the next round.

    Args:
        masks: (boards,) cards of each board.
        choose: see :func:`rlccfr.kernels.bucket_histories.boards.number_of_set`.
        row, turning: (sets of the next round,) see :class:`rlccfr.games.bucket_histories.boards.Boards`.
        image: (permutations, hands) the hand to which each permutation maps each hand.
        values: (rows of the next round, hands) sums of HS^2; 0 for hands that hold a card of the board.
        chosen: (new cards,) working memory.
        remaining: (cards,) working memory.
        sums: (boards, hands) overwritten.
    """
    add_following(masks, choose, row, turning, image, values, False, chosen, remaining, sums)
