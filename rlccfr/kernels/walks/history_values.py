"""Values of histories: baselines that correct the values of walks, or values that take their place.

A table holds an estimate of player 0's expected utility at each history. Against best responses, the two traversers'
walks are played by different policies, so there is one row per traverser; otherwise, one row serves both.

* As baselines b, at all nodes, including chance nodes: a child taken with probability p whose walk returned u has
  the value b + (u - b) / p; a child left out has the value b (Schmid et al. 2019, with baselines of histories). If b is
  the true value of each child, so is the value of each node.
* In place of the walk's values: the regrets at a node follow from the table alone. On the way back up, a walk sets the
  value of each node on its path to the mean of the values of the node's children (see catalog/one_path.py: escher).

Values may also be exact (the oracle's), or a model's. Walks then leave them as they are.

Arguments of all functions are those of kernels/walks/walk.py.
"""

from __future__ import annotations

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.walks.walk_layout import UNVISITED


@inlined
def action_probability(tables, is_own, sequence):
    """Return the probability of a sequence's last action: by the traverser's policy, or by the opponent's response."""
    return tables.policy[sequence] if is_own else tables.response[sequence]


@inlined
def add_regrets(history, traverser, weight, node_value, walk_state, depth):
    """Add a node's instantaneous regrets and mass, and note that its infoset was visited.

    Args:
        weight: weight of the node.
        node_value: the node's value to the traverser.
        walk_state: the tables ``gain``, ``mass`` and ``visited`` are added to in place.
    """
    tables = walk_state.tables
    infoset = history["infoset"]
    if tables.mass[infoset] == UNVISITED:
        tables.mass[infoset] = 0.0
        tables.visited[tables.num_visited[traverser]] = infoset
        tables.num_visited[traverser] += 1
    tables.mass[infoset] += weight
    for k in range(history["num_children"]):
        tables.gain[history["first_sequence"] + k] += weight * (walk_state.frames.value[depth, k] - node_value)


@inlined
def close_by_history(histories, history, is_own, traverser, plan, walk_state, depth):
    """Find a node's value from what the walk returned for its children and from their values in the table.

    The module's docstring says how the two are combined.

    Args:
        walk_state: changed in place. Regrets, masses and visits of the traverser's nodes are added to its tables, and
            the values of histories change, unless the oracle or a model gives them.

    Returns:
        The node's value to the traverser.
    """
    tables = walk_state.tables
    frames = walk_state.frames
    first = history["first_sequence"]
    first_child = history["first_child"]
    values = tables.history_value[traverser * (len(tables.history_value) - 1)]  # the only row, or one of two
    sign = 1.0 - 2.0 * traverser  # the table's values are player 0's
    learns = not (plan.oracle or plan.fitted)
    if plan.fitted:  # the model is fitted to histories in proportion to their visits
        tables.history_visits[frames.node[depth]] += 1.0
    node_value = 0.0
    for k in range(history["num_children"]):
        value = sign * values[first_child + k]
        probability = frames.sampling_probability[depth, k]
        if probability > 0.0 and not plan.values_replace:
            # The walk took this child: correct its baseline to b + (u - b) / p, and move the baseline towards u.
            surprise = frames.value[depth, k] - value
            if learns:
                values[first_child + k] += plan.baseline_rate * sign * surprise
            value += surprise / probability
        frames.value[depth, k] = value
        node_value += value * (
            histories.probability[first_child + k]
            if history["actor"] == CHANCE
            else action_probability(tables, is_own, first + k)
        )
    if plan.values_replace and learns:
        values[frames.node[depth]] = sign * node_value
    if is_own:
        # Without importance weights, multiply by the probability of the traverser's draws, by which the weight was
        # divided on the way down.
        weight = frames.weight[depth] * (frames.own_draws[depth] if plan.unweighted else 1.0)
        add_regrets(history, traverser, weight, node_value, walk_state, depth)
    return node_value


@inlined
def mean_of_children(histories, history, is_own, tables, values):
    """Return the mean of the children's values at a node that is not terminal.

    The values are weighted by the probabilities of chance, the traverser's policy or the opponent's response.

    Args:
        values: (number of histories,) values.
    """
    mean = 0.0
    first_child = history["first_child"]
    for k in range(history["num_children"]):
        if history["actor"] == CHANCE:
            mean += histories.probability[first_child + k] * values[first_child + k]
        else:
            probability = action_probability(tables, is_own, history["first_sequence"] + k)
            mean += probability * values[first_child + k]
    return mean


@inlined
def true_values(histories, traverser, tables):
    """Set the values of all histories to player 0's expected utilities under the policy and the response.

    Args:
        tables: the traverser's row of ``history_value`` is overwritten.

    Returns:
        Number of histories touched.
    """
    values = tables.history_value[traverser * (len(tables.history_value) - 1)]  # the only row, or one of two
    for node in range(len(histories.record) - 1, -1, -1):  # children have higher numbers
        history = histories.record[node]
        if history["actor"] == TERMINAL:
            values[node] = histories.utility[2 * node]
        else:
            values[node] = mean_of_children(histories, history, history["actor"] == traverser, tables, values)
    return len(histories.record)
