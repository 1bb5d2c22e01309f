"""Passes over the hands that a drawn board allows: they have a row for each hand, not for each bucket history.

This is public chance sampling as in its source (Johanson, Bard, Lanctot, Gibson and Bowling, AAMAS 2012). A hand's
values where the betting ends follow from sums over all hands and over those that hold one of its cards, so they take
O(n) for n hands, not O(n^2).

The same hands are the rows of all rounds. They are ordered by their bucket history in the last round, and so by that of
each round before. The hands of a history are neighbours, and one thread handles all of them. They share the history's
table entries. Each hand adds its regrets. It also adds its share of the policy to the average, so that a history's
weight in the average does not depend on the number of its hands, just as in passes over histories. Two things happen
only once for all hands of a history:

- The source of policies is copied before the first hand. Later hands would otherwise derive their policies from regrets
  that the first hand has already changed.
- Pending discounts are applied at the first hand. They are 1 for the others, since the clock has not moved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.bucket_histories.boards import number_of_set
from rlccfr.kernels.bucket_histories.histories import HISTORY_TABLES, I4M, I8M, I8S, write_board_histories
from rlccfr.kernels.bucket_histories.meetings import SHOWDOWNS, U4M
from rlccfr.kernels.bucket_histories.passes import copy_lines, go_down, go_up
from rlccfr.kernels.bucket_histories.strengths import HAND, STRONGER
from rlccfr.kernels.jit import inlined, kernel, released


class BoardHands(NamedTuple):
    """The hands that a board allows, which are the rows of all rounds, in the order of their bucket histories."""

    counts: np.ndarray  # (rounds,) number of different histories
    history: np.ndarray  # (rounds, hands) the history of each hand
    begins: np.ndarray  # (rounds, hands + 1) for each of the different histories, the first hand that has it
    cards: np.ndarray  # (hands, 2) cards of each hand; if it has one card, the deck's size stands in for the second
    order: np.ndarray  # (hands,) the hands, the weakest first, and the bit STRONGER


BOARD_HANDS = types.NamedTuple((I8S, I8M, I8M, U4M, types.uint16[::1]), BoardHands)


@kernel(types.void(HISTORY_TABLES, SHOWDOWNS, I8S, I4M, I8S, BOARD_HANDS))
def fill_board_hands(tables, showdowns, masks, histories, places, hands):
    """Order the hands that a board allows, by history and by strength.

    Args:
        tables, showdowns: as for :func:`rlccfr.kernels.bucket_histories.draws.chance_iterations`.
        masks: (rounds,) all board cards that are known in each round, as bits.
        histories: (rounds, all hands) overwritten by the history of each hand; -1 for impossible hands.
        places: (histories of the last round + 1,) working memory.
        hands: see :class:`BoardHands`; overwritten.
    """
    last = len(masks) - 1
    write_board_histories(tables, masks, histories)
    board = tables.set_begin[last] + number_of_set(masks[last], tables.choose)
    order = showdowns.orders[tables.row[board]]
    origin = showdowns.origin[tables.turning[board]]
    # 1. Sort by counting: first the number of hands with each history, then the place of its first hand.
    places[:] = 0
    for k in range(len(order)):
        places[histories[last, origin[order[k] & HAND]] + 1] += 1
    for history in range(1, len(places)):
        places[history] += places[history - 1]
    # 2. Put each hand in the next free place of its history, and write the place in the order by strength.
    for k in range(len(order)):
        hand = origin[order[k] & HAND]
        history = histories[last, hand]
        place = places[history]
        places[history] += 1
        for number in range(len(masks)):
            hands.history[number, place] = histories[number, hand]
        hands.cards[place, 0] = showdowns.hands[hand, 0]
        hands.cards[place, 1] = showdowns.hands[hand, 1]
        hands.order[k] = place | (order[k] & STRONGER)
    # 3. In each round, find where the hands of each history begin.
    for number in range(len(masks)):
        count = 0
        for place in range(len(order)):
            if place == 0 or hands.history[number, place] != hands.history[number, place - 1]:
                hands.begins[number, count] = place
                count += 1
        hands.begins[number, count] = len(order)
        hands.counts[number] = count


@released(None)
def pass_hands_down(
    round_arrays, player, source, tables, pending, reach_before, fold_reach, end_reach, scratch, now, mode, begin, end
):
    """Carry the opponent's reach through a round, for the hands of some histories.

    Args:
        round_arrays: the round, with the opponent's hands; ``begins`` has the first hand of each history.
        player, source, tables, pending: see :func:`rlccfr.kernels.bucket_histories.passes.pass_down`.
        reach_before: (hands, lines) reach on the lines that lead to the round.
        fold_reach: (hands, folds * lines) overwritten for these hands.
        end_reach: (hands, ends * lines) overwritten for these hands.
        scratch: overwritten.
        now, mode: see :func:`rlccfr.kernels.bucket_histories.passes.pass_down`.
        begin, end: range of histories.
    """
    begins = round_arrays.begins
    for place in range(begin, end):
        history = round_arrays.history[begins[place]]
        num_alike = begins[place + 1] - begins[place]
        for row in range(begins[place], begins[place + 1]):
            copy_lines(reach_before[round_arrays.above[row]], 0, round_arrays.lines, scratch.vectors, 0)
            go_down(
                round_arrays, history, num_alike, 1 - player, source, tables, pending, fold_reach[row], end_reach[row],
                scratch, now, mode,
            )  # fmt: skip


@released(None)
def pass_hands_up(
    round_arrays, player, source, tables, pending, fold_values, end_values, values_before, scratch, now, ahead, mode,
    begin, end,
):  # fmt: skip
    """Carry the player's values back through a round for some histories' hands, and update these histories' tables.

    Args:
        round_arrays: the round, with the player's hands; ``begins`` has the first hand of each history.
        player, source, tables, pending: see :func:`rlccfr.kernels.bucket_histories.passes.pass_up`.
        fold_values: (hands, folds * lines) the player's values where somebody folds, if the payoff were 1.
        end_values: (hands, ends * lines) the player's values where the betting ends.
        values_before: (hands, lines) overwritten with the values on the lines that lead to the round.
        scratch: overwritten.
        now, ahead, mode: see :func:`rlccfr.kernels.bucket_histories.passes.pass_up`.
        begin, end: range of histories.
    """
    begins = round_arrays.begins
    columns = round_arrays.columns[player]
    for place in range(begin, end):
        history = round_arrays.history[begins[place]]
        first_entry = round_arrays.first_entries[player] + history * columns
        copy_lines(source, first_entry, columns, scratch.entries, 0)
        for row in range(begins[place], begins[place + 1]):
            go_up(
                round_arrays, history, player, scratch.entries, first_entry, tables, pending, fold_values[row],
                end_values[row], scratch, now, ahead, mode,
            )  # fmt: skip
            copy_lines(scratch.vectors, 0, round_arrays.lines, values_before[row], 0)


@inlined
def add_hand(reach, cards, holds_two, sums):
    """Add a hand's reach to the sums of its cards, and to the sum of all hands.

    Args:
        reach: (columns,).
        cards: (2,).
        holds_two: 1 if a hand has two cards, 0 if it has one.
        sums: (cards + 2, at least columns) added to. There is a row for the hands with each card; then a row that is
            always 0, for the missing second card of hands of one card; then the row of all hands.
    """
    first = sums[cards[0]]
    total = sums[len(sums) - 1]
    for column in range(len(reach)):
        first[column] += reach[column]
        total[column] += reach[column]
    if holds_two:
        second = sums[cards[1]]
        for column in range(len(reach)):
            second[column] += reach[column]


@released(None)
def find_fold_values(hands, holds_two, reach, scale, scratch, begin, end):
    """Turn the opponent's reach into the player's values for a payoff of 1 where somebody folds.

    The value of a hand is the sum of the opponent's reach over the hands that share no card with it, times a factor.

    Args:
        hands: see :class:`BoardHands`.
        holds_two: 1 if a hand has two cards, 0 if it has one.
        reach: (hands, folds * lines) the opponent's reach; overwritten by the values in these columns.
        scale: (1,) the factor.
        scratch: ``sums`` is overwritten.
        begin, end: range of columns.
    """
    sums = scratch.sums[0]
    total = sums[len(sums) - 1]
    # The hand itself is subtracted once for each of its cards: with two cards, once too often.
    twice = scratch.reciprocals[1] if holds_two else scratch.reciprocals[0]
    for left in range(begin, end, sums.shape[1]):
        right = min(left + sums.shape[1], end)
        sums[:, :] = scratch.reciprocals[0]
        for row in range(len(hands.cards)):
            add_hand(reach[row, left:right], hands.cards[row], holds_two, sums)
        for row in range(len(hands.cards)):
            values = reach[row, left:right]
            first = sums[hands.cards[row, 0]]
            second = sums[hands.cards[row, 1]]
            for column in range(len(values)):
                values[column] = scale[0] * (total[column] - first[column] - second[column] + twice * values[column])


@inlined
def find_equals_values(hands, begin, end, reach, left, right, weaker, as_weak, factors):
    """Turn the opponent's reach into the player's values for the hands of one strength.

    See :func:`find_showdown_values`.

    Args:
        begin, end: range of ``hands.order``.
        left, right: range of columns.
        weaker: (cards + 2, columns) sums of reach over the weaker hands, less half of the sums over all hands; for the
            rows, see :func:`add_hand`.
        as_weak: like ``weaker``, but over the hands that are weaker or of equal strength.
        factors: factors of the columns.
    """
    weaker_total = weaker[len(weaker) - 1]
    as_weak_total = as_weak[len(as_weak) - 1]
    for k in range(begin, end):
        row = hands.order[k] & HAND
        values = reach[row, left:right]
        weights = factors[left:right]
        weaker_first = weaker[hands.cards[row, 0]]
        weaker_second = weaker[hands.cards[row, 1]]
        as_weak_first = as_weak[hands.cards[row, 0]]
        as_weak_second = as_weak[hands.cards[row, 1]]
        # The hand itself cancels: its reach has the factor 1/2 in one of the two differences, and -1/2 in the other.
        for column in range(len(values)):
            values[column] = weights[column] * (
                (weaker_total[column] - weaker_first[column] - weaker_second[column])
                + (as_weak_total[column] - as_weak_first[column] - as_weak_second[column])
            )


@released(None)
def find_showdown_values(hands, holds_two, reach, factors, scratch, begin, end):
    """Turn the opponent's reach into the player's values at showdowns.

    The value of a hand is the sum of the opponent's reach over weaker hands, less the sum over stronger hands, times
    the column's factor. Hands that share a card with the hand do not count.

    Args:
        hands, holds_two: see :func:`find_fold_values`.
        reach: (hands, ends * lines) the opponent's reach; overwritten by the values in these columns.
        factors: (ends * lines,) factors of the columns.
        scratch: ``sums`` is overwritten.
        begin, end: range of columns.
    """
    weaker = scratch.sums[0]
    as_weak = scratch.sums[1]
    order = hands.order
    last = len(weaker) - 1
    minus_half = scratch.reciprocals.dtype.type(-0.5)
    for left in range(begin, end, weaker.shape[1]):
        right = min(left + weaker.shape[1], end)
        # Both sums begin at minus half of all hands. So they add up to the weaker hands less the stronger ones.
        weaker[:, :] = scratch.reciprocals[0]
        for row in range(len(hands.cards)):
            add_hand(reach[row, left:right], hands.cards[row], holds_two, weaker)
        for k in range(len(weaker)):
            for column in range(right - left):
                weaker[k, column] *= minus_half
                as_weak[k, column] = weaker[k, column]
        first = 0
        while first < len(order):
            stop = first + 1
            while stop < len(order) and not order[stop] & STRONGER:
                stop += 1
            for k in range(first, stop):
                row = order[k] & HAND
                add_hand(reach[row, left:right], hands.cards[row], holds_two, as_weak)
            find_equals_values(hands, first, stop, reach, left, right, weaker, as_weak, factors)
            # The reach of these hands is overwritten by now, but the sums of their cards still contain it.
            for k in range(first, stop):
                row = order[k] & HAND
                copy_lines(as_weak[hands.cards[row, 0]], 0, right - left, weaker[hands.cards[row, 0]], 0)
                copy_lines(as_weak[hands.cards[row, 1]], 0, right - left, weaker[hands.cards[row, 1]], 0)
            copy_lines(as_weak[last], 0, right - left, weaker[last], 0)
            first = stop
