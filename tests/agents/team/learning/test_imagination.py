from __future__ import annotations

import math

import numpy as np
import pytest

from rlccfr.agents.team.learning.imagination import NOISE, REAL, SHRINKAGE, SIZE, WIDTH, Imagination
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.request import Budget

GAMES, LENGTH = 5, len(GameFeatures._fields)
FEATURES = np.random.default_rng(0).random((GAMES, LENGTH))
BUDGETS = (Budget("seconds", 0.1), Budget("seconds", 10), Budget("iterations", 100))
COSTS = np.random.default_rng(1).uniform(0.4, 0.6, (len(BUDGETS), GAMES, 4, 2))


def ridge(rows, values):
    """Return mean and coefficients of least squares with a penalty on the first coefficient, that of size."""
    centred = rows - rows.mean(axis=0)
    penalty = (1 / SHRINKAGE - 1) * np.diag([centred[:, 0] @ centred[:, 0], 0])
    return values.mean(), np.linalg.solve(centred.T @ centred + penalty, centred.T @ (values - values.mean()))


def test_costs_are_those_of_a_shrunk_trend_and_of_kernel_regression_on_what_it_leaves():
    """One algorithm's cost under one budget is the trend plus a kernel regression on its residuals."""
    new, spread, both = np.random.default_rng(2).random(LENGTH), FEATURES.std(axis=0), (0, 1)
    grid = np.array([(FEATURES[game, SIZE], math.log(BUDGETS[one].amount)) for one in both for game in range(GAMES)])
    mean, slopes = ridge(grid, COSTS[:2, :, 2, 0].ravel())

    def trend(size):
        return mean + slopes @ (np.array([size, math.log(10)]) - grid.mean(axis=0))

    def alike(a, b):
        apart = sum(((x - y) / s) ** 2 for x, y, s in zip(a, b, spread, strict=True)) / LENGTH
        return math.exp(-apart / (2 * WIDTH**2))

    left = COSTS[1, :, 2, 0] - [trend(game[SIZE]) for game in FEATURES]
    matrix = [[alike(a, b) + NOISE * (i == j) for j, b in enumerate(FEATURES)] for i, a in enumerate(FEATURES)]
    share = np.linalg.solve(matrix, left)
    expected = trend(new[SIZE]) + sum(one * alike(game, new) for one, game in zip(share, FEATURES, strict=True))
    found = Imagination(FEATURES, BUDGETS, COSTS).costs(new[None], np.array([1]))
    assert found.shape == (1, 4, 2)
    assert found[0, 2, 0] == pytest.approx(expected)


def test_far_from_all_games_there_is_the_trend_in_their_size():
    """The game is a hundred standard deviations off in all features but size; half the least-squares slope remains."""
    far = np.full((1, LENGTH), 100.0)
    far[0, SIZE] = FEATURES[:, SIZE].mean() + 0.1
    found = Imagination(FEATURES, BUDGETS, COSTS).costs(far, np.array([2]))[0]
    slope = np.polyfit(FEATURES[:, SIZE], COSTS[2].reshape(GAMES, -1), 1)[0].reshape(4, 2)
    np.testing.assert_allclose(found, COSTS[2].mean(axis=0) + SHRINKAGE * 0.1 * slope)


def test_games_are_real_or_lie_beside_real_ones():
    imagination, count = Imagination(FEATURES, BUDGETS, COSTS), 4000
    generator = np.random.default_rng(3)
    games, circumstances = generator.integers(GAMES, size=count), generator.integers(len(BUDGETS), size=count)
    features, costs = imagination.draw(games, circumstances, np.random.default_rng(1))
    real = (features == FEATURES[games]).all(axis=1)
    share = REAL + (1 - REAL) / GAMES  # the drawn difference may be one between a game and itself
    assert abs(real.mean() - share) < 4 * math.sqrt(share * (1 - share) / count)
    for values in (features, costs):
        assert values.min() >= 0
        assert values.max() <= 1
    np.testing.assert_array_equal(costs, imagination.costs(features, circumstances))


def test_what_all_games_share_tells_nothing():
    """A feature without spread is ignored, and a single game is all that can be drawn."""
    constant = FEATURES.copy()
    constant[:, 3] = 0.5
    assert np.isfinite(Imagination(constant, BUDGETS, COSTS).costs(constant, np.zeros(GAMES, np.intp))).all()
    alone = Imagination(FEATURES[:1], BUDGETS[2:], COSTS[2:, :1])
    features, costs = alone.draw(np.zeros(2, np.intp), np.zeros(2, np.intp), np.random.default_rng(4))
    np.testing.assert_array_equal(features, FEATURES[[0, 0]])
    np.testing.assert_allclose(costs, COSTS[2, [0, 0]])
