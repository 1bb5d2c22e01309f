"""Passes over bucket histories, for one player: the opponent's reach goes down, the player's values come up.

A pass has three parts. ``pass_down`` goes through the rounds and leaves the opponent's reach at every leaf. Matrix
products then turn the reach of all opponent histories into the values of all of the player's histories (see
:mod:`rlccfr.engine.bucket_histories.sweeps`). ``pass_up`` goes back through the rounds and updates the player's tables.

In each round, the kernels visit one history after another, and go through the round's tree of actions with vectors over
the betting *lines*, which are the ways to play the rounds before. A history's vectors lie in one array, ``vectors``,
node by node: so the vectors of a decision's actions, which are its children's, are neighbours. Table entries of a
history are ordered by decision, action and line. The operations on them are those of
:mod:`rlccfr.kernels.public.vectors`, with lines in place of private states.

A pass may visit only some histories, its *rows*: those that a drawn board or deal allows. An iteration's discounts
apply to all histories, visited or not. So each history remembers, as logarithms, the products of all discounts up to
its last update.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.kernels.jit import inlined, released
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
from rlccfr.kernels.public.drawing import average_decay, regret_discounts
from rlccfr.kernels.public.vectors import (
    add,
    add_to_average,
    fill_largest,
    fill_mean,
    fill_policy,
    multiply,
    predict_regrets,
    update_row_regrets,
    update_rows_with_momentum,
)

# What a pass does at the player's own decisions.
UPDATE = 0  # change regrets; on the way down, add the opponent's policies to its average
MEAN = 1  # take the mean of the actions' values by the player's policy
BEST = 2  # take the largest of the actions' values
RESPOND = 3  # like BEST, and write 1 for the first of the best actions, 0 for the others, to the table of regrets


class RoundArrays(NamedTuple):
    """A round's tree of actions, and the rows that a pass visits in the round."""

    nodes: np.ndarray  # of LINE_NODE
    history: np.ndarray  # (rows,) the bucket history of each row
    above: np.ndarray  # (rows,) index of the row that each row continues, among the rows of the round before
    begins: np.ndarray  # (rows of the round before + 1,) for each row of the round before, the first that continues it
    lines: int  # number of betting lines that lead to the round
    first_entries: np.ndarray  # (2,) each player's first table entry in this round
    columns: np.ndarray  # (2,) number of each player's table entries for one history
    first_pending: np.ndarray  # (2,) each player's first entry of pending discounts in this round
    fold_payoffs: np.ndarray  # (folds * lines,) player 0's payoff


class Pending(NamedTuple):
    """Discounts not yet applied to histories that passes have not visited; an entry per player, round and history."""

    is_used: bool  # whether passes draw cards; otherwise, discounts are never pending
    regret_log: np.ndarray  # (entries, 2) logarithms of the products of all discounts up to the last update
    average_log: np.ndarray  # (entries,) as regret_log, for policy sums
    clock: np.ndarray  # (3,) these logarithms up to now: for positive regrets, for other regrets, and for policy sums


NO_PENDING = Pending(is_used=False, regret_log=np.zeros((0, 2)), average_log=np.zeros(0), clock=np.zeros(3))
"""The pending discounts of exact passes."""


class Scratch(NamedTuple):
    """Working arrays of one thread."""

    vectors: np.ndarray  # a vector over lines for each node, then a policy, then a vector of totals
    reciprocals: np.ndarray  # [A] is 1 / A for each number of actions A, and [0] is 0, in the tables' type
    entries: np.ndarray  # in passes over hands, one history's entries of the source of policies
    sums: np.ndarray  # in passes over hands, (2, cards + 2, columns) sums of reach; see hands.py in this folder


def vectors_size(num_nodes: int, num_lines: int, max_actions: int) -> int:
    """Return the length that ``Scratch.vectors`` needs for a round."""
    return (num_nodes + max_actions + 1) * num_lines


@inlined
def copy_lines(source, first, lines, target, start):
    """Copy ``lines`` entries of a vector, beginning at ``first``, to another vector, beginning at ``start``."""
    entries = source[first : first + lines]
    copies = target[start : start + lines]
    for line in range(lines):
        copies[line] = entries[line]


@inlined
def update_decision(vectors, values, value, count, lines, tables, start, discounts, now, ahead, zero, one):
    """Update a decision's regrets on all lines; with a prediction or momentum, also the entries of ``tables.policy``.

    The next policy is proportional to these entries, or else to the regrets.

    Args:
        values: first entry in ``vectors`` of the actions' values, (count, lines).
        value: first entry of their means, (lines,).
        start: the decision's first table entry.
        discounts: factors on positive and on other regrets.
    """
    floor = now[FLOOR]
    if len(tables.movement):
        update_rows_with_momentum(
            vectors, values, value, count, lines, tables, start, lines, discounts, floor, now, ahead, zero, one
        )
        return
    update_row_regrets(vectors, values, value, count, lines, tables.regret, start, lines, discounts, floor, zero)
    if len(tables.policy):
        predict_regrets(vectors, values, value, count, lines, tables, start, lines, ahead, zero, one)


@inlined
def write_first_best(vectors, values, value, count, lines, table, start, zero, one):
    """Write to a table, on all lines, 1 for the first of a decision's best actions and 0 for the others."""
    best = vectors[value : value + lines]
    for line in range(lines):
        is_open = True
        for action in range(count):
            is_first = is_open and vectors[values + action * lines + line] == best[line]
            table[start + action * lines + line] = one if is_first else zero
            is_open = is_open and not is_first


@inlined
def go_down(
    round_arrays, history, num_alike, opponent, source, tables, pending, fold_reach, end_reach, scratch, now, mode
):
    """Carry the opponent's reach of one row through a round.

    Args:
        history: the row's bucket history.
        num_alike: number of rows with this history; each adds its share to the history's average.
        fold_reach, end_reach: (folds * lines,) and (ends * lines,) overwritten by the reach at the leaves.
        scratch: the first vector holds the reach on the lines that lead to the round; the others are overwritten.
    """
    nodes = round_arrays.nodes
    lines = round_arrays.lines
    vectors = scratch.vectors
    policy = len(nodes) * lines
    first_entry = round_arrays.first_entries[opponent] + history * round_arrays.columns[opponent]
    decay = scratch.reciprocals[1]
    if mode == UPDATE:
        decay = now[AVERAGE_DECAY]
        if pending.is_used:
            entry = round_arrays.first_pending[opponent] + history
            decay = scratch.reciprocals.dtype.type(average_decay(pending, entry))
    for number in range(len(nodes)):
        node = nodes[number]
        reach = number * lines
        kind = node["kind"]
        count = node["num_children"]
        first_child = node["first_child"] * lines
        if kind == CHANCE:  # the betting of the round has ended
            copy_lines(vectors, reach, lines, end_reach, node["leaf"] * lines)
        elif kind == FOLD:
            copy_lines(vectors, reach, lines, fold_reach, node["leaf"] * lines)
        elif kind == opponent:
            start = first_entry + node["column"]
            total = policy + count * lines
            fill_policy(source, start, lines, count, lines, scratch.reciprocals, vectors, policy, total)
            if mode == UPDATE:
                weights = reach
                if num_alike > 1:
                    weights = total  # fill_policy no longer needs this vector
                    share = scratch.reciprocals.dtype.type(1.0 / num_alike)
                    for line in range(lines):
                        vectors[weights + line] = share * vectors[reach + line]
                add_to_average(vectors, weights, policy, count, lines, tables.policy_sum, start, lines, decay)
            # The reach of a child is the node's reach times the probability of the action.
            for action in range(count):
                multiply(vectors, reach, policy + action * lines, lines, first_child + action * lines)
        else:  # the player acts, which leaves the opponent's reach as it is
            for action in range(count):
                copy_lines(vectors, reach, lines, vectors, first_child + action * lines)


@inlined
def go_up(
    round_arrays, history, player, source, source_begin, tables, pending, fold_values, end_values, scratch, now, ahead,
    mode,
):  # fmt: skip
    """Carry the player's values of one row back through a round, and update its history's tables there.

    Args:
        history: the row's bucket history.
        source_begin: table entry with which ``source`` begins; 0 for the whole table.
        fold_values: (folds * lines,) the player's values where somebody folds, if the payoff were 1.
        end_values: (ends * lines,) the player's values where the betting ends.
        scratch: the first vector becomes the values on the lines that lead to the round; the others are overwritten.
    """
    nodes = round_arrays.nodes
    lines = round_arrays.lines
    vectors = scratch.vectors
    reciprocals = scratch.reciprocals
    zero = reciprocals[0]
    one = reciprocals[1]
    sign = one if player == 0 else -one
    policy = len(nodes) * lines
    first_entry = round_arrays.first_entries[player] + history * round_arrays.columns[player]
    discounts = (one, one)
    if mode == UPDATE:
        discounts = (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
        if pending.is_used:
            positive, negative = regret_discounts(pending, round_arrays.first_pending[player] + history)
            discounts = (reciprocals.dtype.type(positive), reciprocals.dtype.type(negative))
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        value = number * lines
        kind = node["kind"]
        count = node["num_children"]
        values = node["first_child"] * lines
        start = first_entry + node["column"]
        if kind == CHANCE:
            copy_lines(end_values, node["leaf"] * lines, lines, vectors, value)
        elif kind == FOLD:
            leaf = node["leaf"] * lines
            payoffs = round_arrays.fold_payoffs[leaf : leaf + lines]
            products = fold_values[leaf : leaf + lines]
            for line in range(lines):
                vectors[value + line] = sign * payoffs[line] * products[line]
        elif kind != player:  # the opponent's probabilities are in the values already, so these add up
            copy_lines(vectors, values, lines, vectors, value)
            for action in range(1, count):
                add(vectors, values + action * lines, lines, value)
        elif mode == BEST:
            fill_largest(vectors, values, count, lines, value)
        elif mode == RESPOND:
            fill_largest(vectors, values, count, lines, value)
            write_first_best(vectors, values, value, count, lines, tables.regret, start, zero, one)
        else:
            total = policy + count * lines
            fill_policy(source, start - source_begin, lines, count, lines, reciprocals, vectors, policy, total)
            fill_mean(vectors, policy, values, count, lines, value, zero)
            if mode == UPDATE:
                update_decision(vectors, values, value, count, lines, tables, start, discounts, now, ahead, zero, one)


@released(None)
def pass_down(
    round_arrays, player, source, tables, pending, reach_before, fold_reach, end_reach, scratch, now, mode, begin, end
):
    """Carry the opponent's reach through a round, for some of its rows.

    Args:
        round_arrays: the round, with the opponent's rows.
        player: the player for whom the pass is made; the reach is the other player's.
        source: (m,) entries to whose positive parts the policies are proportional.
        tables: in the mode UPDATE, the opponent's entries of ``policy_sum`` are changed in place.
        pending: see :class:`Pending`; in the mode UPDATE, ``average_log`` is changed in place.
        reach_before: (rows of the round before, lines) reach on the lines that lead to the round.
        fold_reach: (rows, folds * lines) overwritten for these rows.
        end_reach: (rows, ends * lines) overwritten for these rows.
        scratch: overwritten.
        now: this iteration's row of the schedule; read in the mode UPDATE only.
        begin, end: range of rows.
    """
    lines = round_arrays.lines
    for row in range(begin, end):
        copy_lines(reach_before[round_arrays.above[row]], 0, lines, scratch.vectors, 0)
        history = round_arrays.history[row]
        go_down(
            round_arrays, history, 1, 1 - player, source, tables, pending, fold_reach[row], end_reach[row], scratch,
            now, mode,
        )  # fmt: skip


@released(None)
def pass_up(
    round_arrays, player, source, tables, pending, fold_values, end_values, values_before, scratch, now, ahead, mode,
    begin, end,
):  # fmt: skip
    """Carry the player's values back through a round, and update its tables there.

    Args:
        round_arrays: the round, with the player's rows.
        player: the player whose values these are.
        source: see :func:`pass_down`.
        tables: in the mode UPDATE, the player's entries are changed in place; in RESPOND, those of ``regret`` are
            overwritten.
        pending: see :class:`Pending`; in the mode UPDATE, ``regret_log`` is changed in place.
        fold_values: (rows, folds * lines) the player's values where somebody folds, if the payoff were 1.
        end_values: (rows, ends * lines) the player's values where the betting ends.
        values_before: (rows of the round before, lines) overwritten with the values on the lines that lead to the
            round.
        scratch: overwritten.
        now, ahead: schedule rows of this iteration and of the next; read in the mode UPDATE only.
        begin, end: range of rows of the round before, whose continuations are visited.
    """
    lines = round_arrays.lines
    vectors = scratch.vectors
    for before in range(begin, end):
        sums = values_before[before]
        for line in range(lines):
            sums[line] = scratch.reciprocals[0]
        for row in range(round_arrays.begins[before], round_arrays.begins[before + 1]):
            history = round_arrays.history[row]
            go_up(
                round_arrays, history, player, source, 0, tables, pending, fold_values[row], end_values[row], scratch,
                now, ahead, mode,
            )  # fmt: skip
            for line in range(lines):
                sums[line] += vectors[line]
