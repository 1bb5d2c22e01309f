"""Looks at the average policies of a controlled run, of which each player keeps its best.

The exploitability of an average policy swings from iteration to iteration. It is the mean of two numbers, each of which
depends on one player's policy alone: the values of best responses. So a few average policies are measured in the last
eighth of a run, and each player keeps its own best one. The pair is at most as exploitable as any of them.

A *look* measures the average policy, which costs about as much as an iteration.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.control.control_layout import HORIZON, KEPT_VALUES, LOOKED_AT, NEVER, NEXT_LOOK, NUM_LOOKS
from rlccfr.kernels.control.observe import fill_average
from rlccfr.kernels.handles import control_of, game_of, run_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import HANDLE
from rlccfr.kernels.passes.rows import sequences_of
from rlccfr.kernels.passes.sequence_form import evaluation


@kernel(types.int64(types.int64, types.int64))
def next_look(done, horizon):
    """Return the number of iterations at which the first look after ``done`` iterations is due; NEVER if there is none.

    There are NUM_LOOKS looks, evenly spread over the last eighth of the run; the last one is at the run's end.

    Args:
        horizon: number of iterations that the run is meant to have; 0 if it is not fixed, and there are then no looks.
    """
    for looks_after in range(NUM_LOOKS - 1, -1, -1):
        look = horizon - horizon * looks_after // (8 * NUM_LOOKS)
        if look > done:
            return look
    return NEVER


@inlined
def keep_best_averages(view, tables, scratch, done, control):
    """Measure the average policy, and keep each player's part of it if this is the player's best so far.

    Args:
        done: number of iterations done.
        scratch: overwritten.
        control: its state and ``kept_policies`` are changed in place.
    """
    state = control.state
    average = scratch.response
    # The value of the opponent's best response depends on the player's policy alone.
    fill_average(view, tables.policy_sum, 1.0, average)
    _, response_value_0, response_value_1 = evaluation(view, scratch, average)
    for player in range(2):
        opponent_value = response_value_1 if player == 0 else response_value_0
        if opponent_value < state[KEPT_VALUES + player]:
            state[KEPT_VALUES + player] = opponent_value
            first, end = sequences_of(view, player)
            for k in range(first, end):
                control.kept_policies[k] = average[k]
    state[LOOKED_AT] = done
    state[NEXT_LOOK] = next_look(done, np.int64(state[HORIZON]))


@kernel(types.void(HANDLE, HANDLE, HANDLE))
def look_at_average(game, run, control):
    """Measure a run's average policy; see :func:`keep_best_averages`.

    Args:
        game, run, control: handles.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    keep_best_averages(view, tables, scratch, counts[0], control_of(control))
