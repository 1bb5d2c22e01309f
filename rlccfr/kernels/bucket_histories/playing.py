"""Play of hold'em games by policies that depend on the betting and on the player's own bucket history."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.public.records import CHANCE, FOLD, SMALLEST
from rlccfr.kernels.bucket_histories.draws import draw_hands_and_board, winner_of, write_deal_histories
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.walks.random_words import uniform


class SeatedPolicy(NamedTuple):
    """A policy for both seats, with the buckets that it uses."""

    tables: NamedTuple  # HistoryTables of kernels/bucket_histories/histories.py
    entries: np.ndarray  # (m,) entries to whose positive parts the probabilities are proportional
    first_entries: np.ndarray  # (rounds, 2) each player's first entry in each round
    columns: np.ndarray  # (rounds, 2) number of each player's entries for one history
    histories: np.ndarray  # (2, rounds) bucket histories of both hands in the deal; working memory


@inlined
def drawn_action(policy, number, player, node, lines, line, rng):
    """Draw an action at a decision from the player's policy.

    Args:
        policy: see :class:`SeatedPolicy`.
        number: index of the round.
        player: the player who acts.
        node: the decision's record.
        lines: number of betting lines that lead to the round.
        line: the betting line.
    """
    count = node["num_children"]
    history = policy.histories[player, number]
    start = policy.first_entries[number, player] + history * policy.columns[number, player] + node["column"] + line
    total = 0.0
    for action in range(count):
        total += max(policy.entries[start + action * lines], 0.0)
    if total <= SMALLEST:  # the policy is uniform
        return np.int64(uniform(rng) * count)
    remaining = uniform(rng) * total
    last = 0
    for action in range(count):
        entry = policy.entries[start + action * lines]
        if entry > 0.0:
            remaining -= entry
            last = action
            if remaining < 0.0:
                break
    return last  # rounding may leave a remainder after the last action that has a probability


@inlined
def payoff_of_game(rounds, pots, winner, first, second, rng):
    """Play one game with the cards of a deal, and return player 0's payoff.

    Args:
        rounds, pots: see :func:`play_deals`.
        winner: 1 if player 0 has the stronger hand, -1 if player 1 has, 0 for a tie.
        first, second: the policies of player 0 and of player 1.
    """
    number = 0
    line = 0
    node = 0
    while True:
        arrays = rounds[number]
        record = arrays.nodes[node]
        kind = record["kind"]
        if kind == FOLD:
            return np.float64(arrays.fold_payoffs[record["leaf"] * arrays.lines + line])
        if kind == CHANCE:  # the round's end and its line are the next round's line; after the last round, a showdown
            line += record["leaf"] * arrays.lines
            number += 1
            node = 0
            if number == len(rounds):
                return winner * np.float64(pots[line])
        elif kind == 0:
            node = record["first_child"] + drawn_action(first, number, 0, record, arrays.lines, line, rng)
        else:
            node = record["first_child"] + drawn_action(second, number, 1, record, arrays.lines, line, rng)


@kernel
def play_deals(rounds, pots, first, second, showdowns, cards, rng, payoffs):
    """Play pairs of games; the policies change seats in the second game of each pair, with the same cards.

    Args:
        rounds: tuple of :class:`rlccfr.kernels.bucket_histories.passes.RoundArrays`, whose rows are not read.
        pots: (ends * lines,) chips that each player has put into the pot, for each end of the last round's betting.
        first, second: the two policies, see :class:`SeatedPolicy`.
        showdowns: the order of hands on whole boards, see
            :class:`rlccfr.kernels.bucket_histories.meetings.Showdowns`.
        cards: working memory for draws, see :class:`rlccfr.kernels.bucket_histories.draws.Cards`.
        rng: (1,) state of the generator, advanced in place.
        payoffs: (pairs, 2) overwritten by player 0's payoff in both games of each pair.
    """
    last = len(rounds) - 1
    for pair in range(len(payoffs)):
        draw_hands_and_board(cards, 1 + showdowns.holds_two, rng)
        write_deal_histories(first.tables, cards.hands, cards.masks, first.histories)
        write_deal_histories(second.tables, cards.hands, cards.masks, second.histories)
        winner = winner_of(first.tables, showdowns, cards.hands, cards.masks[last])
        payoffs[pair, 0] = payoff_of_game(rounds, pots, winner, first, second, rng)
        payoffs[pair, 1] = payoff_of_game(rounds, pots, winner, second, first, rng)
