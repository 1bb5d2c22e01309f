"""Exact iterations of a controlled run in one call; the controller picks the settings on the way.

Each player also keeps its best average policy. The exploitability of an average policy swings from iteration to
iteration. It is the mean of two numbers, each of which depends on one player's policy alone: the values of best
responses. So a few average policies are measured in the last eighth of a run, and each player keeps its own best one.
The pair is at most as exploitable as any of them.

``control.state`` keeps the numbers of iterations at which two things are due. A *decision* lets the controller pick the
settings of the next segment. A *look* measures the average policy, which costs about as much as an iteration. *Rows*
are the rule's parameters at each iteration, which follow from the segment's settings.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.control.control_layout import (
    HORIZON,
    KEPT_VALUES,
    LOOKED_AT,
    NEVER,
    NEXT_DECISION,
    NEXT_LOOK,
    NUM_LOOKS,
    SETTINGS,
)
from rlccfr.kernels.control.decide import decide, fill_rows, needs_momentum, pick_settings
from rlccfr.kernels.control.observe import fill_average, observe_progress
from rlccfr.kernels.handles import control_of, game_of, run_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import HANDLE, PROCEDURE
from rlccfr.kernels.passes.exact_iterations import exact_iterations
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


@kernel(types.int64(HANDLE, types.int64, types.int64))
def prepare_segment_by_progress(control, done, iterations):
    """Make the decision that is due, if any, and write the rows of the iterations up to the next decision.

    The decision depends on the run's progress alone.

    Args:
        control: handle; the controller's state, trace and schedule are changed in place. Its ``looks`` must be False.
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


@kernel(types.int64(HANDLE, HANDLE, HANDLE, types.int64))
def prepare_segment_of_run(game, run, control, iterations):
    """Call :func:`prepare_segment` for a run that is given by handles, and return its result.

    Args:
        game, run, control: handles; the controller's state, trace and schedule are changed in place.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    return prepare_segment(view, tables, scratch, counts, iterations, control_of(control))


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
