"""Whole runs of iterations over a public tree, and values of policies."""

from __future__ import annotations

import numpy as np

from rlccfr.kernels.jit import kernel, released
from rlccfr.kernels.public.sweep import (
    BEST,
    COUNTER,
    DOWN,
    DRAWN,
    KEEP,
    MEAN,
    RESPOND,
    UP,
    UPDATE,
    prepare_drawn,
    sweep,
    sweep_all,
    sweep_outcomes,
    sweep_top,
)


@kernel
def public_iterations(view, tables, memory, outcomes, counts, schedule, cost):
    """Run ``len(schedule) - 1`` iterations: player 0's update, then player 1's against the updated policy.

    With responses, both players are updated against best responses to the policies at the iteration's start.

    Args:
        tables, memory, outcomes: changed in place.
        counts: (2,) iterations done and private states met; raised in place.
        schedule: (iterations + 1, 5) in the tables' type.
        cost: number of private states that an iteration meets.
    """
    table = tables.policy if len(tables.policy) else tables.regret
    mode = COUNTER if len(tables.response) else UPDATE
    for t in range(len(schedule) - 1):
        now, ahead = schedule[t], schedule[t + 1]
        if mode == COUNTER:
            for player in range(2):
                sweep_all(view, player, table, tables, memory, outcomes, now, ahead, RESPOND)
        for player in range(2):
            sweep_all(view, player, table, tables, memory, outcomes, now, ahead, mode)
        counts[0] += 1
        counts[1] += cost


@kernel
def responses_to(view, table, tables, memory, outcomes, schedule):
    """Find both players' best responses to the policies that a table is proportional to.

    Args:
        table: what the policies are proportional to.
        tables: ``response`` and ``policy_sum`` are changed in place.
        memory, outcomes: changed in place.
        schedule: (2, 5) rows, in the tables' type.
    """
    for player in range(2):
        sweep_all(view, player, table, tables, memory, outcomes, schedule[0], schedule[1], RESPOND)


@kernel
def regrets_against_responses(view, player, table, tables, memory, outcomes, schedule):
    """Raise a player's regrets against a best response.

    Args:
        table: what the player's policy is proportional to.
        tables: ``response`` is read, and the player's part of ``regret`` changed in place.
        memory, outcomes, schedule: as for :func:`responses_to`.
    """
    sweep_all(view, player, table, tables, memory, outcomes, schedule[0], schedule[1], COUNTER)


@kernel
def drawn_passes(view, player, table, tables, memory, outcomes, schedule, passes):
    """Update one player by passes that draw, all against the same policies or responses.

    Args:
        table: entries that policies are proportional to.
        tables, memory: changed in place.
        schedule: (2, 5) rows of this iteration and of the next, in the tables' type.
        passes: number of passes.

    Returns:
        Number of private states met.
    """
    met, mode = 0, COUNTER if len(tables.response) else UPDATE
    for _ in range(passes):
        prepare_drawn(view, player, memory)
        now, ahead = schedule[0], schedule[1]
        sweep(view, player, table, tables, memory, outcomes, now, ahead, np.int64(mode), np.int64(DRAWN))
        met += memory.met[0]
    return met


@kernel
def drawn_iterations(view, tables, memory, whole, outcomes, counts, schedule, logs, max_nodes):
    """Run at most ``len(schedule) - 1`` iterations whose passes draw, and stop after ``max_nodes`` private states.

    Args:
        tables, memory, outcomes, counts: as for :func:`public_iterations`.
        whole: memory of exact passes, which find best responses.
        schedule: (iterations + 1, 5) in the tables' type.
        logs: (iterations, 3) logarithms of the discounts of positive and of other regrets, and of policy sums.
    """
    table = tables.policy if len(tables.policy) else tables.regret
    before = counts[1]
    for t in range(len(schedule) - 1):
        for column in range(3):
            memory.drawing.clock[column] += logs[t, column]
        if len(tables.response):
            whole.met[0] = 0
            for player in range(2):
                sweep_all(view, player, table, tables, whole, outcomes, schedule[t], schedule[t + 1], RESPOND)
            counts[1] += whole.met[0]
        for player in range(2):
            counts[1] += drawn_passes(view, player, table, tables, memory, outcomes, schedule[t : t + 2], 1)
        counts[0] += 1
        if counts[1] - before >= max_nodes:
            return


@kernel
def begin_pass(view, player, table, tables, memory, outcomes, schedule, mode):
    """Pass down to the first public chance."""
    sweep_top(view, player, table, tables, memory, outcomes, schedule[0], schedule[1], mode, DOWN)


@released(None)
def pass_below(view, player, table, tables, memory, outcomes, schedule, mode, begin, end):
    """Pass over the trees below some outcomes of the first public chance, while other threads run."""
    sweep_outcomes(view, player, table, tables, memory, outcomes, schedule[0], schedule[1], mode, begin, end)


@kernel
def end_pass(view, player, table, tables, memory, outcomes, schedule, mode):
    """Pass down to the first public chance and up again."""
    sweep_top(view, player, table, tables, memory, outcomes, schedule[0], schedule[1], mode, UP)


@kernel
def public_value(view, player, tables, memory, outcomes, mass, best):
    """Return a player's value against the policy that a table is proportional to, over the game's unit.

    Args:
        tables: ``regret`` is that table; none is changed.
        mass: (root's rows,) number of private states that each row stands for.
        best: whether the player responds best, rather than by the table's policy.
    """
    none = memory.vectors[:0]
    sweep_all(view, player, tables.regret, tables, memory, outcomes, none, none, BEST if best else MEAN)
    return root_value(memory, mass)


@kernel
def action_values(view, player, table, tables, memory, outcomes):
    """Find the counterfactual values of a player's actions, if both play the policies that a table is proportional to.

    Args:
        table: that table.
        tables: ``regret`` is overwritten at the player's entries.
    """
    none = memory.vectors[:0]
    sweep_all(view, player, table, tables, memory, outcomes, none, none, KEEP)


@kernel
def root_value(memory, mass):
    """Return the value of the root, over the game's unit.

    Args:
        mass: (root's rows,) number of private states that each row stands for.
    """
    total = 0.0
    for r in range(len(mass)):
        total += mass[r] * memory.vectors[r]
    return total
