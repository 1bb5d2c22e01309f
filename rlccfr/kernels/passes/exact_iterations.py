"""Many iterations by exact passes in one call, without returning to Python between them."""

from __future__ import annotations

from numba import types

from rlccfr.kernels.fold import fold, keep_regret, next_policy
from rlccfr.kernels.handles import game_of, rule_of, run_of, tables_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE_DECAY,
    F8,
    F8M,
    F8S,
    FLOOR,
    HANDLE,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    PROCEDURE,
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

ONE = (1.0, 1.0)
"""Factors that change nothing; see :class:`rlccfr.kernels.layout.Step`."""


@unrolled
def update_row(view, infoset, first, actions, tables, findings, step, rule):
    """Add one infoset's counterfactual value to its parent sequence, and fold the infoset."""
    gradient, value = findings.gain, 0.0
    settle_twins(view, first, first + actions, gradient)
    for k in range(first, first + actions):
        value += tables.policy[k] * gradient[k]
    pass_up(view, infoset, value, gradient)
    fold(tables, first, first + actions, infoset, findings, value, step, rule)


@inlined
def update_pass(view, player, tables, findings, step, rule):
    """Fold a player's regrets bottom up, each infoset as soon as its counterfactual value is known.

    Args:
        tables: changed in place.
        findings: ``gain`` holds the payoffs at the leaves and is overwritten.
    """
    if rule.flags.reads_regret:
        first, last = sequences_of(view, player)
        keep_regret(tables.regret, first, last, ONE, findings.past_regret)
    for infoset in infosets_from_last(view, player):
        update_row(view, infoset, tables, findings, step, rule)


@kernel(types.void(HANDLE, HANDLE, HANDLE, PROCEDURE, F8M, types.int64))
def exact_iterations(game, run, rule, procedure, schedule, cost):
    """Run ``len(schedule) - 1`` iterations.

    Args:
        game, run, rule: handles; the run's arrays are changed in place.
        procedure: flags ``best_response``, ``simultaneous`` and ``pre_averaging``, which set the order of the passes.
        schedule: (iterations + 1, 5 + p) one row per iteration, and one for the iteration after them.
        cost: number of histories that an iteration touches.
    """
    _, view = game_of(game)
    rule = rule_of(rule)
    tables, _, _, counts, scratch = run_of(run)
    findings, column = Findings(scratch.gradient, scratch.mass, scratch.past_regret), rule.flags.average_column
    best_response, simultaneous, pre = procedure.best_response, procedure.simultaneous, procedure.pre_averaging
    for t in range(len(schedule) - 1):
        now, ahead = schedule[t], schedule[t + 1]
        decay = now[AVERAGE_DECAY]
        step = Step(now, ahead, now[FLOOR], (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT]), ONE)
        against = scratch.reach
        if best_response:
            respond_and_average(view, tables, scratch, (decay, decay), ONE, column)
            against = scratch.response_reach
        elif simultaneous or pre:
            reach_and_average_pass(view, 0, tables, scratch.reach, decay, 1.0, column)
            reach_and_average_pass(view, 1, tables, scratch.reach, decay, 1.0, column)
        for player in range(2):
            if not (best_response or simultaneous or pre):
                reach_and_average_pass(view, 1 - player, tables, scratch.reach, decay, 1.0, column)
            gradient_pass(view, player, against, scratch)
            if rule.flags.uses_mass:
                mass_pass(view, player, against, scratch.mass)
            update_pass(view, player, tables, findings, step, rule)
            if pre and not (best_response or simultaneous):
                reach_pass(view, player, tables.policy, scratch.reach)
        counts[0] += 1
        counts[1] += cost


@kernel(types.void(HANDLE, HANDLE, HANDLE, F8S, F8))
def refresh_policies(game, tables, rule, ahead, floor):
    """After a switch of rules, raise regrets to the floor and set every infoset's policy from its regrets.

    Args:
        game, tables, rule: handles; ``regret`` and ``policy`` of the tables, in true units, are changed in place.
        ahead: (5 + p,) the next iteration's row of the schedule.
        floor: least value of a regret.
    """
    _, view = game_of(game)
    tables, rule = tables_of(tables), rule_of(rule)
    for infoset in range(len(view.parent)):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        for k in range(first, last):
            tables.regret[k] = max(tables.regret[k], floor)
            tables.policy[k] = tables.regret[k]
        next_policy(tables, first, last, ahead, rule)
