"""Passes over the public tree, for one player: the opponent's reach goes down, the player's values come up.

The stack is explicit. A frame's vectors lie in ``vectors`` from the frame's FREE on: the node's policy (count, rows),
the values of its actions or the reach of its child, and working memory.
"""

from __future__ import annotations

import numpy as np

from rlccfr.games.public.view import CARDS, CHANCE
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR
from rlccfr.kernels.public.memory import AT, CHILD, FREE, REACH, VALUE
from rlccfr.kernels.public.terminals import fill_terminal
from rlccfr.kernels.public.vectors import add, average, fill_policy, fold, largest, mean, multiply, predict

# What a pass does at the player's own nodes.
UPDATE = 0  # raise regrets, and add the opponent's policies to its average
MEAN = 1  # take the mean of the actions' values by the player's policy
BEST = 2  # take the largest of the actions' values

# What a pass does at the first public chance below the root, so that several threads can share what is below.
BELOW = 0  # it begins there, and goes on at any further chance
DOWN = 1  # it keeps the opponent's reach there, and does nothing else
UP = 2  # it takes the value from what passes below have left there


@inlined
def enter(view, node, frame, player, table, tables, memory, mode, now):
    """Set the policy of a decision at the beginning of its frame's vectors, before its children are met."""
    actor, count, free = node["kind"], node["num_children"], frame[FREE]
    rows = view.deals[node["deal"]]["rows"][actor]
    if actor != player or mode != BEST:
        total = free + 2 * count * rows
        fill_policy(table, node["table"], count, rows, memory.shares, memory.vectors, free, total)
    if actor != player and mode == UPDATE:
        average(memory.vectors, frame[REACH], free, count, rows, tables.policy_sum, node["table"], now[AVERAGE_DECAY])


@inlined
def descend(view, node, frame, player, memory, below):
    """Set the frame of a decision's or chance's next child."""
    child, count, free = frame[CHILD], node["num_children"], frame[FREE]
    rows = view.deals[node["deal"]]["rows"]
    own, others = rows[player], rows[1 - player]
    below[AT], below[CHILD], below[REACH] = node["first_child"] + child, 0, frame[REACH]
    if node["kind"] == player:
        below[VALUE] = free + (count + child) * own
        below[FREE] = free + 2 * count * own
    elif node["kind"] == CHANCE:
        deal = view.deals[view.nodes[below[AT]]["deal"]]
        edge, width = deal["edge"][1 - player], deal["rows"][1 - player]
        for r in range(width):
            memory.vectors[free + r] = memory.vectors[frame[REACH] + view.above[edge + r]]
        below[REACH], below[VALUE] = free, free + width
        below[FREE] = free + width + deal["rows"][player]
    else:
        reach, value = free + count * others, free + (count + 1) * others
        multiply(memory.vectors, frame[REACH], free + child * others, others, reach)
        below[REACH], below[VALUE] = reach, frame[VALUE] if child == 0 else value
        below[FREE] = value + own


@inlined
def ascend(view, node, frame, player, memory, zero):
    """Add the value of the child that was met last, at a node of the opponent or of chance."""
    child, count, free = frame[CHILD] - 1, node["num_children"], frame[FREE]
    rows = view.deals[node["deal"]]["rows"]
    if node["kind"] == CHANCE:
        deal = view.deals[view.nodes[node["first_child"] + child]["deal"]]
        edge, value = deal["edge"][player], free + deal["rows"][1 - player]
        if child == 0:
            memory.vectors[frame[VALUE] : frame[VALUE] + rows[player]] = zero
        for r in range(deal["rows"][player]):
            share = memory.vectors.dtype.type(view.weight[edge + r])
            memory.vectors[frame[VALUE] + view.above[edge + r]] += share * memory.vectors[value + r]
    elif node["kind"] != player and child > 0:
        add(memory.vectors, free + (count + 1) * rows[1 - player], rows[player], frame[VALUE])


@inlined
def finish(view, node, frame, player, tables, memory, mode, now, ahead):
    """Set the value of one of the player's nodes from its actions' values, and update the node.

    Args:
        now, ahead: schedule rows of this iteration and of the next, in the tables' type.
    """
    vectors, zero, free, value = memory.vectors, memory.shares[0], frame[FREE], frame[VALUE]
    count, at = node["num_children"], node["table"]
    rows = view.deals[node["deal"]]["rows"][player]
    values = free + count * rows
    if mode == BEST:
        largest(vectors, values, count, rows, value)
        return
    mean(vectors, free, values, count, rows, value, zero)
    if mode == UPDATE:
        floor = now[FLOOR] / vectors.dtype.type(view.deals[node["deal"]]["share"])
        fold(vectors, values, value, count, rows, tables.regret, at, now, floor, zero)
        if len(tables.policy):
            predict(vectors, values, value, count, rows, tables, at, ahead, zero, memory.shares[1])


@inlined
def prepare(view, node, player, memory):
    """Set the first frame of a pass from a node on; its value comes first in the vectors, then the opponent's reach."""
    rows, frame = view.deals[view.nodes[node]["deal"]]["rows"], memory.frames[0]
    frame[AT], frame[CHILD], frame[VALUE], frame[REACH] = node, 0, 0, rows[player]
    frame[FREE] = rows[0] + rows[1] + CARDS


@inlined
def halt(view, node, frame, player, memory, outcomes, phase):
    """Keep the opponent's reach at the first public chance, or take the value that passes below have left there."""
    rows, first = view.deals[node["deal"]]["rows"], node["table"]
    if phase == DOWN:
        reach = memory.vectors[frame[REACH] : frame[REACH] + rows[1 - player]]
        for r in range(rows[1 - player]):
            outcomes.reach[first, r] = reach[r]
        return
    value = memory.vectors[frame[VALUE] : frame[VALUE] + rows[player]]
    value[:] = memory.shares[0]
    for outcome in range(first, first + node["num_children"]):
        for r in range(rows[player]):
            value[r] += outcomes.value[outcome, r]


@kernel
def sweep(view, player, table, tables, memory, outcomes, now, ahead, mode, phase):
    """Pass over the tree below the node that was prepared.

    Args:
        table: entries that policies are proportional to.
        tables: changed in place in an UPDATE.
        memory: ``vectors`` hold the opponent's reach, and get the player's value.
        outcomes: read or written at the first public chance, if the phase is DOWN or UP.
        now, ahead: schedule rows of this iteration and of the next, in the tables' type.
        mode, phase: see above; callers convert them, since each literal number would be compiled on its own.
    """
    frames, zero, depth = memory.frames, memory.shares[0], 0
    cards = frames[0, FREE] - CARDS
    while depth >= 0:
        frame = frames[depth]
        node = view.nodes[frame[AT]]
        if node["kind"] > CHANCE:
            if phase != DOWN:
                fill_terminal(view, node, player, memory.vectors, frame[REACH], frame[VALUE], cards, zero)
            depth -= 1
            continue
        if node["kind"] == CHANCE and phase != BELOW:
            halt(view, node, frame, player, memory, outcomes, phase)
            depth -= 1
            continue
        if frame[CHILD] > 0:
            ascend(view, node, frame, player, memory, zero)
        elif node["kind"] != CHANCE:
            enter(view, node, frame, player, table, tables, memory, mode, now)
        if frame[CHILD] == node["num_children"]:
            if node["kind"] == player:
                finish(view, node, frame, player, tables, memory, mode, now, ahead)
            depth -= 1
            continue
        descend(view, node, frame, player, memory, frames[depth + 1])
        frame[CHILD] += 1
        depth += 1


@inlined
def sweep_outcomes(view, player, table, tables, memory, outcomes, now, ahead, mode, begin, end):
    """Pass over the trees below some outcomes of the first public chance.

    Args:
        outcomes: ``reach`` is read, and ``value`` written.
        begin, end: range of the outcomes.
    """
    vectors, others = memory.vectors, 1 - player
    for outcome in range(begin, end):
        chance = view.nodes[view.outcomes[outcome, 0]]
        child = chance["first_child"] + view.outcomes[outcome, 1]
        deal = view.deals[view.nodes[child]["deal"]]
        prepare(view, child, player, memory)
        reach, edge = deal["rows"][player], deal["edge"][others]
        for r in range(deal["rows"][others]):
            vectors[reach + r] = outcomes.reach[chance["table"], view.above[edge + r]]
        sweep(view, player, table, tables, memory, outcomes, now, ahead, np.int64(mode), np.int64(BELOW))
        edge, value = deal["edge"][player], outcomes.value[outcome]
        value[:] = memory.shares[0]
        for r in range(deal["rows"][player]):
            value[view.above[edge + r]] += vectors.dtype.type(view.weight[edge + r]) * vectors[r]


@inlined
def sweep_top(view, player, table, tables, memory, outcomes, now, ahead, mode, phase):
    """Pass over the tree down to the first public chance; at the root, every private state has a reach of 1."""
    rows = view.deals[view.nodes[0]["deal"]]["rows"]
    prepare(view, 0, player, memory)
    memory.vectors[rows[player] : rows[0] + rows[1]] = memory.shares[1]
    own = BEST if phase == DOWN else mode
    sweep(view, player, table, tables, memory, outcomes, now, ahead, np.int64(own), np.int64(phase))


@inlined
def sweep_all(view, player, table, tables, memory, outcomes, now, ahead, mode):
    """Pass over the whole tree; the root's value is left in the vectors from index 0 on."""
    if len(view.outcomes):
        sweep_top(view, player, table, tables, memory, outcomes, now, ahead, mode, DOWN)
        sweep_outcomes(view, player, table, tables, memory, outcomes, now, ahead, mode, 0, len(view.outcomes))
    sweep_top(view, player, table, tables, memory, outcomes, now, ahead, mode, UP)
