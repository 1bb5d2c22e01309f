"""Many iterations by sampled walks in one call; a call that would take too long pauses within an iteration."""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.handles import game_of, rule_of, run_of, sampling_of, walk_state_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE,
    AVERAGE_DECAY,
    F8M,
    HANDLE,
    NEGATIVE,
    POSITIVE,
    PROCEDURE,
    Findings,
)
from rlccfr.kernels.passes.sequence_form import respond_and_average
from rlccfr.kernels.regret_updates import copy_true_regrets, update_regrets
from rlccfr.kernels.walks.history_values import true_values
from rlccfr.kernels.walks.scales import discount, discounted_step
from rlccfr.kernels.walks.walk import walk_on
from rlccfr.kernels.walks.walk_layout import DONE, TRAVERSER, UNVISITED, Weights


@inlined
def update_visited(view, player, run, walk_tables, now, ahead, rule):
    """Update the regrets and policy of each infoset that the player's walks visited, and clear the visits.

    Each of these infosets is updated once, however often it was visited.

    Args:
        run: ``tables`` and ``scale`` are changed in place; ``scratch.past_regret`` is overwritten.
        walk_tables: the player's part of ``gain``, ``mass`` and ``num_visited`` is cleared.
        now, ahead: (5 + p,) schedule rows of this iteration and of the next.
    """
    tables = run.tables
    scale = run.scale
    begin = np.int64(view.infoset_begin[player])
    if rule.flags.reads_regret:  # before the discount, because a discount of 0 would erase them
        factors = (scale[player, POSITIVE], scale[player, NEGATIVE])
        for index in range(begin, walk_tables.num_visited[player]):
            infoset = walk_tables.visited[index]
            first = view.first_sequence[infoset]
            end = view.first_sequence[infoset + 1]
            copy_true_regrets(tables.regret, first, end, factors, run.scratch.past_regret)
    # The discount holds for all infosets, visited or not.
    step = discounted_step(view, player, tables, scale, now, ahead)
    findings = Findings(walk_tables.gain, walk_tables.mass, run.scratch.past_regret)
    for index in range(begin, walk_tables.num_visited[player]):
        infoset = walk_tables.visited[index]
        first = view.first_sequence[infoset]
        end = view.first_sequence[infoset + 1]
        update_regrets(tables, first, end, infoset, findings, 0.0, step, rule)
        for k in range(first, end):
            walk_tables.gain[k] = 0.0
        walk_tables.mass[infoset] = UNVISITED
    walk_tables.num_visited[player] = begin


@inlined
def count_uniformly(view, reach, uniform_count):
    """Add to ``uniform_count`` what walks would add in expectation; walks against best responses add nothing to it.

    Args:
        reach: (m + 2,) each player's own reach under the current policy.
        uniform_count: (m,) added to in place.
    """
    for infoset in range(len(view.parent)):
        for k in range(view.first_sequence[infoset], view.first_sequence[infoset + 1]):
            uniform_count[k] += view.chance_weight[infoset] * reach[k]


@kernel(types.void(HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, PROCEDURE, F8M, F8M, types.int64))
def sampled_iterations(game, run, walk_state, rule, sampling, procedure, schedule, parameters, max_nodes):
    """Run at most ``len(schedule) - 1`` iterations, and stop once ``max_nodes`` more histories have been touched.

    The call also stops after ``procedure.pause`` histories. If the iteration then has walks left, the walk state's
    ``progress`` says how many are done, and the next call performs the rest. Pauses do not change the results.

    Args:
        game, run, walk_state, rule, sampling: handles; the run's arrays are changed in place. The walk state's tables
            are cleared between iterations.
        procedure: how an iteration proceeds; ``pre_averaging`` is not used.
        schedule: (iterations + 1, 5 + p) one row per iteration, and one for the iteration after them.
        parameters: (iterations, p') the sampler's parameters, one row per iteration.
    """
    histories, view = game_of(game)
    run = run_of(run)
    walk_state = walk_state_of(walk_state)
    rule = rule_of(rule)
    sampling = sampling_of(sampling)
    tables = run.tables
    scale = run.scale
    counts = run.counts
    walk_tables = walk_state.tables
    progress = walk_state.progress
    walk_weight = 1.0 / procedure.walks
    touched_before = counts[1]
    for t in range(len(schedule) - 1):
        now = schedule[t]
        ahead = schedule[t + 1]
        # 1. Against best responses, a pass computes both at the iteration's start, and adds both players' policies to
        #    their averages: walks meet the opponent's response, not its policy.
        if procedure.best_response and progress[TRAVERSER] == 0 and progress[DONE] == 0:
            for player in range(2):
                discount(view, player, tables, scale, AVERAGE, now[AVERAGE_DECAY])
            increments = (scale[0, AVERAGE], scale[1, AVERAGE])
            respond_and_average(view, tables, run.scratch, (1.0, 1.0), increments, rule.flags.average_column)
            counts[1] += 2 * len(histories.record)
            if sampling.plan.counts:
                count_uniformly(view, run.scratch.reach, walk_tables.uniform_count)
        # 2. Each player's walks, which also add the opponent's policy to its average.
        for player in range(progress[TRAVERSER], 2):
            if progress[DONE] == 0:  # else these steps were taken before the pause
                if not procedure.best_response:
                    discount(view, 1 - player, tables, scale, AVERAGE, now[AVERAGE_DECAY])
                if sampling.plan.oracle:
                    counts[1] += true_values(histories, player, walk_tables)
            average_weight = 0.0 if procedure.best_response else scale[1 - player, AVERAGE] * walk_weight
            weights = Weights(walk_weight, average_weight)
            counts[1] += walk_on(histories, player, weights, procedure, sampling, parameters[t], walk_state, run.rng)
            if progress[DONE] < procedure.walks:
                progress[TRAVERSER] = player
                return
            progress[DONE] = 0
            # 3. Updates: at once, so that player 1's walks meet player 0's new policy, or after both players' walks.
            if not procedure.simultaneous:
                update_visited(view, player, run, walk_tables, now, ahead, rule)
        progress[TRAVERSER] = 0
        if procedure.simultaneous:
            for player in range(2):
                update_visited(view, player, run, walk_tables, now, ahead, rule)
        counts[0] += 1
        if counts[1] - touched_before >= min(max_nodes, procedure.pause):
            return
