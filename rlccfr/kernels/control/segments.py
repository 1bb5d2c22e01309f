"""Segments of a controlled run: decisions, and the rows of the iterations up to the next one.

``control.state`` keeps the numbers of iterations at which two things are due. A *decision* lets the controller pick the
settings of the next segment; a *look* is one of :mod:`rlccfr.kernels.control.looks`. *Rows* are the rule's parameters
at each iteration, which follow from the segment's settings.
"""

from __future__ import annotations

import numpy as np

from rlccfr.kernels.control.control_layout import NEXT_DECISION, NEXT_LOOK, SETTINGS
from rlccfr.kernels.control.decide import decide, fill_rows
from rlccfr.kernels.control.looks import keep_best_averages
from rlccfr.kernels.jit import inlined, kernel


@inlined
def prepare_segment(view, tables, scratch, counts, iterations, control):
    """Perform a look and a decision if they are due, and write the rows up to the next look or decision.

    Args:
        iterations: largest number of iterations for which rows are written.

    Returns:
        The number of iterations for which rows are written. One more row follows, because an update also reads the row
        of the next iteration.
    """
    done = counts[0]
    state = control.state
    if done >= state[NEXT_LOOK]:
        keep_best_averages(view, tables, scratch, done, control)
    if done >= state[NEXT_DECISION]:
        decide(view, tables, scratch, done, control)
    due = min(np.int64(state[NEXT_DECISION]), np.int64(state[NEXT_LOOK]))
    return fill_segment(done, min(iterations, due - done), control)


@kernel
def fill_segment(done, most, control):
    """Write the rows of the next iterations, at most ``most`` of them, as far as the schedule's array has room.

    Returns:
        The number of these iterations. One more row is written after theirs.
    """
    count = min(most, np.int64(len(control.schedule)) - 1)
    fill_rows(control.state[SETTINGS:], done + 1, count, control.schedule)
    return count
