"""Operations on vectors over private states.

All vectors of a pass lie in one array, ``vectors``; an argument such as ``reach`` is a vector's first entry. Numbers of
``shares`` have the array's type, so that nothing is computed in double precision unless the tables are: ``shares[A]``
is 1 / A, and ``shares[0]`` is 0.

``stride`` is the number of private states at a table's node, and ``rows`` how many of them the pass goes through; the
first entry ``at`` is that of the first one.

Loops run over slices from 0 on. Only of these does the compiler know that no index is negative, so that it can make
vector operations of them.
"""

from __future__ import annotations

from rlccfr.games.public.records import SMALLEST
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.layout import NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT, PREDICTION


@inlined
def fill_policy(table, at, stride, count, rows, shares, vectors, policy, total):
    """Set a node's policy: proportional to the positive parts of a table's entries, uniform where these are 0.

    Args:
        table: array with the node's entries from index ``at`` on, (count, stride).
        policy: (count, rows) overwritten.
        total: (rows,) overwritten.
    """
    zero, one, uniform = shares[0], shares[1], shares[count]
    sums = vectors[total : total + rows]
    sums[:] = zero
    for a in range(count):
        entries = table[at + a * stride : at + a * stride + rows]
        for r in range(rows):
            sums[r] += max(entries[r], zero)
    for r in range(rows):
        sums[r] = one / sums[r] if sums[r] > SMALLEST else zero
    for a in range(count):
        entries, own = (
            table[at + a * stride : at + a * stride + rows],
            vectors[policy + a * rows : policy + (a + 1) * rows],
        )
        for r in range(rows):
            own[r] = max(entries[r], zero) * sums[r] if sums[r] > zero else uniform


@inlined
def fill_response(response, at, count, rows, shares, vectors, policy):
    """Set a node's policy to pure actions.

    Args:
        response: array with the action of each of the node's rows, from index ``at`` on.
        policy: (count, rows) overwritten.
    """
    actions = response[at : at + rows]
    for a in range(count):
        own = vectors[policy + a * rows : policy + (a + 1) * rows]
        for r in range(rows):
            own[r] = shares[1] if actions[r] == a else shares[0]


@inlined
def multiply(vectors, first, second, rows, product):
    """Set a vector to the product of two others, entry by entry."""
    one, other = vectors[first : first + rows], vectors[second : second + rows]
    found = vectors[product : product + rows]
    for r in range(rows):
        found[r] = one[r] * other[r]


@inlined
def add(vectors, summand, rows, total):
    """Add a vector to another one."""
    one, sums = vectors[summand : summand + rows], vectors[total : total + rows]
    for r in range(rows):
        sums[r] += one[r]


@inlined
def average(vectors, reach, policy, count, rows, sums, at, stride, decay):
    """Multiply a node's policy sums by ``decay``, and add its policy, weighted by reach."""
    weights = vectors[reach : reach + rows]
    for a in range(count):
        own, entries = (
            vectors[policy + a * rows : policy + (a + 1) * rows],
            sums[at + a * stride : at + a * stride + rows],
        )
        for r in range(rows):
            entries[r] = decay * entries[r] + weights[r] * own[r]


@inlined
def mean(vectors, policy, values, count, rows, value, zero):
    """Set the mean of the actions' values, each weighted by the policy."""
    found = vectors[value : value + rows]
    for a in range(count):
        own = vectors[policy + a * rows : policy + (a + 1) * rows]
        worth = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            found[r] = own[r] * worth[r] + (found[r] if a > 0 else zero)


@inlined
def largest(vectors, values, count, rows, value):
    """Set the largest of the actions' values."""
    found = vectors[value : value + rows]
    for a in range(count):
        worth = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            found[r] = max(found[r], worth[r]) if a > 0 else worth[r]


@inlined
def choose(vectors, values, value, count, rows, response, at):
    """Keep for each row the first action whose value is the largest.

    Args:
        response: the node's entries, from index ``at`` on, are overwritten.
    """
    best, actions = vectors[value : value + rows], response[at : at + rows]
    for a in range(count - 1, -1, -1):
        worth = vectors[values + a * rows : values + (a + 1) * rows]
        for r in range(rows):
            if worth[r] == best[r]:
                actions[r] = a


@inlined
def fold(vectors, values, value, count, rows, regret, at, stride, discounts, floor, zero):
    """Set R <- max(D R + r, floor), where r is an action's value less the mean, for all rows of a node.

    Args:
        regret: (m,) the node's entries, from index ``at`` on, are changed in place.
        discounts: factors on positive and on other regrets.
        floor: the schedule's floor in the table's units.
    """
    positive, negative = discounts
    means = vectors[value : value + rows]
    for a in range(count):
        worth = vectors[values + a * rows : values + (a + 1) * rows]
        entries = regret[at + a * stride : at + a * stride + rows]
        for r in range(rows):
            old = entries[r]
            entries[r] = max(old * (positive if old > zero else negative) + (worth[r] - means[r]), floor)


@inlined
def keep(vectors, values, count, rows, table, at, stride):
    """Write the actions' values to a node's entries of a table, from index ``at`` on, for all rows of the node."""
    for a in range(count):
        for r in range(rows):
            table[at + a * stride + r] = vectors[values + a * rows + r]


@inlined
def predict(vectors, values, value, count, rows, tables, at, stride, ahead, zero, one):
    """Set the positive parts of the predicted regrets D' R + prediction r, which the next policy is proportional to.

    Args:
        tables: ``policy`` is changed in place, at the node's entries from index ``at`` on.
        ahead: the next iteration's row of the schedule.
    """
    positive, negative, prediction = ahead[POSITIVE_DISCOUNT], ahead[NEGATIVE_DISCOUNT], ahead[PREDICTION]
    if prediction == zero:  # then R itself is matched
        positive, negative = one, one
    means = vectors[value : value + rows]
    for a in range(count):
        worth = vectors[values + a * rows : values + (a + 1) * rows]
        entries = tables.regret[at + a * stride : at + a * stride + rows]
        own = tables.policy[at + a * stride : at + a * stride + rows]
        for r in range(rows):
            old = entries[r]
            own[r] = max(old * (positive if old > zero else negative) + prediction * (worth[r] - means[r]), zero)
