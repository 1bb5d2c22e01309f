"""Rules that keep regrets away from 0, at one infoset by hand; tests/rlccfr/engine/test_reference.py has whole runs."""

from __future__ import annotations

import numpy as np
import pytest

from rlccfr.registry import update_rules


def updated(rule, regret, instant_regret, utility_range=1.0):
    """Return the regrets and the policy after an iteration at one infoset."""
    rule = update_rules.resolve(rule)
    parameters = rule.schedule(1, 1)[0, 5:]
    regret, change = np.array(regret), np.array(instant_regret)
    state = np.zeros((len(regret), 1))
    rule.reweight(change, 1.0, state, parameters, utility_range, regret)
    policy = regret + change
    rule.policy_map(policy, state, parameters, utility_range)
    return regret + change, policy


@pytest.mark.parametrize(
    ("regret", "instant_regret", "new_regret", "policy"),
    [
        ([2.0, 0.0], [1.0, -1.0], [3.0, 0.0], [1.0, 0.0]),  # (4, -1) is matched
        ([2.0, 3.0], [1.0, -1.0], [3.0, 2.0], [0.8, 0.2]),  # (4, 1)
        ([1.0, 0.5], [-0.5, 0.5], [1.0, 1.0], [0.5, 0.5]),  # a restart, without a prediction
        ([0.0, 0.0], [0.5, -0.5], [1.5, 0.5], [1.0, 0.0]),  # a run begins with (1, 1)
    ],
)
def test_stable_pcfr_plus_by_hand(regret, instant_regret, new_regret, policy):
    result = updated("stable_pcfr_plus(step_size=1)", regret, instant_regret)
    np.testing.assert_allclose(result, (new_regret, policy), atol=1e-15)


@pytest.mark.parametrize(
    ("regret", "instant_regret", "new_regret", "policy"),
    [
        ([2.0, 0.0, 0.0], [1.0, -1.0, 0.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([1.0, 0.0, 0.0], [-0.4, 0.2, -3.0], [0.7, 0.3, 0.0], [0.4, 0.6, 0.0]),  # (0.3, 0.5, -3) is lifted by 0.1
        ([1.0, 0.0, 0.0], [-0.9, -0.2, -0.1], [0.5, 0.2, 0.3], [0.0, 0.4, 0.6]),  # (0.1, -0.2, -0.1) by 0.4
        ([0.0, 0.0, 0.0], [0.5, 0.0, -0.5], [5 / 6, 1 / 3, 0.0], [0.8, 0.2, 0.0]),  # a run begins with (1, 1, 1) / 3
    ],
)
def test_smooth_pcfr_plus_by_hand(regret, instant_regret, new_regret, policy):
    result = updated("smooth_pcfr_plus(step_size=1)", regret, instant_regret)
    np.testing.assert_allclose(result, (new_regret, policy), atol=1e-15)


@pytest.mark.parametrize("rule", ["stable_pcfr_plus", "smooth_pcfr_plus"])
def test_the_bound_goes_with_the_range_of_payoffs_unless_it_is_in_the_games_units(rule):
    regret, instant_regret = np.array([0.4, 0.3, 0.1]), np.array([-0.2, 0.3, -0.1])
    for settings, goes_along in (("step_size=1", True), ("step_size=1,payoff_range=0", False)):
        regrets, policy = updated(f"{rule}({settings})", regret, instant_regret)
        ten_regrets, ten_policy = updated(f"{rule}({settings})", 10 * regret, 10 * instant_regret, 10.0)
        assert np.allclose(ten_regrets, 10 * regrets) == goes_along
        assert np.allclose(ten_policy, policy) == goes_along
