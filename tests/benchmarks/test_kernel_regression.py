from __future__ import annotations

import math

import numpy as np
import pytest
from known_costs import BUDGETS as KNOWN_BUDGETS
from known_costs import CATALOG as KNOWN_CATALOG
from known_costs import LEARNED, NEW, known_table

from benchmarks.baselines.kernel_regression import (
    NOISE,
    SHRINKAGE,
    SIZE,
    WIDTH,
    ByRegression,
    KernelRegression,
    ranking,
)
from rlccfr.agents.predicting.measured_costs import MeasuredCosts, features_of, interpolation
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import PRESETS, Preset, Weights
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


@pytest.fixture(scope="module")
def measured() -> MeasuredCosts:
    return MeasuredCosts.read(known_table(), KNOWN_CATALOG, LEARNED, KNOWN_BUDGETS)


def test_predictions_tell_which_algorithm_is_best(measured):
    chooser = ByRegression(measured)
    assert chooser.left(KNOWN_BUDGETS[0]) == KNOWN_BUDGETS[0]
    assert chooser.pick(NEW, KNOWN_BUDGETS[2], PRESETS["accuracy"]).sampler == "none"
    assert chooser.pick("kuhn(cards=3)", KNOWN_BUDGETS[2], PRESETS["accuracy"]) == Cell("cfr", "none", "none")
    assert chooser.pick("kuhn(cards=10)", KNOWN_BUDGETS[2], PRESETS["accuracy"]) == Cell("dcfr", "none", "none")
    with pytest.raises(RLCCFRError, match="no budget in seconds was measured"):
        chooser.pick(NEW, Budget("seconds", 1.0), PRESETS["accuracy"])


def test_choices_are_ranked_by_predicted_convergence_then_by_reward_on_the_scale_of_the_weights():
    predicted = np.array([[0.5, 0.9], [0.95, 0.01], [0.6, 0.1]])  # e on the log scale, and s
    for scale, best in (("log", [2, 0, 1]), ("units", [2, 0, 1])):
        assert ranking(predicted, Preset("mine", (Weights(0.1, 1),) * 3, scale), 1.0).tolist() == best
    assert ranking(predicted, Preset("mine", (Weights(1, 0.001),) * 3, "units"), 1e6).tolist() == [0, 2, 1]
    assert ranking(predicted, Preset("speed", (Weights(0, 1),) * 3), 1.0).tolist() == [1, 2, 0]


def test_between_budgets_the_regression_interpolates_in_their_logarithm(measured):
    predictor = KernelRegression(measured)
    low, middle, high = (predictor.costs(features_of(NEW), Budget("iterations", one)) for one in (10, 100, 1_000))
    np.testing.assert_allclose(middle, (low + high) / 2)
    beyond = predictor.costs(features_of(NEW), Budget("iterations", 10**9))
    np.testing.assert_array_equal(beyond, predictor.costs(features_of(NEW), KNOWN_BUDGETS[2]))
    assert interpolation(KNOWN_BUDGETS, Budget("iterations", 1_000)) == [(1, 1.0)]
