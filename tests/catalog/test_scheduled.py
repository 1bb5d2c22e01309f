from __future__ import annotations

import numpy as np
import pytest
from support import CORES, game, regrets, rule_tables

import rlccfr
from rlccfr.components import Momentum, UpdateRule
from rlccfr.registry import update_rules

POINTS = {
    "cfr": {"gamma": 0.0, "floor": False},
    "cfr_plus": {"gamma": 1.0},
    "lcfr": {"alpha": 1.0, "beta": 1.0, "gamma": 1.0, "floor": False},
    "lcfr_plus": {"alpha": 1.0, "gamma": 1.0},
    "dcfr": {"alpha": 1.5, "beta": 0.0, "gamma": 2.0, "floor": False},
    "dcfr_plus": {"alpha": 1.5, "gamma": 4.0},
    "pcfr_plus": {"gamma": 2.0, "optimism": 1.0},
    "pdcfr_plus": {"alpha": 2.3, "gamma": 5.0, "optimism": 1.0},
    "sapcfr_plus": {"gamma": 2.0, "optimism": 1 / 3},
}


@pytest.mark.parametrize("rule", POINTS)
def test_a_named_rules_schedule_is_a_point(rule):
    named = update_rules.resolve(rule).schedule(1, 1000)
    point = update_rules.resolve({"id": "scheduled", **POINTS[rule]}).schedule(1, 1000)
    floored = POINTS[rule].get("floor", True)
    used = [0, 2, 3, 4] if floored else [0, 1, 2, 3, 4]  # above a floor of 0, no regret is negative
    np.testing.assert_allclose(point[1:, used], named[1:, used], rtol=1e-14)


@pytest.mark.parametrize("name", ["leduc", "goofspiel"])
@pytest.mark.parametrize("rule", [rule for rule in POINTS if not rule.startswith("lcfr")])
def test_a_named_rules_run_is_a_points(rule, name):
    """Linear CFR's discount, (t - 1) / t, is rounded otherwise; where regrets tie, policies may then differ."""
    named = rlccfr.Solver(game(name), rule, reduce=False)
    point = rlccfr.Solver(game(name), {"id": "scheduled", **POINTS[rule]}, reduce=False)
    for solver in (named, point):
        solver.run(iterations=60, curve=False)
    assert np.array_equal(regrets(point), regrets(named))
    assert np.array_equal(point.average_policy().probabilities, named.average_policy().probabilities)
    assert np.array_equal(point.current_policy().probabilities, named.current_policy().probabilities)


def test_a_discount_that_discounts_nothing_is_refused():
    with pytest.raises(rlccfr.ComponentError, match="with floor=True no regret is negative, so leave out beta"):
        update_rules.resolve("scheduled(beta=0)")


@pytest.mark.parametrize("rule", ["hs_pcfr_plus", "hs_dcfr"])
def test_a_ramp_needs_a_horizon(rule):
    with pytest.raises(rlccfr.ComponentError, match=r"horizon must lie in \[1, "):
        update_rules.resolve(f"{rule}(horizon=0)")
    assert np.isfinite(update_rules.resolve(f"{rule}(horizon=1)").schedule(1, 3)[:, :2]).all()


@pytest.mark.parametrize(("t", "exponents"), [(1, (1.1, -1.1, 5)), (300, (1.75, -1.6, 4.35)), (5000, (4.2, -2, 0.006))])
def test_the_schedule_of_dynamic_dcfr_by_hand(t, exponents):
    alpha, beta, gamma = exponents
    row = update_rules.resolve("ddcfr_schedule").schedule(t, 0)[0]
    k = t - 1
    wanted = [k**alpha / (k**alpha + 1), k**beta / (k**beta + 1) if k else 0, -np.inf, (k / t) ** gamma, 0]
    np.testing.assert_allclose(row, wanted, rtol=1e-12)


def test_the_numbers_of_a_momentum_follow_the_other_columns():
    row = update_rules.resolve("momentum_dcfr").schedule(11, 0)[0]
    kept = [10**1.75 / (10**1.75 + 1), 10**-0.75 / (10**-0.75 + 1)]
    assert row == pytest.approx([*kept, -np.inf, (10 / 11) ** 6, 0.0, 0.5, 0.85, 1.5])


def test_optimism_fades_and_the_average_begins_late():
    rule = update_rules.resolve("scheduled(optimism=0.8,decay=0.1,start=0.5,horizon=100)")
    assert rule.schedule(11, 0)[0, 4] == pytest.approx(0.4)  # after a tenth of the horizon
    decays = rule.schedule(1, 99)[:, 3]
    assert np.flatnonzero(decays == 0.0).tolist() == list(range(51))  # iterations 1 to 51


@pytest.mark.parametrize("arguments", [{"policy_map": np.negative}, {"parameters": (1.0,)}, {"exact_only": False}])
def test_nothing_stands_beside_a_momentum(arguments):
    with pytest.raises(
        rlccfr.ComponentError, match="a rule with momentum needs exact_only=True and fallback='uniform'"
    ):
        UpdateRule(momentum=Momentum(weight=0.5), **{"exact_only": True, **arguments})


@pytest.mark.parametrize("numbers", [{"memory": 1.5}, {"memory": -0.1}, {"power": 0.5}])
def test_numbers_of_a_momentum_out_of_range_are_refused(numbers):
    rule = UpdateRule(momentum=Momentum(weight=0.5, **numbers), exact_only=True)
    with pytest.raises(rlccfr.ComponentError, match=r"momentum\.(memory|power) of the rule is .* of at least [01]"):
        rlccfr.Solver(game("kuhn"), rule)


def test_momentum_begins_at_0_after_another_rule():
    solver = rlccfr.Solver(game("kuhn"), "momentum_dcfr")
    solver.run(iterations=10, curve=False)
    solver.switch(update_rule="cfr_plus")
    solver.run(iterations=10, curve=False)
    solver.switch(update_rule="momentum_dcfr")
    before = regrets(solver)
    solver.run(iterations=1, curve=False)
    movement = rule_tables(solver)["movement"]
    np.testing.assert_allclose(movement, regrets(solver) - before, atol=1e-15)


@pytest.mark.parametrize("arguments", [{"simultaneous": True}, {"abstraction": "cfr_br"}])
def test_momentum_converges_without_alternation_and_against_best_responses(arguments):
    solver = rlccfr.Solver(game("kuhn"), "momentum_dcfr", **arguments)
    assert solver.run(iterations=1000, curve=False).exploitability < 0.01


def test_momentum_needs_exact_passes_and_tables():
    with pytest.raises(rlccfr.ComponentError, match="needs exact passes: use sampler='none'"):
        rlccfr.Solver(game("kuhn"), "momentum_dcfr", "external")
    with pytest.raises(rlccfr.ComponentError, match="has momentum, which needs tables"):
        rlccfr.Solver(game("kuhn"), "momentum_dcfr", abstraction="rcfr")
    with pytest.raises(rlccfr.ComponentError, match="needs exact passes: use sampler='none'"):
        rlccfr.Solver(rlccfr.load_game("holdem(ranks=4,suits=2)"), "momentum_dcfr", "public_chance")


@pytest.mark.parametrize("arguments", [{"reduce": False}, {"threads": min(2, CORES)}, {"averaging": "pre"}])
def test_momentum_converges_whatever_the_passes(arguments):
    solver = rlccfr.Solver(game("leduc"), "momentum_dcfr", **arguments)
    assert solver.run(iterations=500, curve=False).exploitability < 1e-3


def test_a_run_with_momentum_goes_on_from_a_checkpoint(tmp_path):
    whole = rlccfr.Solver(game("leduc"), "momentum_dcfr")
    whole.run(iterations=60, curve=False)
    begun = rlccfr.Solver(game("leduc"), "momentum_dcfr")
    begun.run(iterations=25, curve=False)
    begun.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz")
    resumed.run(iterations=35, curve=False)
    assert np.array_equal(regrets(resumed), regrets(whole))


def test_the_first_policy_after_a_switch_to_momentum_is_the_power_of_the_regrets():
    solver = rlccfr.Solver(game("kuhn"), "cfr_plus")
    solver.run(iterations=10, curve=False)
    solver.switch(update_rule="momentum_dcfr(power=2.0)")
    squares = np.maximum(regrets(solver), 0.0) ** 2
    assert solver.current_policy().probabilities == pytest.approx(
        rlccfr.Policy.from_sums(game("kuhn"), squares).probabilities
    )


def test_the_schedule_of_dynamic_dcfr_scales_with_its_horizon():
    rule = update_rules.resolve("ddcfr_schedule(horizon=10_000)")
    assert rule.schedule(3000, 0)[0, 3] == pytest.approx((2999 / 3000) ** 4.35)


def test_an_average_that_starts_anew_weighs_policies_since_the_last_power():
    decays = update_rules.resolve("cfr_reset(gamma=2)").schedule(1, 40)[:-1, 3]
    resets = [t for t, decay in enumerate(decays, 1) if decay == 0]
    assert resets == [1, 2, 5, 17]  # 1 + 0, 1, 4, 16
    weights = [np.prod(decays[t:]) for t in range(1, 41)]  # weight of iteration t after the 40th
    assert weights == pytest.approx([0] * 16 + [(k / 24) ** 2 for k in range(1, 25)])


def test_powers_are_told_from_their_neighbours():
    decay = update_rules.resolve("cfr_reset(base=10)").schedule
    assert [decay(10**6 + more, 0)[0, 3] == 0 for more in (0, 1, 2)] == [False, True, False]
