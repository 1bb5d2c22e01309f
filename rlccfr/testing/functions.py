"""Checks of components' plain functions, which are called in Python here; see :mod:`rlccfr.testing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlccfr.components import Component, Sampler, UpdateRule
from rlccfr.errors import RLCCFRError, what_failed
from rlccfr.kernels.plain import check_signature, reads_regret


class ConformanceError(RLCCFRError, AssertionError):
    """A component that fails a check."""


def called(component: Component, name: str, *arguments: Any) -> Any:
    """Call a component's plain function in Python, where errors have lines and wrong indices are noticed everywhere."""
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
    """Check that a rule's ``reweight`` leaves finite regrets finite."""
    if rule.reweight is None:
        return
    rng, parameters = np.random.default_rng(0), rule.schedule(3, 0)[0, 5:]
    for actions in (1, 2, 3, 7):
        regrets = rng.normal(size=actions)
        cumulative = (10 * rng.normal(size=actions),) if reads_regret(rule.reweight) else ()
        called(rule, "reweight", regrets, 0.5, np.zeros((actions, len(rule.arrays))), parameters, 2.0, *cumulative)
        if not np.isfinite(regrets).all():
            raise ConformanceError(f"the reweight of {rule.title} turns finite regrets into {regrets}")


def check_probabilities(sampler: Sampler) -> None:
    """Check that a sampler's functions give probabilities."""
    rng, parameters = np.random.default_rng(0), sampler.schedule(3, 1)[0]
    for actions in (1, 2, 3, 7):
        policy, count = rng.dirichlet(np.ones(actions)), rng.random(actions)
        if sampler.inclusion is not None:
            found = np.full(actions, np.nan)
            called(sampler, "inclusion", policy, count, parameters, found)
            if not ((found > 0) & (found <= 1)).all():
                raise ConformanceError(f"the inclusion of {sampler.title} gives {found}; each must lie in (0, 1]")
        if sampler.mixture is not None:
            share = called(sampler, "mixture", policy, count, 3.0, parameters)
            if share is None or not 0 <= share <= 1:
                raise ConformanceError(f"the mixture of {sampler.title} gives {share}; it must lie in [0, 1]")


def check_policy_map(rule: UpdateRule) -> None:
    """Check that a rule's ``policy_map`` gives policies."""
    if rule.policy_map is None:
        return
    rng, parameters = np.random.default_rng(0), rule.schedule(3, 0)[0, 5:]
    for actions in (1, 2, 3, 7):
        for row in (rng.normal(size=actions), -rng.random(actions), np.zeros(actions), 1e6 * rng.normal(size=actions)):
            policy = row.copy()
            called(rule, "policy_map", policy, np.zeros((actions, len(rule.arrays))), parameters, 2.0)
            if not ((policy >= 0).all() and abs(policy.sum() - 1) < 1e-9):
                raise ConformanceError(f"the policy map of {rule.title} turns the regrets {row} into {policy}")


def check_symmetry(rule: UpdateRule) -> None:
    """Check that the functions of a rule that says it is ``symmetric`` treat permuted regrets alike.

    Raises:
        ConformanceError: they do not.
    """
    if not rule.symmetric:
        return
    rng = np.random.default_rng(0)
    for actions in (2, 3, 7):
        drawn = rng.normal(size=actions)
        tied = np.where(np.arange(actions) < 2, drawn.max() + 1, drawn)
        for row in (drawn, tied, np.abs(drawn), np.ones(actions), np.zeros(actions)):
            for t in (1, 3, 100):
                order, parameters = rng.permutation(actions), rule.schedule(t, 0)[0, 5:]
                state = np.abs(rng.normal(size=(actions, len(rule.arrays))))
                straight = [found[order] for found in _folded(rule, row, state, parameters)]
                turned = _folded(rule, row[order], state[order], parameters)
                if not all(np.allclose(one, other, 1e-9, 0.0) for one, other in zip(straight, turned, strict=True)):
                    raise ConformanceError(
                        f"{rule.title} says that it is symmetric, but turns the regrets {row} into other policies "
                        "when they are permuted: leave out symmetric=True"
                    )


def _folded(
    rule: UpdateRule, row: np.ndarray, state: np.ndarray, parameters: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return new regrets, a policy and the rule's arrays, after both functions have had the same row."""
    regrets, policy, state = row.copy(), row.copy(), state.copy()
    if rule.reweight is not None:
        past = (row.copy(),) if reads_regret(rule.reweight) else ()
        called(rule, "reweight", regrets, 0.5, state, parameters, 2.0, *past)
    if rule.policy_map is not None:
        called(rule, "policy_map", policy, state, parameters, 2.0)
    return regrets, policy, state
