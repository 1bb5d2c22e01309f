"""CFR-BR over public trees: players learn against best responses."""

from __future__ import annotations

import numpy as np
import pytest
from public_games import derived_game
from support import SMALL_DICE, game, place, place_public, policy_sums, public_sums, regrets

import rlccfr

SMALL = "holdem(ranks=4,suits=2,private=2,flop=2)"
SLOW = pytest.mark.slow


def noise(size: int) -> np.ndarray:
    """Return regrets so large that policies and responses have no ties, which rounding would break."""
    return 100 * (1 + np.random.default_rng(0).random(size))


@pytest.mark.parametrize("rule", ["cfr", "dcfr", "cfr_plus", "pcfr_plus"])
@pytest.mark.parametrize("name", ["kuhn", "leduc", SMALL_DICE, "leduc(ranks=4,suits=2,raises=1)"])
def test_iterations_are_those_of_the_compiled_game(name, rule):
    tree, public = game(name), derived_game(game(name).openspiel_name)
    ours = rlccfr.Solver(public.public, rule, abstraction="cfr_br")
    theirs = rlccfr.Solver(tree, rule, abstraction="cfr_br", reduce=False)
    start = noise(tree.num_sequences)
    place(theirs, 3, start)
    place_public(ours, 3, start[public.sequence])
    for solver in (ours, theirs):
        solver.run(iterations=3, curve=False)
    assert regrets(ours) == pytest.approx(regrets(theirs)[public.sequence], abs=1e-12)
    sums = np.empty(tree.num_sequences)
    sums[public.sequence] = public_sums(ours)
    assert tree.normalised(sums) == pytest.approx(tree.normalised(policy_sums(theirs)), abs=1e-12)


@pytest.mark.parametrize(
    ("sampler", "iterations", "most"),
    [
        ("none", 100, 0.1),
        pytest.param("public_chance", 1000, 0.15, marks=SLOW),
        pytest.param("chance", 3000, 1.0, marks=SLOW),
    ],
)
def test_runs_converge(sampler, iterations, most):
    """The uniform policy's exploitability is 1.7."""
    solver = rlccfr.Solver(rlccfr.load_game(SMALL), "cfr_plus", sampler, "cfr_br", seed=1)
    assert solver.run(iterations=iterations, curve=False).exploitability < most


@pytest.mark.slow
def test_a_run_goes_on_bitwise_and_against_other_opponents(tmp_path):
    tree = rlccfr.load_game(SMALL)
    whole, part = (rlccfr.Solver(tree, "dcfr", "public_chance", "cfr_br", seed=4) for _ in range(2))
    part.run(iterations=5, curve=False)
    part.save(tmp_path / "run.npz")
    part = rlccfr.Solver.load(tmp_path / "run.npz")
    for solver, iterations in ((part, 5), (whole, 10)):
        solver.run(iterations=iterations, curve=False)
    assert np.array_equal(regrets(whole), regrets(part))
    before = regrets(whole)
    whole.switch(abstraction="none")
    assert regrets(whole) == pytest.approx(before, abs=1e-12)
    whole.run(iterations=5, curve=False)


@pytest.mark.slow
def test_averages_that_wait_are_not_discounted_twice():
    tree = rlccfr.load_game(SMALL)
    one, two = (rlccfr.Solver(tree, "dcfr", "public_chance", seed=4) for _ in range(2))
    for solver in (one, two):
        place_public(solver, 3, noise(tree.num_sequences))
        solver.run(iterations=10, curve=False)
    two.switch(abstraction="cfr_br")
    two.switch(abstraction="none")
    for solver in (one, two):
        solver.run(iterations=10, curve=False)
        solver.switch(sampler="none")
    assert public_sums(one) == pytest.approx(public_sums(two), rel=1e-9)


def test_threads_leave_bitwise_the_same():
    tree = rlccfr.load_game(SMALL)
    one, two = (rlccfr.Solver(tree, "dcfr", abstraction="cfr_br", threads=threads) for threads in (1, 2))
    for solver in (one, two):
        solver.run(iterations=5, curve=False)
    assert np.array_equal(regrets(one), regrets(two))
    assert np.array_equal(public_sums(one), public_sums(two))


def test_models_are_refused_in_one_line():
    with pytest.raises(rlccfr.ComponentError, match="regrets are stored in tables, not fitted"):
        rlccfr.Solver(rlccfr.load_game(SMALL), "cfr", abstraction="rcfr")
