"""Exact iterations of a controlled run in one call; the controller picks the settings on the way.

This is a module of its own, so that other runs need not compile it.
"""

from __future__ import annotations

from numba import types

from rlccfr.kernels.control.control_layout import SETTINGS
from rlccfr.kernels.control.decide import needs_momentum
from rlccfr.kernels.control.segments import prepare_segment
from rlccfr.kernels.handles import control_of, game_of, run_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import HANDLE, PROCEDURE
from rlccfr.kernels.passes.exact_iterations import exact_iterations


@kernel(types.void(HANDLE, HANDLE, types.UniTuple(HANDLE, 2), PROCEDURE, HANDLE, types.int64, types.int64))
def controlled_iterations(game, run, rules, procedure, control, iterations, cost):
    """Run iterations, with looks and decisions whenever they are due.

    Args:
        game, run, procedure, cost: as for :func:`rlccfr.kernels.passes.exact_iterations.exact_iterations`.
        rules: handles of the rule, for segments without momentum and with it.
        control: handle; the controller's state, trace and schedule are changed in place.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    controller = control_of(control)
    end = counts[0] + iterations
    while counts[0] < end:
        count = prepare_segment(view, tables, scratch, counts, end - counts[0], controller)
        rule = rules[1] if needs_momentum(controller.state[SETTINGS:]) else rules[0]
        exact_iterations(game, run, rule, procedure, controller.schedule[: count + 1], cost)
