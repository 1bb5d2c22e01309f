"""Whole runs of iterations over a public tree, and values of policies."""

from __future__ import annotations

import numpy as np

from rlccfr.kernels.jit import kernel, released
from rlccfr.kernels.public.sweep import (
    DOWN,
    DRAWN,
    RESPOND,
    UP,
    UPDATE,
    UPDATE_AGAINST_RESPONSE,
    WRITE_VALUES,
    set_drawn_root,
    sweep,
    sweep_all,
    sweep_outcomes,
    sweep_top,
)


@kernel
def public_iterations(view, tables, workspace, outcomes, counts, schedule, cost):
    """Run ``len(schedule) - 1`` iterations: player 0's update, then player 1's against the updated policy.

    With responses, both players are updated against best responses to the policies at the iteration's start.

    Args:
        tables, workspace, outcomes: changed in place.
        counts: (2,) iterations done and private states met; added to in place.
        schedule: (iterations + 1, 5 + p) in the type that passes compute in.
        cost: number of private states that an iteration meets.
    """
    policy_source = tables.policy if len(tables.policy) else tables.regret
    mode = UPDATE_AGAINST_RESPONSE if len(tables.response) else UPDATE
    for t in range(len(schedule) - 1):
        now = schedule[t]
        ahead = schedule[t + 1]
        if mode == UPDATE_AGAINST_RESPONSE:  # both responses before both updates, which change the policies
            for player in range(2):
                sweep_all(view, player, policy_source, tables, workspace, outcomes, now, ahead, RESPOND)
        for player in range(2):
            sweep_all(view, player, policy_source, tables, workspace, outcomes, now, ahead, mode)
        counts[0] += 1
        counts[1] += cost


@kernel
def responses_to(view, policy_source, tables, workspace, outcomes, schedule):
    """Find both players' best responses to the policies that a table is proportional to.

    Args:
        policy_source: what the policies are proportional to.
        tables: ``response`` and ``policy_sum`` are changed in place.
        workspace, outcomes: changed in place.
        schedule: (2, 5 + p) rows, in the type that passes compute in.
    """
    for player in range(2):
        sweep_all(view, player, policy_source, tables, workspace, outcomes, schedule[0], schedule[1], RESPOND)


@kernel
def regrets_against_responses(view, player, policy_source, tables, workspace, outcomes, schedule):
    """Update a player's regrets against a best response.

    Args:
        policy_source: what the player's policy is proportional to.
        tables: ``response`` is read, and the player's part of ``regret`` changed in place.
        workspace, outcomes, schedule: as for :func:`responses_to`.
    """
    now = schedule[0]
    ahead = schedule[1]
    sweep_all(view, player, policy_source, tables, workspace, outcomes, now, ahead, UPDATE_AGAINST_RESPONSE)


@kernel
def drawn_passes(view, player, policy_source, tables, workspace, outcomes, schedule, passes):
    """Update one player by passes that draw, all against the same policies or responses.

    Args:
        policy_source: entries that policies are proportional to.
        tables, workspace: changed in place.
        schedule: (2, 5 + p) rows of this iteration and of the next, in the type that passes compute in.
        passes: number of passes.

    Returns:
        Number of private states met.
    """
    states_met = 0
    mode = UPDATE_AGAINST_RESPONSE if len(tables.response) else UPDATE
    now = schedule[0]
    ahead = schedule[1]
    for _ in range(passes):
        set_drawn_root(view, player, workspace)
        sweep(view, player, policy_source, tables, workspace, outcomes, now, ahead, np.int64(mode), np.int64(DRAWN))
        states_met += workspace.states_met[0]
    return states_met


@kernel
def drawn_iterations(view, tables, workspace, exact_workspace, outcomes, counts, schedule, logs, max_nodes):
    """Run at most ``len(schedule) - 1`` iterations whose passes draw, and stop after ``max_nodes`` private states.

    Args:
        tables, workspace, outcomes, counts: as for :func:`public_iterations`.
        exact_workspace: workspace of exact passes, which find best responses.
        schedule: (iterations + 1, 5 + p) in the type that passes compute in.
        logs: (iterations, 3) logarithms of the discounts of positive and of other regrets, and of policy sums.
    """
    policy_source = tables.policy if len(tables.policy) else tables.regret
    met_before = counts[1]
    for t in range(len(schedule) - 1):
        now = schedule[t]
        ahead = schedule[t + 1]
        # Discounts are only noted on the clock; what passes meet catches up with it.
        for column in range(3):
            workspace.drawing.clock[column] += logs[t, column]
        if len(tables.response):  # responses are exact, only the updates draw
            exact_workspace.states_met[0] = 0
            for player in range(2):
                sweep_all(view, player, policy_source, tables, exact_workspace, outcomes, now, ahead, RESPOND)
            counts[1] += exact_workspace.states_met[0]
        for player in range(2):
            counts[1] += drawn_passes(view, player, policy_source, tables, workspace, outcomes, schedule[t : t + 2], 1)
        counts[0] += 1
        if counts[1] - met_before >= max_nodes:
            return


@kernel
def begin_pass(view, player, policy_source, tables, workspace, outcomes, schedule, mode):
    """Pass down to the first public chance."""
    sweep_top(view, player, policy_source, tables, workspace, outcomes, schedule[0], schedule[1], mode, DOWN)


@released(None)
def pass_below(view, player, policy_source, tables, workspace, outcomes, schedule, mode, begin, end):
    """Pass over the trees below some outcomes of the first public chance, while other threads run."""
    sweep_outcomes(view, player, policy_source, tables, workspace, outcomes, schedule[0], schedule[1], mode, begin, end)


@kernel
def end_pass(view, player, policy_source, tables, workspace, outcomes, schedule, mode):
    """Pass down to the first public chance and up again."""
    sweep_top(view, player, policy_source, tables, workspace, outcomes, schedule[0], schedule[1], mode, UP)


@kernel
def public_value(view, player, policy_source, tables, workspace, outcomes, mass, mode):
    """Return what a pass without updates finds at the root for a player, divided by the game's unit.

    Args:
        policy_source: entries that policies are proportional to.
        tables: WRITE_PAYOFFS writes to the player's entries of ``regret``.
        mass: (root's rows,) number of private states that each row stands for.
        mode: MEAN or BEST, for the player's value by its own policy or by a best response; or WRITE_PAYOFFS, for its
            value where it has no decision.
    """
    no_row = workspace.vectors[:0]  # these modes read no schedule
    sweep_all(view, player, policy_source, tables, workspace, outcomes, no_row, no_row, np.int64(mode))
    return root_value(workspace, mass)


@kernel
def action_values(view, player, policy_source, tables, workspace, outcomes):
    """Compute the counterfactual values of a player's actions, if both players play a table's policies.

    Args:
        policy_source: the table; the policies are proportional to its positive parts.
        tables: the values are written to the player's entries of ``regret``.
    """
    no_row = workspace.vectors[:0]  # these modes read no schedule
    sweep_all(view, player, policy_source, tables, workspace, outcomes, no_row, no_row, WRITE_VALUES)


@kernel
def root_value(workspace, mass):
    """Return the value of the root, divided by the game's unit.

    Args:
        mass: (root's rows,) number of private states that each row stands for.
    """
    total = 0.0
    for r in range(len(mass)):
        total += mass[r] * workspace.vectors[r]
    return total
