"""The phases of an iteration whose policies come from a model: estimate, average, fold, and set the policies.

Tables hold true values here, without the running scales of kernels/walks/sampled_iterations.py. A pass over the tables
costs little compared with training a network between the phases.
"""

from __future__ import annotations

from numba import types

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.fold import add_prediction, fold_general, fold_plain, keep_regret, next_policy
from rlccfr.kernels.handles import game_of, memory_of, rule_of, scratch_of, tables_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import (
    F8S,
    FLOOR,
    HANDLE,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    SCRATCH,
    TABLES,
    VIEW,
    Findings,
    Step,
)
from rlccfr.kernels.passes.rows import sequences_of
from rlccfr.kernels.passes.sequence_form import reach_and_average_pass, regrets_against
from rlccfr.kernels.walks.history_values import mean_of_children
from rlccfr.kernels.walks.walk_layout import UNVISITED

_ONE = (1.0, 1.0)


@kernel(types.void(HANDLE, HANDLE, HANDLE, types.int64))
def estimate_exactly(game, scratch, memory, player):
    """Compute a player's exact instantaneous regrets and masses, and store them where walks store their estimates.

    The opponent plays ``response`` of the memory's tables.

    Args:
        game, scratch, memory: handles. The player's part of ``gain`` and ``mass`` in the memory's tables is
            overwritten, and so is the scratch memory.
    """
    _, view = game_of(game)
    scratch, tables = scratch_of(scratch), memory_of(memory).tables
    regrets_against(view, player, tables.policy, tables.response, tables.mass, scratch)
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        for k in range(view.first_sequence[infoset], view.first_sequence[infoset + 1]):
            tables.gain[k] = scratch.gradient[k]


@kernel(types.void(VIEW, TABLES, SCRATCH, types.int64, types.int64))
def own_increments(view, tables, scratch, player, column):
    """Replace a player's policy sum with the exact increments of its average policy: chance weight x own reach.

    Args:
        tables: the player's part of ``policy_sum`` is overwritten.
        scratch: ``reach`` is overwritten.
        column: column of ``tables.state`` that multiplies each increment; negative for none.
    """
    reach_and_average_pass(view, player, tables, scratch.reach, 0.0, 1.0, column)


@kernel(types.void(HANDLE, HANDLE, HANDLE, HANDLE, types.int64, F8S, F8S, F8S))
def fold_player(game, tables, memory, rule, player, now, ahead, row):
    """Fold a player's estimates into its regrets and policies; at infosets not visited, only discount and floor.

    Args:
        game, tables, memory, rule: handles. The player's part of the tables is changed in place, and its part of the
            memory's tables is cleared.
        now, ahead: (5 + p,) schedule rows of this iteration and of the next.
        row: (m,) the player's part is overwritten with the regrets from which the next policies follow. They include
            the prediction, if there is one, at infosets that this iteration visited.
    """
    _, view = game_of(game)
    tables, rule = tables_of(tables), rule_of(rule)
    walk_tables = memory_of(memory).tables
    gain, load = walk_tables.gain, (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
    step, findings = Step(now, ahead, now[FLOOR], load, _ONE), Findings(gain, walk_tables.mass, row)
    if rule.flags.reads_regret:  # until an infoset is folded, its part of the row is free
        first, last = sequences_of(view, player)
        keep_regret(tables.regret, first, last, _ONE, row)
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        if walk_tables.mass[infoset] == UNVISITED:
            for k in range(first, last):
                regret = tables.regret[k]
                tables.regret[k] = max(regret * (load[0] if regret > 0.0 else load[1]), now[FLOOR])
        elif rule.flags.plain:
            fold_plain(tables, first, last, gain, first, 0.0, step)
        else:  # also for rules that predict: their fast fold overwrites the gain, which the row needs
            fold_general(tables, first, last, infoset, findings, 0.0, step, rule)
        for k in range(first, last):
            row[k] = tables.regret[k]
        add_prediction(row, first, last, gain, ahead)
        for k in range(first, last):
            gain[k] = 0.0
        walk_tables.mass[infoset] = UNVISITED
    walk_tables.num_visited[player] = view.infoset_begin[player]


@kernel(types.void(HANDLE, HANDLE, HANDLE, types.int64, F8S, F8S))
def policies_from(game, tables, rule, player, row, ahead):
    """Set a player's policies to those that the rule derives from a row of regrets.

    Args:
        game, tables, rule: handles; the player's part of ``tables.policy`` is overwritten.
        row: (m,) regrets.
        ahead: (5 + p,) schedule row of the iteration that will play the policies.
    """
    _, view = game_of(game)
    tables, rule = tables_of(tables), rule_of(rule)
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        for k in range(first, last):
            tables.policy[k] = row[k]
        next_policy(tables, first, last, ahead, rule)


@kernel(types.void(HANDLE, HANDLE, types.int64, F8S))
def back_up(game, memory, traverser, target):
    """Set values at nodes of chance to the means of their outcomes', and targets to the means one action later.

    Args:
        game, memory: handles. The traverser's row of ``history_value`` in the memory's tables is changed in place at
            nodes of chance alone.
        target: (number of histories,) overwritten at nodes of players.
    """
    histories, tables = game_of(game).histories, memory_of(memory).tables
    known = tables.history_value[traverser * (len(tables.history_value) - 1)]
    for node in range(len(histories.record) - 1, -1, -1):  # children have higher numbers
        here = histories.record[node]
        if here["actor"] == TERMINAL:
            continue
        mean = mean_of_children(histories, here, here["actor"] == traverser, tables, known)
        if here["actor"] == CHANCE:
            known[node] = mean
        else:
            target[node] = mean
