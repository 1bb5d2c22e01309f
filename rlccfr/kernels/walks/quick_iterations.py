"""Special kernels for external and outcome sampling with one walk per player and iteration.

They perform the same walks as kernels/walks/walk.py, with bitwise equal results, in half the time. Where chance and
the opponent are sampled, a walk visits an infoset of the traverser at most once. Its regrets can therefore be updated
on the way up, and no estimates are kept in tables until the walk ends. *Own* nodes and actions are the traverser's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.handles import flags_of, game_of, path_of, plan_of, run_of
from rlccfr.kernels.jit import UNJITTED, inlined, kernel
from rlccfr.kernels.layout import AVERAGE, AVERAGE_DECAY, F8M, HANDLE
from rlccfr.kernels.regret_updates import update_regrets_simple
from rlccfr.kernels.walks.random_words import draw, uniform
from rlccfr.kernels.walks.scales import discount, discounted_step
from rlccfr.kernels.walks.walk import draw_chance
from rlccfr.kernels.walks.walk_layout import ONE

MOST_WITHOUT_PREFETCH = 50_000
"""Largest number of histories of a game whose walks do not prefetch.

Prefetching makes walks faster in Liar's dice (294,883 histories), but not in Leduc (9,457).
"""

# Arguments of LLVM's intrinsic.
_READ = 0
_KEEP_IN_ALL_CACHES = 3
_DATA = 1


@intrinsic
def _prefetch(typing_context, array, index):
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(32)
        byte = ir.IntType(8).as_pointer()
        data = context.make_array(array)(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(hint, [address, word(_READ), word(_KEEP_IN_ALL_CACHES), word(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _nothing(array: Any, index: int) -> None:
    """Do nothing."""


prefetch = _nothing if UNJITTED else _prefetch
"""``prefetch(array, index)``: ask the processor for the cache line of a 1-D array's element before it is needed. The
index is not checked."""


@inlined
def prefetch_below(histories, tables, first, count):
    """Prefetch what a walk reads at ``count`` siblings, starting with ``first``, and at their first children."""
    for node in range(first, first + count):
        history = histories.record[node]
        if history["actor"] != TERMINAL:  # chance has no sequences; a hint about a wrong place does no harm
            prefetch(histories.record, history["first_child"])
            prefetch(tables.policy, history["first_sequence"])
            prefetch(tables.policy_sum, history["first_sequence"])


@inlined
def update_infoset(tables, history, values, begin, value, step, predicts):
    """Update the regrets and the policy of a history's infoset.

    Args:
        tables: ``regret`` and ``policy`` are changed in place.
        values: array with the actions' values from index ``begin`` on, or with their regrets if ``value`` is 0;
            overwritten if the rule predicts.
    """
    first = np.int64(history["first_sequence"])
    update_regrets_simple(tables, first, first + history["num_children"], values, begin, value, step, predicts)


@inlined
def add_to_average(tables, history, weight):
    """Add ``weight`` times the opponent's policy at one of its nodes to ``tables.policy_sum``, in place."""
    for k in range(history["first_sequence"], history["first_sequence"] + history["num_children"]):
        tables.policy_sum[k] += weight * tables.policy[k]


@inlined
def external_walk(histories, traverser, tables, average_weight, step, predicts, path, rng):
    """Perform one walk that takes all actions of the traverser.

    Args:
        tables: changed in place.
        average_weight: weight of the walk in the opponent's policy sum.
        path: overwritten.
        rng: (1,) state of the generator, advanced in place.

    Returns:
        Number of histories touched.
    """
    sign = 1.0 - 2.0 * traverser
    max_actions = len(path.value) // len(path.node)
    prefetches = len(histories.record) > MOST_WITHOUT_PREFETCH
    touched = 0
    node = 0
    depth = -1  # of the last own node on the path
    while True:
        # Down to a terminal: own nodes join the path with their first action, all others draw one.
        history = histories.record[node]
        actor = history["actor"]
        touched += 1
        if actor == traverser:
            depth += 1
            path.node[depth] = node
            path.action[depth] = 0
            node = history["first_child"]
            if prefetches:
                prefetch(tables.regret, history["first_sequence"])
                prefetch_below(histories, tables, node, history["num_children"])
        elif actor == CHANCE:
            node = draw_chance(histories, history, rng)
        elif actor != TERMINAL:
            add_to_average(tables, history, average_weight)
            node = history["first_child"] + draw(tables.policy, history["first_sequence"], history["num_children"], rng)
        else:
            # Up again, until an own node has another action to take. A node whose actions all have values is updated.
            value = sign * histories.utility[2 * node]
            climbing = True
            while climbing and depth >= 0:
                history = histories.record[path.node[depth]]
                begin = depth * max_actions
                path.value[begin + path.action[depth]] = value
                path.action[depth] += 1
                climbing = path.action[depth] == history["num_children"]
                if climbing:
                    value = 0.0
                    for k in range(history["num_children"]):
                        value += tables.policy[history["first_sequence"] + k] * path.value[begin + k]
                    update_infoset(tables, history, path.value, begin, value, step, predicts)
                    depth -= 1
                else:
                    node = history["first_child"] + path.action[depth]
            if climbing:
                return touched


@inlined
def outcome_walk(histories, traverser, tables, exploration, average_weight, step, predicts, path, rng):
    """Perform one walk along a single path.

    Args:
        exploration: share of the uniform policy in the distribution from which the traverser's actions are drawn.

    See :func:`external_walk` for the other arguments and the result.
    """
    # Down: the weight is 1 / (probability of the own draws so far). Chance and the opponent are drawn from their true
    # probabilities, which therefore cancel in (opponent's and chance's reach) / (probability of the path).
    node = 0
    depth = 0
    touched = 1
    weight = 1.0
    history = histories.record[node]
    while history["actor"] != TERMINAL:
        actor = history["actor"]
        first = history["first_sequence"]
        count = history["num_children"]
        if actor == traverser:
            action = 0
            probability = 1.0
            remaining = uniform(rng)
            for k in range(count):
                share = exploration / count + (1.0 - exploration) * tables.policy[first + k]
                if share > 0.0:
                    action = k
                    probability = share
                    remaining -= share
                    if remaining < 0.0:
                        break
            path.node[depth] = node
            path.action[depth] = action
            path.sampling_probability[depth] = probability
            path.weight[depth] = weight
            depth += 1
            weight /= probability
            node = history["first_child"] + action
        elif actor == CHANCE:
            node = draw_chance(histories, history, rng)
        else:
            add_to_average(tables, history, average_weight * weight)
            node = history["first_child"] + draw(tables.policy, first, count, rng)
        history = histories.record[node]
        touched += 1
    # Up: the action drawn has the value u / p, all others 0; the node's value is the mean of these under the policy.
    value = (1.0 - 2.0 * traverser) * histories.utility[2 * node]
    for row in range(depth - 1, -1, -1):
        history = histories.record[path.node[row]]
        action = path.action[row]
        action_value = value / path.sampling_probability[row]
        value = tables.policy[history["first_sequence"] + action] * action_value
        for k in range(history["num_children"]):
            path.value[k] = path.weight[row] * ((action_value if k == action else 0.0) - value)
        update_infoset(tables, history, path.value, 0, 0.0, step, predicts)
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
    path = path_of(path)
    plan = plan_of(sampling)
    predicts = flags_of(rule).predicts
    takes_one = plan.traverser == ONE
    touched_before = counts[1]
    for t in range(len(schedule) - 1):
        now = schedule[t]
        ahead = schedule[t + 1]
        for player in range(2):
            # Discounts come first, and change whole tables through their scales; the walk updates what it visits.
            discount(view, 1 - player, tables, scale, AVERAGE, now[AVERAGE_DECAY])
            step = discounted_step(view, player, tables, scale, now, ahead)
            average = scale[1 - player, AVERAGE]
            if takes_one:
                touched = outcome_walk(histories, player, tables, plan.exploration, average, step, predicts, path, rng)
            else:
                touched = external_walk(histories, player, tables, average, step, predicts, path, rng)
            counts[1] += touched
        counts[0] += 1
        if counts[1] - touched_before >= max_nodes:
            return
