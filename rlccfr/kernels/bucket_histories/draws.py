"""Draws of deals and boards from the real deck, and the bucket histories that hands have on them.

Under ``chance``, each player's update draws the hands of both players and the whole board, and visits the one bucket
history that each player then has. Under ``public_chance``, an iteration draws a board, and its passes visit all
histories that hands have on it. A pair of histories is drawn with the probability with which the game deals it, so the
expected regrets are those of an exact pass (Johanson, Bard, Lanctot, Gibson and Bowling, AAMAS 2012).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.bucket_histories.boards import count_up, number_of_set
from rlccfr.kernels.bucket_histories.histories import HISTORY_TABLES, I4M, I4S, I8S, continued, write_board_histories
from rlccfr.kernels.bucket_histories.meetings import SHOWDOWNS, SUMS, U4S, add_showdown
from rlccfr.kernels.bucket_histories.passes import UPDATE, copy_lines, go_down, go_up
from rlccfr.kernels.bucket_histories.strengths import HAND, STRONGER
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.walks.random_words import uniform


class Cards(NamedTuple):
    """The deck, the indices of hands, and working memory for draws of cards.

    ``hand_of`` and ``new_cards`` are constant; the other arrays are working memory.
    """

    hand_of: np.ndarray  # (cards, cards) index of the hand of two cards, or of one card on the diagonal
    deck: np.ndarray  # (cards,) the cards; those that have been drawn come first
    masks: np.ndarray  # (rounds,) the board cards that are known in each round, as bits
    new_cards: np.ndarray  # (rounds,) number of board cards that are dealt at the start of each round
    hands: np.ndarray  # (2,) each player's hand
    histories: np.ndarray  # (2, rounds) each player's bucket history in each round


@inlined
def draw_cards(deck, first, count, rng):
    """Draw some of the cards of a deck that have not been drawn yet, and return them as bits.

    Args:
        deck: (cards,) the cards drawn so far come first; changed in place.
        first: number of cards drawn so far.
        count: number of cards to draw.
    """
    mask = 0
    for k in range(first, first + count):
        chosen = k + np.int64(uniform(rng) * (len(deck) - k))
        card = deck[chosen]
        deck[chosen] = deck[k]
        deck[k] = card
        mask |= 1 << card
    return mask


@inlined
def draw_board(cards, first, rng):
    """Draw a whole board, and write the cards that are known in each round to ``cards.masks``.

    Args:
        first: number of cards drawn so far.
    """
    mask = 0
    for number in range(len(cards.masks)):
        count = cards.new_cards[number]
        mask |= draw_cards(cards.deck, first, count, rng)
        cards.masks[number] = mask
        first += count


@inlined
def draw_hands_and_board(cards, private, rng):
    """Draw both players' hands and a board.

    Args:
        cards: ``deck``, ``hands`` and ``masks`` are overwritten.
        private: number of cards of a hand.
    """
    count_up(cards.deck)  # all cards are back, so that a draw depends on the generator's state alone
    for player in range(2):
        draw_cards(cards.deck, player * private, private, rng)
        cards.hands[player] = cards.hand_of[cards.deck[player * private], cards.deck[(player + 1) * private - 1]]
    draw_board(cards, 2 * private, rng)


@inlined
def write_deal_histories(tables, hands, masks, histories):
    """Write the bucket histories of both players' hands on a board.

    Args:
        tables: see :class:`rlccfr.kernels.bucket_histories.histories.HistoryTables`.
        hands: (2,) each player's hand.
        masks: (rounds,) all board cards that are known in each round, as bits.
        histories: (2, rounds) overwritten by each player's bucket history in each round.
    """
    for number in range(len(masks)):
        board = tables.set_begin[number] + number_of_set(masks[number], tables.choose)
        for player in range(2):
            before = histories[player, number - 1] if number else 0
            histories[player, number] = continued(
                tables, number, before, tables.row[board], tables.turning[board], hands[player]
            )


@inlined
def winner_of(tables, showdowns, hands, mask):
    """Return 1 if player 0's hand wins on a whole board, -1 if player 1's does, 0 for a tie.

    Args:
        hands: (2,) each player's hand.
        mask: the board's cards, as bits.
    """
    board = tables.set_begin[len(tables.set_begin) - 2] + number_of_set(mask, tables.choose)
    turn = tables.turning[board]
    # Look both hands up in the order of hands on this board, the weakest first.
    first = tables.image[turn, hands[0]]
    second = tables.image[turn, hands[1]]
    order = showdowns.orders[tables.row[board]]
    k = 0
    while (order[k] & HAND) != first and (order[k] & HAND) != second:
        k += 1
    # This hand is not the stronger one. The other is stronger if STRONGER is set at it or at a hand between the two.
    weaker_is_first = (order[k] & HAND) == first
    other = second if weaker_is_first else first
    is_stronger = False
    while (order[k] & HAND) != other:
        k += 1
        is_stronger = is_stronger or (order[k] & STRONGER) != 0
    if not is_stronger:
        return 0
    return -1 if weaker_is_first else 1


@kernel
def chance_iterations(
    rounds, tables_of_run, source, pending, tables, showdowns, cards, rng, pots, leaves, scratch, counts, schedule,
    logs, cost, max_nodes, first_player, end_player,
):  # fmt: skip
    """Run up to ``len(schedule) - 1`` iterations, each with a deal for player 0's update and another for player 1's.

    Args:
        rounds: tuple of :class:`rlccfr.kernels.bucket_histories.passes.RoundArrays`.
        tables_of_run, source, pending: see :func:`rlccfr.kernels.bucket_histories.passes.pass_down`.
        tables, showdowns: see :class:`rlccfr.kernels.bucket_histories.histories.HistoryTables` and
            :class:`rlccfr.kernels.bucket_histories.meetings.Showdowns`.
        cards: see :class:`Cards`; its working memory is overwritten.
        rng: (1,) state of the generator, advanced in place.
        pots: (ends * lines,) chips that each player has put into the pot, for each end of the last round's betting.
        leaves: (2, rounds, leaves) working memory for folds and for ends.
        scratch: see :class:`rlccfr.kernels.bucket_histories.passes.Scratch`.
        counts: (2,) iterations done and bucket histories visited; added to in place.
        schedule: (iterations + 1, 5 + p) in the tables' type.
        logs: (iterations, 3) logarithms of the discounts of positive and of other regrets, and of policy sums.
        cost: number of bucket histories that an iteration visits.
        max_nodes: the call ends with the iteration in which this number of visited bucket histories is reached.
        first_player, end_player: range of the players to update; an iteration is counted if player 1 is one of them.
    """
    last = len(rounds) - 1
    met_before = counts[1]
    for t in range(len(schedule) - 1):
        for column in range(3):
            pending.clock[column] += logs[t, column]
        for player in range(first_player, end_player):
            # 1. Draw a deal. It gives each player one bucket history per round, and decides who wins a showdown.
            draw_hands_and_board(cards, 1 + showdowns.holds_two, rng)
            write_deal_histories(tables, cards.hands, cards.masks, cards.histories)
            winner = winner_of(tables, showdowns, cards.hands, cards.masks[last])
            sign = leaves.dtype.type(winner if player == 0 else -winner)
            # 2. Down, round by round: the opponent's reach, which is 1 at the root.
            scratch.vectors[0] = scratch.reciprocals[1]
            for number in range(len(rounds)):
                arrays = rounds[number]
                if number:
                    copy_lines(leaves[1, number - 1], 0, arrays.lines, scratch.vectors, 0)
                go_down(
                    arrays, cards.histories[1 - player, number], 1, 1 - player, source, tables_of_run, pending,
                    leaves[0, number], leaves[1, number], scratch, schedule[t], UPDATE,
                )  # fmt: skip
            # 3. At showdowns, the opponent's reach times what the player wins. ``go_up`` does the same at folds.
            for leaf in range(len(pots)):
                leaves[1, last, leaf] *= sign * pots[leaf]
            # 4. Up again: the player's values, regrets and policies.
            for number in range(last, -1, -1):
                arrays = rounds[number]
                go_up(
                    arrays, cards.histories[player, number], player, source, 0, tables_of_run, pending,
                    leaves[0, number], leaves[1, number], scratch, schedule[t], schedule[t + 1], UPDATE,
                )  # fmt: skip
                if number:
                    copy_lines(scratch.vectors, 0, arrays.lines, leaves[1, number - 1], 0)
        if end_player == 2:
            counts[0] += 1
            counts[1] += cost
        if counts[1] - met_before >= max_nodes:
            return


class BoardRows(NamedTuple):
    """The bucket histories that hands have on a board. They are the rows of each round, in ascending order."""

    counts: np.ndarray  # (rounds,) number of rows
    history: np.ndarray  # (rounds, rows) the history of each row
    above: np.ndarray  # (rounds, rows) index of the row that each row continues, among the rows of the round before
    begins: np.ndarray  # (rounds, rows + 1) for each row of the round before, the first row that continues it


BOARD_ROWS = types.NamedTuple((I8S, types.int64[:, ::1], types.int64[:, ::1], types.int64[:, ::1]), BoardRows)
CARDS = types.NamedTuple((types.int64[:, ::1], I8S, I8S, I8S, I8S, types.int64[:, ::1]), Cards)


@inlined
def number_rows_above(histories, order, origin, of_hand, rows):
    """For each round before the last, number the histories that hands have on a board; see :func:`fill_board_rows`.

    Args:
        of_hand: (possible hands,) the row of each hand of ``order`` in the last round; overwritten.
    """
    for number in range(len(rows.counts) - 1, 0, -1):
        # Each row's history of the round before is that of any of its hands.
        for k in range(len(order)):
            rows.above[number, of_hand[k]] = histories[number - 1, origin[order[k] & HAND]]
        count = 0
        for row in range(rows.counts[number]):
            history = rows.above[number, row]
            # Histories ascend with those that they continue.
            if row == 0 or history != rows.history[number - 1, count - 1]:
                rows.history[number - 1, count] = history
                rows.begins[number, count] = row
                count += 1
            rows.above[number, row] = count - 1
        rows.begins[number, count] = rows.counts[number]
        rows.counts[number - 1] = count
        for k in range(len(order)):
            of_hand[k] = rows.above[number, of_hand[k]]
    for row in range(rows.counts[0]):
        rows.above[0, row] = 0
    rows.begins[0, 0] = 0
    rows.begins[0, 1] = rows.counts[0]


@kernel(types.void(CARDS, types.uint64[::1]))
def draw_board_masks(cards, rng):
    """Draw a whole board.

    Args:
        cards: see :class:`Cards`; ``deck`` and ``masks`` are overwritten.
        rng: (1,) state of the generator, advanced in place.
    """
    count_up(cards.deck)  # all cards are back, so that a draw depends on the generator's state alone
    draw_board(cards, 0, rng)


@kernel(types.void(HISTORY_TABLES, SHOWDOWNS, I8S, I4M, I4S, BOARD_ROWS, U4S, SUMS))
def fill_board_rows(tables, showdowns, masks, histories, row_of, rows, of_hand, sums):
    """Number the histories that hands have on a board, and count the wins and ties of each pair of histories.

    Args:
        tables, showdowns: as for :func:`chance_iterations`.
        masks: (rounds,) all board cards that are known in each round, as bits.
        histories: (rounds, hands) overwritten by the history of each hand; -1 for impossible hands.
        row_of: (histories of the last round,) working memory.
        rows: overwritten.
        of_hand: (possible hands,) working memory.
        sums: see :class:`rlccfr.kernels.bucket_histories.meetings.Sums`; ``shown`` is overwritten by twice the number
            of pairs in which the row's hand wins, plus the number of ties.
    """
    last = len(masks) - 1
    write_board_histories(tables, masks, histories)
    board = tables.set_begin[last] + number_of_set(masks[last], tables.choose)
    row = tables.row[board]
    turn = tables.turning[board]
    # 1. Mark the histories that possible hands have in the last round, and number them in their order.
    order = showdowns.orders[row]
    row_of[:] = -1
    for k in range(len(order)):
        row_of[histories[last, showdowns.origin[turn, order[k] & HAND]]] = 0
    count = 0
    for history in range(len(row_of)):
        if row_of[history] == 0:
            row_of[history] = count
            rows.history[last, count] = history
            count += 1
    rows.counts[last] = count
    # 2. The row of each hand, the weakest hand first; then wins and ties by pairs of rows.
    for k in range(len(order)):
        of_hand[k] = row_of[histories[last, showdowns.origin[turn, order[k] & HAND]]]
    add_showdown(showdowns, order, of_hand, of_hand, count, count, sums)
    # 3. The rows of the rounds before.
    number_rows_above(histories, order, showdowns.origin[turn], of_hand, rows)
