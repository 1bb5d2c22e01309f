"""One sampled walk through the history view: every sampler is a setting of this kernel.

The estimator (catalog: samplers) for traverser i, with q(h) the probability that the walk reaches h and
weight w(h) = (opponent's and chance's reach) / q(h), carried down the path:

* at i's nodes, instant regret of a += w (v(a) - sum_b policy(b) v(b)), mass += w;
* at the opponent's nodes, average increment of a += w policy(a);
* a child that the walk takes with probability p, whose walk returned u, is worth b + (u - b) / p, one that it
  leaves out b, where b is a baseline (0 without one).

The stack is explicit: a recursive walk that hands its arrays down costs ten times as much. Nodes where one
child is drawn from the true probabilities hand its value up unchanged and get no frame.
"""

from __future__ import annotations

import numpy as np

from rlccfr.games.flat_tree import CHANCE, TERMINAL
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.walks.random_words import draw, uniform
from rlccfr.kernels.walks.walk_layout import ALL, ONE, UNVISITED


@inlined
def draw_chance(histories, here, rng):
    """A chance node's outcome by its probabilities."""
    rest, first, count = uniform(rng), here["first_child"], here["num_children"]
    if here["even"]:
        return first + np.int64(rest * count)
    for child in range(first, first + count - 1):
        rest -= histories[child]["probability"]
        if rest < 0.0:
            return child
    return first + count - 1


@inlined
def roll_out(histories, node, traverser, tables, rng):
    """Utility of player 0 at the end of one on-policy path, and its number of histories."""
    touched = 1
    while histories[node]["actor"] != TERMINAL:
        here = histories[node]
        first, count = here["first_child"], here["num_children"]
        if here["actor"] == CHANCE:
            node = draw_chance(histories, here, rng)
        else:
            if here["actor"] == traverser:
                node = first + draw(tables.policy, here["first_sequence"], count, rng)
            else:
                node = first + draw(tables.response, here["first_sequence"], count, rng)
        touched += 1
    return histories[node]["utility"], touched


@inlined
def probability(tables, own, sequence):
    """What the sequence's owner plays; it picks the number, since picking the array counts references."""
    return tables.policy[sequence] if own else tables.response[sequence]


@inlined
def include(here, own, plan, tables, inclusion, mixture, parameters, taken, depth, luck, rng):
    """Decide which children a walk takes and with what probability: fills ``taken[depth]``, 0: left out."""
    first, count = here["first_sequence"], here["num_children"]
    everything = own and plan.traverser == ALL
    if own and plan.mixes:
        end, infoset = first + count, here["infoset"]
        share = mixture(tables.policy[first:end], tables.uniform_count[first:end], tables.visits[infoset], parameters)
        everything = (luck if plan.one_draw else uniform(rng)) < share
    if own and plan.counts:
        tables.visits[here["infoset"]] += 1.0
    if everything or here["actor"] == CHANCE:
        for k in range(count):
            taken[depth, k] = 1.0
    elif own and plan.traverser == ONE:
        for k in range(count):
            taken[depth, k] = plan.exploration / count + (1.0 - plan.exploration) * tables.policy[first + k]
        keep_one(taken, depth, count, rng)
    elif own and plan.subset_size > 0:
        keep_some(taken, depth, count, min(plan.subset_size, count), rng)
    elif own:
        end = first + count
        inclusion(tables.policy[first:end], tables.uniform_count[first:end], parameters, taken[depth, :count])
        for k in range(count):
            if uniform(rng) >= taken[depth, k]:
                taken[depth, k] = 0.0
    elif plan.opponent_all:
        for k in range(count):
            taken[depth, k] = 1.0 if tables.response[first + k] > 0.0 else 0.0
    else:
        for k in range(count):
            taken[depth, k] = tables.response[first + k]
        keep_one(taken, depth, count, rng)


@inlined
def keep_one(taken, depth, count, rng):
    """Draw one entry of ``taken[depth]`` by its probability; the others become 0."""
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
    """Draw ``size`` entries of ``taken[depth]``, all subsets equally likely (Knuth, TAOCP 2, algorithm 3.4.2S)."""
    wanted = size
    for k in range(count):
        if uniform(rng) * (count - k) < wanted:
            taken[depth, k] = size / count
            wanted -= 1
        else:
            taken[depth, k] = 0.0


@inlined
def close_frame(histories, here, own, traverser, plan, tables, frames, depth, rng):
    """A node's value from its children's; at the traverser's, also its regrets. Counts histories probed."""
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
            total += histories[here.first_child + k]["probability"] * value
        else:
            total += probability(tables, own, first + k) * value
    if own:
        weight = frames.weight[depth]
        if tables.mass[here["infoset"]] == UNVISITED:
            tables.mass[here["infoset"]] = 0.0
            tables.visited[tables.num_visited[traverser]] = here["infoset"]
            tables.num_visited[traverser] += 1
        tables.mass[here["infoset"]] += weight
        for k in range(count):
            tables.gain[first + k] += weight * (frames.value[depth, k] - total)
    return total, touched


@inlined
def walk(histories, traverser, weight, average_weight, plan, inclusion, mixture, parameters, tables, frames, rng):
    """One walk for ``traverser``. Returns the number of histories touched.

    Args:
        weight: of the whole walk in the regret estimate, 1 / (walks an iteration).
        average_weight: of the whole walk in the opponent's policy sum; 0 leaves the sum alone.
    """
    sign = 1.0 - 2.0 * traverser
    scale = average_weight / weight
    luck = uniform(rng) if plan.one_draw else 0.0
    node, depth, touched, value = 0, -1, 0, 0.0
    while True:
        here = histories[node]
        touched += 1
        actor, first, count = here["actor"], here["first_sequence"], here["num_children"]
        if actor == TERMINAL:
            value = sign * here["utility"]
        else:
            if actor == 1 - traverser and average_weight > 0.0:
                for k in range(first, first + count):
                    tables.policy_sum[k] += scale * weight * tables.policy[k]
                    if plan.counts:
                        tables.uniform_count[k] += weight * tables.policy[k]
            if actor == CHANCE and not plan.chance_all:
                node = draw_chance(histories, here, rng)
                continue
            if actor == 1 - traverser and not plan.opponent_all and plan.baseline_rate == 0.0:
                node = here["first_child"] + draw(tables.response, first, count, rng)
                continue
            depth += 1
            frames.node[depth], frames.action[depth], frames.weight[depth] = node, -1, weight
            include(
                here, actor == traverser, plan, tables, inclusion, mixture, parameters, frames.taken, depth, luck, rng
            )
        while depth >= 0:
            here = histories[frames.node[depth]]
            actor, count, action = here["actor"], here["num_children"], frames.action[depth]
            if action >= 0:
                frames.value[depth, action] = value
            action += 1
            while action < count and frames.taken[depth, action] == 0.0:
                action += 1
            if action < count:
                frames.action[depth] = action
                node = here["first_child"] + action
                weight = frames.weight[depth] / frames.taken[depth, action]
                if actor == CHANCE:
                    weight *= histories[node]["probability"]
                elif actor != traverser:
                    weight *= tables.response[here["first_sequence"] + action]
                break
            value, probed = close_frame(
                histories, here, actor == traverser, traverser, plan, tables, frames, depth, rng
            )
            touched += probed
            depth -= 1
        if depth < 0:
            return touched
