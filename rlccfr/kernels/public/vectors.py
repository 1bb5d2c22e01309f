"""Operations on vectors over private states.

All vectors of a pass lie in one array, ``vectors``; an argument such as ``reach`` is the index of a vector's first
entry. The numbers in ``reciprocals`` have the array's type, so that nothing is computed in double precision unless the
tables have it: ``reciprocals[A]`` is 1 / A, and ``reciprocals[0]`` is 0.

``count`` is the number of a node's actions, ``stride`` the number of the node's rows in a table, and ``rows`` the
number of those rows that the pass goes through; ``start`` is the table entry of the first of these. A row is *locked*
if a :class:`rlccfr.locks.Lock` fixes its policy; the array ``lock`` then holds this policy.

Loops run over slices from 0 on. Only for such loops does the compiler know that no index is negative, so that it can
turn them into vector operations.
"""

from __future__ import annotations

from rlccfr.games.public.records import CHANCE, SMALLEST
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    MATCHING_POWER,
    MOMENTUM_MEMORY,
    MOMENTUM_WEIGHT,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    PREDICTION,
)
from rlccfr.kernels.regret_updates import to_the_power


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
            factors[r] += max(vectors.dtype.type(entries[r]), zero)
    # One division per private state: a factor of 0 stands for the uniform policy.
    for r in range(rows):
        factors[r] = one / factors[r] if factors[r] > SMALLEST else zero
    for a in range(count):
        entries = table[start + a * stride : start + a * stride + rows]
        probabilities = vectors[policy + a * rows : policy + (a + 1) * rows]
        for r in range(rows):
            probabilities[r] = max(vectors.dtype.type(entries[r]), zero) * factors[r] if factors[r] > zero else uniform


@inlined
def fill_response(response, start, count, rows, reciprocals, vectors, policy):
    """Set a node's policy to the one action per row that a response has stored.

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
def fill_locked(lock, start, stride, count, rows, zero, vectors, policy):
    """Replace a node's policy by that of the lock in the locked rows.

    Args:
        lock: array with the node's probabilities from index ``start`` on, (count, stride); below 0 in other rows.
        policy: (count, rows) overwritten in the locked rows.
    """
    for a in range(count):
        fixed = lock[start + a * stride : start + a * stride + rows]
        probabilities = vectors[policy + a * rows : policy + (a + 1) * rows]
        for r in range(rows):
            if fixed[r] >= zero:
                probabilities[r] = fixed[r]


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
    """Set a node's value to the mean of its actions' values under the policy."""
    means = vectors[value : value + rows]
    for a in range(count):
        probabilities = vectors[policy + a * rows : policy + (a + 1) * rows]
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            means[r] = probabilities[r] * action_values[r] + (means[r] if a > 0 else zero)


@inlined
def fill_largest(vectors, values, count, rows, value):
    """Set a node's value to the largest of its actions' values."""
    largest = vectors[value : value + rows]
    for a in range(count):
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            largest[r] = max(largest[r], action_values[r]) if a > 0 else action_values[r]


@inlined
def fill_locked_means(lock, start, stride, count, rows, zero, vectors, values, value):
    """In the locked rows, replace a node's value by the mean of its actions' values under the lock's policy.

    Args:
        lock: see :func:`fill_locked`.
        value: (rows,) overwritten in the locked rows.
    """
    means = vectors[value : value + rows]
    for a in range(count):
        fixed = lock[start + a * stride : start + a * stride + rows]
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            if fixed[r] >= zero:
                means[r] = fixed[r] * action_values[r] + (means[r] if a > 0 else zero)


@inlined
def clear_locked(lock, start, stride, count, rows, zero, regret, first, gap):
    """Set the regrets to 0 in the locked rows, where they are never used.

    Args:
        lock: see :func:`fill_locked`.
        regret: array with the entries of the node's actions, from index ``first`` on, ``gap`` apart.
    """
    for a in range(count):
        fixed = lock[start + a * stride : start + a * stride + rows]
        entries = regret[first + a * gap : first + a * gap + rows]
        for r in range(rows):
            if fixed[r] >= zero:
                entries[r] = zero


@inlined
def write_response(vectors, values, value, count, rows, response, start):
    """Write, for each row, the first action with the largest value.

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
    """Set R <- max(D R + r, floor) in all rows of a node, where r is an action's value less the node's value.

    Args:
        regret: array with the node's entries from index ``start`` on, which are changed in place.
        discounts: factors D for positive and for other regrets.
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
    """Write the actions' values to a node's entries of a table, which begin at index ``start``."""
    for a in range(count):
        for r in range(rows):
            table[start + a * stride + r] = vectors[values + a * rows + r]


@inlined
def discounts_ahead(ahead, zero, one):
    """Return D' for positive and for other regrets: the next iteration's discounts, or 1 if it has no prediction."""
    if ahead[PREDICTION] == zero:
        return one, one
    return ahead[POSITIVE_DISCOUNT], ahead[NEGATIVE_DISCOUNT]


@inlined
def predict_regrets(vectors, values, value, count, rows, tables, start, stride, ahead, zero, one):
    """Write the positive parts of the predicted regrets D' R + prediction r, to which the next policy is proportional.

    Args:
        tables: ``policy`` is changed in place, at the node's entries from index ``start`` on.
        ahead: the next iteration's row of the schedule.
    """
    positive, negative = discounts_ahead(ahead, zero, one)
    prediction = ahead[PREDICTION]
    means = vectors[value : value + rows]
    for a in range(count):
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        entries = tables.regret[start + a * stride : start + a * stride + rows]
        predicted = tables.policy[start + a * stride : start + a * stride + rows]
        for r in range(rows):
            regret = entries[r]
            discount = positive if regret > zero else negative
            predicted[r] = max(regret * discount + prediction * (action_values[r] - means[r]), zero)


@inlined
def update_rows_with_momentum(
    vectors, values, value, count, rows, tables, start, stride, discounts, floor, now, ahead, zero, one
):
    """Update a node's regrets by a rule with momentum, and the entries to which its next policy is proportional.

    R <- max(D R + r, floor), M <- memory M + (R after - R before), and the policy is proportional to a power of the
    positive parts of D' R + prediction r + weight M, as in kernels/regret_updates.py.

    Args:
        values: overwritten.
        tables: ``regret``, ``movement`` and ``policy`` are changed in place, at the node's entries from ``start`` on.
        now, ahead: schedule rows of this iteration and of the next, in the type in which passes compute.
    """
    positive, negative = discounts
    positive_ahead, negative_ahead = discounts_ahead(ahead, zero, one)
    prediction = ahead[PREDICTION]
    memory = now[MOMENTUM_MEMORY]
    weight = ahead[MOMENTUM_WEIGHT]
    means = vectors[value : value + rows]
    largest = vectors[values : values + rows]  # the first action's values, which are not needed after that action
    for a in range(count):
        action_values = vectors[values + a * rows : values + (a + 1) * rows]
        entries = tables.regret[start + a * stride : start + a * stride + rows]
        movements = tables.movement[start + a * stride : start + a * stride + rows]
        matched = tables.policy[start + a * stride : start + a * stride + rows]
        for r in range(rows):
            old = entries[r]
            instant_regret = action_values[r] - means[r]
            new = max(old * (positive if old > zero else negative) + instant_regret, floor)
            entries[r] = new
            movement = memory * movements[r] + (new - old)
            movement = movement if abs(movement) > SMALLEST else zero  # see TINY of regret_updates
            movements[r] = movement
            new *= positive_ahead if new > zero else negative_ahead
            new = max(new + prediction * instant_regret + weight * movement, zero)
            matched[r] = new
            largest[r] = max(largest[r], new) if a > 0 else new
    raise_to_power(tables.policy, start, stride, count, rows, largest, ahead[MATCHING_POWER], zero, one)


@inlined
def raise_to_power(table, start, stride, count, rows, largest, power, zero, one):
    """Divide a node's entries, none of which is negative, by their row's largest, and raise them to a power.

    The division keeps powers from overflowing.

    Args:
        table: the node's entries, from index ``start`` on, are overwritten.
        largest: (rows,) the largest entry of each row; overwritten.
    """
    for r in range(rows):  # one division per private state, as in fill_policy
        largest[r] = one / largest[r] if largest[r] > SMALLEST else zero
    for a in range(count):
        entries = table[start + a * stride : start + a * stride + rows]
        for r in range(rows):
            entries[r] = to_the_power(entries[r] * largest[r], power)


@kernel
def match_power(view, policy, largest, power):
    """Divide all entries of a table, none of which is negative, by their row's largest, and raise them to a power.

    Args:
        policy: (m,) changed in place.
        largest: working array of the table's type, with one entry for each row of the deal with the most rows.
        power: one number, in the table's type.
    """
    zero = policy.dtype.type(0.0)
    one = policy.dtype.type(1.0)
    for node in view.nodes:
        if node["kind"] >= CHANCE:
            continue
        count = node["num_children"]
        rows = view.deals[node["deal"]]["rows"][node["kind"]]
        start = node["table"]
        largest[:rows] = zero
        for a in range(count):
            for r in range(rows):
                largest[r] = max(largest[r], policy[start + a * rows + r])
        raise_to_power(policy, start, rows, count, rows, largest, power, zero, one)
