"""Passes over the public tree, for one player: the opponent's reach goes down, the player's values come up.

The stack is explicit. A frame's vectors lie in ``vectors`` from the frame's FREE on: the node's policy (count, rows),
the values of its actions or the reach of its child, and working memory.
"""

from __future__ import annotations

import numpy as np

from rlccfr.games.public.records import CARDS, CHANCE
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
from rlccfr.kernels.public.chance import ascend_chance, meet_chance
from rlccfr.kernels.public.drawing import average_decay, draw_between, regret_discounts
from rlccfr.kernels.public.memory import AT, CHILD, COUNT, FIRST, FRAME, FREE, REACH, VALUE
from rlccfr.kernels.public.terminals import fill_pairwise, fill_terminal
from rlccfr.kernels.public.vectors import (
    add,
    average,
    choose,
    fill_policy,
    fill_response,
    fold,
    keep,
    largest,
    mean,
    multiply,
    predict,
)

# What a pass does at the player's own nodes.
UPDATE = 0  # raise regrets, and add the opponent's policies to its average
MEAN = 1  # take the mean of the actions' values by the player's policy
BEST = 2  # take the largest of the actions' values
RESPOND = 3  # the same, and keep the action; add the opponent's policies to its average
COUNTER = 4  # raise regrets against the responses that were kept
COUNTER_BEST = 5  # take the largest of the actions' values against them
KEEP = 6  # take the mean of the actions' values, and write these to the table of regrets

# What a pass does at public chance. In DOWN and UP it stops at the first one, so that threads can share what is below.
BELOW = 0  # it begins below the first one, and goes through all outcomes of any further one
DOWN = 1  # it keeps the opponent's reach there, and does nothing else
UP = 2  # it takes the value from what passes below have left there
DRAWN = 3  # it goes through one outcome, which it draws


@inlined
def enter(view, node, frame, player, table, tables, memory, mode, now):
    """Set the policy of a decision at the beginning of its frame's vectors, before its children are met."""
    actor, count, free = node["kind"], node["num_children"], frame[FREE]
    stride, rows, at = (
        view.deals[node["deal"]]["rows"][actor],
        frame[COUNT + actor],
        node["table"] + frame[FIRST + actor],
    )
    if actor != player and mode in (COUNTER, COUNTER_BEST):
        first = tables.response_place[frame[AT]] + frame[FIRST + actor]
        fill_response(tables.response, first, count, rows, memory.shares, memory.vectors, free)
    elif actor != player or mode in (UPDATE, MEAN, COUNTER, KEEP):
        total = free + 2 * count * rows
        fill_policy(table, at, stride, count, rows, memory.shares, memory.vectors, free, total)
    if actor != player and mode in (UPDATE, RESPOND):
        decay = now[AVERAGE_DECAY]
        if memory.drawing.public and rows > 0:
            place = memory.drawing.average_place[frame[AT]] + frame[FIRST + actor]
            decay = memory.shares.dtype.type(average_decay(memory.drawing, place))
        average(memory.vectors, frame[REACH], free, count, rows, tables.policy_sum, at, stride, decay)


@inlined
def descend(view, node, frame, player, memory, below):
    """Set the frame of a decision's next child."""
    child, count, free = frame[CHILD], node["num_children"], frame[FREE]
    own, others = frame[COUNT + player], frame[COUNT + 1 - player]
    below[AT], below[CHILD], below[REACH] = node["first_child"] + child, 0, frame[REACH]
    for i in range(FIRST, FRAME):
        below[i] = frame[i]
    if node["kind"] == player:
        below[VALUE] = free + (count + child) * own
        below[FREE] = free + 2 * count * own
    else:
        reach, value = free + count * others, free + (count + 1) * others
        multiply(memory.vectors, frame[REACH], free + child * others, others, reach)
        below[REACH], below[VALUE] = reach, frame[VALUE] if child == 0 else value
        below[FREE] = value + own


@inlined
def ascend(node, frame, player, memory, below):
    """Add the value of the child that was met last, at a node of the opponent."""
    if frame[CHILD] > 1:
        add(memory.vectors, below[VALUE], frame[COUNT + player], frame[VALUE])


@inlined
def finish(view, node, frame, player, tables, memory, mode, now, ahead):
    """Set the value of one of the player's nodes from its actions' values, and update the node.

    Args:
        now, ahead: schedule rows of this iteration and of the next, in the tables' type.
    """
    vectors, zero, free, value = memory.vectors, memory.shares[0], frame[FREE], frame[VALUE]
    count, rows, at = node["num_children"], frame[COUNT + player], node["table"] + frame[FIRST + player]
    stride, values = view.deals[node["deal"]]["rows"][player], free + count * rows
    if mode in (BEST, RESPOND, COUNTER_BEST):
        largest(vectors, values, count, rows, value)
        if mode == RESPOND:
            choose(vectors, values, value, count, rows, tables.response, tables.response_place[frame[AT]])
        return
    mean(vectors, free, values, count, rows, value, zero)
    if mode == KEEP:
        keep(vectors, values, count, rows, tables.regret, at, stride)
    elif mode != MEAN and rows > 0:
        floor = now[FLOOR] / vectors.dtype.type(view.deals[node["deal"]]["share"])
        discounts = (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
        if memory.drawing.public:
            place = memory.drawing.regret_place[frame[AT]] + frame[FIRST + player]
            positive, negative = regret_discounts(memory.drawing, place)
            discounts = (vectors.dtype.type(positive), vectors.dtype.type(negative))
        fold(vectors, values, value, count, rows, tables.regret, at, stride, discounts, floor, zero)
        if len(tables.policy):
            predict(vectors, values, value, count, rows, tables, at, stride, ahead, zero, memory.shares[1])


@inlined
def prepare(view, node, player, memory):
    """Set the first frame of a pass from a node on; its value comes first in the vectors, then the opponent's reach."""
    rows, frame = view.deals[view.nodes[node]["deal"]]["rows"], memory.frames[0]
    frame[AT], frame[CHILD], frame[VALUE], frame[REACH] = node, 0, 0, rows[player]
    frame[FREE] = rows[0] + rows[1] + CARDS
    frame[FIRST], frame[FIRST + 1], frame[COUNT], frame[COUNT + 1] = 0, 0, rows[0], rows[1]


@inlined
def prepare_drawn(view, player, memory):
    """Set the first frame of a pass from the root on, with the private states that are drawn there."""
    prepare(view, 0, player, memory)
    drawing, frame, one = memory.drawing, memory.frames[0], memory.shares[1]
    rows, factor = view.deals[view.nodes[0]["deal"]]["rows"], 1.0
    memory.factors[0], memory.met[0] = one, 0
    for i in range(2):
        if not (drawing.own if i == player else drawing.other):
            continue
        first = i * rows[0]
        row, scale = draw_between(drawing.roots, first, first + rows[i], drawing.rng)
        frame[FIRST + i], frame[COUNT + i] = row - first, 1
        if i == player:
            memory.factors[0] *= memory.shares.dtype.type(scale)
        else:
            factor *= scale
    memory.vectors[frame[REACH] : frame[REACH] + frame[COUNT + 1 - player]] = memory.shares.dtype.type(factor)


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
    cards, drawing = frames[0, FREE] - CARDS, memory.drawing
    while depth >= 0:
        frame = frames[depth]
        node = view.nodes[frame[AT]]
        if frame[CHILD] == 0:
            memory.met[0] += frame[COUNT] + frame[COUNT + 1]
        if node["kind"] > CHANCE:
            if drawing.own or drawing.other:
                fill_pairwise(view, node, player, frame, memory.factors[depth], memory.vectors, zero)
            elif phase != DOWN:
                fill_terminal(view, node, player, memory.vectors, frame[REACH], frame[VALUE], cards, zero)
            depth -= 1
            continue
        if node["kind"] == CHANCE:
            if phase in (DOWN, UP):
                halt(view, node, frame, player, memory, outcomes, phase)
                depth -= 1
                continue
            if frame[CHILD] > 0:
                ascend_chance(view, frame, player, memory, frames[depth + 1], frame[CHILD] == 1 or phase == DRAWN)
            if frame[CHILD] == node["num_children"]:
                depth -= 1
                continue
            meet_chance(view, node, frame, player, memory, depth, phase == DRAWN)
            depth += 1
            continue
        if frame[CHILD] > 0 and node["kind"] != player:
            ascend(node, frame, player, memory, frames[depth + 1])
        elif frame[CHILD] == 0:
            enter(view, node, frame, player, table, tables, memory, mode, now)
        if frame[CHILD] == node["num_children"]:
            if node["kind"] == player:
                finish(view, node, frame, player, tables, memory, mode, now, ahead)
            depth -= 1
            continue
        descend(view, node, frame, player, memory, frames[depth + 1])
        memory.factors[depth + 1] = memory.factors[depth]
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
    if phase == DOWN:
        mode = COUNTER_BEST if mode == COUNTER else BEST  # only the opponent's reach is wanted
    sweep(view, player, table, tables, memory, outcomes, now, ahead, np.int64(mode), np.int64(phase))


@inlined
def sweep_all(view, player, table, tables, memory, outcomes, now, ahead, mode):
    """Pass over the whole tree; the root's value is left in the vectors from index 0 on."""
    if len(view.outcomes):
        sweep_top(view, player, table, tables, memory, outcomes, now, ahead, mode, DOWN)
        sweep_outcomes(view, player, table, tables, memory, outcomes, now, ahead, mode, 0, len(view.outcomes))
    sweep_top(view, player, table, tables, memory, outcomes, now, ahead, mode, UP)
