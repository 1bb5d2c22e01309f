"""Runs with draws over public trees, whose regrets or averages are multiplied by 0 now and then."""

from __future__ import annotations

import numpy as np
import pytest
from restarts import register_restarts
from support import place_public, regrets, settle_public

import rlccfr

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

NAME = "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1)"
ONE_BOARD = "holdem(rounds=1,raises=2,ranks=6,suits=2)"
SAMPLERS = ("public_chance", "opponent_public_chance", "self_public_chance", "chance")


@pytest.fixture(autouse=True)
def rules(own_components):
    register_restarts()


def placed(rule, sampler, name=NAME, **options):
    """Return a run after an iteration, with regrets so large that policies have no ties, which rounding would break."""
    solver = rlccfr.Solver(rlccfr.load_game(name), rule, sampler, seed=5, **options)
    place_public(solver, 3, 100 * (1 + np.random.default_rng(0).random(solver.game.num_sequences)))
    return solver


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_average_is_uniform_where_no_draw_has_been_since_a_restart(sampler):
    run = placed("average_restarts", sampler)
    settled = placed("average_restarts", sampler)
    run.run(iterations=20, curve=False)
    for _ in range(20):
        settled.run(iterations=1, curve=False)
        settle_public(settled)
    assert regrets(run) == pytest.approx(regrets(settled), rel=1e-10, abs=1e-10)
    expected = settled.average_policy().probabilities
    assert run.average_policy().probabilities == pytest.approx(expected, abs=1e-10)
    assert run.exploitability() == pytest.approx(settled.exploitability(), abs=1e-10)


@pytest.mark.parametrize("rule", ["all_restarts", "predicting_restarts"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_after_a_restart_all_policies_come_from_the_newest_draws(sampler, rule):
    """Iteration 6 multiplies all regrets by 0, so only what its draws have met has regrets after it."""
    run = placed(rule, sampler)
    run.run(iterations=2, curve=False)
    before = run.current_policy().probabilities
    run.run(iterations=1, curve=False)
    after = run.current_policy().probabilities
    uniform = rlccfr.PublicPolicy.uniform(run.game).probabilities
    is_met = regrets(run) != 0
    assert 0 < is_met.sum() < len(is_met)
    rows = np.concatenate([np.tile(np.arange(r), a) + b for r, a, b in shapes(run.game)])
    is_row_met = np.bincount(rows, is_met)[rows] > 0
    assert after[~is_row_met] == pytest.approx(uniform[~is_row_met], abs=1e-12)
    assert np.abs(before - uniform)[~is_row_met].max() > 0.01


def shapes(game):
    """Yield the numbers of rows and of actions of each decision, and the number of rows before it."""
    begins = np.cumsum(game.rows) - game.rows
    yield from zip(game.rows.tolist(), game.actions.tolist(), begins.tolist(), strict=True)


@pytest.mark.parametrize("rule", ["average_restarts", "all_restarts", "predicting_restarts"])
def test_drawing_the_only_board_is_an_exact_pass(rule):
    exact = placed(rule, "none", ONE_BOARD)
    drawn = placed(rule, "public_chance", ONE_BOARD)
    for _ in range(3):
        for solver in (exact, drawn):
            solver.run(iterations=1, curve=False)
        assert regrets(drawn) == pytest.approx(regrets(exact), rel=1e-10, abs=1e-10)
        assert drawn.average_policy().table == pytest.approx(exact.average_policy().table, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_looking_at_the_average_changes_no_bit(sampler):
    watched, unwatched = (placed("average_restarts", sampler) for _ in range(2))
    for _ in range(10):
        watched.run(iterations=1)
    unwatched.run(iterations=10, curve=False)
    assert np.array_equal(regrets(watched), regrets(unwatched))
    assert np.array_equal(watched.average_policy().table, unwatched.average_policy().table)
