"""An iteration in phases, for policies that come from a model: estimate, average, fold, and what follows.

Tables hold true values here, without the running scales of kernels/sampled.py: between the phases Python trains a
network, beside which a sweep over the tables costs nothing.
"""

from __future__ import annotations

from numba import types

from rlccfr.kernels.fold import fold_general, fold_plain, next_policy
from rlccfr.kernels.handles import HANDLE, policy_map_of, reweight_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import (
    F8,
    F8S,
    FLAGS,
    FLOOR,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    PREDICTION,
    SCRATCH,
    TABLES,
    VIEW,
)
from rlccfr.kernels.passes.sequence_form import reach_and_average_pass, regrets_against
from rlccfr.kernels.walks.walk_layout import UNVISITED, WALK_TABLES

_ONE = (1.0, 1.0)


@kernel(types.void(VIEW, TABLES, SCRATCH, WALK_TABLES, types.int64))
def estimate_exactly(view, tables, scratch, walk_tables, player):
    """A player's instantaneous regrets and masses against the opponent's response, as a walk would leave them."""
    regrets_against(view, player, tables.policy, walk_tables.response, walk_tables.mass, scratch)
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        for k in range(view.first_sequence[infoset], view.first_sequence[infoset + 1]):
            walk_tables.gain[k] = scratch.gradient[k]


@kernel(types.void(VIEW, TABLES, SCRATCH, types.int64, types.int64))
def own_increments(view, tables, scratch, player, column):
    """A player's exact increments of the average policy, in the place of its sum."""
    reach_and_average_pass(view, player, tables, scratch.reach, 0.0, 1.0, column)


@kernel(types.void(VIEW, TABLES, WALK_TABLES, types.int64, F8S, F8S, F8S, FLAGS, HANDLE, HANDLE, F8))
def fold_player(view, tables, walk_tables, player, now, ahead, row, flags, reweight, policy_map, utility_range):
    """Fold a player's estimates into its regrets, whose next policies follow; discount the rest.

    Args:
        row: (m,) receives the regrets from which the next policies follow; with the prediction, if there is one, of
            infosets that this iteration has met.
    """
    reweight, policy_map = reweight_of(reweight), policy_map_of(policy_map)
    gain, load = walk_tables.gain, (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        if walk_tables.mass[infoset] == UNVISITED:
            for k in range(first, last):
                regret = tables.regret[k]
                tables.regret[k] = max(regret * (load[0] if regret > 0.0 else load[1]), now[FLOOR])
        elif flags.plain:
            fold_plain(tables.regret, tables.policy, first, last, gain, first, 0.0, now[FLOOR], load, _ONE)
        else:
            fold_general(
                tables, first, last, gain, 0.0, walk_tables.mass[infoset], now, ahead, load, _ONE,
                flags, reweight, policy_map, utility_range,
            )  # fmt: skip
        for k in range(first, last):
            row[k] = tables.regret[k]
            if ahead[PREDICTION] != 0.0:
                row[k] *= ahead[POSITIVE_DISCOUNT] if row[k] > 0.0 else ahead[NEGATIVE_DISCOUNT]
                row[k] += ahead[PREDICTION] * gain[k]
            gain[k] = 0.0
        walk_tables.mass[infoset] = UNVISITED
    walk_tables.num_visited[player] = view.infoset_begin[player]


@kernel(types.void(VIEW, TABLES, types.int64, F8S, F8S, FLAGS, HANDLE, HANDLE, F8))
def policies_from(view, tables, player, row, ahead, flags, reweight, policy_map, utility_range):
    """A player's policies from rows of regrets, (m,), in the rule's way."""
    policy_map = policy_map_of(policy_map)
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        for k in range(first, last):
            tables.policy[k] = row[k]
        next_policy(tables, first, last, ahead, flags, policy_map, utility_range)
