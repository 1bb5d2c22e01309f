"""External and outcome sampling, one walk a player and iteration, by kernels that do nothing else.

The same walks as those of kernels/walk.py, number for number, in half the time: where chance and the opponent are
sampled, a walk meets an infoset of the traverser at most once, so that it is folded on the way up, and nothing waits
in tables until the walk has ended.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.games.flat_tree import CHANCE, TERMINAL, GameTree
from rlccfr.kernels.fold import fold_simple
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE,
    AVERAGE_DECAY,
    COUNTS,
    F8,
    F8M,
    F8S,
    FLOOR,
    NEGATIVE,
    NEGATIVE_DISCOUNT,
    POSITIVE,
    POSITIVE_DISCOUNT,
    TABLES,
    VIEW,
)
from rlccfr.kernels.walks.random_words import STATE, draw, uniform
from rlccfr.kernels.walks.sampled_iterations import discount
from rlccfr.kernels.walks.walk import draw_chance
from rlccfr.kernels.walks.walk_layout import HISTORIES


class WalkPath(NamedTuple):
    """The traverser's histories on the way down."""

    node: np.ndarray  # (depth,)
    action: np.ndarray  # (depth,): the child being walked
    taken: np.ndarray  # (depth,): the probability with which it was drawn
    weight: np.ndarray  # (depth,): 1 over that of reaching the history by own draws
    value: np.ndarray  # (depth x actions,): what the children's walks returned


PATH = types.NamedTuple((types.int64[::1], types.int64[::1], F8S, F8S, F8S), WalkPath)


def path_for(game: GameTree) -> WalkPath:
    """Working memory for one game's walks."""
    rows = game.depth + 1
    return WalkPath(
        node=np.zeros(rows, np.int64),
        action=np.zeros(rows, np.int64),
        taken=np.zeros(rows),
        weight=np.zeros(rows),
        value=np.zeros(rows * game.max_actions),
    )


@inlined
def fold_on_path(tables, here, values, at, value, fold):
    """Fold one infoset, whose actions' values, or regrets if ``value`` is 0, are ``values[at:]``."""
    floor, load, store, ahead, predicts = fold
    first, last = np.int64(here["first_sequence"]), np.int64(here["first_sequence"]) + here["num_children"]
    fold_simple(tables.regret, tables.policy, first, last, values, at, value, floor, load, store, ahead, predicts)


@inlined
def average_here(tables, here, weight):
    """The opponent's average increment where it moves."""
    for k in range(here["first_sequence"], here["first_sequence"] + here["num_children"]):
        tables.policy_sum[k] += weight * tables.policy[k]


@inlined
def external_walk(histories, traverser, tables, average_weight, fold, path, rng):
    """One walk of all own actions. Returns the number of histories touched."""
    sign, width = 1.0 - 2.0 * traverser, len(path.value) // len(path.node)
    node, depth, touched = 0, -1, 0
    while True:
        here = histories[node]
        actor = here["actor"]
        touched += 1
        if actor == traverser:
            depth += 1
            path.node[depth], path.action[depth] = node, 0
            node = here["first_child"]
        elif actor == CHANCE:
            node = draw_chance(histories, here, rng)
        elif actor != TERMINAL:
            average_here(tables, here, average_weight)
            node = here["first_child"] + draw(tables.policy, here["first_sequence"], here["num_children"], rng)
        else:
            value, climbing = sign * here["utility"], True
            while climbing and depth >= 0:
                here, at = histories[path.node[depth]], depth * width
                path.value[at + path.action[depth]] = value
                path.action[depth] += 1
                climbing = path.action[depth] == here["num_children"]
                if climbing:
                    value = 0.0
                    for k in range(here["num_children"]):
                        value += tables.policy[here["first_sequence"] + k] * path.value[at + k]
                    fold_on_path(tables, here, path.value, at, value, fold)
                    depth -= 1
                else:
                    node = here["first_child"] + path.action[depth]
            if climbing:
                return touched


@inlined
def outcome_walk(histories, traverser, tables, exploration, average_weight, fold, path, rng):
    """One path, own actions drawn with so much of the uniform policy. Returns the number of histories touched."""
    node, depth, touched, weight = 0, 0, 1, 1.0
    while histories[node]["actor"] != TERMINAL:
        here = histories[node]
        actor, first, count = here["actor"], here["first_sequence"], here["num_children"]
        if actor == traverser:
            action, taken, rest = 0, 1.0, uniform(rng)
            for k in range(count):
                share = exploration / count + (1.0 - exploration) * tables.policy[first + k]
                if share > 0.0:
                    action, taken = k, share
                    rest -= share
                    if rest < 0.0:
                        break
            path.node[depth], path.action[depth], path.taken[depth], path.weight[depth] = node, action, taken, weight
            depth += 1
            weight /= taken
            node = here["first_child"] + action
        elif actor == CHANCE:
            node = draw_chance(histories, here, rng)
        else:
            average_here(tables, here, average_weight * weight)
            node = here["first_child"] + draw(tables.policy, first, count, rng)
        touched += 1
    value = (1.0 - 2.0 * traverser) * histories[node]["utility"]
    for row in range(depth - 1, -1, -1):
        here, action = histories[path.node[row]], path.action[row]
        child = value / path.taken[row]
        value = tables.policy[here["first_sequence"] + action] * child
        for k in range(here["num_children"]):
            path.value[k] = path.weight[row] * ((child if k == action else 0.0) - value)
        fold_on_path(tables, here, path.value, 0, 0.0, fold)
    return touched


@kernel(
    types.void(
        HISTORIES, VIEW, TABLES, PATH, STATE, F8M, F8M, types.int64, types.boolean, F8, types.boolean, COUNTS,
    ),
)  # fmt: skip
def quick_iterations(
    histories, view, tables, path, rng, scale, schedule, max_nodes, one_path, exploration, predicts, counts
):  # fmt: skip
    """Run up to ``len(schedule) - 1`` iterations, fewer once ``max_nodes`` more histories were touched.

    Args:
        one_path: outcome sampling, with so much ``exploration``; else external sampling.
        predicts: the rule does so; it does nothing else but discount and floor.
    """
    before = counts[1]
    for t in range(len(schedule) - 1):
        now, ahead = schedule[t], schedule[t + 1]
        for player in range(2):
            discount(view, 1 - player, tables, scale, AVERAGE, now[AVERAGE_DECAY])
            discount(view, player, tables, scale, POSITIVE, now[POSITIVE_DISCOUNT])
            discount(view, player, tables, scale, NEGATIVE, now[NEGATIVE_DISCOUNT])
            store = (scale[player, POSITIVE], scale[player, NEGATIVE])
            fold = (now[FLOOR], (1.0 / store[0], 1.0 / store[1]), store, ahead, predicts)
            average_weight = scale[1 - player, AVERAGE]
            if one_path:
                touched = outcome_walk(histories, player, tables, exploration, average_weight, fold, path, rng)
            else:
                touched = external_walk(histories, player, tables, average_weight, fold, path, rng)
            counts[1] += touched
        counts[0] += 1
        if counts[1] - before >= max_nodes:
            return
