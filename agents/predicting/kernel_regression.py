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
        self._features, self._base, self._slope = features, np.empty_like(costs[:, 0]), np.empty_like(costs[:, 0])
        size = features[:, SIZE]
        self._mean_size = size.mean()
        units, amounts = np.array([one.unit for one in budgets]), np.log([one.amount for one in budgets])
        for unit in np.unique(units):  # every game has every budget, so the two slopes can be fitted separately
            rows = np.flatnonzero(units == unit)
            own, amount = costs[rows], amounts[rows]
            by_amount = np.tensordot(amount - amount.mean(), _slope(amount, own.mean(axis=1)), axes=0)
            self._base[rows] = own.mean(axis=(0, 1)) + by_amount
            self._slope[rows] = SHRINKAGE * _slope(size, own.mean(axis=0))
        self._scale = np.where(np.ptp(features, axis=0) > 0, features.std(axis=0), 1.0)
        everywhere = [self._trend(features, np.full(len(features), one)) for one in range(len(costs))]
        kernel = self._kernel(features) + NOISE * np.eye(len(features))
        residuals = np.moveaxis(costs - np.array(everywhere), 1, 0)
        solved = cho_solve(cho_factor(kernel), residuals.reshape(len(kernel), -1))
        self._weights = np.moveaxis(solved.reshape(residuals.shape), 0, 1)  # axes like those of costs

    def costs(self, features: np.ndarray, circumstances: np.ndarray) -> np.ndarray:
        """Return the algorithms' costs on n games, shape (n, ..., 2), each within [0, 1].

        Args:
            features: features of the games, shape (n, features).
            circumstances: index of each game's circumstance, shape (n,).
        """
        kernel = self._kernel(features)
        found = self._trend(features, circumstances)
        for circumstance in np.unique(circumstances):
            rows = circumstances == circumstance
            found[rows] += np.tensordot(kernel[rows], self._weights[circumstance], axes=1)
        return np.asarray(np.clip(found, 0.0, 1.0))

    def _trend(self, features: np.ndarray, circumstances: np.ndarray) -> np.ndarray:
        size = (features[:, SIZE] - self._mean_size).reshape(-1, *[1] * (self._base.ndim - 1))
        found: np.ndarray = self._base[circumstances] + size * self._slope[circumstances]
        return found

    def _kernel(self, features: np.ndarray) -> np.ndarray:
        """Return the similarity of n games to each of the real ones, in [0, 1]; shape (n, games)."""
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
    """Predicts costs by :class:`CostRegression`; between budgets, it interpolates in the budget's logarithm."""

    def __init__(self, measured: MeasuredCosts) -> None:
        self.measured = measured
        self._regression = CostRegression(measured.features, measured.budgets, measured.costs)

    def costs(self, features: np.ndarray, budget: Budget) -> np.ndarray:
        """Return predicted e and s of each algorithm, (algorithms, 2), on a game with these features, (features,).

        Raises:
            RLCCFRError: nothing was measured under a budget in this unit.
        """
        numbers, weights = zip(*interpolation(self.measured.budgets, budget), strict=True)
        found = self._regression.costs(np.tile(features, (len(numbers), 1)), np.array(numbers))
        return np.asarray(np.tensordot(weights, found, axes=1))
