"""Special kernels for external and outcome sampling with one walk per player and iteration.

They perform the same walks as kernels/walks/walk.py, with bitwise equal results, in half the time. Where chance and
the opponent are sampled, a walk visits an infoset of the traverser at most once. The infoset is therefore folded on the
way up, and nothing is kept in tables until the walk ends.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.fold import fold_simple
from rlccfr.kernels.handles import flags_of, game_of, path_of, plan_of, run_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import AVERAGE, AVERAGE_DECAY, F8M, HANDLE
from rlccfr.kernels.walks.prefetch import prefetch
from rlccfr.kernels.walks.random_words import draw, uniform
from rlccfr.kernels.walks.scales import discount, discounted_step
from rlccfr.kernels.walks.walk import draw_chance
from rlccfr.kernels.walks.walk_layout import ONE

MOST_NEAR = 50_000
"""Most histories of a game without prefetching. Leduc (9,457) gains nothing from it; Liar's dice (294,883) does."""


@inlined
def fold_on_path(tables, here, values, at, value, step, predicts):
    """Fold the infoset of one history.

    Args:
        tables: ``regret`` and ``policy`` are changed in place.
        values: array with the actions' values from index ``at`` on, or with their regrets if ``value`` is 0;
            overwritten if the rule predicts.
    """
    first = np.int64(here["first_sequence"])
    fold_simple(tables, first, first + here["num_children"], values, at, value, step, predicts)


@inlined
def average_here(tables, here, weight):
    """Add the opponent's average increment at its node to ``tables.policy_sum``, in place."""
    for k in range(here["first_sequence"], here["first_sequence"] + here["num_children"]):
        tables.policy_sum[k] += weight * tables.policy[k]


@inlined
def prefetch_below(histories, tables, first, count):
    """Ask for what a walk reads at ``count`` siblings, of which ``first`` is the first, and below them."""
    for node in range(first, first + count):
        here = histories.record[node]
        if here["actor"] != TERMINAL:  # chance has no sequences; a hint about a wrong place does no harm
            prefetch(histories.record, here["first_child"])
            prefetch(tables.policy, here["first_sequence"])
            prefetch(tables.policy_sum, here["first_sequence"])


@inlined
def external_walk(histories, traverser, tables, average_weight, step, predicts, path, rng):
    """Perform one walk that takes all own actions.

    Args:
        tables: changed in place.
        average_weight: weight of the walk in the opponent's policy sum.
        path: overwritten.
        rng: (1,) state of the generator, advanced in place.

    Returns:
        Number of histories touched.
    """
    sign, width = 1.0 - 2.0 * traverser, len(path.value) // len(path.node)
    node, depth, touched, far = 0, -1, 0, len(histories.record) > MOST_NEAR
    while True:
        here = histories.record[node]
        actor = here["actor"]
        touched += 1
        if actor == traverser:
            depth += 1
            path.node[depth], path.action[depth] = node, 0
            node = here["first_child"]
            if far:
                prefetch(tables.regret, here["first_sequence"])
                prefetch_below(histories, tables, node, here["num_children"])
        elif actor == CHANCE:
            node = draw_chance(histories, here, rng)
        elif actor != TERMINAL:
            average_here(tables, here, average_weight)
            node = here["first_child"] + draw(tables.policy, here["first_sequence"], here["num_children"], rng)
        else:
            value, climbing = sign * histories.utility[2 * node], True
            while climbing and depth >= 0:
                here, at = histories.record[path.node[depth]], depth * width
                path.value[at + path.action[depth]] = value
                path.action[depth] += 1
                climbing = path.action[depth] == here["num_children"]
                if climbing:
                    value = 0.0
                    for k in range(here["num_children"]):
                        value += tables.policy[here["first_sequence"] + k] * path.value[at + k]
                    fold_on_path(tables, here, path.value, at, value, step, predicts)
                    depth -= 1
                else:
                    node = here["first_child"] + path.action[depth]
            if climbing:
                return touched


@inlined
def outcome_walk(histories, traverser, tables, exploration, average_weight, step, predicts, path, rng):
    """Perform one walk along a single path.

    Args:
        exploration: share of the uniform policy in the distribution from which own actions are drawn.

    See :func:`external_walk` for the other arguments and the result.
    """
    node, depth, touched, weight = 0, 0, 1, 1.0
    here = histories.record[node]
    while here["actor"] != TERMINAL:
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
        here = histories.record[node]
        touched += 1
    value = (1.0 - 2.0 * traverser) * histories.utility[2 * node]
    for row in range(depth - 1, -1, -1):
        here, action = histories.record[path.node[row]], path.action[row]
        child = value / path.taken[row]
        value = tables.policy[here["first_sequence"] + action] * child
        for k in range(here["num_children"]):
            path.value[k] = path.weight[row] * ((child if k == action else 0.0) - value)
        fold_on_path(tables, here, path.value, 0, 0.0, step, predicts)
    return touched


@kernel(types.void(HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, F8M, types.int64))
def quick_iterations(game, run, path, rule, sampling, schedule, max_nodes):
    """Run at most ``len(schedule) - 1`` iterations, and stop once ``max_nodes`` more histories have been touched.

    Args:
        game, run, path, rule, sampling: handles; the run's arrays are changed in place, the path is overwritten. The
            rule only discounts, floors and perhaps predicts. The sampler is outcome sampling if its traverser takes
            ONE action, else external sampling.
        schedule: (iterations + 1, 5 + p) one row per iteration, and one for the iteration after them.
    """
    histories, view = game_of(game)
    tables, scale, rng, counts, _ = run_of(run)
    path, plan, predicts = path_of(path), plan_of(sampling), flags_of(rule).predicts
    one_path, before = plan.traverser == ONE, counts[1]
    for t in range(len(schedule) - 1):
        now, ahead = schedule[t], schedule[t + 1]
        for player in range(2):
            discount(view, 1 - player, tables, scale, AVERAGE, now[AVERAGE_DECAY])
            step = discounted_step(view, player, tables, scale, now, ahead)
            average = scale[1 - player, AVERAGE]
            if one_path:
                touched = outcome_walk(histories, player, tables, plan.exploration, average, step, predicts, path, rng)
            else:
                touched = external_walk(histories, player, tables, average, step, predicts, path, rng)
            counts[1] += touched
        counts[0] += 1
        if counts[1] - before >= max_nodes:
            return
