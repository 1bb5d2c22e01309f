"""Updates of one infoset's regrets: add the iteration's estimated regrets, and set the next policy from the result.

All update rules are of one form. With R the cumulative regrets, r the iteration's instantaneous regrets, and D the
discount, which may differ between positive and other regrets::

    R <- max(D R + r, floor)
    next policy: proportional to the positive parts of D' R + prediction r, with D' the next iteration's discount

A rule's plain functions may change r first (``reweight``), or replace the proportionality to positive parts
(``policy_map``). A rule with momentum adds a multiple of M, a running sum of the changes of R, to the numbers in the
second line; its policy is proportional to a power of their positive parts. There are four versions of the update:
``update_regrets_plain`` and ``update_regrets_predicting`` serve most rules, ``update_regrets_with_momentum`` serves
rules with momentum, and ``update_regrets_general`` serves all rules without momentum.
Where two of them serve a rule, their results differ only by rounding. Public trees have an update of their own in
kernels/public/vectors.py. After a switch of rules, floors are applied by ``refresh_policies`` and
:meth:`rlccfr.engine.public.public_state.PublicState.adopt`.

An infoset's sequences are ``first`` to ``end - 1``. See kernels/layout.py for structs and shapes.
"""

from __future__ import annotations

from math import sqrt

from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    MATCHING_POWER,
    MOMENTUM_MEMORY,
    MOMENTUM_WEIGHT,
    NEGATIVE_DISCOUNT,
    PARAMETERS,
    POSITIVE_DISCOUNT,
    PREDICTION,
)

LEAST_RECIPROCAL_SUM = 1e-300
"""Values are divided by sums up to this, not multiplied by a sum's reciprocal, which could overflow."""

LARGEST_SUM = 1e300
"""Sum of powers above which values are first divided by the largest of them, so that no power overflows."""

TINY = 1e-100
"""Number that is added to a running sum of changes and subtracted again, which turns far smaller sums into 0.

Where regrets no longer change, such a sum would otherwise shrink to the smallest denormal number, and stay there.
Processors multiply denormal numbers very slowly. A comparison would take longer.
"""


@inlined
def set_proportional_policy(values, at, policy, first, end, total):
    """Set an infoset's policy proportional to the positive parts of its values; uniform if their sum is 0.

    Args:
        values: array with the infoset's values from index ``at`` on.
        policy: (m,) changed in place.
        total: sum of the positive parts.
    """
    if total > LEAST_RECIPROCAL_SUM:
        reciprocal = 1.0 / total  # one division for all actions
        for k in range(first, end):
            policy[k] = max(values[at + k - first], 0.0) * reciprocal
    elif total > 0.0:
        for k in range(first, end):
            policy[k] = max(values[at + k - first], 0.0) / total
    else:
        for k in range(first, end):
            policy[k] = 1.0 / (end - first)


@inlined
def update_regrets_plain(tables, first, end, gain, at, value, step):
    """Set R <- max(D R + r, floor) with r = gain - value for one infoset, and its policy by regret matching.

    Args:
        tables: ``regret`` and ``policy`` are changed in place.
        gain: array with the infoset's counterfactual values, or regrets, from index ``at`` on.
        value: the infoset's counterfactual value; 0 if ``gain`` holds regrets.
    """
    regret = tables.regret
    load = step.load
    store = step.store
    total = 0.0
    for k in range(first, end):
        # The factors of ``load`` include the discount, which goes by the sign of the regret before the update. Those of
        # ``store`` go by the sign of the regret that is stored.
        new = regret[k]
        new = max(new * (load[0] if new > 0.0 else load[1]) + (gain[at + k - first] - value), step.floor)
        new *= store[0] if new > 0.0 else store[1]
        regret[k] = new
        total += max(new, 0.0)
    # All positive regrets have the same factor, which does not change their proportions.
    set_proportional_policy(regret, first, tables.policy, first, end, total)


@inlined
def update_regrets_predicting(tables, first, end, gain, at, value, step):
    """Update regrets as :func:`update_regrets_plain` does, but set the policy from the regrets D' R + prediction r.

    These are called the predicted regrets. D' is the next iteration's discount. If the prediction is 0, they are R.

    Args:
        gain: overwritten with the positive parts of the predicted regrets.
    """
    regret = tables.regret
    load = step.load
    store = step.store
    ahead = step.ahead
    total = 0.0
    next_discount = (1.0, 1.0)
    if ahead[PREDICTION] != 0.0:
        next_discount = (ahead[POSITIVE_DISCOUNT], ahead[NEGATIVE_DISCOUNT])
    for k in range(first, end):
        instant_regret = gain[at + k - first] - value
        new = regret[k]
        new = max(new * (load[0] if new > 0.0 else load[1]) + instant_regret, step.floor)
        regret[k] = new * (store[0] if new > 0.0 else store[1])
        # The newest regret stands for the next iteration's, which is not known yet.
        new *= next_discount[0] if new > 0.0 else next_discount[1]
        new = max(new + ahead[PREDICTION] * instant_regret, 0.0)
        gain[at + k - first] = new
        total += new
    set_proportional_policy(gain, at, tables.policy, first, end, total)


@inlined
def to_the_power(value, power):
    """Return ``value ** power`` for a value of at least 0; the powers 1, 1.5 and 2 are computed fastest."""
    if power == 2.0:
        return value * value
    if power == 1.5:
        return value * sqrt(value)
    if power == 1.0:
        return value
    return value**power


@inlined
def set_policy_by_power(values, at, policy, first, end, power):
    """Set an infoset's policy proportional to a power of its values; uniform if none is positive.

    Args:
        values: array with the infoset's values from index ``at`` on, none negative; may be overwritten.
        policy: (m,) changed in place; another array than ``values``.
    """
    total = 0.0
    for k in range(first, end):
        share = to_the_power(values[at + k - first], power)
        policy[k] = share
        total += share
    if LEAST_RECIPROCAL_SUM < total < LARGEST_SUM:
        reciprocal = 1.0 / total
        for k in range(first, end):
            policy[k] *= reciprocal
    else:
        set_policy_by_shares(values, at, policy, first, end, power)


@inlined
def set_policy_by_shares(values, at, policy, first, end, power):
    """Set an infoset's policy as :func:`set_policy_by_power` does, after dividing the values by the largest of them.

    So no power overflows, and not all of them vanish.

    Args:
        values: array with the infoset's values from index ``at`` on, none negative; overwritten.
        policy: (m,) changed in place.
    """
    largest = 0.0
    for k in range(first, end):
        largest = max(largest, values[at + k - first])
    total = 0.0
    if largest > LEAST_RECIPROCAL_SUM:
        reciprocal = 1.0 / largest
        for k in range(first, end):
            share = to_the_power(values[at + k - first] * reciprocal, power)
            values[at + k - first] = share
            total += share
    set_proportional_policy(values, at, policy, first, end, total)


@inlined
def update_regrets_with_momentum(tables, first, end, gain, at, value, step):
    """Update regrets as :func:`update_regrets_plain` does, but set the policy from D' R + prediction r + weight M.

    The policy is proportional to a power of the positive parts of these numbers.

    M <- memory M + (R after - R before) is the first column of ``tables.state``. D' is the next iteration's discount,
    or 1 without a prediction, as in :func:`update_regrets_predicting`. Regrets are stored without a running scale,
    because rules with momentum run only with exact passes.

    Args:
        gain: overwritten.
    """
    regret = tables.regret
    movement = tables.state
    load = step.load
    ahead = step.ahead
    memory = step.now[MOMENTUM_MEMORY]
    weight = ahead[MOMENTUM_WEIGHT]
    prediction = ahead[PREDICTION]
    for k in range(first, end):
        # R <- max(D R + r, floor), then M from the change of R.
        instant_regret = gain[at + k - first] - value
        old = regret[k]
        new = max(old * (load[0] if old > 0.0 else load[1]) + instant_regret, step.floor)
        regret[k] = new
        moved = (memory * movement[k, 0] + (new - old) + TINY) - TINY
        movement[k, 0] = moved
        # The regret that the next policy matches.
        matched = new + weight * moved
        if prediction != 0.0:
            next_discount = ahead[POSITIVE_DISCOUNT] if new > 0.0 else ahead[NEGATIVE_DISCOUNT]
            matched = next_discount * new + prediction * instant_regret + weight * moved
        gain[at + k - first] = max(matched, 0.0)
    set_policy_by_power(gain, at, tables.policy, first, end, ahead[MATCHING_POWER])


@inlined
def update_regrets_simple(tables, first, end, gain, at, value, step, predicts):
    """Update one infoset's regrets under a rule that only discounts, floors and perhaps predicts.

    See :func:`update_regrets_plain` and :func:`update_regrets_predicting` for the arguments.
    """
    if predicts:
        update_regrets_predicting(tables, first, end, gain, at, value, step)
    else:
        update_regrets_plain(tables, first, end, gain, at, value, step)


@inlined
def copy_true_regrets(regret, first, end, scale, past_regret):
    """Copy one infoset's true cumulative regrets for a rule that reads them, before the iteration discounts them.

    The rule's function may change the copy.

    Args:
        regret: (m,) stored regrets.
        scale: pair of factors from true regrets to stored ones, for positive regrets and for all others.
        past_regret: (m,) the infoset's entries are overwritten.
    """
    for k in range(first, end):
        past_regret[k] = regret[k] / (scale[0] if regret[k] > 0.0 else scale[1])


@inlined
def reweight_regrets(state, first, end, gain, mass, past_regret, now, rule):
    """Call the rule's ``reweight`` on one infoset's regrets.

    Args:
        state: (m, k) the infoset's rows may be changed in place.
        gain: (m,) or longer: the infoset's regrets, which are changed in place.
        mass: opponent and chance reach with which the regrets are weighted.
        past_regret: (m,) see :func:`copy_true_regrets`.
        now: (5 + p,) the iteration's row of the schedule.
    """
    instant_regret = gain[first:end]
    infoset_state = state[first:end]
    parameters = now[PARAMETERS:]
    utility_range = rule.utility_range
    if rule.flags.reads_regret:
        regret = past_regret[first:end]
        rule.reweight_by_regret(instant_regret, mass, infoset_state, parameters, utility_range, regret)
    else:
        rule.reweight(instant_regret, mass, infoset_state, parameters, utility_range)


@kernel
def update_regrets_general(tables, first, end, infoset, findings, value, step, rule):
    """Update one infoset's regrets and policy under any rule without momentum; it may have plain functions.

    Args:
        tables: changed in place; the rule's functions also change ``state``.
        findings: the infoset's ``gain`` is overwritten with its reweighted regrets.
        value: the infoset's counterfactual value; 0 if ``gain`` holds regrets.
    """
    gain = findings.gain
    # 1. Instantaneous regrets r, as the rule weighs them.
    for k in range(first, end):
        gain[k] -= value
    if rule.flags.reweights:
        mass = findings.mass[infoset]
        reweight_regrets(tables.state, first, end, gain, mass, findings.past_regret, step.now, rule)
    # 2. Cumulative regrets R. This also sets a policy from R, which step 3 overwrites.
    update_regrets_plain(tables, first, end, gain, first, 0.0, step)
    # 3. Write the predicted regrets, in true units, where the policy belongs; the rule then turns them into the policy.
    for k in range(first, end):
        regret = tables.regret[k]
        tables.policy[k] = regret / (step.store[0] if regret > 0.0 else step.store[1])
    add_prediction(tables.policy, first, end, gain, step.ahead)
    next_policy(tables, first, end, step.ahead, rule)


@inlined
def add_prediction(row, first, end, gain, ahead):
    """Turn regrets R into predicted regrets D' R + prediction r; keep R if the prediction is 0.

    Args:
        row: (m,) true regrets, changed in place.
        gain: (m,) or longer: the newest regrets r.
        ahead: (5 + p,) the next iteration's row of the schedule.
    """
    if ahead[PREDICTION] != 0.0:
        for k in range(first, end):
            row[k] *= ahead[POSITIVE_DISCOUNT] if row[k] > 0.0 else ahead[NEGATIVE_DISCOUNT]
            row[k] += ahead[PREDICTION] * gain[k]


@inlined
def update_regrets(tables, first, end, infoset, findings, value, step, rule):
    """Update one infoset's regrets with the fastest version that serves the rule.

    Args:
        tables: changed in place.
        findings: ``gain`` is overwritten.
        value: the infoset's counterfactual value; 0 if ``gain`` holds regrets.
    """
    if rule.flags.plain or rule.flags.predicts:
        update_regrets_simple(tables, first, end, findings.gain, first, value, step, rule.flags.predicts)
    elif rule.flags.has_momentum:
        update_regrets_with_momentum(tables, first, end, findings.gain, first, value, step)
    else:
        update_regrets_general(tables, first, end, infoset, findings, value, step, rule)


@kernel
def next_policy(tables, first, end, ahead, rule):
    """Turn an infoset's entries of ``tables.policy`` from true regrets into the rule's policy, in place.

    Args:
        ahead: (5 + p,) schedule row of the iteration that will play the policy.
    """
    if rule.flags.maps_policy:
        rule.policy_map(tables.policy[first:end], tables.state[first:end], ahead[PARAMETERS:], rule.utility_range)
    elif rule.flags.has_momentum:
        for k in range(first, end):
            tables.policy[k] = max(tables.policy[k], 0.0)
        set_policy_by_shares(tables.policy, first, tables.policy, first, end, ahead[MATCHING_POWER])
    else:
        match_regrets(tables.policy[first:end], rule.flags.argmax_fallback)


@kernel
def match_regrets(row, argmax_fallback):
    """Turn a row of regrets, (A,), in place into a policy proportional to their positive parts.

    If no regret is positive, the policy is uniform. With ``argmax_fallback`` it is then the first action with the
    largest regret, unless all regrets are equal.
    """
    total = 0.0
    best = 0
    worst = 0
    for k in range(len(row)):
        total += max(row[k], 0.0)
        if row[k] > row[best]:
            best = k
        if row[k] < row[worst]:
            worst = k
    is_pure = argmax_fallback and row[worst] < row[best]
    for k in range(len(row)):
        if total > 0.0:
            row[k] = max(row[k], 0.0) / total
        elif is_pure:
            row[k] = 1.0 if k == best else 0.0
        else:
            row[k] = 1.0 / len(row)
