"""Whole runs of iterations by exact passes, without a step back into Python."""

from __future__ import annotations

from numba import types

from rlccfr.kernels.exact import (
    average_pass,
    gradient_pass,
    infosets_from_last,
    mass_pass,
    reach_pass,
    respond_and_average,
)
from rlccfr.kernels.fold import fold_general, fold_plain, fold_predicting, next_policy
from rlccfr.kernels.handles import HANDLE, policy_map_of, reweight_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE_DECAY,
    COUNTS,
    F8,
    F8M,
    F8S,
    FLAGS,
    FLOOR,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    SCRATCH,
    TABLES,
    VIEW,
)

_ONE = (1.0, 1.0)


@inlined
def update_pass(view, player, tables, scratch, now, ahead, flags, reweight, policy_map, utility_range):
    """Regrets bottom up from the gradient, each infoset folded as soon as its value is known."""
    gradient, load = scratch.gradient, (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
    for infoset in infosets_from_last(view, player):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        value = 0.0
        for k in range(first, last):
            value += tables.policy[k] * gradient[k]
        gradient[view.parent[infoset]] += value
        if flags.plain:
            fold_plain(tables.regret, tables.policy, first, last, gradient, value, now[FLOOR], load, _ONE)
        elif flags.predicts:
            fold_predicting(tables.regret, tables.policy, first, last, gradient, value, now[FLOOR], load, _ONE, ahead)
        else:
            fold_general(
                tables, first, last, gradient, value, scratch.mass[infoset], now, ahead, load, _ONE,
                flags, reweight, policy_map, utility_range,
            )  # fmt: skip


@kernel(
    types.void(
        VIEW, TABLES, SCRATCH, F8M, types.boolean, types.boolean, types.boolean, FLAGS,
        HANDLE, HANDLE, F8, COUNTS, types.int64,
    ),
)  # fmt: skip
def exact_iterations(
    view, tables, scratch, schedule, best_response, simultaneous, pre, flags, reweight, policy_map, utility_range,
    counts, cost,
):  # fmt: skip
    """Run ``len(schedule) - 1`` iterations; the schedule's last row is the one after them.

    Args:
        best_response: the opponent is a best response to the current policy, not the current policy.
        simultaneous: both players move from the same policies; else player 1 sees player 0's update.
        pre: average both players before their own updates; else player 0 after its own (catalog: matching).
        counts: (iterations, histories touched), raised by what is done.
        cost: histories that an iteration touches.
    """
    reweight, policy_map = reweight_of(reweight), policy_map_of(policy_map)
    column = flags.average_column
    for player in range(2):
        reach_pass(view, player, tables.policy, scratch.reach)
    for t in range(len(schedule) - 1):
        now, ahead = schedule[t], schedule[t + 1]
        decay = now[AVERAGE_DECAY]
        against = scratch.reach
        if best_response:
            respond_and_average(view, tables, scratch, (decay, decay), _ONE, column)
            against = scratch.response_reach
        elif simultaneous or pre:
            average_pass(view, 0, scratch.reach, tables, decay, 1.0, column)
            average_pass(view, 1, scratch.reach, tables, decay, 1.0, column)
        for player in range(2):
            other = 1 - player
            if not (best_response or simultaneous or pre):
                average_pass(view, other, scratch.reach, tables, decay, 1.0, column)
            gradient_pass(view, player, against, scratch.gradient, scratch.leaf)
            if flags.uses_mass:
                mass_pass(view, player, against, scratch.mass)
            update_pass(view, player, tables, scratch, now, ahead, flags, reweight, policy_map, utility_range)
            if not simultaneous:
                reach_pass(view, player, tables.policy, scratch.reach)
        if simultaneous:
            for player in range(2):
                reach_pass(view, player, tables.policy, scratch.reach)
        counts[0] += 1
        counts[1] += cost


@kernel(types.void(VIEW, TABLES, F8S, F8, FLAGS, HANDLE, HANDLE, F8))
def refresh_policies(view, tables, ahead, floor, flags, reweight, policy_map, utility_range):
    """Bring regrets above the floor and every infoset's policy in line with its regrets: after a switch."""
    policy_map = policy_map_of(policy_map)
    for infoset in range(len(view.parent)):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        for k in range(first, last):
            tables.regret[k] = max(tables.regret[k], floor)
            tables.policy[k] = tables.regret[k]
        next_policy(tables, first, last, ahead, flags, policy_map, utility_range)
