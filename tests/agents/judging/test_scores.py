from __future__ import annotations

import math

import numpy as np
import pytest

from rlccfr.agents.judging.scores import bootstrap_interval, closed_gap, interquartile_mean, normalised_score, regret
from rlccfr.errors import RLCCFRError

MEAN, BEST = 0.5, 0.9  # of 0.2, 0.4, 0.9, 0.5


@pytest.mark.parametrize(("pick", "expected"), [(0.9, 0.0), (0.5, 0.4), (0.2, 0.7), (1.0, -0.1)])
def test_regret(pick, expected):
    assert regret(pick, BEST) == pytest.approx(expected)


@pytest.mark.parametrize(("pick", "expected"), [(0.9, 1.0), (0.5, 0.0), (0.7, 0.5), (0.2, -0.75)])
def test_normalised_score(pick, expected):
    assert normalised_score(pick, MEAN, BEST) == pytest.approx(expected)


def test_nothing_to_choose_has_no_score():
    assert math.isnan(normalised_score(0.5, 0.5, 0.5))


@pytest.mark.parametrize(("pick", "expected"), [(0.9, 1.0), (0.5, 0.0), (0.8, 0.75), (0.4, -0.25)])
def test_closed_gap(pick, expected):
    assert closed_gap(pick, 0.5, 0.9) == pytest.approx(expected)


def test_a_gap_within_three_standard_errors_is_not_reported():
    assert math.isnan(closed_gap(0.8, 0.5, 0.9, standard_error=0.14))
    assert closed_gap(0.8, 0.5, 0.9, standard_error=0.13) == pytest.approx(0.75)
    assert math.isnan(closed_gap(0.9, 0.9, 0.9))


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([1.0], 1.0), ([1, 2, 3], 2.0), ([100, 1, 2, -50], 1.5), ([[9, 1, 2, 3], [4, 5, 6, -7]], 3.5), (range(10), 4.5)],
)
def test_interquartile_mean(scores, expected):
    assert interquartile_mean(scores) == pytest.approx(expected)


def test_interquartile_mean_is_scipys_trimmed_mean():
    from scipy.stats import trim_mean

    scores = np.random.default_rng(0).normal(size=(3, 7))
    assert interquartile_mean(scores) == pytest.approx(trim_mean(scores.ravel(), 0.25))


def test_bootstrap_of_the_mean_is_as_wide_as_theory_says():
    scores = np.random.default_rng(0).normal(size=400)
    low, high = bootstrap_interval([scores], lambda values: float(values.mean()))
    half = 1.96 * scores.std() / 20
    assert low == pytest.approx(scores.mean() - half, abs=0.015)
    assert high == pytest.approx(scores.mean() + half, abs=0.015)


def test_runs_are_resampled_within_their_game():
    # Without strata the mean of the 4 would vary with the draw of games; within strata nothing varies.
    assert bootstrap_interval([[0.0, 0.0], [1.0, 1.0]], lambda values: float(values.mean())) == (0.5, 0.5)


@pytest.mark.slow
def test_bootstrap_on_frozen_numbers():
    strata = [[0.1, 0.5, 0.9], [0.2, 0.3, 0.7, 0.8]]
    first = bootstrap_interval(strata)
    assert first == bootstrap_interval(strata)
    assert first == pytest.approx((0.24, 0.74), abs=1e-12)  # a plain loop with another generator gives (0.24, 0.76)
    assert first != bootstrap_interval(strata, seed=1)


def test_errors_say_what_to_do():
    with pytest.raises(RLCCFRError, match="at least one"):
        interquartile_mean([])
    with pytest.raises(RLCCFRError, match="at least one run"):
        bootstrap_interval([[1.0], []])
    with pytest.raises(RLCCFRError, match="between 0 and 1"):
        bootstrap_interval([[1.0]], level=95)
