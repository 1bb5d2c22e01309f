"""Checks of components' plain functions, which are called here as uncompiled Python; see :mod:`rlccfr.testing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlccfr.components import Component, Sampler, UpdateRule
from rlccfr.errors import RLCCFRError, what_failed
from rlccfr.kernels.plain_functions import check_signature, reads_regret

NUM_ACTIONS = (1, 2, 3, 7)
"""Numbers of actions of the infosets on which functions are called."""


class ConformanceError(RLCCFRError, AssertionError):
    """A component fails a check."""


def called(component: Component, name: str, *arguments: Any) -> Any:
    """Call a component's plain function in Python, where errors name a line and wrong indices raise an error.

    Raises:
        ConformanceError: the function raises an exception.
    """
    function = getattr(component, name)
    check_signature(name, function)
    try:
        return function(*arguments)
    except Exception as error:  # another author's function may raise anything
        raise ConformanceError(
            f"the {name} of {component.title} fails: {what_failed(error, [function])}; it may use only the arrays and "
            "parameters that the component declares"
        ) from error


def check_reweight(rule: UpdateRule) -> None:
    """Check that a rule's ``reweight`` leaves finite regrets finite.

    Raises:
        ConformanceError: a regret becomes infinite or NaN, or the function raises an exception.
    """
    if rule.reweight is None:
        return
    rng = np.random.default_rng(0)
    # A row of a schedule begins with the five columns that every rule has; the rule's parameters follow.
    parameters = rule.schedule(3, 0)[0, 5:]
    for actions in NUM_ACTIONS:
        regrets = rng.normal(size=actions)
        cumulative = (10 * rng.normal(size=actions),) if reads_regret(rule.reweight) else ()
        called(rule, "reweight", regrets, 0.5, np.zeros((actions, len(rule.arrays))), parameters, 2.0, *cumulative)
        if not np.isfinite(regrets).all():
            raise ConformanceError(
                f"the reweight of {rule.title} turns finite regrets into {regrets}; all must stay finite"
            )


def check_probabilities(sampler: Sampler) -> None:
    """Check that a sampler's ``inclusion`` and ``mixture`` give probabilities.

    Raises:
        ConformanceError: an inclusion lies outside (0, 1], a mixture outside [0, 1], or a function raises an exception.
    """
    rng = np.random.default_rng(0)
    parameters = sampler.schedule(3, 1)[0]
    for actions in NUM_ACTIONS:
        policy = rng.dirichlet(np.ones(actions))
        count = rng.random(actions)
        if sampler.inclusion is not None:
            inclusion = np.full(actions, np.nan)
            called(sampler, "inclusion", policy, count, parameters, inclusion)
            if not ((inclusion > 0) & (inclusion <= 1)).all():
                raise ConformanceError(f"the inclusion of {sampler.title} gives {inclusion}; each must lie in (0, 1]")
        if sampler.mixture is not None:
            for visits in (0.0, 3.0, 1e6):  # the first walk, and one of a long run
                share = called(sampler, "mixture", policy, count, visits, parameters)
                if share is None or not 0 <= share <= 1:
                    raise ConformanceError(
                        f"the mixture of {sampler.title} gives {share} after {visits:,.0f} visits; it must lie in "
                        "[0, 1]"
                    )


def check_policy_map(rule: UpdateRule) -> None:
    """Check that a rule's ``policy_map`` turns regrets into probability distributions.

    Raises:
        ConformanceError: a result is not a distribution, or the function raises an exception.
    """
    if rule.policy_map is None:
        return
    rng = np.random.default_rng(0)
    parameters = rule.schedule(3, 0)[0, 5:]
    for actions in NUM_ACTIONS:
        # Mixed regrets, none above 0, all 0, and large ones.
        for row in (rng.normal(size=actions), -rng.random(actions), np.zeros(actions), 1e6 * rng.normal(size=actions)):
            policy = row.copy()
            called(rule, "policy_map", policy, np.zeros((actions, len(rule.arrays))), parameters, 2.0)
            if not ((policy >= 0).all() and abs(policy.sum() - 1) < 1e-9):
                raise ConformanceError(
                    f"the policy_map of {rule.title} turns the regrets {row} into {policy}, which is not a probability "
                    "distribution"
                )


def check_regularise(rule: UpdateRule) -> None:
    """Check that a rule's ``regularise`` gives finite values.

    Raises:
        ConformanceError: a value is infinite, NaN or None, or the function raises an exception.
    """
    if rule.regularise is None:
        return
    rng = np.random.default_rng(0)
    parameters = rule.schedule(3, 0)[0, 5:]
    for actions in NUM_ACTIONS:
        values = rng.normal(size=actions)
        policy = rng.dirichlet(np.ones(actions))
        # 0 is the reach of an infoset that the player's own policy avoids.
        for parent_reach in (1.0, 0.3, 0.0):
            row = values.copy()
            state = np.zeros((actions, len(rule.arrays)))
            value = called(rule, "regularise", row, policy, parent_reach * policy, state, parameters, 2.0)
            if value is None or not np.isfinite([value, *row]).all():
                raise ConformanceError(
                    f"the regularise of {rule.title} turns the values {values} into {row}, and returns {value}: all "
                    "must be finite numbers"
                )


def check_symmetry(rule: UpdateRule) -> None:
    """Check that the results of a rule with ``symmetric=True`` do not depend on the order of actions.

    Raises:
        ConformanceError: the results depend on the order, or a function raises an exception.
    """
    if not rule.symmetric:
        return
    rng = np.random.default_rng(0)
    for actions in (2, 3, 7):
        mixed = rng.normal(size=actions)
        tied = np.where(np.arange(actions) < 2, mixed.max() + 1, mixed)
        for row in (mixed, tied, np.abs(mixed), np.ones(actions), np.zeros(actions)):
            for t in (1, 3, 100):
                order = rng.permutation(actions)
                policy = rng.dirichlet(np.ones(actions))
                parameters = rule.schedule(t, 0)[0, 5:]
                state = np.abs(rng.normal(size=(actions, len(rule.arrays))))
                # Update and then permute, or permute and then update: the arrays must be the same.
                value, updated = _updated(rule, row, policy, state, parameters)
                permuted_after = [array[order] for array in updated]
                permuted_value, permuted_before = _updated(rule, row[order], policy[order], state[order], parameters)
                pairs = zip(permuted_after, permuted_before, strict=True)
                same_arrays = all(np.allclose(after, before, 1e-9, 0.0) for after, before in pairs)
                if not (same_arrays and np.isclose(value, permuted_value, 1e-9, 1e-12)):
                    raise ConformanceError(
                        f"{rule.title} says that it is symmetric, but its results for the regrets {row} change when "
                        "the actions are reordered: leave out symmetric=True"
                    )


def _updated(
    rule: UpdateRule, row: np.ndarray, played_policy: np.ndarray, state: np.ndarray, parameters: np.ndarray
) -> tuple[float, tuple[np.ndarray, ...]]:
    """Return the results of a rule's plain functions, all called on the same row.

    Args:
        row: (a,) regrets, or values, at an infoset with a actions.
        played_policy: (a,) the policy that was played.
        state: (a, k) the rule's k arrays there.
        parameters: the schedule's parameters.

    Returns:
        The infoset's value; and new values (a,), new regrets (a,), a policy (a,), and the rule's arrays (a, k).
    """
    # Each function gets its own copy of the row, but all write to the same state, as in an iteration.
    value = 0.0
    values = row.copy()
    regrets = row.copy()
    policy = row.copy()
    state = state.copy()
    if rule.regularise is not None:
        value = called(rule, "regularise", values, played_policy, 0.5 * played_policy, state, parameters, 2.0)
    if rule.reweight is not None:
        cumulative = (row.copy(),) if reads_regret(rule.reweight) else ()
        called(rule, "reweight", regrets, 0.5, state, parameters, 2.0, *cumulative)
    if rule.policy_map is not None:
        called(rule, "policy_map", policy, state, parameters, 2.0)
    return value, (values, regrets, policy, state)
