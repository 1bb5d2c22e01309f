"""Passes over bucket histories, for one player: the opponent's reach goes down, the player's values come up.

A pass has three parts. ``pass_down`` goes through the rounds and leaves the opponent's reach at every leaf. Matrix
products then turn the reach of all opponent histories into the values of all of the player's histories (see
:mod:`rlccfr.engine.bucket_histories.sweeps`). ``pass_up`` goes back through the rounds and updates the player's tables.

In each round, the kernels visit one history after another, and go through the round's tree of actions with vectors over
the betting lines. A history's vectors lie in one array, ``vectors``, node by node: so the vectors of a decision's
actions, which are its children's, are neighbours. Table entries of a history are ordered by decision, action and line;
their operations are those over private states in :mod:`rlccfr.kernels.public.vectors`, with lines as rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.kernels.jit import inlined, released
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
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
RESPOND = 3  # the same, and write 1 for the first of the best actions, 0 for the others, to the table of regrets


class RoundArrays(NamedTuple):
    """A round as kernels read it."""

    nodes: np.ndarray  # of LINE_NODE
    above: np.ndarray  # (histories,) the history of the round before that each one continues
    begins: np.ndarray  # (histories of the round before + 1,) first history that continues each one
    lines: int  # number of betting lines that lead to the round
    first_entries: np.ndarray  # (2,) each player's first table entry in this round
    columns: np.ndarray  # (2,) number of each player's table entries for one history
    fold_payoffs: np.ndarray  # (folds * lines,) player 0's payoff


def vectors_size(num_nodes: int, num_lines: int, max_actions: int) -> int:
    """Return the length of the working array of a thread: a vector per node, a policy, and a vector of totals."""
    return (num_nodes + max_actions + 1) * num_lines


@inlined
def copy_lines(source, first, lines, target, start):
    """Copy ``lines`` entries of a vector, from index ``first`` on, to another vector, from index ``start`` on."""
    entries = source[first : first + lines]
    copies = target[start : start + lines]
    for line in range(lines):
        copies[line] = entries[line]


@inlined
def update_decision(vectors, values, value, count, lines, tables, start, now, ahead, zero, one):
    """Update a decision's regrets on all lines, and what the next policy is proportional to.

    Args:
        values: first entry in ``vectors`` of the actions' values, (count, lines).
        value: first entry of their means, (lines,).
        start: the decision's first table entry.
    """
    floor = now[FLOOR]
    discounts = (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
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
    """Write 1 for the first of a decision's best actions and 0 for the others to a table, on all lines."""
    best = vectors[value : value + lines]
    for line in range(lines):
        is_open = True
        for action in range(count):
            is_first = is_open and vectors[values + action * lines + line] == best[line]
            table[start + action * lines + line] = one if is_first else zero
            is_open = is_open and not is_first


@released(None)
def pass_down(
    round_arrays, player, source, tables, reach_before, fold_reach, reach_after, vectors, reciprocals, now, mode,
    begin, end,
):  # fmt: skip
    """Carry the opponent's reach through a round, for some of its bucket histories.

    Args:
        player: the player for whom the pass is made; the reach is the other player's.
        source: (m,) entries to whose positive parts the policies are proportional.
        tables: in the mode UPDATE, the opponent's entries of ``policy_sum`` are changed in place.
        reach_before: (histories of the round before, lines) reach on the lines that lead to the round.
        fold_reach: (histories, folds * lines) overwritten for these histories.
        reach_after: (histories, ends * lines) overwritten for these histories.
        vectors: (:func:`vectors_size`,) working array.
        reciprocals: 1 / A for each number of actions A, and 0 first.
        now: this iteration's row of the schedule; read in the mode UPDATE only.
        begin, end: range of histories.
    """
    opponent = 1 - player
    nodes = round_arrays.nodes
    lines = round_arrays.lines
    policy = len(nodes) * lines
    for history in range(begin, end):
        first_entry = round_arrays.first_entries[opponent] + history * round_arrays.columns[opponent]
        copy_lines(reach_before[round_arrays.above[history]], 0, lines, vectors, 0)
        for number in range(len(nodes)):
            node = nodes[number]
            reach = number * lines
            kind = node["kind"]
            count = node["num_children"]
            first_child = node["first_child"] * lines
            if kind == CHANCE:
                copy_lines(vectors, reach, lines, reach_after[history], node["leaf"] * lines)
            elif kind == FOLD:
                copy_lines(vectors, reach, lines, fold_reach[history], node["leaf"] * lines)
            elif kind == player:
                for action in range(count):
                    copy_lines(vectors, reach, lines, vectors, first_child + action * lines)
            else:
                start = first_entry + node["column"]
                total = policy + count * lines
                fill_policy(source, start, lines, count, lines, reciprocals, vectors, policy, total)
                if mode == UPDATE:
                    decay = now[AVERAGE_DECAY]
                    add_to_average(vectors, reach, policy, count, lines, tables.policy_sum, start, lines, decay)
                for action in range(count):
                    multiply(vectors, reach, policy + action * lines, lines, first_child + action * lines)


@released(None)
def pass_up(
    round_arrays, player, source, tables, fold_values, values_after, values_before, vectors, reciprocals, now, ahead,
    mode, begin, end,
):  # fmt: skip
    """Carry the player's values back through a round, and update its tables there.

    Args:
        player: the player whose values these are.
        source: see :func:`pass_down`.
        tables: in the mode UPDATE, the player's entries are changed in place; in RESPOND, those of ``regret`` are
            overwritten.
        fold_values: (histories, folds * lines) what the player would get for a payoff of 1 where somebody folds.
        values_after: (histories, ends * lines) the player's values where the betting ends.
        values_before: (histories of the round before, lines) overwritten with the values on the lines that lead to the
            round.
        vectors: (:func:`vectors_size`,) working array.
        reciprocals: see :func:`pass_down`.
        now, ahead: schedule rows of this iteration and of the next; read in the mode UPDATE only.
        begin, end: range of histories of the round before; their continuations are visited.
    """
    nodes = round_arrays.nodes
    lines = round_arrays.lines
    zero = reciprocals[0]
    one = reciprocals[1]
    policy = len(nodes) * lines
    for before in range(begin, end):
        sums = values_before[before]
        for line in range(lines):
            sums[line] = zero
        for history in range(round_arrays.begins[before], round_arrays.begins[before + 1]):
            first_entry = round_arrays.first_entries[player] + history * round_arrays.columns[player]
            for number in range(len(nodes) - 1, -1, -1):
                node = nodes[number]
                value = number * lines
                kind = node["kind"]
                count = node["num_children"]
                values = node["first_child"] * lines
                if kind == CHANCE:
                    copy_lines(values_after[history], node["leaf"] * lines, lines, vectors, value)
                elif kind == FOLD:
                    leaf = node["leaf"] * lines
                    payoffs = round_arrays.fold_payoffs[leaf : leaf + lines]
                    products = fold_values[history, leaf : leaf + lines]
                    sign = one if player == 0 else -one
                    for line in range(lines):
                        vectors[value + line] = sign * payoffs[line] * products[line]
                elif kind != player:
                    copy_lines(vectors, values, lines, vectors, value)
                    for action in range(1, count):
                        add(vectors, values + action * lines, lines, value)
                elif mode == BEST:
                    fill_largest(vectors, values, count, lines, value)
                elif mode == RESPOND:
                    fill_largest(vectors, values, count, lines, value)
                    write_first_best(
                        vectors, values, value, count, lines, tables.regret, first_entry + node["column"], zero, one
                    )
                else:
                    start = first_entry + node["column"]
                    total = policy + count * lines
                    fill_policy(source, start, lines, count, lines, reciprocals, vectors, policy, total)
                    fill_mean(vectors, policy, values, count, lines, value, zero)
                    if mode == UPDATE:
                        update_decision(vectors, values, value, count, lines, tables, start, now, ahead, zero, one)
            for line in range(lines):
                sums[line] += vectors[line]
