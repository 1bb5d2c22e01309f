from __future__ import annotations

import numpy as np
import pytest
from support import engine_state, game, place, policy_sums, random_word, regrets, rule_tables

import rlccfr


@pytest.mark.parametrize("sampler", ["none", "external", "outcome"])
@pytest.mark.parametrize(("before", "after"), [("dcfr", "cfr_plus"), ("cfr", "dcfr_plus"), ("lcfr_plus", "cfr_plus")])
def test_switching_flushes_the_whole_table(before, after, sampler):
    """A switch equals a new solver that starts from the true tables, raised to the new floor."""
    tree = game("leduc")
    switched = rlccfr.Solver(tree, before, sampler, seed=1)
    switched.run(iterations=100)
    regret, sums = regrets(switched), policy_sums(switched)
    switched.switch(update_rule=after)
    flushed = rlccfr.Solver(tree, after, sampler, seed=1)
    regret = np.maximum(regret, flushed.update_rule.floor)
    place(flushed, 100, regret, policy_sum=sums, random_word=random_word(switched))
    switched.run(iterations=20, curve=False)
    flushed.run(iterations=20, curve=False)
    scale = np.abs(regret).max()
    assert regrets(switched) == pytest.approx(regrets(flushed), abs=1e-9 * scale)
    assert switched.exploitability() == pytest.approx(flushed.exploitability(), rel=1e-9)


def test_a_switch_to_ecfr_weighs_the_regrets_that_are_there():
    """The policy is in proportion to W R+, with W of the mean advantages from before, also against best responses."""
    for abstraction in ("none", "cfr_br"):
        solver = rlccfr.Solver(game("kuhn"), "ecfr", abstraction=abstraction)
        solver.run(iterations=20)
        solver.switch(update_rule="cfr")
        solver.run(iterations=20)
        regret = regrets(solver)
        solver.switch(update_rule="ecfr")
        weights = np.exp(rule_tables(solver)["log_weight"])
        expected = rlccfr.Policy.from_sums(game("kuhn"), weights * np.maximum(regret, 0)).probabilities
        assert solver.current_policy().probabilities == pytest.approx(expected, abs=1e-12)


def test_units_let_a_switch_go_on_smoothly():
    """With growing weights, linear CFR+'s regrets would swamp CFR+'s: exploitability would be 1.6e-1 at t = 200."""
    solver = rlccfr.Solver(game("leduc"), "lcfr_plus")
    solver.run(iterations=100)
    before = solver.exploitability()
    solver.switch(update_rule="cfr_plus")
    assert solver.run(iterations=100).exploitability < before


@pytest.mark.parametrize("target", ["external", "variance_reduced", "none"])
def test_samplers_and_abstractions_can_be_switched(target):
    """After the switch, the run converges and touches as many histories as one with these components from the start."""
    tree = game("kuhn")
    solver = rlccfr.Solver(tree, "dcfr", "outcome", "none", seed=5)
    before = solver.run(iterations=200)
    solver.switch(sampler=target, abstraction="cfr_br")
    solver.switch(update_rule="ecfr")
    after = solver.run(iterations=2_000)
    fresh = rlccfr.Solver(tree, "ecfr", target, "cfr_br", seed=6).run(iterations=2_000)
    assert after.nodes_touched - before.nodes_touched == pytest.approx(fresh.nodes_touched, rel=0.02)
    assert engine_state(solver)["baseline"].any() == (target == "variance_reduced")
    assert after.exploitability < before.exploitability
    assert after.iterations == 2_200


def test_a_rules_tables_are_kept_while_another_rule_works():
    solver = rlccfr.Solver(game("kuhn"), "ecfr")
    solver.run(iterations=10)
    kept = rule_tables(solver)["advantage_sum"]
    assert kept.any()
    solver.switch(update_rule="cfr")
    solver.run(iterations=5)
    solver.switch(update_rule="ecfr")
    assert np.array_equal(rule_tables(solver)["advantage_sum"], kept)


def test_a_refused_switch_changes_nothing():
    solver = rlccfr.Solver(game("kuhn"), "cfr", "external")
    solver.run(iterations=10)
    with pytest.raises(rlccfr.ComponentError):
        solver.switch(update_rule={"id": "ecfr", "mode": "published"})
    assert solver.update_rule.id == "cfr"
    assert solver.run(iterations=10).iterations == 20
