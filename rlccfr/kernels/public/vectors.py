"""Operations on vectors over private states.

All vectors of a pass lie in one array, ``vectors``; an argument such as ``reach`` is a vector's first entry. Numbers of
``reciprocals`` have the array's type, so that nothing is computed in double precision unless the tables are:
``reciprocals[A]`` is 1 / A, and ``reciprocals[0]`` is 0.

``stride`` is the number of private states at a table's node, and ``rows`` is the number of them that the pass goes
through; ``start`` is the table entry of the first private state that the pass goes through.

Loops run over slices from 0 on. Only for such loops does the compiler know that no index is negative, so that it can
turn them into vector operations.
"""

from __future__ import annotations

from rlccfr.games.public.records import SMALLEST
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.layout import NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT, PREDICTION


@inlined
def fill_policy(table, start, stride, count, rows, reciprocals, vectors, policy, total):
    """Set a node's policy: proportional to the positive parts of a table's entries, uniform where these are 0.

    Args:
        table: array with the node's entries from index ``start`` on, (count, stride).
        policy: (count, rows) overwritten.
        total: (rows,) overwritten.
    """
    zero = reciprocals[0]
    one = reciprocals[1]
    uniform = reciprocals[count]
    factors = vectors[total : total + rows]
    factors[:] = zero
    for a in range(count):
        entries = table[start + a * stride : start + a * stride + rows]
        for r in range(rows):
            factors[r] += max(entries[r], zero)
    # One division per private state: a factor of 0 stands for the uniform policy.
    for r in range(rows):
        factors[r] = one / factors[r] if factors[r] > SMALLEST else zero
    for a in range(count):
        entries = table[start + a * stride : start + a * stride + rows]
        probabilities = vectors[policy + a * rows : policy + (a + 1) * rows]
        for r in range(rows):
            probabilities[r] = max(entries[r], zero) * factors[r] if factors[r] > zero else uniform


@inlined
def fill_response(response, start, count, rows, reciprocals, vectors, policy):
    """Set a node's policy to pure actions.

    Args:
        response: array with the action of each of the node's rows, from index ``start`` on.
        policy: (count, rows) overwritten.
    """
    actions = response[start : start + rows]
    for a in range(count):
        probabilities = vectors[policy + a * rows : policy + (a + 1) * rows]
        for r in range(rows):
            probabilities[r] = reciprocals[1] if actions[r] == a else reciprocals[0]


@inlined
def multiply(vectors, first, second, rows, product):
    """Set a vector to the product of two others, entry by entry."""
    first_factor = vectors[first : first + rows]
    second_factor = vectors[second : second + rows]
    products = vectors[product : product + rows]
    for r in range(rows):
        products[r] = first_factor[r] * second_factor[r]


@inlined
def add(vectors, summand, rows, total):
    """Add a vector to another one."""
    summands = vectors[summand : summand + rows]
    sums = vectors[total : total + rows]
    for r in range(rows):
        sums[r] += summands[r]


@inlined
def add_to_average(vectors, reach, policy, count, rows, policy_sum, start, stride, decay):
    """Multiply a node's policy sums by ``decay``, and add its policy, weighted by reach."""
    weights = vectors[reach : reach + rows]
    for a in range(count):
        probabilities = vectors[policy + a * rows : policy + (a + 1) * rows]
        entries = policy_sum[start + a * stride : start + a * stride + rows]
        for r in range(rows):
            entries[r] = decay * entries[r] + weights[r] * probabilities[r]


@inlined
def fill_mean(vectors, policy, values, count, rows, value, zero):
    """Set the mean of the actions' values, each weighted by the policy."""
    means = vectors[value : value + rows]
    for a in range(count):
        probabilities = vectors[policy + a * rows : policy + (a + 1) * rows]
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            means[r] = probabilities[r] * action_values[r] + (means[r] if a > 0 else zero)


@inlined
def fill_largest(vectors, values, count, rows, value):
    """Set the largest of the actions' values."""
    largest = vectors[value : value + rows]
    for a in range(count):
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            largest[r] = max(largest[r], action_values[r]) if a > 0 else action_values[r]


@inlined
def write_response(vectors, values, value, count, rows, response, start):
    """Write for each row the first action whose value is the largest.

    Args:
        response: the node's entries, from index ``start`` on, are overwritten.
    """
    largest = vectors[value : value + rows]
    actions = response[start : start + rows]
    for a in range(count - 1, -1, -1):
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            if action_values[r] == largest[r]:
                actions[r] = a


@inlined
def update_row_regrets(vectors, values, value, count, rows, regret, start, stride, discounts, floor, zero):
    """Set R <- max(D R + r, floor), where r is an action's value less the mean, for all rows of a node.

    Args:
        regret: (m,) the node's entries, from index ``start`` on, are changed in place.
        discounts: factors on positive and on other regrets.
        floor: the schedule's floor in the table's units.
    """
    positive, negative = discounts
    means = vectors[value : value + rows]
    for a in range(count):
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        entries = regret[start + a * stride : start + a * stride + rows]
        for r in range(rows):
            old = entries[r]
            entries[r] = max(old * (positive if old > zero else negative) + (action_values[r] - means[r]), floor)


@inlined
def write_values(vectors, values, count, rows, table, start, stride):
    """Write the actions' values to a node's entries of a table, from index ``start`` on, for all rows of the node."""
    for a in range(count):
        for r in range(rows):
            table[start + a * stride + r] = vectors[values + a * rows + r]


@inlined
def predict_regrets(vectors, values, value, count, rows, tables, start, stride, ahead, zero, one):
    """Set the positive parts of the predicted regrets D' R + prediction r, which the next policy is proportional to.

    Args:
        tables: ``policy`` is changed in place, at the node's entries from index ``start`` on.
        ahead: the next iteration's row of the schedule.
    """
    positive = ahead[POSITIVE_DISCOUNT]
    negative = ahead[NEGATIVE_DISCOUNT]
    prediction = ahead[PREDICTION]
    if prediction == zero:  # then R itself is matched
        positive = one
        negative = one
    means = vectors[value : value + rows]
    for a in range(count):
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        entries = tables.regret[start + a * stride : start + a * stride + rows]
        predicted = tables.policy[start + a * stride : start + a * stride + rows]
        for r in range(rows):
            regret = entries[r]
            discount = positive if regret > zero else negative
            predicted[r] = max(regret * discount + prediction * (action_values[r] - means[r]), zero)
