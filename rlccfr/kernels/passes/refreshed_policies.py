"""Policies after a switch of rules; a module of its own, so that other runs need not compile it."""

from __future__ import annotations

from numba import types

from rlccfr.kernels.handles import game_of, rule_of, tables_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import F8, F8S, HANDLE
from rlccfr.kernels.regret_updates import next_policy


@kernel(types.void(HANDLE, HANDLE, HANDLE, F8S, F8))
def refresh_policies(game, tables, rule, ahead, floor):
    """After a switch of rules, raise regrets to the floor and set every infoset's policy from its regrets.

    Args:
        game, tables, rule: handles; ``regret`` and ``policy`` of the tables, in true units, are changed in place.
        ahead: (5 + p,) the next iteration's row of the schedule.
        floor: least value of a regret.
    """
    _, view = game_of(game)
    tables = tables_of(tables)
    rule = rule_of(rule)
    for infoset in range(len(view.parent)):
        first, end = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        for k in range(first, end):
            tables.regret[k] = max(tables.regret[k], floor)
            tables.policy[k] = tables.regret[k]
        next_policy(tables, first, end, ahead, rule)
