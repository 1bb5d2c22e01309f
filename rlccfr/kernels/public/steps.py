"""Tables of 16-bit numbers, as passes over a public tree read and write them.

Such a table has whole numbers of *steps* at each decision. All entries of a decision have the same step, a number in
single precision: the largest entry by its absolute value is :data:`LARGEST` steps. Passes compute in single precision:
a decision's entries are opened, changed, and closed again. A policy is proportional to the entries, so it can be read
off the whole numbers themselves.

What a late iteration adds to an entry is often less than half a step. Rounded to the nearest number, the entry would
never change again. So a number between -1/2 and 1/2, the *turn*, is added before it is rounded. An entry's turns are
multiples of the golden ratio, less the nearest whole number. They are spread evenly, so errors cancel over some
iterations; and the same run has the same turns.

Tables of other types are opened and closed by doing nothing.
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
"""Number of steps of a decision's largest entry: its turn may raise it by one, to the largest number of 16 bits."""

NUM_TURNS = 1597
"""Number of turns before they repeat: a Fibonacci number, since its multiple of the golden ratio is nearly whole."""

# Columns of an array of steps.
SIZE = 0
TURN = 1  # number of the decision's next turn
STEP_COLUMNS = 2


def turns_for(num_entries: int) -> np.ndarray:
    """Return the turns for decisions of at most ``num_entries`` entries, (NUM_TURNS + num_entries,)."""
    multiples = np.arange(NUM_TURNS + num_entries) * (math.sqrt(5.0) - 1.0) / 2.0
    turns: np.ndarray = multiples - np.rint(multiples)
    return turns


def by_type(choose: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """Compile one of several small functions, by the types of its arguments, and merge it into kernels that call it.

    Args:
        choose: function of the arguments' types, or of the arguments themselves in plain Python, that returns the
            function to be called with them. This function must have the same names of arguments.
    """

    def chosen(*arguments: Any) -> Any:
        return choose(*arguments)(*arguments)

    options: Any = {"forceinline": True, **OPTIONS}
    overload(chosen, jit_options=options)(choose)
    return chosen


def _is_short(table):
    """Return whether a table, or a table's type, is of 16-bit numbers."""
    return str(table.dtype) == SHORT.name


@by_type
def opened(table, steps, node, start, stride, count, rows, workspace, place):
    """Return where a decision's entries can be changed: an array, their first index and the distance of actions.

    Args:
        table: array with the entries from index ``start`` on, (count, stride).
        steps: (nodes, STEP_COLUMNS) step of each decision; not read if the table's numbers have more than 16 bits.
        node: the decision.
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
    """Write the entries that were opened back to their table, and set the decision's step.

    Args:
        place: first of the entries that were opened; ``rows`` free entries of ``vectors`` come after these.
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
    # The upper half is laid over the lower one until one entry is left. The compiler makes vector operations of this,
    # but not of a maximum that is taken entry by entry.
    length = rows
    while length > 1:
        half = (length + 1) // 2
        lower = largest[: length - half]
        upper = largest[half:length]
        for r in range(length - half):
            lower[r] = max(lower[r], upper[r])
        length = half
    # A step that is not finite stays so: the whole numbers can't say that a run has overflowed.
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
