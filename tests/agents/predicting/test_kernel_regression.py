from __future__ import annotations

import math

import numpy as np
import pytest

from rlccfr.agents.predicting.kernel_regression import NOISE, SHRINKAGE, SIZE, WIDTH, KernelRegression
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.catalog import Catalog
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.request import Budget
from rlccfr.errors import RLCCFRError

GAMES, LENGTH = 5, len(GameFeatures._fields)
FEATURES = np.random.default_rng(0).random((GAMES, LENGTH))
BUDGETS = (Budget("seconds", 0.1), Budget("seconds", 10), Budget("iterations", 100))
COSTS = np.random.default_rng(1).uniform(0.4, 0.6, (len(BUDGETS), GAMES, 4, 2))
CATALOG = Catalog(("cfr", "dcfr"), ("none", "external"), ("none",))


def regression(features=FEATURES):
    games = tuple(map(str, range(GAMES)))
    return KernelRegression(MeasuredCosts(CATALOG, games, BUDGETS, features, np.ones(GAMES), COSTS))


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
    found = regression().costs(new, BUDGETS[1])
    assert found.shape == (4, 2)
    assert found[2, 0] == pytest.approx(expected)


def test_far_from_all_games_there_is_the_trend_in_their_size():
    """The game is a hundred standard deviations off in all features but size; half the least-squares slope remains."""
    far = np.full(LENGTH, 100.0)
    far[SIZE] = FEATURES[:, SIZE].mean() + 0.1
    found = regression().costs(far, BUDGETS[2])
    slope = np.polyfit(FEATURES[:, SIZE], COSTS[2].reshape(GAMES, -1), 1)[0].reshape(4, 2)
    np.testing.assert_allclose(found, COSTS[2].mean(axis=0) + SHRINKAGE * 0.1 * slope)


def test_a_feature_without_spread_is_ignored():
    constant = FEATURES.copy()
    constant[:, 3] = 0.5
    assert np.isfinite(regression(constant).costs(constant[0], BUDGETS[0])).all()


def test_measurements_of_another_number_of_features_are_refused():
    message = f"the measurements have {LENGTH - 1} features of games, and this version has {LENGTH}: measure again"
    with pytest.raises(RLCCFRError, match=f"^{message}$"):
        regression(FEATURES[:, 1:])
