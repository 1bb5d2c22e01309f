"""Whole runs of iterations over a public tree, and values of policies."""

from __future__ import annotations

from rlccfr.kernels.jit import kernel, released
from rlccfr.kernels.public.memory import PublicTables
from rlccfr.kernels.public.sweep import BEST, DOWN, MEAN, UP, UPDATE, sweep_all, sweep_outcomes, sweep_top


@kernel
def public_iterations(view, tables, memory, outcomes, counts, schedule, cost):
    """Run ``len(schedule) - 1`` iterations: player 0's update, then player 1's against the updated policy.

    Args:
        tables, memory, outcomes: changed in place.
        counts: (2,) iterations done and private states met; raised in place.
        schedule: (iterations + 1, 5) in the tables' type.
        cost: number of private states that an iteration meets.
    """
    table = tables.policy if len(tables.policy) else tables.regret
    for t in range(len(schedule) - 1):
        for player in range(2):
            sweep_all(view, player, table, tables, memory, outcomes, schedule[t], schedule[t + 1], UPDATE)
        counts[0] += 1
        counts[1] += cost


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
def public_value(view, player, table, memory, outcomes, mass, best):
    """Return a player's value against the policy that a table is proportional to, over the game's unit.

    Args:
        mass: (root's rows,) number of private states that each row stands for.
        best: whether the player responds best, rather than by the table's policy.
    """
    none = memory.vectors[:0]
    tables = PublicTables(table, table, none)
    sweep_all(view, player, table, tables, memory, outcomes, none, none, BEST if best else MEAN)
    return root_value(memory, mass)


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
