"""Values of histories: baselines that correct the values of walks, or values that take their place.

A table holds an estimate of player 0's expected utility at each history. Its row 0 serves both traversers. If opponents
play best responses, so that each traverser meets another opponent, there is a row for each.

* As baselines b, at all nodes, of chance too: a child taken with probability p whose walk returned u has the value
  b + (u - b) / p; a child left out has the value b (Schmid et al. 2019, with baselines of histories). If b is the true
  value of each child, so is the value of each node.
* In place of the walk's values: the regrets at a node follow from the table alone. On the way home, a walk sets the
  value of each of its nodes to the mean of its children's (see catalog/one_path.py: escher).

Values may also be exact (the oracle's), or a model's. Walks then leave them as they are.

Arguments of all functions are those of kernels/walks/walk.py.
"""

from __future__ import annotations

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.walks.walk_layout import UNVISITED


@inlined
def probability(tables, own, sequence):
    """Return the probability of a sequence's last action: under the policy if ``own``, else under the response."""
    return tables.policy[sequence] if own else tables.response[sequence]


@inlined
def add_regrets(here, traverser, weight, total, memory, depth):
    """Add a node's instantaneous regrets and mass, and note that its infoset was visited.

    Args:
        weight: weight of the node.
        total: the node's value.
        memory: the tables ``gain``, ``mass`` and ``visited`` are added to in place.
    """
    tables = memory.tables
    if tables.mass[here["infoset"]] == UNVISITED:
        tables.mass[here["infoset"]] = 0.0
        tables.visited[tables.num_visited[traverser]] = here["infoset"]
        tables.num_visited[traverser] += 1
    tables.mass[here["infoset"]] += weight
    for k in range(here["num_children"]):
        tables.gain[here["first_sequence"] + k] += weight * (memory.frames.value[depth, k] - total)


@inlined
def close_by_history(histories, here, own, traverser, plan, memory, depth):
    """Combine the values of a node's children, from the walk's and the table's values of histories.

    Args:
        memory: changed in place. Regrets, masses and visits of the traverser's nodes are added to its tables, and the
            values of histories move, unless the plan says that they stay.

    Returns:
        The node's value to the traverser.
    """
    tables, frames = memory.tables, memory.frames
    first, child, count = here["first_sequence"], here["first_child"], here["num_children"]
    known = tables.history_value[traverser * (len(tables.history_value) - 1)]
    sign = 1.0 - 2.0 * traverser
    moves = not (plan.oracle or plan.fitted)
    if plan.fitted:
        tables.history_visits[frames.node[depth]] += 1.0
    total = 0.0
    for k in range(count):
        value, taken = sign * known[child + k], frames.taken[depth, k]
        if taken > 0.0 and not plan.values_replace:
            surprise = frames.value[depth, k] - value
            if moves:
                known[child + k] += plan.baseline_rate * sign * surprise
            value += surprise / taken
        frames.value[depth, k] = value
        total += value * (
            histories.probability[child + k] if here["actor"] == CHANCE else probability(tables, own, first + k)
        )
    if plan.values_replace and moves:
        known[frames.node[depth]] = sign * total
    if own:
        weight = frames.weight[depth] * (frames.drawn[depth] if plan.unweighted else 1.0)
        add_regrets(here, traverser, weight, total, memory, depth)
    return total


@inlined
def mean_of_children(histories, here, own, tables, known):
    """Return the mean of the values after a node that is no end, under chance, the policy or the response.

    Args:
        known: (number of histories,) values.
    """
    mean, child = 0.0, here["first_child"]
    for k in range(here["num_children"]):
        if here["actor"] == CHANCE:
            mean += histories.probability[child + k] * known[child + k]
        else:
            mean += probability(tables, own, here["first_sequence"] + k) * known[child + k]
    return mean


@inlined
def true_values(histories, traverser, tables):
    """Set the values of all histories to player 0's expected utilities under the policy and the response.

    Args:
        tables: the traverser's row of ``history_value`` is overwritten.

    Returns:
        Number of histories touched.
    """
    known = tables.history_value[traverser * (len(tables.history_value) - 1)]
    for node in range(len(histories.record) - 1, -1, -1):  # children have higher numbers
        here = histories.record[node]
        if here["actor"] == TERMINAL:
            known[node] = histories.utility[2 * node]
        else:
            known[node] = mean_of_children(histories, here, here["actor"] == traverser, tables, known)
    return len(histories.record)
