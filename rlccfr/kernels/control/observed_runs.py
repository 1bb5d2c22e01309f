"""Observations of a run, and decisions that may depend on them, for runs that return to Python at each decision.

This is a module of its own, so that other runs need not compile it.
"""

from __future__ import annotations

from numba import types

from rlccfr.kernels.control.observe import observe
from rlccfr.kernels.control.segments import prepare_segment
from rlccfr.kernels.handles import control_of, game_of, run_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import HANDLE


@kernel(types.void(HANDLE, HANDLE, HANDLE))
def observe_run(game, run, control):
    """Observe a run; see :func:`observe`.

    Args:
        game, run, control: handles.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    observe(view, tables, scratch, counts[0], control_of(control))


@kernel(types.int64(HANDLE, HANDLE, HANDLE, types.int64))
def prepare_segment_of_run(game, run, control, iterations):
    """Call :func:`prepare_segment` for a run that is given by handles, and return its result.

    Args:
        game, run, control: handles; the controller's state, trace and schedule are changed in place.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    return prepare_segment(view, tables, scratch, counts, iterations, control_of(control))
