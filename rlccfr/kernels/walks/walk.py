"""One sampled walk through the history view: every sampler is a setting of this kernel.

The walk estimates the regrets of its traverser i (see catalog/samplers). Let q(h) be the probability that the walk
reaches history h. The weight w(h) = (opponent's and chance's reach) / q(h) is carried down the path:

* at i's nodes, instant regret of a += w (v(a) - sum_b policy(b) v(b)), mass += w;
* at the opponent's nodes, average increment of a += w policy(a);
* with a baseline b of sequences (0 without one, and at chance nodes), a child taken with probability p whose walk
  returned u has the value b + (u - b) / p; a child left out has the value b;
* values of histories serve as baselines likewise, or take the place of the walk's values; see history_values.py;
* with probes, a child of i's node has the value u if it is taken, and the result of a roll-out if it is left out.

A chance node may share its draw, the draw of a *label*, with others. The walk then takes the outcomes that have this
label; if there are none, the node has the value 0.

The stack is explicit, because a recursive walk that passes its arrays down costs ten times as much. If one child is
drawn from the true probabilities and there is no baseline, the node returns the child's value unchanged and gets no
frame.

Arguments of all functions: ``histories`` is the game's history view, and ``history`` one of its records. ``is_own``
tells whether ``history`` is a node of the traverser; ``depth`` is the index of ``history`` in the stack. ``rng`` is the
(1,) state of the generator, which every draw advances in place. *Own* actions and draws are the traverser's.
"""

from __future__ import annotations

import numpy as np

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.handles import draws_of
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.walks.history_values import action_probability, add_regrets, close_by_history
from rlccfr.kernels.walks.random_words import draw, random_word, uniform, uniform_at
from rlccfr.kernels.walks.walk_layout import ALL, DONE, ONE


@inlined
def draw_chance(histories, history, rng):
    """Draw an outcome of a chance node by the outcomes' probabilities, and return the number of its history."""
    remaining = uniform(rng)
    first = history["first_child"]
    count = history["num_children"]
    if history["even"]:
        return first + np.int64(remaining * count)
    for child in range(first, first + count - 1):
        remaining -= histories.probability[child]
        if remaining < 0.0:
            return child
    return first + count - 1


@inlined
def roll_out(histories, node, traverser, tables, rng):
    """Follow one on-policy path from a node to its end.

    Returns:
        Player 0's utility at the end, and the number of histories on the path.
    """
    touched = 1
    history = histories.record[node]
    while history["actor"] != TERMINAL:
        first_child = history["first_child"]
        count = history["num_children"]
        if history["actor"] == CHANCE:
            node = draw_chance(histories, history, rng)
        elif history["actor"] == traverser:
            node = first_child + draw(tables.policy, history["first_sequence"], count, rng)
        else:
            node = first_child + draw(tables.response, history["first_sequence"], count, rng)
        history = histories.record[node]
        touched += 1
    return histories.utility[2 * node], touched


@inlined
def draw_children(history, is_own, internal, sampling, parameters, walk_state, depth, shared_uniform, rng):
    """Decide which children a walk takes.

    Args:
        internal: whether the walk takes one of the traverser's actions, all outcomes of chance, and all actions that
            the opponent may play.
        walk_state: ``frames.sampling_probability[depth]`` is overwritten with the probability of each child taken, and
            0 for the others; at the traverser's nodes, ``tables.visits`` grows by 1 if the sampler counts visits.
        shared_uniform: random number of the whole walk, for mixtures that draw once.
    """
    plan = sampling.plan
    tables = walk_state.tables
    probability = walk_state.frames.sampling_probability
    first = history["first_sequence"]
    count = history["num_children"]
    takes_all = is_own and plan.traverser == ALL and not internal
    if is_own and plan.mixes:
        # A mixture takes all own actions with the probability that its function returns, and one otherwise.
        end = first + count
        visits = tables.visits[history["infoset"]]
        share = sampling.mixture(tables.policy[first:end], tables.uniform_count[first:end], visits, parameters)
        takes_all = (shared_uniform if plan.one_draw else uniform(rng)) < share
    if is_own and plan.counts:
        tables.visits[history["infoset"]] += 1.0
    if takes_all or history["actor"] == CHANCE:
        for k in range(count):
            probability[depth, k] = 1.0
    elif is_own and (plan.traverser == ONE or internal):
        # Outcome sampling mixes exploration with the policy; for simple rules, quick_iterations.outcome_walk does so.
        for k in range(count):
            explored = plan.exploration * tables.explore[first + k] if plan.balanced else plan.exploration / count
            probability[depth, k] = explored + (1.0 - plan.exploration) * tables.policy[first + k]
        keep_one(probability, depth, count, rng)
    elif is_own and plan.subset_size > 0:
        keep_subset(probability, depth, count, min(plan.subset_size, count), rng)
    elif is_own:
        # The sampler's function gives each own action a probability; each is drawn independently of the others.
        end = first + count
        counts = tables.uniform_count[first:end]
        sampling.inclusion(tables.policy[first:end], counts, parameters, probability[depth, :count])
        for k in range(count):
            if uniform(rng) >= probability[depth, k]:
                probability[depth, k] = 0.0
    elif plan.opponent_all or internal:
        for k in range(count):  # below an action that is never played, all weights are 0
            probability[depth, k] = 1.0 if tables.response[first + k] > 0.0 else 0.0
    else:
        for k in range(count):
            probability[depth, k] = tables.response[first + k]
        keep_one(probability, depth, count, rng)


@inlined
def draw_shared_outcomes(history, traverser, handle, frames, depth, word):
    """Decide which chance outcomes a walk takes if chance nodes share their draws.

    The draws are loaded here, so that walks without them are not slowed down.

    Args:
        handle: handle of the draws.
        frames: ``sampling_probability[depth]`` is overwritten. Each outcome that has the drawn label gets the label's
            probability, and every other one 0. Possibly no outcome has the label.
        word: random word of the whole walk.
    """
    draws = draws_of(handle)
    number = draws.draw[traverser, frames.node[depth]]
    first_child = history["first_child"]
    count = history["num_children"]
    if number < 0:  # nothing is drawn here, so all outcomes are taken
        for k in range(count):
            frames.sampling_probability[depth, k] = 1.0
        return
    # Histories with the same draw number get the same random number from the walk's word: nothing has to be kept.
    threshold = uniform_at(word, number)
    low = draws.first_label[number]
    high = draws.first_label[number + 1] - 1
    while low < high:  # the first label whose cumulative probability is above the threshold
        middle = (low + high) // 2
        if threshold < draws.cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    for k in range(count):
        has_label = draws.label[traverser, first_child + k] == low
        frames.sampling_probability[depth, k] = draws.probability[low] if has_label else 0.0


@inlined
def keep_one(probability, depth, count, rng):
    """Draw one of the first ``count`` children by ``probability[depth]``; set the others' entries to 0 in place."""
    remaining = uniform(rng)
    drawn = 0
    for k in range(count):
        if probability[depth, k] > 0.0:
            drawn = k
            remaining -= probability[depth, k]
            if remaining < 0.0:
                break
    for k in range(count):
        if k != drawn:
            probability[depth, k] = 0.0


@inlined
def keep_subset(probability, depth, count, size, rng):
    """Draw ``size`` of the first ``count`` children, all such subsets equally likely.

    Entries of ``probability[depth]`` are set to ``size / count`` for the children drawn, and to 0 for the others, in
    place (Knuth, TAOCP 2, algorithm 3.4.2S).
    """
    still_to_draw = size
    for k in range(count):
        if uniform(rng) * (count - k) < still_to_draw:
            probability[depth, k] = size / count
            still_to_draw -= 1
        else:
            probability[depth, k] = 0.0


@inlined
def close_frame(histories, history, is_own, traverser, plan, walk_state, depth, rng):
    """Combine the values that the children's walks returned.

    Args:
        walk_state: changed in place. At the traverser's nodes, the tables ``gain``, ``mass`` and ``visited`` are added
            to. The table ``baseline``, if it is used, moves towards the values of the children that were walked.

    Returns:
        The node's value to the traverser, and the number of histories probed.
    """
    tables = walk_state.tables
    frames = walk_state.frames
    first = history["first_sequence"]
    first_child = history["first_child"]
    sign = 1.0 - 2.0 * traverser  # utilities and baselines are player 0's
    probed = 0
    node_value = 0.0
    for k in range(history["num_children"]):
        probability = frames.sampling_probability[depth, k]
        value = frames.value[depth, k]
        if plan.probe and is_own:
            if probability == 0.0:  # an action left out gets the value of a roll-out; others keep the walk's value
                utility, path_length = roll_out(histories, first_child + k, traverser, tables, rng)
                value = sign * utility
                probed += path_length
        elif history["actor"] == CHANCE or plan.baseline_rate == 0.0:
            value = value / probability if probability > 0.0 else 0.0
        else:
            # b + (u - b) / p for a child taken, whose baseline b then moves towards u; b for one left out.
            baseline = sign * tables.baseline[first + k]
            if probability > 0.0:
                tables.baseline[first + k] += plan.baseline_rate * sign * (value - baseline)
                value = baseline + (value - baseline) / probability
            else:
                value = baseline
        frames.value[depth, k] = value
        if history["actor"] == CHANCE:
            node_value += histories.probability[first_child + k] * value
        else:
            node_value += action_probability(tables, is_own, first + k) * value
    if is_own:
        add_regrets(history, traverser, frames.weight[depth], node_value, walk_state, depth)
    return node_value, probed


@inlined
def walk(histories, traverser, weights, sampling, parameters, walk_state, rng):
    """Perform one walk for ``traverser``.

    Args:
        weights: this walk's weights in the regret estimate and in the opponent's policy sum; see ``Weights``.
        parameters: (p,) the sampler's parameters in this iteration.
        walk_state: the traverser's regrets and masses, and the opponent's average increments, are added to its tables
            in place; its stack is overwritten.

    Returns:
        Number of histories touched.
    """
    plan = sampling.plan
    tables = walk_state.tables
    frames = walk_state.frames
    sign = 1.0 - 2.0 * traverser
    average_scale = weights.average / weights.regret
    # What the whole walk draws once. Samplers that do not need a number do not draw it.
    shared_uniform = uniform(rng) if plan.one_draw else 0.0
    internal = plan.internal_share > 0.0 and uniform(rng) < plan.internal_share
    word = random_word(rng) if plan.chance_shared else np.uint64(0)
    touched = 0
    node = 0
    depth = -1  # index of the topmost frame
    weight = weights.regret  # w(h) of the node
    own_draws = 1.0  # probability of the traverser's own draws above the node
    value = 0.0  # the traverser's value of the child whose walk has ended last
    while True:
        # Down one step. A terminal returns its value; a node without a frame continues with the child drawn.
        history = histories.record[node]
        touched += 1
        actor = history["actor"]
        first = history["first_sequence"]
        count = history["num_children"]
        if actor == TERMINAL:
            value = sign * histories.utility[2 * node]
        else:
            if actor == 1 - traverser and weights.average > 0.0:
                for k in range(first, first + count):
                    tables.policy_sum[k] += average_scale * weight * tables.policy[k]
                    if plan.counts:
                        tables.uniform_count[k] += weight * tables.policy[k]
            # Draws by true probabilities leave the weight as it is: reach and sampling probability get the same factor.
            if actor == CHANCE and not (plan.chance_all or plan.by_history or internal):
                node = draw_chance(histories, history, rng)
                continue
            opponent_is_drawn = not (plan.opponent_all or plan.baseline_rate > 0.0 or plan.by_history or internal)
            if actor == 1 - traverser and opponent_is_drawn:
                node = history["first_child"] + draw(tables.response, first, count, rng)
                continue
            # All other nodes get a frame, and draw the children that the walk takes one after another.
            depth += 1
            frames.node[depth] = node
            frames.action[depth] = -1
            frames.weight[depth] = weight
            frames.own_draws[depth] = own_draws
            if actor == CHANCE and plan.chance_shared:
                draw_shared_outcomes(history, traverser, walk_state.draws, frames, depth, word)
            elif actor == CHANCE and plan.by_history:
                for k in range(count):
                    frames.sampling_probability[depth, k] = histories.probability[history["first_child"] + k]
                keep_one(frames.sampling_probability, depth, count, rng)
            else:
                is_own = actor == traverser
                draw_children(history, is_own, internal, sampling, parameters, walk_state, depth, shared_uniform, rng)
        # Up to the topmost frame that has another child to walk; frames that have none close and return their value.
        while depth >= 0:
            history = histories.record[frames.node[depth]]
            actor = history["actor"]
            count = history["num_children"]
            action = frames.action[depth]
            if action >= 0:
                frames.value[depth, action] = value
            action += 1
            while action < count and frames.sampling_probability[depth, action] == 0.0:
                action += 1
            if action < count:
                frames.action[depth] = action
                node = history["first_child"] + action
                # The sampling probability divides the weight; the true one, of chance or the opponent, multiplies it.
                weight = frames.weight[depth] / frames.sampling_probability[depth, action]
                own_draws = frames.own_draws[depth]
                if actor == CHANCE:
                    weight *= histories.probability[node]
                elif actor != traverser:
                    weight *= tables.response[history["first_sequence"] + action]
                else:
                    own_draws *= frames.sampling_probability[depth, action]
                break
            is_own = actor == traverser
            if plan.by_history:
                value = close_by_history(histories, history, is_own, traverser, plan, walk_state, depth)
            else:
                value, probed = close_frame(histories, history, is_own, traverser, plan, walk_state, depth, rng)
                touched += probed
            depth -= 1
        if depth < 0:
            return touched


@inlined
def walk_on(histories, traverser, weights, procedure, sampling, parameters, walk_state, rng):
    """Perform the traverser's remaining walks of an iteration, but pause after ``procedure.pause`` histories.

    A kernel call can't be interrupted, so its length must not grow with the number of walks.

    Args:
        weights: weights of each walk.
        walk_state: changed in place; see :func:`walk`. ``progress`` counts the walks; all are done when it reaches
            ``procedure.walks``.

    Returns:
        Number of histories touched.
    """
    touched = 0
    progress = walk_state.progress
    while progress[DONE] < procedure.walks:
        touched += walk(histories, traverser, weights, sampling, parameters, walk_state, rng)
        progress[DONE] += 1
        if touched >= procedure.pause:
            break
    return touched
