"""Tables of 16-bit numbers, and how passes over a public tree read and write them.

Entries of such a table are whole numbers of *steps*. All entries of a decision have the same step, a number in single
precision: the entry with the largest absolute value has :data:`LARGEST` steps. Passes compute in single precision: a
decision's entries are opened, changed, and closed again. A policy is proportional to the entries, so it can be computed
from the whole numbers themselves.

What a late iteration adds to an entry is often less than half a step. If entries were rounded to the nearest whole
number, they would then never change again. So an *offset* between -1/2 and 1/2 is added before rounding. An entry's
offsets are multiples of the golden ratio, less the nearest whole number; names in the code call them turns. They are
evenly spread, so errors cancel over some iterations; and the same run has the same offsets.

For tables of other types, opening and closing does nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from rlccfr.games.public.records import SHORT, SMALLEST
from rlccfr.kernels.jit import OPTIONS

LARGEST = 32766
"""Number of steps of a decision's largest entry; its offset may raise it by one, to the largest 16-bit number."""

NUM_TURNS = 1597
"""Number of offsets before they repeat: a Fibonacci number, since its multiple of the golden ratio is nearly whole."""

# Columns of an array of steps.
SIZE = 0
TURN = 1  # index of the decision's next offset
STEP_COLUMNS = 2


def turns_for(num_entries: int) -> np.ndarray:
    """Return the offsets for decisions of at most ``num_entries`` entries, (NUM_TURNS + num_entries,)."""
    multiples = np.arange(NUM_TURNS + num_entries) * (math.sqrt(5.0) - 1.0) / 2.0
    turns: np.ndarray = multiples - np.rint(multiples)
    return turns


def by_type(choose: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """Return a function that kernels can call and that stands for one of several, chosen by the arguments' types.

    The chosen function is compiled into the kernels that call it.

    Args:
        choose: function of the arguments' types, or of the arguments themselves in plain Python, that returns the
            function to call. That function must have the same argument names.
    """

    def chosen(*arguments: Any) -> Any:
        return choose(*arguments)(*arguments)

    options: Any = {"forceinline": True, **OPTIONS}
    overload(chosen, jit_options=options)(choose)
    return chosen


def _is_short(table):
    """Return whether a table, given by itself or by its Numba type, has 16-bit numbers."""
    return str(table.dtype) == SHORT.name


@by_type
def opened(table, steps, node, start, stride, count, rows, workspace, place):
    """Return where a decision's entries can be changed: an array, their first index and the distance between actions.

    Args:
        table: array with the entries from index ``start`` on, (count, stride).
        steps: (nodes, STEP_COLUMNS) step of each decision; not read if the table's numbers have more than 16 bits.
        node: index of the decision.
        count, rows: number of actions, and of rows that the pass goes through.
        place: first of ``count * rows`` free entries of the workspace's ``vectors``.
    """
    return _opened_short if _is_short(table) else _as_it_is


def _opened_short(table, steps, node, start, stride, count, rows, workspace, place):
    vectors = workspace.vectors
    size = steps[node, SIZE]
    for a in range(count):
        entries = table[start + a * stride : start + a * stride + rows]
        numbers = vectors[place + a * rows : place + (a + 1) * rows]
        for r in range(rows):
            numbers[r] = size * vectors.dtype.type(entries[r])
    return vectors, place, rows


def _as_it_is(table, steps, node, start, stride, count, rows, workspace, place):
    return table, start, stride


@by_type
def close(table, steps, node, start, stride, count, rows, workspace, place):
    """Write the entries that :func:`opened` returned back to their table, and set the decision's step.

    Args:
        place: the argument of :func:`opened`; ``rows`` more entries of ``vectors`` after the opened ones must be free.
    """
    return _close_short if _is_short(table) else _leave


def _close_short(table, steps, node, start, stride, count, rows, workspace, place):
    vectors = workspace.vectors
    zero = workspace.reciprocals[0]
    one = workspace.reciprocals[1]
    largest = vectors[place + count * rows : place + (count + 1) * rows]
    largest[:] = zero
    for a in range(count):
        numbers = vectors[place + a * rows : place + (a + 1) * rows]
        for r in range(rows):
            largest[r] = max(largest[r], abs(numbers[r]))
    # The entrywise maximum of the lower and the upper half is taken until one entry is left. The compiler makes vector
    # operations of this, but not of a maximum over one entry after another.
    length = rows
    while length > 1:
        half = (length + 1) // 2
        lower = largest[: length - half]
        upper = largest[half:length]
        for r in range(length - half):
            lower[r] = max(lower[r], upper[r])
        length = half
    # Once a step is not finite, it stays so, because the whole numbers can't show that a run has overflowed.
    size = largest[0] / vectors.dtype.type(LARGEST) + zero * steps[node, SIZE]
    steps[node, SIZE] = size
    factor = one / size if size > SMALLEST else zero
    turn = np.int64(steps[node, TURN])
    steps[node, TURN] = turn + 1 if turn + 1 < NUM_TURNS else 0
    for a in range(count):
        entries = table[start + a * stride : start + a * stride + rows]
        numbers = vectors[place + a * rows : place + (a + 1) * rows]
        turns = workspace.turns[turn + a * rows : turn + (a + 1) * rows]
        for r in range(rows):
            entries[r] = table.dtype.type(np.rint(numbers[r] * factor + turns[r]))


def _leave(table, steps, node, start, stride, count, rows, workspace, place):
    pass
