"""Exact passes over classes, against passes over the whole game."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.algorithms.exploitability import exploitability
from random_games import PlantedGame
from support import game, is_reduced, place, policy_sums, regrets

import rlccfr
from rlccfr.components import UpdateRule
from rlccfr.games.quotient import quotient_of
from rlccfr.registry import update_rules

GAMES = ("goofspiel", "leduc", "dark_hex(board_size=2)")
RULES = [entry.id for entry in update_rules if not entry.id.startswith("deep_")]


def start(tree, seed=1):
    """Return random regrets that are equal in each class, so that no two sums of them tie."""
    quotient = quotient_of(tree)
    drawn = np.random.default_rng(seed).normal(size=quotient.num_sequences)
    return drawn[quotient.place]


def pair(tree, rule, **options):
    """Return two solvers with the same tables after three iterations: over classes, and over the whole game."""
    solvers = [rlccfr.Solver(tree, rule, reduce=reduce, **options) for reduce in (True, False)]
    quotient, regret = quotient_of(tree), np.maximum(start(tree), solvers[0].update_rule.floor)
    policy = rlccfr.Policy.from_sums(tree, np.maximum(regret, 0.0)).probabilities[quotient.member][quotient.place]
    for solver in solvers:
        place(solver, 3, regret, policy)
    assert [is_reduced(solver) for solver in solvers] == [True, False]
    return solvers


def assert_alike(one, other):
    for table in (regrets, policy_sums, lambda solver: solver.current_policy().probabilities):
        assert table(one) == pytest.approx(table(other), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("rule", RULES)
def test_iterates_over_classes_are_those_over_the_game(name, rule):
    one, other = pair(game(name), rule)
    for _ in range(3):
        for solver in (one, other):
            solver.run(iterations=1, curve=False)
        assert_alike(one, other)


@pytest.mark.parametrize("options", [{"simultaneous": True}, {"averaging": "pre"}])
def test_the_order_of_updates_does_not_matter(options):
    one, other = pair(game("leduc"), "cfr", **options)
    for solver in (one, other):
        solver.run(iterations=3, curve=False)
    assert_alike(one, other)


def test_best_responses_are_taken_over_classes():
    """In Leduc no two actions of an infoset are in one class, so best responses to policies without ties are unique."""
    one, other = pair(game("leduc"), "cfr", abstraction="cfr_br")
    for solver in (one, other):
        solver.run(iterations=1, curve=False)
    assert_alike(one, other)


@pytest.mark.parametrize("name", GAMES)
def test_runs_against_best_responses_converge(name):
    """Where actions are in one class, the two runs may differ in ties; both approach an equilibrium."""
    found = rlccfr.Solver(game(name), "cfr_plus", abstraction="cfr_br", reduce=True)
    assert is_reduced(found)
    uniform = rlccfr.Policy.uniform(game(name)).exploitability()
    assert found.run(iterations=300).exploitability < 0.05 * uniform


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("hidden", [(), (0,), (1,)])
def test_planted_symmetries_change_no_iterate(seed, hidden, tmp_path):
    tree = rlccfr.load_game(PlantedGame(Random(seed), hidden=hidden).write(tmp_path / "game.efg"))
    if quotient_of(tree) is None:
        assert hidden or tree.num_leaf_pairs == 0
        return
    one, other = pair(tree, "dcfr")
    for solver in (one, other):
        solver.run(iterations=2, curve=False)
    assert_alike(one, other)


@pytest.mark.parametrize("name", GAMES)
def test_policies_that_are_equal_in_each_class_are_evaluated_over_classes(name):
    """The value and the best responses are those that OpenSpiel computes."""
    tree = game(name)
    policy = rlccfr.Policy.from_sums(tree, np.abs(start(tree)))
    assert quotient_of(tree).is_constant(policy.probabilities)
    theirs = policy.to_openspiel()
    assert policy.exploitability() == pytest.approx(exploitability(theirs.game, theirs), abs=1e-12)
    value = expected_game_score.policy_value(theirs.game.new_initial_state(), [theirs, theirs])[0]
    assert policy.values().game[0] == pytest.approx(value, abs=1e-12)


def test_the_whole_game_is_kept_after_samplers_and_where_asked(tmp_path):
    solver = rlccfr.Solver(game("leduc"), "cfr_plus", reduce=True)
    solver.run(iterations=5, curve=False)
    assert is_reduced(solver)
    solver.switch(update_rule="dcfr")
    assert is_reduced(solver)
    solver.switch(sampler="external")
    solver.run(iterations=50, curve=False)
    before = solver.current_policy().probabilities
    solver.switch(sampler="none")
    assert not is_reduced(solver)
    assert np.array_equal(solver.current_policy().probabilities, before)
    assert not is_reduced(rlccfr.Solver(game("leduc")))
    assert not is_reduced(rlccfr.Solver(game("kuhn"), reduce=True))  # nothing to reduce


def test_a_saved_run_goes_on_over_classes_as_if_it_had_not_stopped(tmp_path):
    whole, cut = (rlccfr.Solver(game("leduc"), "hs_dcfr", reduce=True) for _ in range(2))
    whole.run(iterations=20, curve=False)
    cut.run(iterations=7, curve=False)
    cut.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz")
    assert is_reduced(loaded)
    loaded.run(iterations=13, curve=False)
    assert np.array_equal(loaded.average_policy().probabilities, whole.average_policy().probabilities)
    assert np.array_equal(regrets(loaded), regrets(whole))


def first_only(row, state, parameters, utility_range):
    for a in range(len(row)):
        row[a] = 1.0 if a == 0 else 0.0


def loudest(instant_regret, mass, state, parameters, utility_range):
    instant_regret[0] *= 2.0


@pytest.mark.parametrize("functions", [{"policy_map": first_only}, {"reweight": loudest}])
def test_a_rule_that_depends_on_the_order_of_actions_keeps_the_whole_game(functions):
    assert not is_reduced(rlccfr.Solver(game("leduc"), UpdateRule(**functions), reduce=True))


def test_reduce_is_true_or_false():
    with pytest.raises(rlccfr.ComponentError, match="reduce must be True or False, not 'yes'"):
        rlccfr.Solver(game("kuhn"), reduce="yes")
