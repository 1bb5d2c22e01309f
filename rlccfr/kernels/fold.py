"""Folding one infoset's estimated regrets into its table, and what follows from them: its next policy."""

from __future__ import annotations

from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import FLOOR, NEGATIVE_DISCOUNT, PARAMETERS, POSITIVE_DISCOUNT, PREDICTION

SMALL = 1e-300
"""At and below this the reciprocal may overflow."""


@inlined
def normalised(values, at, policy, first, last, total):
    """An infoset's policy in proportion to the positive parts of ``values[at:]``, of that sum; uniform if it is 0."""
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
def fold_plain(regret, policy, first, last, gain, at, value, floor, load, store):
    """R <- max(D R + r, floor) with r = gain - value, then regret matching, for one infoset.

    Args:
        regret, policy: over sequences; the infoset's are those from first to before last.
        gain, at: the values of the infoset's actions, from there on.
        value: the infoset's counterfactual value, or 0 where gain holds regrets already.
        load, store: factors (positive, negative) between stored and true regrets: D and 1 in an exact pass,
            the running scales in a sampled one.
    """
    total = 0.0
    for k in range(first, last):
        new = regret[k]
        new = max(new * (load[0] if new > 0.0 else load[1]) + (gain[at + k - first] - value), floor)
        new *= store[0] if new > 0.0 else store[1]
        regret[k] = new
        total += max(new, 0.0)
    normalised(regret, first, policy, first, last, total)


@inlined
def fold_predicting(regret, policy, first, last, gain, at, value, floor, load, store, ahead):
    """The same with a prediction: regret matching on the next iteration's discounts of R, plus the newest r weighted.

    Where that weight is 0, on R as it is.

    Args:
        gain: overwritten with what the policy is in proportion to.
        ahead: the schedule's row of the next iteration.
    """
    total, discount = 0.0, (1.0, 1.0)
    if ahead[PREDICTION] != 0.0:
        discount = (ahead[POSITIVE_DISCOUNT], ahead[NEGATIVE_DISCOUNT])
    for k in range(first, last):
        instant, new = gain[at + k - first] - value, regret[k]
        new = max(new * (load[0] if new > 0.0 else load[1]) + instant, floor)
        regret[k] = new * (store[0] if new > 0.0 else store[1])
        new *= discount[0] if new > 0.0 else discount[1]
        new = max(new + ahead[PREDICTION] * instant, 0.0)
        gain[at + k - first] = new
        total += new
    normalised(gain, at, policy, first, last, total)


@inlined
def fold_simple(regret, policy, first, last, gain, at, value, floor, load, store, ahead, predicts):
    """Either of the two: of a rule that does no more than discount, floor and perhaps predict."""
    if predicts:
        fold_predicting(regret, policy, first, last, gain, at, value, floor, load, store, ahead)
    else:
        fold_plain(regret, policy, first, last, gain, at, value, floor, load, store)


@kernel
def fold_general(
    tables, first, last, gain, value, mass, now, ahead, load, store, flags, reweight, policy_map, utility_range
):
    """The same for a rule that weighs regrets, predicts, or has another policy than regret matching.

    Args:
        gain: overwritten with the infoset's regrets, weighted.
        mass: opponent and chance reach that the regrets are weighted with.
        now, ahead: the schedule's rows of this iteration and of the next.
    """
    for k in range(first, last):
        gain[k] -= value
    if flags.reweights:
        reweight(gain[first:last], mass, tables.state[first:last], now[PARAMETERS:], utility_range)
    fold_plain(tables.regret, tables.policy, first, last, gain, first, 0.0, now[FLOOR], load, store)
    for k in range(first, last):
        regret = tables.regret[k]
        regret /= store[0] if regret > 0.0 else store[1]
        if ahead[PREDICTION] != 0.0:
            regret *= ahead[POSITIVE_DISCOUNT] if regret > 0.0 else ahead[NEGATIVE_DISCOUNT]
            regret += ahead[PREDICTION] * gain[k]
        tables.policy[k] = regret
    next_policy(tables, first, last, ahead, flags, policy_map, utility_range)


@kernel
def next_policy(tables, first, last, ahead, flags, policy_map, utility_range):
    """Turn an infoset's row of ``tables.policy`` from regrets into a policy, in the rule's way."""
    if flags.maps_policy:
        policy_map(tables.policy[first:last], tables.state[first:last], ahead[PARAMETERS:], utility_range)
    else:
        match_regrets(tables.policy[first:last], flags.argmax_fallback)


@kernel
def match_regrets(row, argmax_fallback):
    """Turn regrets into a policy in proportion to their positive parts, in place.

    Where none is positive: uniform, or with ``argmax_fallback`` the first largest, unless all are equal.
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
