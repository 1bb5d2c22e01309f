"""Rules that keep regrets away from 0, at one infoset by hand; tests/rlccfr/engine/test_reference.py has whole runs."""

from __future__ import annotations

import numpy as np
import pytest
from support import game, policy_sums, regrets

import rlccfr
from rlccfr.components import UpdateRule
from rlccfr.registry import update_rules


def updated(rule, regret, instant_regret, utility_range=1.0):
    """Return the regrets and the policy after an iteration at one infoset."""
    rule = update_rules.resolve(rule)
    parameters = rule.schedule(1, 1)[0, 5:]
    regret, change = np.array(regret), np.array(instant_regret)
    state = np.zeros((len(regret), len(rule.arrays)))
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


def test_probes_are_neither_added_to_regrets_nor_averaged():
    """An extragradient step is two iterations: a probe, and an iteration with the policy that follows from it."""
    solver = rlccfr.Solver(game("leduc"), "extragradient_cfr_plus")
    solver.run(iterations=4, curve=False)
    for _ in range(3):
        tables = regrets(solver), policy_sums(solver)
        solver.run(iterations=1, curve=False)  # the probe
        assert np.array_equal(policy_sums(solver), tables[1])
        np.testing.assert_allclose(regrets(solver), tables[0], rtol=0, atol=1e-14)
        solver.run(iterations=1, curve=False)
        assert not np.allclose(policy_sums(solver), tables[1])
        assert not np.allclose(regrets(solver), tables[0])


def test_a_simultaneous_rule_updates_both_players_against_the_same_policies():
    rule = {"floor": 0.0, "exact_only": True}
    by_rule = rlccfr.Solver(game("leduc"), UpdateRule(**rule, simultaneous=True))
    by_option = rlccfr.Solver(game("leduc"), UpdateRule(**rule), simultaneous=True)
    in_turn = rlccfr.Solver(game("leduc"), UpdateRule(**rule))
    for solver in (by_rule, by_option, in_turn):
        solver.run(iterations=5, curve=False)
    assert np.array_equal(regrets(by_rule), regrets(by_option))
    assert not np.allclose(regrets(by_rule), regrets(in_turn))


def test_a_simultaneous_rule_is_refused_where_players_take_turns():
    with pytest.raises(rlccfr.ComponentError, match="needs exact_only=True"):
        UpdateRule(simultaneous=True)
    rule = UpdateRule(exact_only=True, simultaneous=True)
    with pytest.raises(rlccfr.ComponentError, match="players are updated in alternation"):
        rlccfr.Solver(rlccfr.load_game("holdem(ranks=4,suits=2)"), rule)
    with pytest.raises(rlccfr.ComponentError, match="needs tables"):
        rlccfr.Solver(game("kuhn"), rule, abstraction="rcfr")
