"""Each player's best average policy in the last eighth of a run.

The exploitability of an average policy swings from iteration to iteration. It is the mean of two numbers, each of which
depends on one player's policy alone: the values of best responses. So each player keeps its own best average policy
among a few that are looked at, and the pair is at most as exploitable as any of them. A look costs about as much as an
iteration.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.control.control_layout import HORIZON, KEPT, LOOK, LOOKED_AT, LOOKS, NEVER
from rlccfr.kernels.control.observe import fill_average
from rlccfr.kernels.handles import control_of, game_of, run_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import HANDLE
from rlccfr.kernels.passes.rows import sequences_of
from rlccfr.kernels.passes.sequence_form import evaluation


@kernel(types.int64(types.int64, types.int64))
def next_look(done, horizon):
    """Return the number of iterations at which the first look after ``done`` iterations is due.

    LOOKS of them are evenly spread over the last eighth of the horizon; the last one is at its end.

    Args:
        horizon: number of iterations that the run is meant to have; 0 if that is open, and nothing is looked at.
    """
    for left in range(LOOKS - 1, -1, -1):
        look = horizon - horizon * left // (8 * LOOKS)
        if look > done:
            return look
    return NEVER


@inlined
def look(view, tables, scratch, done, control):
    """Look at the average policy, and keep each player's if it is the best so far.

    Args:
        done: number of iterations done.
        scratch: overwritten.
        control: its memory and ``kept`` are changed in place.
    """
    memory, average = control.memory, scratch.response
    fill_average(view, tables.policy_sum, 1.0, average)
    _, first, second = evaluation(view, scratch, average)
    for player in range(2):
        value = second if player == 0 else first
        if value < memory[KEPT + player]:
            memory[KEPT + player] = value
            begin, end = sequences_of(view, player)
            for k in range(begin, end):
                control.kept[k] = average[k]
    memory[LOOKED_AT] = done
    memory[LOOK] = next_look(done, np.int64(memory[HORIZON]))


@kernel(types.void(HANDLE, HANDLE, HANDLE))
def looked(game, run, control):
    """Look at a run's average policy; see :func:`look`.

    Args:
        game, run, control: handles.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    look(view, tables, scratch, counts[0], control_of(control))
