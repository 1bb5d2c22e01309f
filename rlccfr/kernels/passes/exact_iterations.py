"""Many iterations by exact passes in one call, without returning to Python between them."""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.handles import game_of, rule_of, run_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE_DECAY,
    F8M,
    FLOOR,
    HANDLE,
    NEGATIVE_DISCOUNT,
    PARAMETERS,
    POSITIVE_DISCOUNT,
    PROCEDURE,
    UNSCALED,
    Findings,
    Step,
)
from rlccfr.kernels.passes.rows import infosets_from_last, pass_up, sequences_of, settle_twins, unrolled
from rlccfr.kernels.passes.sequence_form import (
    gradient_pass,
    mass_pass,
    reach_and_average_pass,
    reach_pass,
    respond_and_average,
)
from rlccfr.kernels.regret_updates import copy_true_regrets, update_regrets, update_regrets_general


@unrolled
def update_row(view, infoset, first, actions, tables, findings, step, rule):
    """Add one infoset's counterfactual value to its parent sequence, and update its regrets and policy.

    All infosets below this one have passed their values up, so the gradient holds the values v(a) of its actions.
    """
    counterfactual_values = findings.gain
    settle_twins(view, first, first + actions, counterfactual_values)
    # v(I) = sum of policy(a) v(a); the update turns v(a) into the regrets v(a) - v(I).
    value = 0.0
    for k in range(first, first + actions):
        value += tables.policy[k] * counterfactual_values[k]
    pass_up(view, infoset, value, counterfactual_values)
    update_regrets(tables, first, first + actions, infoset, findings, value, step, rule)


@kernel
def update_regularised_row(view, infoset, tables, findings, reach, step, rule):
    """Do what :func:`update_row` does, with action values and an infoset value that the rule has regularised.

    So the values that this infoset passes up are regularised, too.

    Args:
        reach: (m + 2,) the owner's reach under the policy that was played.
    """
    counterfactual_values = findings.gain
    first = np.int64(view.first_sequence[infoset])
    end = np.int64(view.first_sequence[infoset + 1])
    settle_twins(view, first, end, counterfactual_values)
    value = rule.regularise(
        counterfactual_values[first:end],
        tables.policy[first:end],
        reach[first:end],
        tables.state[first:end],
        step.now[PARAMETERS:],
        rule.utility_range,
    )
    pass_up(view, infoset, value, counterfactual_values)
    update_regrets_general(tables, first, end, infoset, findings, value, step, rule)


@inlined
def update_pass(view, player, tables, findings, reach, step, rule):
    """Update a player's regrets from the leaves up: at each infoset once its counterfactual value is known.

    Args:
        tables: changed in place.
        findings: ``gain`` holds the payoffs at the leaves and is overwritten.
        reach: (m + 2,) the player's own reach under the policy that was played; used by rules that regularise.
    """
    if rule.flags.reads_regret:
        first, end = sequences_of(view, player)
        copy_true_regrets(tables.regret, first, end, UNSCALED, findings.past_regret)
    if rule.flags.regularises:
        for infoset in infosets_from_last(view, player):
            update_regularised_row(view, infoset, tables, findings, reach, step, rule)
    else:
        for infoset in infosets_from_last(view, player):
            update_row(view, infoset, tables, findings, step, rule)


@kernel(types.void(HANDLE, HANDLE, HANDLE, PROCEDURE, F8M, types.int64))
def exact_iterations(game, run, rule, procedure, schedule, cost):
    """Run ``len(schedule) - 1`` iterations.

    An iteration updates player 0 and then player 1, each in two passes. The first adds up the payoffs at the leaves,
    weighted with the reach of the opponent and chance. The second goes from the leaves up: it adds up counterfactual
    values, and updates regrets and policies on the way. When a player's reach is set from its policy, its policy is
    also averaged, in the same pass:

    - Against best responses: both policies are averaged first, and each player is updated against the other's best
      response to its policy, computed before either is updated.
    - With simultaneous updates or averaging beforehand: both policies are averaged first.
    - Otherwise, in alternation: the opponent's policy is averaged just before a player is updated. So player 1's is
      averaged before its update, and player 0's after its update.

    Args:
        game, run, rule: handles; the run's arrays are changed in place.
        procedure: flags ``best_response``, ``simultaneous`` and ``pre_averaging``, which set the order of the passes.
        schedule: (iterations + 1, 5 + p) one row per iteration, and one for the iteration after them.
        cost: number of histories that an iteration touches.
    """
    _, view = game_of(game)
    rule = rule_of(rule)
    tables, _, _, counts, scratch = run_of(run)
    findings = Findings(scratch.gradient, scratch.mass, scratch.past_regret)
    column = rule.flags.average_column
    best_response = procedure.best_response
    simultaneous = procedure.simultaneous
    pre_averaging = procedure.pre_averaging
    # A rule that regularises reads the updated player's own reach. In alternation, player 0's is set when its policy is
    # averaged, before player 1's update; here it is set for the first iteration.
    if rule.flags.regularises:
        reach_pass(view, 0, tables.policy, scratch.reach)
    for t in range(len(schedule) - 1):
        now = schedule[t]
        ahead = schedule[t + 1]
        decay = now[AVERAGE_DECAY]
        step = Step(now, ahead, now[FLOOR], (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT]), UNSCALED)
        # Best responses and averages that are computed for both players before either is updated.
        opponent_reach = scratch.reach
        if best_response:
            respond_and_average(view, tables, scratch, (decay, decay), (1.0, 1.0), column)
            opponent_reach = scratch.response_reach
        elif simultaneous or pre_averaging:
            reach_and_average_pass(view, 0, tables, scratch.reach, decay, 1.0, column)
            reach_and_average_pass(view, 1, tables, scratch.reach, decay, 1.0, column)
        for player in range(2):
            # The opponent's reach and average. Player 1's opponent plays the policy that this iteration has just set.
            if not (best_response or simultaneous or pre_averaging):
                reach_and_average_pass(view, 1 - player, tables, scratch.reach, decay, 1.0, column)
            # Payoffs at the leaves, then values, regrets and policies from the leaves up.
            gradient_pass(view, player, opponent_reach, scratch)
            if rule.flags.uses_mass:
                mass_pass(view, player, opponent_reach, scratch.mass)
            update_pass(view, player, tables, findings, scratch.reach, step, rule)
            # In alternation, player 1 sees player 0's new policy; the old one has been averaged already.
            if pre_averaging and not (best_response or simultaneous):
                reach_pass(view, player, tables.policy, scratch.reach)
        counts[0] += 1
        counts[1] += cost
