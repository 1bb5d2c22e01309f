"""Whole runs of iterations by exact passes, without a step back into Python."""

from __future__ import annotations

from numba import types

from rlccfr.kernels.fold import fold_general, fold_simple, next_policy
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
from rlccfr.kernels.passes.sequence_form import (
    gradient_pass,
    infosets_from_last,
    mass_pass,
    reach_and_average_pass,
    reach_pass,
    respond_and_average,
    row_of,
)

_ONE = (1.0, 1.0)


@inlined
def row_value(view, infoset, first, last, policy, gradient):
    """An infoset's counterfactual value, which it hands to its parent sequence."""
    value = 0.0
    for k in range(first, last):
        value += policy[k] * gradient[k]
    gradient[view.parent[infoset]] += value
    return value


@inlined
def update_row(view, infoset, first, actions, tables, gradient, floor, load, ahead, predicts):
    """One infoset's part of :func:`update_pass`."""
    last = first + actions
    value = row_value(view, infoset, first, last, tables.policy, gradient)
    fold_simple(tables.regret, tables.policy, first, last, gradient, first, value, floor, load, _ONE, ahead, predicts)


@inlined
def update_pass(view, player, tables, gradient, floor, load, ahead, predicts):
    """Regrets bottom up from the gradient, each infoset folded as soon as its value is known."""
    for infoset in infosets_from_last(view, player):
        first, actions = row_of(view, infoset)
        if actions == 2:
            update_row(view, infoset, first, 2, tables, gradient, floor, load, ahead, predicts)
        elif actions == 1:
            update_row(view, infoset, first, 1, tables, gradient, floor, load, ahead, predicts)
        elif actions == 3:
            update_row(view, infoset, first, 3, tables, gradient, floor, load, ahead, predicts)
        else:
            update_row(view, infoset, first, actions, tables, gradient, floor, load, ahead, predicts)


@inlined
def general_update_pass(
    view, player, tables, scratch, now, ahead, load, flags, reweight, policy_map, utility_range
):  # fmt: skip
    """The same for rules whose fold is the general one."""
    for infoset in infosets_from_last(view, player):
        first, actions = row_of(view, infoset)
        value = row_value(view, infoset, first, first + actions, tables.policy, scratch.gradient)
        fold_general(
            tables, first, first + actions, scratch.gradient, value, scratch.mass[infoset], now, ahead, load, _ONE,
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
    for t in range(len(schedule) - 1):
        now, ahead = schedule[t], schedule[t + 1]
        decay, load = now[AVERAGE_DECAY], (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
        against = scratch.reach
        if best_response:
            respond_and_average(view, tables, scratch, (decay, decay), _ONE, column)
            against = scratch.response_reach
        elif simultaneous or pre:
            reach_and_average_pass(view, 0, tables, scratch.reach, decay, 1.0, column)
            reach_and_average_pass(view, 1, tables, scratch.reach, decay, 1.0, column)
        for player in range(2):
            if not (best_response or simultaneous or pre):
                reach_and_average_pass(view, 1 - player, tables, scratch.reach, decay, 1.0, column)
            gradient_pass(view, player, against, scratch)
            if flags.uses_mass:
                mass_pass(view, player, against, scratch.mass)
            if flags.plain or flags.predicts:
                update_pass(view, player, tables, scratch.gradient, now[FLOOR], load, ahead, flags.predicts)
            else:
                general_update_pass(
                    view, player, tables, scratch, now, ahead, load, flags, reweight, policy_map, utility_range
                )
            if pre and not (best_response or simultaneous):
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
