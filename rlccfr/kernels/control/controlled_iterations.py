"""Exact iterations whose settings are decided during the run, in one call."""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.control.control_layout import LOOK, NEXT, SETTINGS
from rlccfr.kernels.control.decide import decide, fill_rows
from rlccfr.kernels.control.keep import look
from rlccfr.kernels.handles import control_of, game_of, run_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import HANDLE, PROCEDURE
from rlccfr.kernels.passes.exact_iterations import exact_iterations


@inlined
def next_rows(view, tables, scratch, counts, iterations, control):
    """Look or decide if that is due, and write the rows of the next iterations, at most ``iterations`` of them.

    Returns:
        The number of iterations that the rows are for, without the row after them.
    """
    done, memory = counts[0], control.memory
    if done >= memory[LOOK]:
        look(view, tables, scratch, done, control)
    if done >= memory[NEXT]:
        decide(view, tables, scratch, done, control)
    due = min(np.int64(memory[NEXT]), np.int64(memory[LOOK]))
    count = min(iterations, due - done, np.int64(len(control.rows)) - 1)
    fill_rows(memory[SETTINGS:], done + 1, count, control.rows)
    return count


@kernel(types.int64(HANDLE, HANDLE, HANDLE, types.int64))
def prepared(game, run, control, iterations):
    """Look or decide if that is due, and write the rows of the next iterations; return what :func:`next_rows` does.

    Args:
        game, run, control: handles; the controller's memory, trace and rows are changed in place.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    return next_rows(view, tables, scratch, counts, iterations, control_of(control))


@kernel(types.void(HANDLE, HANDLE, HANDLE, PROCEDURE, HANDLE, types.int64, types.int64))
def controlled_iterations(game, run, rule, procedure, control, iterations, cost):
    """Run iterations, and look and decide whenever that is due.

    Args:
        game, run, rule, procedure, cost: as for :func:`rlccfr.kernels.passes.exact_iterations.exact_iterations`.
        control: handle; the controller's memory, trace and rows are changed in place.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    state, end = control_of(control), counts[0] + iterations
    while counts[0] < end:
        count = next_rows(view, tables, scratch, counts, end - counts[0], state)
        exact_iterations(game, run, rule, procedure, state.rows[: count + 1], cost)
