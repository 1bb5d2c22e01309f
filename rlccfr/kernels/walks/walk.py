"""One sampled walk through the history view: every sampler is a setting of this kernel.

The walk estimates the regrets of its traverser i (see catalog/samplers). Let q(h) be the probability that the walk
reaches history h. The weight w(h) = (opponent's and chance's reach) / q(h) is carried down the path:

* at i's nodes, instant regret of a += w (v(a) - sum_b policy(b) v(b)), mass += w;
* at the opponent's nodes, average increment of a += w policy(a);
* with a baseline b of sequences (0 without one, and at chance nodes), a child taken with probability p whose walk
  returned u has the value b + (u - b) / p; a child left out has the value b;
* values of histories work likewise, or take the place of the walk's; see history_values.py;
* with probes, a child of i's node has the value u if it is taken, and the result of a roll-out if it is left out.

A history of chance may share its draw with others. The walk then takes the outcomes that have the label drawn; perhaps
there is none, and the history has the value 0.

The stack is explicit, because a recursive walk that passes its arrays down costs ten times as much. If one child is
drawn from the true probabilities and there is no baseline, the node returns the child's value unchanged and gets no
frame.

Arguments of all functions: ``histories`` is the game's history view, and ``here`` one of its records. ``own`` tells
whether ``here`` is a node of the traverser; ``depth`` is the index of ``here`` in the stack. ``rng`` is the (1,)
state of the generator, which every draw advances in place.
"""

from __future__ import annotations

import numpy as np

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.handles import draws_of
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.walks.history_values import add_regrets, close_by_history, probability
from rlccfr.kernels.walks.random_words import draw, random_word, uniform, uniform_at
from rlccfr.kernels.walks.walk_layout import ALL, DONE, ONE


@inlined
def draw_chance(histories, here, rng):
    """Draw an outcome of a chance node by the outcomes' probabilities, and return the number of its history."""
    rest, first, count = uniform(rng), here["first_child"], here["num_children"]
    if here["even"]:
        return first + np.int64(rest * count)
    for child in range(first, first + count - 1):
        rest -= histories.probability[child]
        if rest < 0.0:
            return child
    return first + count - 1


@inlined
def roll_out(histories, node, traverser, tables, rng):
    """Follow one on-policy path from a node to its end.

    Returns:
        Player 0's utility at the end, and the number of histories on the path.
    """
    touched = 1
    here = histories.record[node]
    while here["actor"] != TERMINAL:
        first, count = here["first_child"], here["num_children"]
        if here["actor"] == CHANCE:
            node = draw_chance(histories, here, rng)
        else:
            if here["actor"] == traverser:
                node = first + draw(tables.policy, here["first_sequence"], count, rng)
            else:
                node = first + draw(tables.response, here["first_sequence"], count, rng)
        here = histories.record[node]
        touched += 1
    return histories.utility[2 * node], touched


@inlined
def include(here, own, internal, sampling, parameters, memory, depth, luck, rng):
    """Decide which children a walk takes.

    Args:
        internal: whether the walk takes one own action, and all others'.
        memory: ``frames.taken[depth]`` is overwritten with the probability of each child taken, and 0 for the others;
            at the traverser's nodes, ``tables.visits`` is raised by 1 if the sampler counts.
        luck: random number of the whole walk, for mixtures that draw once.
    """
    plan, tables, taken = sampling.plan, memory.tables, memory.frames.taken
    first, count = here["first_sequence"], here["num_children"]
    everything = own and plan.traverser == ALL and not internal
    if own and plan.mixes:
        end, infoset = first + count, here["infoset"]
        visits = tables.visits[infoset]
        share = sampling.mixture(tables.policy[first:end], tables.uniform_count[first:end], visits, parameters)
        everything = (luck if plan.one_draw else uniform(rng)) < share
    if own and plan.counts:
        tables.visits[here["infoset"]] += 1.0
    if everything or here["actor"] == CHANCE:
        for k in range(count):
            taken[depth, k] = 1.0
    elif own and (plan.traverser == ONE or internal):
        for k in range(count):
            share = plan.exploration * tables.explore[first + k] if plan.balanced else plan.exploration / count
            taken[depth, k] = share + (1.0 - plan.exploration) * tables.policy[first + k]
        keep_one(taken, depth, count, rng)
    elif own and plan.subset_size > 0:
        keep_some(taken, depth, count, min(plan.subset_size, count), rng)
    elif own:
        end = first + count
        counts = tables.uniform_count[first:end]
        sampling.inclusion(tables.policy[first:end], counts, parameters, taken[depth, :count])
        for k in range(count):
            if uniform(rng) >= taken[depth, k]:
                taken[depth, k] = 0.0
    elif plan.opponent_all or internal:
        for k in range(count):
            taken[depth, k] = 1.0 if tables.response[first + k] > 0.0 else 0.0
    else:
        for k in range(count):
            taken[depth, k] = tables.response[first + k]
        keep_one(taken, depth, count, rng)


@inlined
def include_drawn(here, traverser, handle, frames, depth, word):
    """Decide which outcomes of chance a walk takes if histories share their draws.

    The draws are loaded here, so that walks without them are not slowed down.

    Args:
        handle: handle of the draws.
        frames: ``taken[depth]`` is overwritten with the probability of the label drawn for each outcome that has it,
            and 0 for the others; these may be all.
        word: random word of the whole walk.
    """
    draws = draws_of(handle)
    number, first, count = draws.draw[traverser, frames.node[depth]], here["first_child"], here["num_children"]
    if number < 0:
        for k in range(count):
            frames.taken[depth, k] = 1.0
        return
    low, high, luck = draws.first_label[number], draws.first_label[number + 1] - 1, uniform_at(word, number)
    while low < high:
        middle = (low + high) // 2
        if luck < draws.cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    for k in range(count):
        frames.taken[depth, k] = draws.probability[low] if draws.label[traverser, first + k] == low else 0.0


@inlined
def keep_one(taken, depth, count, rng):
    """Draw one of the first ``count`` entries of ``taken[depth]`` by its probability; set the others to 0 in place."""
    rest, drawn = uniform(rng), 0
    for k in range(count):
        if taken[depth, k] > 0.0:
            drawn = k
            rest -= taken[depth, k]
            if rest < 0.0:
                break
    for k in range(count):
        if k != drawn:
            taken[depth, k] = 0.0


@inlined
def keep_some(taken, depth, count, size, rng):
    """Draw ``size`` of the first ``count`` entries of ``taken[depth]``, all such subsets equally likely.

    The entries drawn are set to the probability ``size / count``, the others to 0, in place (Knuth, TAOCP 2, algorithm
    3.4.2S).
    """
    wanted = size
    for k in range(count):
        if uniform(rng) * (count - k) < wanted:
            taken[depth, k] = size / count
            wanted -= 1
        else:
            taken[depth, k] = 0.0


@inlined
def close_frame(histories, here, own, traverser, plan, memory, depth, rng):
    """Combine the values that the children's walks returned.

    Args:
        memory: changed in place. At the traverser's nodes, the tables ``gain``, ``mass`` and ``visited`` are added to.
            The table ``baseline``, if it is used, moves towards the values found.

    Returns:
        The node's value to the traverser, and the number of histories probed.
    """
    tables, frames = memory.tables, memory.frames
    first, count, touched = here["first_sequence"], here["num_children"], 0
    sign = 1.0 - 2.0 * traverser
    total = 0.0
    for k in range(count):
        chance_taken = frames.taken[depth, k]
        value = frames.value[depth, k]
        if plan.probe and own:
            if chance_taken == 0.0:
                utility, histories_probed = roll_out(histories, here["first_child"] + k, traverser, tables, rng)
                value = sign * utility
                touched += histories_probed
        elif here["actor"] == CHANCE or plan.baseline_rate == 0.0:
            value = value / chance_taken if chance_taken > 0.0 else 0.0
        else:
            baseline = sign * tables.baseline[first + k]
            if chance_taken > 0.0:
                tables.baseline[first + k] += plan.baseline_rate * sign * (value - baseline)
                value = baseline + (value - baseline) / chance_taken
            else:
                value = baseline
        frames.value[depth, k] = value
        if here["actor"] == CHANCE:
            total += histories.probability[here["first_child"] + k] * value
        else:
            total += probability(tables, own, first + k) * value
    if own:
        add_regrets(here, traverser, frames.weight[depth], total, memory, depth)
    return total, touched


@inlined
def walk(histories, traverser, weights, sampling, parameters, memory, rng):
    """Perform one walk for ``traverser``.

    Args:
        weights: weights of the whole walk.
        parameters: (p,) the sampler's parameters in this iteration.
        memory: the traverser's regrets and masses, and the opponent's average increments, are added to its tables in
            place; its stack is overwritten.

    Returns:
        Number of histories touched.
    """
    plan, tables, frames = sampling.plan, memory.tables, memory.frames
    weight, average_weight = weights.regret, weights.average
    sign = 1.0 - 2.0 * traverser
    scale = average_weight / weight
    luck = uniform(rng) if plan.one_draw else 0.0
    internal = plan.internal_share > 0.0 and uniform(rng) < plan.internal_share
    word = random_word(rng) if plan.chance_shared else np.uint64(0)
    node, depth, touched, value, drawn = 0, -1, 0, 0.0, 1.0
    while True:
        here = histories.record[node]
        touched += 1
        actor, first, count = here["actor"], here["first_sequence"], here["num_children"]
        if actor == TERMINAL:
            value = sign * histories.utility[2 * node]
        else:
            if actor == 1 - traverser and average_weight > 0.0:
                for k in range(first, first + count):
                    tables.policy_sum[k] += scale * weight * tables.policy[k]
                    if plan.counts:
                        tables.uniform_count[k] += weight * tables.policy[k]
            if actor == CHANCE and not (plan.chance_all or plan.by_history or internal):
                node = draw_chance(histories, here, rng)
                continue
            drawn_on_policy = not (plan.opponent_all or plan.baseline_rate > 0.0 or plan.by_history or internal)
            if actor == 1 - traverser and drawn_on_policy:
                node = here["first_child"] + draw(tables.response, first, count, rng)
                continue
            depth += 1
            frames.node[depth], frames.action[depth], frames.weight[depth] = node, -1, weight
            frames.drawn[depth] = drawn
            if actor == CHANCE and plan.chance_shared:
                include_drawn(here, traverser, memory.draws, frames, depth, word)
            elif actor == CHANCE and plan.by_history:
                for k in range(count):
                    frames.taken[depth, k] = histories.probability[here["first_child"] + k]
                keep_one(frames.taken, depth, count, rng)
            else:
                include(here, actor == traverser, internal, sampling, parameters, memory, depth, luck, rng)
        while depth >= 0:
            here = histories.record[frames.node[depth]]
            actor, count, action = here["actor"], here["num_children"], frames.action[depth]
            if action >= 0:
                frames.value[depth, action] = value
            action += 1
            while action < count and frames.taken[depth, action] == 0.0:
                action += 1
            if action < count:
                frames.action[depth] = action
                node = here["first_child"] + action
                weight, drawn = frames.weight[depth] / frames.taken[depth, action], frames.drawn[depth]
                if actor == CHANCE:
                    weight *= histories.probability[node]
                elif actor != traverser:
                    weight *= tables.response[here["first_sequence"] + action]
                else:
                    drawn *= frames.taken[depth, action]
                break
            if plan.by_history:
                value = close_by_history(histories, here, actor == traverser, traverser, plan, memory, depth)
            else:
                value, probed = close_frame(histories, here, actor == traverser, traverser, plan, memory, depth, rng)
                touched += probed
            depth -= 1
        if depth < 0:
            return touched


@inlined
def walk_on(histories, traverser, weights, procedure, sampling, parameters, memory, rng):
    """Perform the traverser's remaining walks of an iteration, or the first of them that touch ``procedure.pause``.

    A kernel call can't be interrupted, so that it must not grow with the number of walks.

    Args:
        weights: weights of each walk.
        memory: changed in place; see :func:`walk`. ``place`` counts the walks; all are done when it has come to
            ``procedure.walks``.

    Returns:
        Number of histories touched.
    """
    touched, place = 0, memory.place
    while place[DONE] < procedure.walks:
        touched += walk(histories, traverser, weights, sampling, parameters, memory, rng)
        place[DONE] += 1
        if touched >= procedure.pause:
            break
    return touched
