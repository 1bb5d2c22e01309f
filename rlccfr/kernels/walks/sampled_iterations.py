"""Whole runs of iterations by sampled walks.

Discounts touch the whole table at every iteration, walks only a few rows. So the tables hold true values
times a running scale a player (for positive regrets, for negative ones, for the policy sum): to discount all
is to grow the scale, at no cost. When a scale is about to overflow, or a discount is 0, the table itself is
brought up to date.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.fold import fold_general, fold_simple
from rlccfr.kernels.handles import HANDLE, inclusion_of, mixture_of, policy_map_of, reweight_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE,
    AVERAGE_DECAY,
    COUNTS,
    F8,
    F8M,
    FLAGS,
    FLOOR,
    NEGATIVE,
    NEGATIVE_DISCOUNT,
    POSITIVE,
    POSITIVE_DISCOUNT,
    SCRATCH,
    TABLES,
    VIEW,
)
from rlccfr.kernels.passes.sequence_form import respond_and_average
from rlccfr.kernels.walks.random_words import STATE
from rlccfr.kernels.walks.walk import walk
from rlccfr.kernels.walks.walk_layout import FRAMES, HISTORIES, PLAN, UNVISITED, WALK_TABLES

LARGEST_SCALE = 1e100


@kernel
def settle(view, player, tables, scale):
    """Bring a player's tables to true units; its scales become 1."""
    first = view.first_sequence[view.infoset_begin[player]]
    last = view.first_sequence[view.infoset_begin[player + 1]]
    for k in range(first, last):
        tables.regret[k] /= scale[player, POSITIVE] if tables.regret[k] > 0.0 else scale[player, NEGATIVE]
        tables.policy_sum[k] /= scale[player, AVERAGE]
    scale[player] = 1.0


@inlined
def discount(view, player, tables, scale, column, factor):
    """Multiply one kind of a player's entries by ``factor``, through its scale where that can hold it."""
    if factor == 1.0:
        return
    if factor > 0.0 and scale[player, column] / factor < LARGEST_SCALE:
        scale[player, column] /= factor
        return
    settle(view, player, tables, scale)
    first = view.first_sequence[view.infoset_begin[player]]
    last = view.first_sequence[view.infoset_begin[player + 1]]
    for k in range(first, last):
        if column == AVERAGE:
            tables.policy_sum[k] *= factor
        elif (tables.regret[k] > 0.0) == (column == POSITIVE):
            tables.regret[k] *= factor


@inlined
def fold_visited(view, player, tables, walk_tables, scale, now, ahead, flags, reweight, policy_map, utility_range):
    """Fold each infoset that the player's walks visited, once, and forget the visits."""
    discount(view, player, tables, scale, POSITIVE, now[POSITIVE_DISCOUNT])
    discount(view, player, tables, scale, NEGATIVE, now[NEGATIVE_DISCOUNT])
    store = (scale[player, POSITIVE], scale[player, NEGATIVE])
    load = (1.0 / store[0], 1.0 / store[1])
    gain, begin = walk_tables.gain, np.int64(view.infoset_begin[player])
    for index in range(begin, walk_tables.num_visited[player]):
        infoset = walk_tables.visited[index]
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        if flags.plain or flags.predicts:
            fold_simple(
                tables.regret, tables.policy, first, last, gain, first, 0.0, now[FLOOR], load, store, ahead,
                flags.predicts,
            )  # fmt: skip
        else:
            fold_general(
                tables, first, last, gain, 0.0, walk_tables.mass[infoset], now, ahead, load, store,
                flags, reweight, policy_map, utility_range,
            )  # fmt: skip
        for k in range(first, last):
            gain[k] = 0.0
        walk_tables.mass[infoset] = UNVISITED
    walk_tables.num_visited[player] = begin


@inlined
def count_uniformly(view, reach, uniform_count):
    """What walks would add to the uniform counts on average, where none visits the opponent's nodes for it."""
    for infoset in range(len(view.parent)):
        for k in range(view.first_sequence[infoset], view.first_sequence[infoset + 1]):
            uniform_count[k] += view.chance_weight[infoset] * reach[k]


@kernel(
    types.void(
        HISTORIES, VIEW, TABLES, WALK_TABLES, SCRATCH, FRAMES, STATE, F8M, F8M, types.int64, types.int64,
        PLAN, HANDLE, HANDLE, F8M, types.boolean, types.boolean, FLAGS, HANDLE, HANDLE, F8, COUNTS,
    ),
)  # fmt: skip
def sampled_iterations(
    histories, view, tables, walk_tables, scratch, frames, rng, scale, schedule, walks, max_nodes,
    plan, inclusion, mixture, parameters, best_response, simultaneous, flags, reweight, policy_map, utility_range,
    counts,
):  # fmt: skip
    """Run up to ``len(schedule) - 1`` iterations, fewer once ``max_nodes`` more histories were touched.

    See ``exact_iterations`` for the arguments.
    """
    inclusion, mixture = inclusion_of(inclusion), mixture_of(mixture)
    reweight, policy_map = reweight_of(reweight), policy_map_of(policy_map)
    weight, before = 1.0 / walks, counts[1]
    for t in range(len(schedule) - 1):
        now, ahead = schedule[t], schedule[t + 1]
        if best_response:
            for player in range(2):
                discount(view, player, tables, scale, AVERAGE, now[AVERAGE_DECAY])
            increments = (scale[0, AVERAGE], scale[1, AVERAGE])
            respond_and_average(view, tables, scratch, (1.0, 1.0), increments, flags.average_column)
            counts[1] += 2 * len(histories)
            if plan.counts:
                count_uniformly(view, scratch.reach, walk_tables.uniform_count)
        for player in range(2):
            average_weight = 0.0
            if not best_response:
                discount(view, 1 - player, tables, scale, AVERAGE, now[AVERAGE_DECAY])
                average_weight = scale[1 - player, AVERAGE] * weight
            for _ in range(walks):
                counts[1] += walk(
                    histories, player, weight, average_weight, plan, inclusion, mixture, parameters[t],
                    walk_tables, frames, rng,
                )  # fmt: skip
            if not simultaneous:
                fold_visited(
                    view, player, tables, walk_tables, scale, now, ahead,
                    flags, reweight, policy_map, utility_range,
                )  # fmt: skip
        if simultaneous:
            for player in range(2):
                fold_visited(
                    view, player, tables, walk_tables, scale, now, ahead,
                    flags, reweight, policy_map, utility_range,
                )  # fmt: skip
        counts[0] += 1
        if counts[1] - before >= max_nodes:
            return


@kernel(types.void(VIEW, TABLES, F8M))
def settle_all(view, tables, scale):
    """Bring both players' tables to true units."""
    for player in range(2):
        settle(view, player, tables, scale)
