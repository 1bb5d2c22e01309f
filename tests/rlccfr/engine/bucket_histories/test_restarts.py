"""Runs whose regrets or averages are multiplied by 0 now and then."""

import numpy as np
import pytest
from restarts import register_restarts
from support import place_public, regrets, settle_public

import rlccfr

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

NAME = "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1"
ONE_BOARD = "holdem(rounds=1,raises=2,ranks=6,suits=2,buckets=4)"
RULES = [("average_restarts", 20), ("all_restarts", 3)]
"""Each rule, and how many iterations are compared: after a restart of regrets, rounding decides between ties at 0."""


@pytest.fixture(autouse=True)
def rules(own_components):
    register_restarts()


def placed(name, rule, sampler, **options):
    """Return a run after an iteration, with regrets so large that policies have no ties, which rounding would break."""
    solver = rlccfr.Solver(rlccfr.load_game(name), rule, sampler, seed=5, **options)
    place_public(solver, 3, 100 * (1 + np.random.default_rng(0).random(solver.game.num_sequences)))
    return solver


@pytest.mark.parametrize(("rule", "iterations"), RULES)
def test_exact_runs_are_those_on_the_compiled_abstract_game(rule, iterations):
    compiled = rlccfr.Solver(rlccfr.load_game(f"{NAME})"), rule, abstraction="equity(buckets=3)", reduce=False)
    solver = rlccfr.Solver(rlccfr.load_game(f"{NAME},buckets=3)"), rule)
    for _ in range(min(iterations, 5)):
        for run in (compiled, solver):
            run.run(iterations=1, curve=False)
        expected = compiled.abstract_values()
        assert solver.values().game == pytest.approx(expected.game, abs=1e-12)
        assert solver.values().best_response == pytest.approx(expected.best_response, abs=1e-12)


@pytest.mark.parametrize(("rule", "iterations"), RULES)
@pytest.mark.parametrize("options", [("public_chance", False), ("public_chance", True), ("chance", False)])
def test_drawn_runs_are_those_whose_tables_are_discounted_at_once(options, rule, iterations):
    """Where no draw has been since a restart, the average policy is uniform, as by exact passes."""
    sampler, by_hand = options
    run = placed(f"{NAME},buckets=3)", rule, sampler, by_hand=by_hand)
    settled = placed(f"{NAME},buckets=3)", rule, sampler)
    run.run(iterations=iterations, curve=False)
    for _ in range(iterations):
        settled.run(iterations=1, curve=False)
        settle_public(settled)
    assert regrets(run) == pytest.approx(regrets(settled), rel=1e-10, abs=1e-10)
    expected = settled.average_policy().probabilities
    assert run.average_policy().probabilities == pytest.approx(expected, abs=1e-10)
    assert run.exploitability() == pytest.approx(settled.exploitability(), abs=1e-10)


@pytest.mark.parametrize(("rule", "iterations"), RULES)
@pytest.mark.parametrize("by_hand", [False, True])
def test_drawing_the_only_board_is_an_exact_pass(by_hand, rule, iterations):
    exact = placed(ONE_BOARD, rule, "none")
    drawn = placed(ONE_BOARD, rule, "public_chance", by_hand=by_hand)
    for _ in range(iterations):
        for solver in (exact, drawn):
            solver.run(iterations=1, curve=False)
        assert regrets(drawn) == pytest.approx(regrets(exact), rel=1e-10, abs=1e-10)
        assert drawn.average_policy().table == pytest.approx(exact.average_policy().table, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("sampler", ["public_chance", "chance"])
def test_looking_at_the_average_changes_no_bit(sampler):
    watched, unwatched = (placed(f"{NAME},buckets=3)", "average_restarts", sampler) for _ in range(2))
    for _ in range(10):
        watched.run(iterations=1)
    unwatched.run(iterations=10, curve=False)
    assert np.array_equal(regrets(watched), regrets(unwatched))
    assert np.array_equal(watched.average_policy().table, unwatched.average_policy().table)
