"""Exact iterations over bundles of infosets, for rules with discounts, a floor, a prediction and momentum, or fewer.

The passes are those of :mod:`rlccfr.kernels.passes.sequence_form` and :mod:`rlccfr.kernels.passes.exact_iterations`,
for up to eight infosets at a time (:mod:`rlccfr.games.bundles`). They also move fewer bytes:

* The values of actions are kept only while a bundle is *open*. Opening it sets them to the payoffs at leaves. The
  bundles below it then add their values. Closing it updates its regrets, and passes its value up.
* The policy of a plain rule, without prediction and momentum, is not stored. Both the pass up and the pass down compute
  it from the regrets; :func:`fill_policies` stores it at the end.
* The regret of an infoset with one action is 0, and is neither read nor written. The action's reach is that of the
  action above it, and is not stored again.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.games.records import BUNDLE_LANES
from rlccfr.kernels.handles import bundle_view_of, flags_of, run_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE_DECAY,
    F8M,
    F8S,
    FLOOR,
    HANDLE,
    MATCHING_POWER,
    MOMENTUM_MEMORY,
    MOMENTUM_WEIGHT,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    PREDICTION,
    PROCEDURE,
    UNSCALED,
    Step,
)
from rlccfr.kernels.passes.lanes import (
    NONE,
    at_least,
    load,
    minus,
    plus,
    powers,
    reciprocals,
    scaled,
    scaled_by_sign,
    shifted,
    store,
    times,
    where_above,
)
from rlccfr.kernels.regret_updates import LEAST_RECIPROCAL_SUM, TINY


@inlined
def sum_of_positive(regrets, first, actions):
    """Return the sums of a bundle's positive regrets over its actions, by lanes."""
    total = NONE
    for action in range(actions):
        total = plus(total, at_least(load(regrets, first + BUNDLE_LANES * action), 0.0))
    return total


@inlined
def reciprocals_of(total):
    """Return the reciprocals of the sums of positive regrets, by lanes; 1 where there are none."""
    return reciprocals(where_above(total, LEAST_RECIPROCAL_SUM, total, 1.0))


@inlined
def matched(regret, total, reciprocal, actions):
    """Return one action's probabilities by regret matching, by lanes; uniform in lanes without positive regrets.

    Args:
        regret: the action's regrets.
        total: the sums of positive regrets over the actions. Sums up to LEAST_RECIPROCAL_SUM count as 0.
        reciprocal: what :func:`reciprocals_of` returns for these sums.
    """
    return where_above(total, LEAST_RECIPROCAL_SUM, times(at_least(regret, 0.0), reciprocal), 1.0 / actions)


@inlined
def matching_terms(tables, first, actions, flags):
    """Return what :func:`policy_of` needs of a bundle: sums of positive regrets and their reciprocals, by lanes.

    They are 0 if the policy is stored, that is, if the rule is not plain.
    """
    total = NONE
    reciprocal = NONE
    if flags.plain:
        total = sum_of_positive(tables.regret, first, actions)
        reciprocal = reciprocals_of(total)
    return total, reciprocal


@inlined
def policy_of(tables, entry, total, reciprocal, actions, flags):
    """Return one action's probabilities, by lanes: from the regrets under a plain rule, else as they are stored.

    Args:
        entry: first entry of the action.
        total, reciprocal: what :func:`matching_terms` returns for the bundle.
    """
    if flags.plain:
        return matched(load(tables.regret, entry), total, reciprocal, actions)
    return load(tables.policy, entry)


@inlined
def open_bundle(view, bundle, reach, values):
    """Set the values of a bundle's actions to the payoffs at the leaves right below them.

    Args:
        reach: (E + 8,) reach of the opponent's entries.
        values: the bundle's entries are overwritten.
    """
    value = np.int64(view.value[bundle])
    first_action = np.int64(view.first[bundle]) // BUNDLE_LANES
    for action in range(np.int64(view.actions[bundle])):
        payoffs = NONE
        begin = np.int64(view.lines_begin[first_action + action])
        for k in range(begin, np.int64(view.lines_begin[first_action + action + 1])):
            lines = view.lines[k]
            line = np.uint64(lines["opponent"])
            at = np.int64(lines["payoff"])
            block_sums = NONE
            if lines["listed"]:
                for _ in range(np.int64(lines["lines"])):
                    block_sums = plus(block_sums, scaled(load(view.payoff, at), reach[view.line_entry[line]]))
                    at += BUNDLE_LANES
                    line += np.uint64(1)
            else:
                for _ in range(np.int64(lines["lines"])):
                    block_sums = plus(block_sums, scaled(load(view.payoff, at), reach[line]))
                    at += BUNDLE_LANES
                    line += np.uint64(1)
            payoffs = plus(payoffs, scaled(block_sums, lines["factor"]))
        store(values, value + BUNDLE_LANES * action, payoffs)


@inlined
def update_bundle(view, bundle, tables, movement, values, step, flags):
    """Update a bundle's regrets, and return its counterfactual values, by lanes, as its parent action receives them.

    Args:
        tables: ``regret`` is changed in place and, if it is stored, ``policy``.
        movement: (E,) the running sum M of a rule with momentum; changed in place.
        values: values of the bundle's actions.
        step: see :class:`rlccfr.kernels.layout.Step`.
    """
    first = np.int64(view.first[bundle])
    actions = np.int64(view.actions[bundle])
    own_value = np.int64(view.value[bundle])
    value = NONE
    if actions == 1:
        value = load(values, own_value)
    else:
        # 1. v(I) = sum over a of policy(I, a) v(I, a).
        total, reciprocal = matching_terms(tables, first, actions, flags)
        for action in range(actions):
            entry = first + BUNDLE_LANES * action
            policy = policy_of(tables, entry, total, reciprocal, actions, flags)
            value = plus(value, times(policy, load(values, own_value + BUNDLE_LANES * action)))
        # 2. Regrets.
        if flags.has_momentum:
            update_with_momentum(tables, movement, first, actions, values, own_value, value, step)
        elif flags.predicts:
            update_predicting(tables, first, actions, values, own_value, value, step)
        else:
            for action in range(actions):
                instant_regret = minus(load(values, own_value + BUNDLE_LANES * action), value)
                add_regrets(tables.regret, first + BUNDLE_LANES * action, instant_regret, step)
    # 3. In a quotient, a value is passed up once for each infoset that the infoset stands for.
    return times(value, load(view.weight, np.int64(view.weights[bundle]) + BUNDLE_LANES))


@inlined
def pass_bundle_up(view, bundle, bundle_value, values):
    """Add a bundle's counterfactual values, by lanes, to those of its parent action.

    Args:
        values: values of the parent's actions; changed in place.
    """
    parent_value = np.int64(view.parent_value[bundle])
    store(values, parent_value, plus(load(values, parent_value), bundle_value))


@inlined
def add_regrets(regrets, entry, instant_regret, step):
    """Set R <- max(D R + r, floor) for one action, by lanes, and return the new regrets."""
    discounted = scaled_by_sign(load(regrets, entry), step.load[0], step.load[1])
    regret = at_least(plus(discounted, instant_regret), step.floor)
    store(regrets, entry, regret)
    return regret


@inlined
def update_predicting(tables, first, actions, values, own_value, value, step):
    """Update a bundle as :func:`rlccfr.kernels.regret_updates.update_regrets_predicting` updates an infoset."""
    prediction = step.ahead[PREDICTION]
    next_positive = 1.0
    next_negative = 1.0
    if prediction != 0.0:
        next_positive = step.ahead[POSITIVE_DISCOUNT]
        next_negative = step.ahead[NEGATIVE_DISCOUNT]
    # The predicted regrets D' R + prediction r are written where the policy belongs, which they then become.
    total = NONE
    for action in range(actions):
        entry = first + BUNDLE_LANES * action
        instant_regret = minus(load(values, own_value + BUNDLE_LANES * action), value)
        regret = add_regrets(tables.regret, entry, instant_regret, step)
        expected = scaled_by_sign(regret, next_positive, next_negative)
        predicted = at_least(plus(expected, scaled(instant_regret, prediction)), 0.0)
        store(tables.policy, entry, predicted)
        total = plus(total, predicted)
    reciprocal = reciprocals_of(total)
    for action in range(actions):
        entry = first + BUNDLE_LANES * action
        store(tables.policy, entry, matched(load(tables.policy, entry), total, reciprocal, actions))


@inlined
def update_with_momentum(tables, movement, first, actions, values, own_value, value, step):
    """Update a bundle as :func:`rlccfr.kernels.regret_updates.update_regrets_with_momentum` updates an infoset.

    The power is 1, 1.5 or 2. Sums of powers up to LEAST_RECIPROCAL_SUM count as 0. Payoffs that could make a power
    overflow are left to passes over infosets.
    """
    ahead = step.ahead
    memory = step.now[MOMENTUM_MEMORY]
    weight = ahead[MOMENTUM_WEIGHT]
    prediction = ahead[PREDICTION]
    total = NONE
    for action in range(actions):
        entry = first + BUNDLE_LANES * action
        instant_regret = minus(load(values, own_value + BUNDLE_LANES * action), value)
        # R <- max(D R + r, floor), then M from the change of R.
        old = load(tables.regret, entry)
        new = add_regrets(tables.regret, entry, instant_regret, step)
        moved = shifted(plus(scaled(load(movement, entry), memory), minus(new, old)), TINY)
        moved = shifted(moved, -TINY)
        store(movement, entry, moved)
        # The regret that the next policy matches.
        expected = new
        if prediction != 0.0:
            discounted = scaled_by_sign(new, ahead[POSITIVE_DISCOUNT], ahead[NEGATIVE_DISCOUNT])
            expected = plus(discounted, scaled(instant_regret, prediction))
        expected = plus(expected, scaled(moved, weight))
        share = powers(at_least(expected, 0.0), ahead[MATCHING_POWER])
        store(tables.policy, entry, share)
        total = plus(total, share)
    reciprocal = reciprocals_of(total)
    for action in range(actions):
        entry = first + BUNDLE_LANES * action
        store(tables.policy, entry, matched(load(tables.policy, entry), total, reciprocal, actions))


@inlined
def update_bundles(view, player, tables, movement, reach, values, step, flags):
    """Update a player's regrets, from the leaves up.

    Args:
        tables, movement, step: as for :func:`update_bundle`.
        reach: (E + 8,) reach of the opponent's entries.
        values: overwritten.
    """
    store(values, 0, NONE)  # the values of the empty sequences, which nothing reads
    first = np.int64(view.bundle_begin[player])
    for bundle in range(np.int64(view.bundle_begin[player + 1]) - 1, first - 1, -1):
        for k in range(np.int64(view.opened_begin[bundle]), np.int64(view.opened_begin[bundle + 1])):
            open_bundle(view, np.int64(view.opened[k]), reach, values)
        bundle_value = update_bundle(view, bundle, tables, movement, values, step, flags)
        pass_bundle_up(view, bundle, bundle_value, values)


@inlined
def reach_of_bundles(view, begin, end, tables, reach, decay, averages, flags):
    """Set the owner's own reach x at bundles ``begin`` to ``end - 1``, which all belong to one player.

    With ``averages``, also set S <- decay * S + (chance weight) * x.

    Args:
        tables: ``policy_sum``, the S, is changed in place.
        reach: (E + 8,) the bundles' entries are overwritten.
    """
    for bundle in range(begin, end):
        reach_of_bundle(view, bundle, tables, reach, decay, averages, flags)


@inlined
def reach_of_bundle(view, bundle, tables, reach, decay, averages, flags):
    """Set the owner's own reach at one bundle; see :func:`reach_of_bundles`."""
    first = np.int64(view.first[bundle])
    actions = np.int64(view.actions[bundle])
    parent_reach = load(reach, np.int64(view.parent[bundle]))
    chance_weight = load(view.weight, np.int64(view.weights[bundle]))
    if actions == 1:
        if averages:
            add_to_average(tables.policy_sum, first, decay, chance_weight, parent_reach)
        return
    total, reciprocal = matching_terms(tables, first, actions, flags)
    for action in range(actions):
        entry = first + BUNDLE_LANES * action
        policy = policy_of(tables, entry, total, reciprocal, actions, flags)
        own_reach = times(parent_reach, policy)
        store(reach, entry, own_reach)
        if averages:
            add_to_average(tables.policy_sum, entry, decay, chance_weight, own_reach)


@inlined
def reach_of_player(view, player, tables, reach, decay, averages, flags):
    """Set reach, and perhaps sums, at all bundles of ``player``; see :func:`reach_of_bundles`."""
    begin = np.int64(view.bundle_begin[player])
    end = np.int64(view.bundle_begin[player + 1])
    reach_of_bundles(view, begin, end, tables, reach, decay, averages, flags)


@inlined
def add_to_average(policy_sum, entry, decay, chance_weight, own_reach):
    """Set S <- decay * S + (chance weight) * x for one action, by lanes."""
    increment = times(chance_weight, own_reach)
    store(policy_sum, entry, plus(scaled(load(policy_sum, entry), decay), increment))


@kernel(types.void(HANDLE, HANDLE, F8S, HANDLE, PROCEDURE, F8M, types.int64))
def bundled_iterations(bundles, run, movement, rule, procedure, schedule, cost):
    """Run ``len(schedule) - 1`` iterations, in the order of passes of exact iterations without best responses.

    Args:
        bundles, run, rule: handles; the run's arrays, over entries, are changed in place. Its ``reach`` is 1 from E on.
        movement: (E,) the running sum M of a rule with momentum, changed in place; else empty.
        procedure, schedule, cost: as for :func:`rlccfr.kernels.passes.exact_iterations.exact_iterations`.
    """
    view = bundle_view_of(bundles)
    flags = flags_of(rule)
    tables, _, _, counts, scratch = run_of(run)
    reach = scratch.reach
    values = scratch.gradient
    averages_first = procedure.simultaneous or procedure.pre_averaging
    for t in range(len(schedule) - 1):
        now = schedule[t]
        decay = now[AVERAGE_DECAY]
        step = Step(now, schedule[t + 1], now[FLOOR], (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT]), UNSCALED)
        if averages_first:
            for player in range(2):
                reach_of_player(view, player, tables, reach, decay, True, flags)
        for player in range(2):
            if not averages_first:
                reach_of_player(view, 1 - player, tables, reach, decay, True, flags)
            update_bundles(view, player, tables, movement, reach, values, step, flags)
            if procedure.pre_averaging and not procedure.simultaneous:
                reach_of_player(view, player, tables, reach, decay, False, flags)
        counts[0] += 1
        counts[1] += cost


@kernel(types.void(HANDLE, HANDLE))
def fill_policies(bundles, run):
    """Set the current policy by regret matching, for a rule whose policy is not stored.

    Args:
        bundles, run: handles; ``policy`` of the run's tables is overwritten.
    """
    view = bundle_view_of(bundles)
    tables = run_of(run)[0]
    for bundle in range(len(view.first)):
        first = np.int64(view.first[bundle])
        actions = np.int64(view.actions[bundle])
        total = sum_of_positive(tables.regret, first, actions)
        reciprocal = reciprocals_of(total)
        for action in range(actions):
            entry = first + BUNDLE_LANES * action
            store(tables.policy, entry, matched(load(tables.regret, entry), total, reciprocal, actions))
