from __future__ import annotations

import math

import numpy as np
import pytest

import rlccfr
from rlccfr.agents.judging.effects import main_effects, pareto_front, performance_profile, seconds_to, tied_set
from rlccfr.catalog import Cell

A, B, C, D = (Cell(name, "none", "none") for name in "abcd")


def test_what_is_worse_on_every_seed_is_not_tied():
    assert tied_set({A: [0.9, 0.8, 0.85], B: [0.89, 0.79, 0.84], C: [0.5, 0.95, 0.84]}) == {A, C}


def test_one_that_draws_nothing_is_compared_with_each_seed():
    assert tied_set({A: [0.9], B: [0.95, 0.8, 0.91], C: [0.1]}) == {A, B}


def test_equals_are_tied():
    assert tied_set({A: [0.9], B: [0.9], C: [0.9 - 1e-9]}) == {A, B}


def test_holms_steps_by_hand():
    """Five seeds: 1 in 3,125 of B's resamples reach A's mean, and 0.2627 of C's. Holm's family has two at 5 %."""
    best = np.array([1.0, 1.0, 1.0, 1.0, 1.0])
    rewards = {A: best, B: best - [-1e-3, 0.3, 0.3, 0.3, 0.3], C: best - [-1.0, 0.5, 0.5, 0.5, 0.5]}
    assert tied_set({cell: list(values) for cell, values in rewards.items()}) == {A, C}


def test_differing_seeds_are_refused():
    with pytest.raises(rlccfr.RLCCFRError, match="same engine seeds"):
        tied_set({A: [0.9, 0.8], B: [0.9, 0.8, 0.7]})
    with pytest.raises(rlccfr.RLCCFRError, match="measure some"):
        tied_set({})


def test_more_seeds_than_can_be_enumerated():
    best = np.random.default_rng(0).normal(size=9)
    now_and_then = np.where(np.arange(9) % 2, 0.5, -0.3)
    assert tied_set({A: list(best), B: list(best - now_and_then)}) == {A, B}
    assert tied_set({A: list(best), B: list(best - now_and_then - 0.5)}) == {A}


def test_the_pareto_front_has_what_nothing_beats():
    costs, gains = [3.0, 1.0, 2.0, 2.0, 4.0], [5.0, 1.0, 2.0, 3.0, 5.0]
    assert pareto_front(costs, gains).tolist() == [1, 3, 0]


def test_main_effects_by_hand():
    cells = {Cell("a", "x", "none"): 1.0, Cell("a", "y", "none"): 0.5, Cell("b", "x", "none"): 0.0}
    effects = main_effects(cells).set_index(["axis", "component"])["effect"]
    assert effects["update_rule", "a"] == pytest.approx(0.25)
    assert effects["update_rule", "b"] == pytest.approx(-0.5)
    assert effects["sampler", "y"] == pytest.approx(0.0)
    assert effects["abstraction", "none"] == pytest.approx(0.0)


def test_a_performance_profile_falls_from_one_to_nothing():
    found = performance_profile([0.1, 0.5, 0.5, 0.9], [0.0, 0.1, 0.5, 0.8, 0.9])
    assert found.tolist() == [1.0, 0.75, 0.25, 0.25, 0.0]


def test_seconds_to_an_exploitability():
    curve = {"exploitability": [1.0, 0.1, 0.2, 0.001], "cpu_seconds": [1.0, 10.0, 20.0, 40.0]}
    assert seconds_to(curve, 2.0) == 1.0
    assert seconds_to(curve, 0.1) == 10.0
    assert seconds_to(curve, 10**-0.5) == pytest.approx(10**0.5)
    assert 20 < seconds_to(curve, 0.01) < 40
    assert seconds_to(curve, 1e-4) == math.inf
