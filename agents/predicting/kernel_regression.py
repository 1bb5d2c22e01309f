"""Kernel regression of algorithms' costs, about a trend in a game's size and in the budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from rlccfr.agents.predicting.measured_costs import MeasuredCosts, interpolation
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.request import Budget

SHRINKAGE = 0.5
"""Share of the fitted trend in size that is used, since other games are larger than those that it was fitted to.

The trend in budget is used in full, since a team picks for budgets that it has learned. This number and those below
were chosen by leaving out training games (ADR 16).
"""

WIDTH = 0.7
"""Width of the Gaussian kernel, in standard deviations of the features."""

NOISE = 0.5
"""Variance of a game's costs that its features do not explain, relative to the variance that they explain."""

SIZE = GameFeatures._fields.index("histories")
"""Index of the feature that is linear in the logarithm of a game's size."""


class CostRegression:
    """Costs of algorithms on any game, estimated from those on measured games.

    The estimate has two parts. A trend over games and budgets is linear in the logarithms of a game's size and of the
    budget. The residuals from the trend are similar on similar games (kernel regression), and zero far from all
    measured games.

    Args:
        features: features of the measured games, shape (games, features).
        budgets: budget of each circumstance, which is a pair of an engine seed and a budget under which costs were
            measured.
        costs: e and s of all algorithms on each game, shape (circumstances, games, ..., 2).
    """

    def __init__(self, features: np.ndarray, budgets: Sequence[Budget], costs: np.ndarray) -> None:
        self._features = features
        self._fit_trend(features[:, SIZE], budgets, costs)

        # Kernel regression of the residuals from the trend: weights = (K + noise I)^-1 residuals, for all algorithms
        # and circumstances at once, so games come first.
        self._scale = np.where(np.ptp(features, axis=0) > 0, features.std(axis=0), 1.0)
        trend = [self._trend(features, np.full(len(features), circumstance)) for circumstance in range(len(costs))]
        residuals = np.moveaxis(costs - np.array(trend), 1, 0)
        kernel = self._kernel(features) + NOISE * np.eye(len(features))
        weights = cho_solve(cho_factor(kernel), residuals.reshape(len(kernel), -1))
        self._weights = np.moveaxis(weights.reshape(residuals.shape), 0, 1)  # axes like those of costs

    def _fit_trend(self, size: np.ndarray, budgets: Sequence[Budget], costs: np.ndarray) -> None:
        """Fit the trend: for each circumstance, the costs at the mean size, and their slope in the size.

        Both have the shape (circumstances, ..., 2). Budgets of each unit have a trend of their own. Every game has all
        budgets, so the slopes in the size and in the budget can be fitted separately.

        Args:
            size: logarithm of the size of each game, (games,).
            budgets, costs: as of the class.
        """
        self._mean_size = size.mean()
        self._base = np.empty_like(costs[:, 0])
        self._slope = np.empty_like(costs[:, 0])
        units = np.array([budget.unit for budget in budgets])
        log_amounts = np.log([budget.amount for budget in budgets])
        for unit in np.unique(units):
            rows = np.flatnonzero(units == unit)
            unit_costs = costs[rows]
            log_amount = log_amounts[rows]
            slope_in_budget = _slope(log_amount, unit_costs.mean(axis=1))
            by_budget = np.tensordot(log_amount - log_amount.mean(), slope_in_budget, axes=0)
            self._base[rows] = unit_costs.mean(axis=(0, 1)) + by_budget
            self._slope[rows] = SHRINKAGE * _slope(size, unit_costs.mean(axis=0))

    def costs(self, features: np.ndarray, circumstances: np.ndarray) -> np.ndarray:
        """Return the algorithms' costs on n games, shape (n, ..., 2), each within [0, 1].

        Args:
            features: features of the games, shape (n, features).
            circumstances: index of each game's circumstance, shape (n,).
        """
        kernel = self._kernel(features)
        costs = self._trend(features, circumstances)
        for circumstance in np.unique(circumstances):
            rows = circumstances == circumstance
            costs[rows] += np.tensordot(kernel[rows], self._weights[circumstance], axes=1)
        return np.asarray(np.clip(costs, 0.0, 1.0))

    def _trend(self, features: np.ndarray, circumstances: np.ndarray) -> np.ndarray:
        """Return the trend's costs on n games, shape (n, ..., 2); arguments as of :meth:`costs`."""
        centred_size = (features[:, SIZE] - self._mean_size).reshape(-1, *[1] * (self._base.ndim - 1))
        trend: np.ndarray = self._base[circumstances] + centred_size * self._slope[circumstances]
        return trend

    def _kernel(self, features: np.ndarray) -> np.ndarray:
        """Return the similarity of n games to each of the measured ones, in [0, 1]; shape (n, games)."""
        differences = (features[:, None] - self._features) / self._scale
        return np.asarray(np.exp(-np.square(differences).mean(axis=-1) / (2 * WIDTH**2)))


def _slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the slopes, shape (...), of the least-squares regression of y, shape (n, ...), on x, shape (n,).

    They are 0 if x does not vary.
    """
    if np.ptp(x) == 0:  # rounding may leave a remainder when the mean is subtracted
        return np.zeros(y.shape[1:])
    centred = x - x.mean()
    return np.asarray(np.tensordot(centred, y, axes=1) / (centred @ centred))


class KernelRegression:
    """Predicts costs by :class:`CostRegression`; between budgets, it interpolates in the budget's logarithm.

    Args:
        measured: costs to learn from.

    Attributes:
        measured: the argument.
    """

    def __init__(self, measured: MeasuredCosts) -> None:
        self.measured = measured
        self._regression = CostRegression(measured.features, measured.budgets, measured.costs)

    def costs(self, features: np.ndarray, budget: Budget) -> np.ndarray:
        """Return predicted e and s of each algorithm, (algorithms, 2), on a game with these features, (features,).

        Raises:
            RLCCFRError: nothing was measured under a budget in this unit.
        """
        indices, weights = zip(*interpolation(self.measured.budgets, budget), strict=True)
        costs = self._regression.costs(np.tile(features, (len(indices), 1)), np.array(indices))
        return np.asarray(np.tensordot(weights, costs, axes=1))
