"""Folds: each adds one infoset's estimated regrets to its table and sets its next policy.

An infoset's sequences are ``first`` to ``last - 1``. See kernels/layout.py for structs and shapes.
"""

from __future__ import annotations

from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import NEGATIVE_DISCOUNT, PARAMETERS, POSITIVE_DISCOUNT, PREDICTION

SMALL = 1e-300
"""Sum up to which values are divided by the sum itself, because its reciprocal could overflow."""


@inlined
def normalised(values, at, policy, first, last, total):
    """Set an infoset's policy proportional to the positive parts of its values; uniform if their sum is 0.

    Args:
        values: array with the infoset's values from index ``at`` on.
        policy: (m,) changed in place.
        total: sum of the positive parts.
    """
    if total > SMALL:
        share = 1.0 / total
        for k in range(first, last):
            policy[k] = max(values[at + k - first], 0.0) * share
    elif total > 0.0:
        for k in range(first, last):
            policy[k] = max(values[at + k - first], 0.0) / total
    else:
        for k in range(first, last):
            policy[k] = 1.0 / (last - first)


@inlined
def fold_plain(tables, first, last, gain, at, value, step):
    """Set R <- max(D R + r, floor) with r = gain - value, then match regrets, for one infoset.

    Args:
        tables: ``regret`` and ``policy`` are changed in place.
        gain: array with the infoset's counterfactual values, or regrets, from index ``at`` on.
        value: the infoset's counterfactual value; 0 if ``gain`` holds regrets.
    """
    regret, load, store = tables.regret, step.load, step.store
    total = 0.0
    for k in range(first, last):
        new = regret[k]
        new = max(new * (load[0] if new > 0.0 else load[1]) + (gain[at + k - first] - value), step.floor)
        new *= store[0] if new > 0.0 else store[1]
        regret[k] = new
        total += max(new, 0.0)
    normalised(regret, first, tables.policy, first, last, total)


@inlined
def fold_predicting(tables, first, last, gain, at, value, step):
    """Fold as :func:`fold_plain` does, but match the predicted regrets D' R + prediction r.

    D' is the next iteration's discount. If the prediction is 0, R itself is matched.

    Args:
        gain: overwritten with the positive parts of the predicted regrets.
    """
    regret, load, store, ahead = tables.regret, step.load, step.store, step.ahead
    total, discount = 0.0, (1.0, 1.0)
    if ahead[PREDICTION] != 0.0:
        discount = (ahead[POSITIVE_DISCOUNT], ahead[NEGATIVE_DISCOUNT])
    for k in range(first, last):
        instant, new = gain[at + k - first] - value, regret[k]
        new = max(new * (load[0] if new > 0.0 else load[1]) + instant, step.floor)
        regret[k] = new * (store[0] if new > 0.0 else store[1])
        new *= discount[0] if new > 0.0 else discount[1]
        new = max(new + ahead[PREDICTION] * instant, 0.0)
        gain[at + k - first] = new
        total += new
    normalised(gain, at, tables.policy, first, last, total)


@inlined
def fold_simple(tables, first, last, gain, at, value, step, predicts):
    """Fold one infoset under a rule that only discounts, floors and perhaps predicts.

    See :func:`fold_plain` and :func:`fold_predicting` for the arguments.
    """
    if predicts:
        fold_predicting(tables, first, last, gain, at, value, step)
    else:
        fold_plain(tables, first, last, gain, at, value, step)


@inlined
def keep_regret(regret, first, last, scale, past_regret):
    """Copy one infoset's true cumulative regrets for a rule that reads them, before the iteration discounts them.

    The rule's function may change the copy.

    Args:
        regret: (m,) stored regrets.
        scale: pair of factors from true regrets to stored ones, for positive regrets and for all others.
        past_regret: (m,) the infoset's entries are overwritten.
    """
    for k in range(first, last):
        past_regret[k] = regret[k] / (scale[0] if regret[k] > 0.0 else scale[1])


@inlined
def reweigh(state, first, last, gain, mass, past_regret, now, rule):
    """Call the rule's ``reweight`` on one infoset's regrets.

    Args:
        state: (m, k) the infoset's rows may be changed in place.
        gain: (m,) or longer: the infoset's regrets, which are changed in place.
        mass: opponent and chance reach with which the regrets are weighted.
        past_regret: (m,) see :func:`keep_regret`.
        now: (5 + p,) the iteration's row of the schedule.
    """
    instant, own, parameters = gain[first:last], state[first:last], now[PARAMETERS:]
    if rule.flags.reads_regret:
        rule.reweight_by_regret(instant, mass, own, parameters, rule.utility_range, past_regret[first:last])
    else:
        rule.reweight(instant, mass, own, parameters, rule.utility_range)


@kernel
def fold_general(tables, first, last, infoset, findings, value, step, rule):
    """Fold one infoset under any rule, even one that reweights regrets or does not match regrets.

    Args:
        tables: changed in place; the rule's functions also change ``state``.
        findings: the infoset's ``gain`` is overwritten with its reweighted regrets.
        value: the infoset's counterfactual value; 0 if ``gain`` holds regrets.
    """
    gain = findings.gain
    for k in range(first, last):
        gain[k] -= value
    if rule.flags.reweights:
        reweigh(tables.state, first, last, gain, findings.mass[infoset], findings.past_regret, step.now, rule)
    fold_plain(tables, first, last, gain, first, 0.0, step)
    for k in range(first, last):
        regret = tables.regret[k]
        tables.policy[k] = regret / (step.store[0] if regret > 0.0 else step.store[1])
    add_prediction(tables.policy, first, last, gain, step.ahead)
    next_policy(tables, first, last, step.ahead, rule)


@inlined
def add_prediction(row, first, last, gain, ahead):
    """Turn regrets R into predicted regrets D' R + prediction r; keep R if the prediction is 0.

    Args:
        row: (m,) true regrets, changed in place.
        gain: (m,) or longer: the newest regrets r.
        ahead: (5 + p,) the next iteration's row of the schedule.
    """
    if ahead[PREDICTION] != 0.0:
        for k in range(first, last):
            row[k] *= ahead[POSITIVE_DISCOUNT] if row[k] > 0.0 else ahead[NEGATIVE_DISCOUNT]
            row[k] += ahead[PREDICTION] * gain[k]


@inlined
def fold(tables, first, last, infoset, findings, value, step, rule):
    """Fold one infoset with the fastest fold that serves the rule.

    Args:
        tables: changed in place.
        findings: ``gain`` is overwritten.
        value: the infoset's counterfactual value; 0 if ``gain`` holds regrets.
    """
    if rule.flags.plain or rule.flags.predicts:
        fold_simple(tables, first, last, findings.gain, first, value, step, rule.flags.predicts)
    else:
        fold_general(tables, first, last, infoset, findings, value, step, rule)


@kernel
def next_policy(tables, first, last, ahead, rule):
    """Turn an infoset's entries of ``tables.policy`` from true regrets into the rule's policy, in place.

    Args:
        ahead: (5 + p,) schedule row of the iteration that will play the policy.
    """
    if rule.flags.maps_policy:
        rule.policy_map(tables.policy[first:last], tables.state[first:last], ahead[PARAMETERS:], rule.utility_range)
    else:
        match_regrets(tables.policy[first:last], rule.flags.argmax_fallback)


@kernel
def match_regrets(row, argmax_fallback):
    """Turn a row of regrets, (A,), in place into a policy proportional to their positive parts.

    If no regret is positive, the policy is uniform. With ``argmax_fallback`` it is then the first action with the
    largest regret, unless all regrets are equal.
    """
    total = 0.0
    best, worst = 0, 0
    for k in range(len(row)):
        total += max(row[k], 0.0)
        if row[k] > row[best]:
            best = k
        if row[k] < row[worst]:
            worst = k
    pure = argmax_fallback and row[worst] < row[best]
    for k in range(len(row)):
        if total > 0.0:
            row[k] = max(row[k], 0.0) / total
        elif pure:
            row[k] = 1.0 if k == best else 0.0
        else:
            row[k] = 1.0 / len(row)
