"""Whole runs of iterations over a public tree, and values of policies."""

from __future__ import annotations

from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.public.memory import PublicTables
from rlccfr.kernels.public.sweep import BEST, MEAN, UPDATE, sweep


@inlined
def start(view, player, memory):
    """Set the opponent's reach at the root, where every hand has 1."""
    rows = view.deals[view.nodes[0]["deal"]]["rows"]
    memory.vectors[rows[player] : rows[0] + rows[1]] = memory.shares[1]


@kernel
def public_iterations(view, tables, memory, counts, schedule, cost):
    """Run ``len(schedule) - 1`` iterations: player 0's update, then player 1's against the updated policy.

    Args:
        tables, memory: changed in place.
        counts: (2,) iterations done and private states met; raised in place.
        schedule: (iterations + 1, 5) in the tables' type.
        cost: number of private states that an iteration meets.
    """
    table = tables.policy if len(tables.policy) else tables.regret
    for t in range(len(schedule) - 1):
        for player in range(2):
            start(view, player, memory)
            sweep(view, player, table, tables, memory, UPDATE, schedule[t], schedule[t + 1])
        counts[0] += 1
        counts[1] += cost


@kernel
def public_value(view, player, table, memory, mass, best):
    """Return a player's value against the policy that a table is proportional to, over the game's unit.

    Args:
        mass: (root's rows,) number of private states that each row stands for.
        best: whether the player responds best, rather than by the table's policy.
    """
    start(view, player, memory)
    none = memory.vectors[:0]
    sweep(view, player, table, PublicTables(table, table, none), memory, BEST if best else MEAN, none, none)
    total = 0.0
    for r in range(len(mass)):
        total += mass[r] * memory.vectors[r]
    return total
