"""The phases of an iteration whose policies come from a model: estimate, average, update, and set the policies.

Tables hold true values here, without the running scales of kernels/walks/sampled_iterations.py. A pass over the tables
costs little compared with training a network between the phases.
"""

from __future__ import annotations

from numba import types

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.handles import game_of, rule_of, scratch_of, tables_of, walk_state_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import (
    F8S,
    FLOOR,
    HANDLE,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    SCRATCH,
    TABLES,
    UNSCALED,
    VIEW,
    Findings,
    Step,
)
from rlccfr.kernels.passes.rows import sequences_of
from rlccfr.kernels.passes.sequence_form import reach_and_average_pass, regrets_against
from rlccfr.kernels.regret_updates import (
    add_prediction,
    copy_true_regrets,
    next_policy,
    update_regrets_general,
    update_regrets_plain,
)
from rlccfr.kernels.walks.history_values import mean_of_children
from rlccfr.kernels.walks.walk_layout import UNVISITED


@kernel(types.void(HANDLE, HANDLE, HANDLE, types.int64))
def exact_regrets_and_masses(game, scratch, walk_state, player):
    """Compute a player's exact instantaneous regrets and masses, and store them where walks store their estimates.

    The opponent plays ``response`` of the walk state's tables.

    Args:
        game, scratch, walk_state: handles. The player's entries of ``gain`` and ``mass`` in the walk state's tables are
            overwritten, and so is the scratch memory.
    """
    _, view = game_of(game)
    scratch = scratch_of(scratch)
    tables = walk_state_of(walk_state).tables
    regrets_against(view, player, tables.policy, tables.response, tables.mass, scratch)
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        for k in range(view.first_sequence[infoset], view.first_sequence[infoset + 1]):
            tables.gain[k] = scratch.gradient[k]


@kernel(types.void(VIEW, TABLES, SCRATCH, types.int64, types.int64))
def fill_average_increments(view, tables, scratch, player, column):
    """Replace a player's policy sum with the exact increments of its average: chance weight x the player's own reach.

    Args:
        tables: the player's entries of ``policy_sum`` are overwritten.
        scratch: ``reach`` is overwritten.
        column: column of ``tables.state`` that multiplies each increment; negative for none.
    """
    reach_and_average_pass(view, player, tables, scratch.reach, 0.0, 1.0, column)


@kernel(types.void(HANDLE, HANDLE, HANDLE, HANDLE, types.int64, F8S, F8S, F8S))
def update_player(game, tables, walk_state, rule, player, now, ahead, row):
    """Update a player's regrets and policies with its estimates.

    At infosets not visited, regrets are only discounted and raised to the floor.

    Args:
        game, tables, walk_state, rule: handles. The player's entries of the tables are changed in place, and those of
            the walk state's tables are cleared.
        now, ahead: (5 + p,) schedule rows of this iteration and of the next.
        row: (m,) the player's entries are overwritten with the regrets from which the next policies follow. They
            include the prediction, if there is one, at infosets that this iteration visited.
    """
    _, view = game_of(game)
    tables = tables_of(tables)
    rule = rule_of(rule)
    walk_tables = walk_state_of(walk_state).tables
    gain = walk_tables.gain
    discounts = (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
    step = Step(now, ahead, now[FLOOR], discounts, UNSCALED)
    findings = Findings(gain, walk_tables.mass, row)
    if rule.flags.reads_regret:  # until an infoset is updated, its entries of the row are free
        first, end = sequences_of(view, player)
        copy_true_regrets(tables.regret, first, end, UNSCALED, row)
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        first, end = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        if walk_tables.mass[infoset] == UNVISITED:
            for k in range(first, end):
                regret = tables.regret[k]
                tables.regret[k] = max(regret * (discounts[0] if regret > 0.0 else discounts[1]), now[FLOOR])
        elif rule.flags.plain:
            update_regrets_plain(tables, first, end, gain, first, 0.0, step)
        else:  # also for rules that predict: their fast update overwrites the gain, which the row needs
            update_regrets_general(tables, first, end, infoset, findings, 0.0, step, rule)
        # What a model fits: the new regrets, with the prediction. At infosets not visited, the gain is 0.
        for k in range(first, end):
            row[k] = tables.regret[k]
        add_prediction(row, first, end, gain, ahead)
        # Clear the estimates for the next iteration.
        for k in range(first, end):
            gain[k] = 0.0
        walk_tables.mass[infoset] = UNVISITED
    walk_tables.num_visited[player] = view.infoset_begin[player]


@kernel(types.void(HANDLE, HANDLE, HANDLE, types.int64, F8S, F8S))
def set_policies(game, tables, rule, player, row, ahead):
    """Set a player's policies to those that the rule derives from a row of regrets.

    Args:
        game, tables, rule: handles; the player's entries of ``tables.policy`` are overwritten.
        row: (m,) regrets.
        ahead: (5 + p,) schedule row of the iteration that will play the policies.
    """
    _, view = game_of(game)
    tables = tables_of(tables)
    rule = rule_of(rule)
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        first, end = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        for k in range(first, end):
            tables.policy[k] = row[k]
        next_policy(tables, first, end, ahead, rule)


@kernel(types.void(HANDLE, HANDLE, types.int64, F8S))
def back_up(game, walk_state, traverser, target):
    """Set the values of chance nodes and the targets of players' nodes: each is the mean of the children's values.

    Args:
        game, walk_state: handles. The traverser's row of ``history_value`` in the walk state's tables is changed in
            place at chance nodes only.
        target: (number of histories,) overwritten at players' nodes.
    """
    histories = game_of(game).histories
    tables = walk_state_of(walk_state).tables
    # One row of values serves both traversers, or each has one of two.
    history_value = tables.history_value[traverser * (len(tables.history_value) - 1)]
    for node in range(len(histories.record) - 1, -1, -1):  # children have higher numbers
        record = histories.record[node]
        if record["actor"] == TERMINAL:
            continue
        mean = mean_of_children(histories, record, record["actor"] == traverser, tables, history_value)
        # Models give values of players' nodes only; those of chance nodes must be set before their parents read them.
        if record["actor"] == CHANCE:
            history_value[node] = mean
        else:
            target[node] = mean
