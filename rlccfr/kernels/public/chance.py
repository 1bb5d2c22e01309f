"""Public chance in a pass: all its outcomes one after another, or one that is drawn."""

from __future__ import annotations

import numpy as np

from rlccfr.kernels.jit import inlined
from rlccfr.kernels.public.drawing import draw_between, draw_heir
from rlccfr.kernels.public.memory import AT, CHILD, COUNT, FIRST, FREE, REACH, VALUE


@inlined
def descend_chance(view, node, frame, player, memory, below, factor):
    """Set the frame below public chance, whose node and windows are set: the reach times ``factor``."""
    deal, other, free = view.deals[view.nodes[below[AT]]["deal"]], 1 - player, frame[FREE]
    width, before = below[COUNT + other], frame[REACH] - frame[FIRST + other]
    edge = deal["edge"][other] + below[FIRST + other]
    for r in range(width):
        memory.vectors[free + r] = factor * memory.vectors[before + view.above[edge + r]]
    below[CHILD], below[REACH], below[VALUE] = 0, free, free + width
    below[FREE] = free + width + below[COUNT + player]


@inlined
def ascend_chance(view, frame, player, memory, below, first):
    """Add the value of the outcome that was met last; ``first`` says that no other one was met before."""
    deal, zero = view.deals[view.nodes[below[AT]]["deal"]], memory.shares[0]
    if first:
        memory.vectors[frame[VALUE] : frame[VALUE] + frame[COUNT + player]] = zero
    edge, start = deal["edge"][player] + below[FIRST + player], frame[VALUE] - frame[FIRST + player]
    for r in range(below[COUNT + player]):
        share = memory.vectors.dtype.type(view.weight[edge + r])
        memory.vectors[start + view.above[edge + r]] += share * memory.vectors[below[VALUE] + r]


@inlined
def draw_outcome(view, node, frame, player, memory, depth):
    """Draw an outcome of public chance, and the private states that are drawn below it.

    Args:
        memory: the next frame's node and windows are set; a window is empty if the outcome excludes the private state.

    Returns:
        1 / (probability of the outcome and of the opponent's private state).
    """
    drawing, below, first = memory.drawing, memory.frames[depth + 1], node["first_child"]
    below[AT], inverse = draw_between(drawing.cumulative, first, first + node["num_children"], drawing.rng)
    deal = view.deals[view.nodes[below[AT]]["deal"]]
    memory.factors[depth + 1] = memory.factors[depth]
    for i in range(2):
        below[FIRST + i], below[COUNT + i] = 0, deal["rows"][i]
        if not (drawing.own if i == player else drawing.other):
            continue
        row, scale = np.int64(-1), 0.0
        if frame[COUNT + i] > 0:
            row, scale = draw_heir(view, drawing, deal["edge"][i], deal["rows"][i], frame[FIRST + i])
        below[FIRST + i], below[COUNT + i] = max(row, 0), 1 if row >= 0 else 0
        if i == player:
            memory.factors[depth + 1] *= memory.shares.dtype.type(scale)
        else:
            inverse *= scale
    return inverse


@inlined
def meet_chance(view, node, frame, player, memory, depth, drawn):
    """Set the frame of the next outcome of public chance; all outcomes count as met if one is drawn."""
    below, factor = memory.frames[depth + 1], memory.shares[1]
    if drawn:
        factor = memory.shares.dtype.type(draw_outcome(view, node, frame, player, memory, depth))
        frame[CHILD] = node["num_children"]
    else:
        below[AT] = node["first_child"] + frame[CHILD]
        rows = view.deals[view.nodes[below[AT]]["deal"]]["rows"]
        below[FIRST], below[FIRST + 1], below[COUNT], below[COUNT + 1] = 0, 0, rows[0], rows[1]
        frame[CHILD] += 1
    descend_chance(view, node, frame, player, memory, below, factor)
