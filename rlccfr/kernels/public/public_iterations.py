"""Many iterations over a public tree in one call, and values of policies."""

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

    If the opponent plays best responses, both updates are against best responses to the policies at the iteration's
    start.

    Args:
        tables, workspace, outcomes: changed in place.
        counts: (2,) iterations done and private states visited; added to in place.
        schedule: (iterations + 1, 5 + p) rows of the iterations and of the next one, in the type in which passes
            compute.
        cost: number of private states that an iteration visits.
    """
    policy_source = tables.policy if len(tables.policy) else tables.regret
    mode = UPDATE_AGAINST_RESPONSE if len(tables.response) else UPDATE
    for t in range(len(schedule) - 1):
        now = schedule[t]
        ahead = schedule[t + 1]
        if mode == UPDATE_AGAINST_RESPONSE:  # find both responses before the updates change the policies
            for player in range(2):
                sweep_all(view, player, policy_source, tables, workspace, outcomes, now, ahead, RESPOND)
        for player in range(2):
            sweep_all(view, player, policy_source, tables, workspace, outcomes, now, ahead, mode)
        counts[0] += 1
        counts[1] += cost


@kernel
def responses_to(view, policy_source, tables, workspace, outcomes, schedule):
    """Find both players' best responses to policies that a table gives.

    Args:
        policy_source: (m,) the table; the policies are proportional to its positive parts.
        tables: ``response`` and ``policy_sum`` are changed in place.
        workspace, outcomes: changed in place.
        schedule: (2, 5 + p) rows of this iteration and of the next, in the type in which passes compute.
    """
    for player in range(2):
        sweep_all(view, player, policy_source, tables, workspace, outcomes, schedule[0], schedule[1], RESPOND)


@kernel
def regrets_against_responses(view, player, policy_source, tables, workspace, outcomes, schedule):
    """Update a player's regrets against a stored best response.

    Args:
        policy_source: (m,) entries to whose positive parts the player's policy is proportional.
        tables: ``response`` is read, and the player's part of ``regret`` changed in place.
        workspace, outcomes, schedule: as for :func:`responses_to`.
    """
    now = schedule[0]
    ahead = schedule[1]
    sweep_all(view, player, policy_source, tables, workspace, outcomes, now, ahead, UPDATE_AGAINST_RESPONSE)


@kernel
def drawn_passes(view, player, policy_source, tables, workspace, outcomes, schedule, passes):
    """Update one player by passes that draw chance outcomes, all against the same policy or response of the opponent.

    Args:
        policy_source: (m,) entries to whose positive parts policies are proportional.
        tables, workspace: changed in place.
        schedule: (2, 5 + p) rows of this iteration and of the next, in the type in which passes compute.
        passes: number of passes.

    Returns:
        Number of private states visited.
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
    """Run ``len(schedule) - 1`` iterations whose passes draw chance outcomes.

    The call ends with the iteration in which ``max_nodes`` private states are reached.

    Args:
        tables, workspace, outcomes, counts: as for :func:`public_iterations`.
        exact_workspace: workspace of the exact passes that find best responses.
        schedule: as for :func:`public_iterations`.
        logs: (iterations, 3) logarithms of the discounts of positive and of other regrets, and of policy sums.
    """
    policy_source = tables.policy if len(tables.policy) else tables.regret
    met_before = counts[1]
    for t in range(len(schedule) - 1):
        now = schedule[t]
        ahead = schedule[t + 1]
        # Discounts are only added to the clock; the entries that a pass visits then catch up with it.
        for column in range(3):
            workspace.drawing.clock[column] += logs[t, column]
        if len(tables.response):  # passes that find responses are exact; only updates draw
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
    """Pass down to the first public chance nodes, and store the opponent's reach there."""
    sweep_top(view, player, policy_source, tables, workspace, outcomes, schedule[0], schedule[1], mode, DOWN)


@released(None)
def pass_below(view, player, policy_source, tables, workspace, outcomes, schedule, mode, begin, end):
    """Pass over the trees below some outcomes of the first public chance nodes, without holding the GIL."""
    sweep_outcomes(view, player, policy_source, tables, workspace, outcomes, schedule[0], schedule[1], mode, begin, end)


@kernel
def end_pass(view, player, policy_source, tables, workspace, outcomes, schedule, mode):
    """Pass down to the first public chance nodes, and up again with the values that were stored there."""
    sweep_top(view, player, policy_source, tables, workspace, outcomes, schedule[0], schedule[1], mode, UP)


@kernel
def public_value(view, player, policy_source, tables, workspace, outcomes, mass, mode):
    """Compute a player's value at the root by a pass without updates, and return it as :func:`root_value` does.

    Args:
        policy_source: (m,) entries to whose positive parts policies are proportional.
        tables: WRITE_PAYOFFS writes to the player's entries of ``regret``.
        mass: (root's rows,) the game's ``mass`` for the player.
        mode: MEAN or BEST, for the player's value with its own policy or with a best response; or WRITE_PAYOFFS, for
            its payoff from plays in which it has no decision.
    """
    no_row = workspace.vectors[:0]  # these modes read no schedule
    sweep_all(view, player, policy_source, tables, workspace, outcomes, no_row, no_row, np.int64(mode))
    return root_value(workspace, mass)


@kernel
def action_values(view, player, policy_source, tables, workspace, outcomes):
    """Compute the counterfactual values of a player's actions, if both players follow policies that a table gives.

    Args:
        policy_source: (m,) the table; the policies are proportional to its positive parts.
        tables: the values are written to the player's entries of ``regret``.
    """
    no_row = workspace.vectors[:0]  # this mode reads no schedule
    sweep_all(view, player, policy_source, tables, workspace, outcomes, no_row, no_row, WRITE_VALUES)


@kernel
def root_value(workspace, mass):
    """Return the root's value after a pass, divided by the game's probability of a pair of private states.

    Args:
        workspace: ``vectors`` begin with the values of the root's rows.
        mass: (root's rows,) the game's ``mass`` for the player.
    """
    total = 0.0
    for r in range(len(mass)):
        total += mass[r] * workspace.vectors[r]
    return total
