"""What a rule's plain functions are told: beside plain Python, in exact passes, in walks and in phases."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pyspiel
import pytest
from reference_rules import TabularReference, discounted_sum
from support import assert_rows_equal, game, place_both, regrets, rule_tables

import rlccfr
from rlccfr.catalog import make
from rlccfr.components import UpdateRule

ARRAYS = ("noted", "calls")
MODES = [
    {},
    {"abstraction": "cfr_br"},
    {"simultaneous": True},
    {"sampler": "external"},
    {"sampler": "outcome", "walks": 3},
    {"sampler": "external", "abstraction": "cfr_br"},
    {"sampler": "probing", "simultaneous": True},
    {"abstraction": "rcfr(model='table')"},
    {"sampler": "external", "abstraction": "rcfr(model='table', bootstrap=True)"},
]
DEEP = [{}, {"sampler": "external"}, {"sampler": "outcome", "abstraction": "cfr_br"}]


def note(instant_regret, mass, state, parameters, utility_range, regret):
    """Note R, and the number of calls; what it does to R afterwards must not matter."""
    for a in range(len(regret)):
        state[a, 0] = regret[a]
        state[a, 1] += 1.0
        regret[a] = 1e6


def fading(t: np.ndarray) -> np.ndarray:
    """A discount that leaves nothing at every fifth iteration."""
    return np.where(t % 5 == 0, 0.0, 0.9)


NOTING = UpdateRule(positive_discount=fading, negative_discount=0.5, reweight=note, arrays=ARRAYS)


def deep(rule: UpdateRule) -> UpdateRule:
    """The rule with tables for networks."""
    networks = make("deep_ecfr", model="table", preset="sweep", traversals=2).networks
    unweighted = replace(networks, relabel=True, action_weight=np.ones_like, mean_arrays=())
    return replace(rule, networks=unweighted)


def assert_noted(solver: rlccfr.Solver, expected: np.ndarray) -> None:
    """One iteration more: each infoset that it folds has noted what it had."""
    calls = rule_tables(solver).get("calls", np.zeros(len(expected)))
    solver.run(iterations=1, curve=False)
    tables = rule_tables(solver)
    folded = tables["calls"] > calls
    assert folded.any()
    assert set(np.unique(tables["calls"][folded] - calls[folded])) == {1.0}
    assert tables["noted"][folded] == pytest.approx(expected[folded], rel=1e-12, abs=1e-14)
    assert np.abs(expected[folded]).max() > 0


@pytest.mark.parametrize("iterations", [9, 341])
@pytest.mark.parametrize(("rule", "mode"), [(NOTING, m) for m in MODES] + [(deep(NOTING), m) for m in DEEP])
def test_reweight_is_told_the_regrets_that_the_iteration_begins_with(rule, mode, iterations):
    """In true units, before discounts: at iteration 10 nothing positive is left, at 342 a running scale has ended."""
    solver = rlccfr.Solver(game("kuhn"), rule, seed=3, **mode)
    solver.run(iterations=iterations, curve=False)
    assert_noted(solver, regrets(solver))


@pytest.mark.parametrize("floor", [-np.inf, 0.0])
@pytest.mark.parametrize("mode", [{}, {"sampler": "external"}, {"abstraction": "rcfr(model='table')"}])
@pytest.mark.parametrize("before", [("dcfr", "none"), ("dcfr", "outcome"), ("deep_cfr(preset='sweep')", "external")])
def test_after_a_switch_too(before, mode, floor):
    """Regrets below the new rule's floor are raised to it by the switch."""
    solver = rlccfr.Solver(game("kuhn"), *before, seed=3)
    solver.run(iterations=30, curve=False)
    expected = np.maximum(regrets(solver), floor)
    solver.switch(update_rule=replace(NOTING, floor=floor), sampler=mode.get("sampler", "none"),
                  abstraction=mode.get("abstraction", "none"))  # fmt: skip
    assert_noted(solver, expected)


def weigh_by_regret(instant_regret, mass, state, parameters, utility_range, regret):
    """W = exp(kappa R / (1 + |R|)), of the R before this iteration."""
    for a in range(len(regret)):
        instant_regret[a] *= exp(parameters[0] * regret[a] / (1.0 + abs(regret[a])))


@pytest.mark.slow
@pytest.mark.parametrize("abstraction", ["none", "cfr_br"])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_a_rule_that_weighs_by_regrets_is_the_references(name, abstraction):
    """From regrets at random, where nothing ties; against best responses none begins negative."""
    tree, kappa, iterations = game(name), 0.7, 6 if name == "kuhn" else 1

    def new_regrets(R, r, t):
        weighted = [x * exp(kappa * y / (1 + abs(y))) for x, y in zip(r, R)]
        return discounted_sum(R, weighted, lambda t: (0.9, 0.5), t, -np.inf)

    openspiel = pyspiel.load_game_as_turn_based(tree.openspiel_name)
    theirs = TabularReference(openspiel, new_regrets, best_response=abstraction == "cfr_br")
    rule = UpdateRule(
        positive_discount=0.9, negative_discount=0.5, reweight=weigh_by_regret, parameters=(lambda t: kappa,)
    )
    start = np.random.default_rng(1).normal(size=tree.num_sequences)
    start = np.abs(start) if abstraction == "cfr_br" else start
    ours = rlccfr.Solver(tree, rule, abstraction=abstraction)
    place_both(ours, theirs, 0, start)
    for _ in range(iterations):
        theirs.iterate()
    ours.run(iterations=iterations, curve=False)
    assert_rows_equal(tree, regrets(ours), theirs.regrets)
