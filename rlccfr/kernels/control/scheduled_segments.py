"""Segments of runs whose controller reads only their progress, such as those that follow a schedule.

This is a module of its own, so that other runs need not compile it.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.control.control_layout import NEXT_DECISION
from rlccfr.kernels.control.decide import pick_settings
from rlccfr.kernels.control.observe import observe_progress
from rlccfr.kernels.control.segments import fill_segment
from rlccfr.kernels.handles import control_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import HANDLE


@kernel(types.int64(HANDLE, types.int64, types.int64))
def prepare_segment_by_progress(control, done, iterations):
    """Make the decision that is due, if any, and write the rows of the iterations up to the next decision.

    The decision depends on the run's progress alone.

    Args:
        control: handle; the controller's state, trace and schedule are changed in place. Its ``observes_run`` must be
            False.
        done: number of iterations done.
        iterations: largest number of iterations for which rows are written.

    Returns:
        The number of iterations for which rows are written. One more row follows.
    """
    controller = control_of(control)
    state = controller.state
    if done >= state[NEXT_DECISION]:
        observe_progress(done, controller)
        pick_settings(done, controller)
    return fill_segment(done, min(iterations, np.int64(state[NEXT_DECISION]) - done), controller)
