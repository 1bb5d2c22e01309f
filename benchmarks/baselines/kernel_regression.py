"""Picks by kernel regression of algorithms' costs, about a trend in a game's size and in the budget.

It is an alternative to the team for games that were not measured; see :mod:`rlccfr.agents.predicting.choosers`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from rlccfr.agents.predicting.measured_costs import MeasuredCosts, features_of, interpolation, mean_costs_under
from rlccfr.catalog import Cell
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import CONVERGED_LOG, Preset
from rlccfr.errors import RLCCFRError
from rlccfr.games.compiled_games import uniform_in_units

SHRINKAGE = 0.5
"""Share of the fitted trend in size that is used, since other games are larger than those that it was fitted to.

The trend in budget is used in full, since picks are for budgets that were measured. This number and those below were
chosen by leaving out training games (ADR 16).
"""

WIDTH = 0.7
"""Width of the Gaussian kernel, in standard deviations of the features."""

NOISE = 0.5
"""Variance of costs that a game's features do not explain, relative to the variance that they explain."""

SIZE = GameFeatures._fields.index("histories")
"""Index of the feature that is linear in the logarithm of a game's size."""


class KernelRegression:
    """Costs of algorithms on any game, estimated from those on measured games.

    The estimate has two parts. A trend over games and budgets is linear in the logarithms of a game's size and of the
    budget. The residuals from the trend are similar on similar games (kernel regression), and zero far from all
    measured games. Between two measured budgets, the estimate is interpolated in the budget's logarithm.

    Args:
        measured: costs to learn from.

    Attributes:
        measured: the argument.

    Raises:
        RLCCFRError: the games were measured with another number of features than :class:`GameFeatures` has.
    """

    def __init__(self, measured: MeasuredCosts) -> None:
        self.measured = measured
        features = measured.features
        num_features = len(GameFeatures._fields)
        if features.shape[1] != num_features:
            raise RLCCFRError(
                f"the measurements have {features.shape[1]} features of games, and this version has {num_features}: "
                "measure again"
            )
        self._fit_trend(features[:, SIZE], measured.costs)

        # Kernel regression of the residuals from the trend: weights = (K + noise I)^-1 residuals, for all algorithms
        # and budgets at once, so games come first.
        self._scale = np.where(np.ptp(features, axis=0) > 0, features.std(axis=0), 1.0)
        trend = [self._trend(features, index) for index in range(len(measured.budgets))]
        residuals = np.moveaxis(measured.costs - np.array(trend), 1, 0)
        kernel = self._kernel(features) + NOISE * np.eye(len(features))
        weights = cho_solve(cho_factor(kernel), residuals.reshape(len(kernel), -1))
        self._weights = np.moveaxis(weights.reshape(residuals.shape), 0, 1)  # axes like those of costs

    def _fit_trend(self, size: np.ndarray, costs: np.ndarray) -> None:
        """Fit the trend: for each budget, the costs at the mean size, and their slope in the size of the game.

        Both have the shape (budgets, algorithms, 2). Budgets of each unit have a trend of their own. Every game has all
        budgets, so the slopes in the size and in the budget can be fitted separately.

        Args:
            size: logarithm of the size of each game, (games,).
            costs: (budgets, games, algorithms, 2).
        """
        self._mean_size = size.mean()
        self._base = np.empty_like(costs[:, 0])
        self._slope = np.empty_like(costs[:, 0])
        units = np.array([budget.unit for budget in self.measured.budgets])
        log_amounts = np.log([budget.amount for budget in self.measured.budgets])
        for unit in np.unique(units):
            rows = np.flatnonzero(units == unit)
            unit_costs = costs[rows]
            log_amount = log_amounts[rows]
            slope_in_budget = _slope(log_amount, unit_costs.mean(axis=1))
            by_budget = np.tensordot(log_amount - log_amount.mean(), slope_in_budget, axes=0)
            self._base[rows] = unit_costs.mean(axis=(0, 1)) + by_budget
            self._slope[rows] = SHRINKAGE * _slope(size, unit_costs.mean(axis=0))

    def costs(self, features: np.ndarray, budget: Budget) -> np.ndarray:
        """Return predicted e and s of each algorithm, (algorithms, 2), on a game with these features, (features,).

        Each is within [0, 1].

        Raises:
            RLCCFRError: nothing was measured under a budget in this unit.
        """
        row = features[None]
        kernel = self._kernel(row)
        indices, weights = zip(*interpolation(self.measured.budgets, budget), strict=True)
        costs = []
        for index in indices:
            residual = np.tensordot(kernel, self._weights[index], axes=1)
            costs.append(np.clip((self._trend(row, index) + residual)[0], 0.0, 1.0))
        return np.asarray(np.tensordot(weights, np.array(costs), axes=1))

    def _trend(self, features: np.ndarray, index: int) -> np.ndarray:
        """Return the trend's costs on n games, (n, algorithms, 2).

        Args:
            features: features of the games, (n, features).
            index: index of the budget.
        """
        centred_size = (features[:, SIZE] - self._mean_size)[:, None, None]
        trend: np.ndarray = self._base[index] + centred_size * self._slope[index]
        return trend

    def _kernel(self, features: np.ndarray) -> np.ndarray:
        """Return the similarity of n games to each measured game, in [0, 1]; shape (n, games)."""
        differences = (features[:, None] - self.measured.features) / self._scale
        return np.asarray(np.exp(-np.square(differences).mean(axis=-1) / (2 * WIDTH**2)))


def _slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the slopes, shape (...), of the least-squares regression of y, shape (n, ...), on x, shape (n,).

    They are 0 if x does not vary.
    """
    if np.ptp(x) == 0:  # rounding may leave a remainder when the mean is subtracted
        return np.zeros(y.shape[1:])
    centred = x - x.mean()
    return np.asarray(np.tensordot(centred, y, axes=1) / (centred @ centred))


class ByRegression:
    """Chooses the algorithm with the best predicted mean reward, among those predicted to converge; runs nothing.

    Args:
        measured: costs to learn from.
    """

    def __init__(self, measured: MeasuredCosts) -> None:
        self.regression = KernelRegression(measured)
        self.catalog = measured.catalog
        self.games = measured.games
        self.budgets = measured.budgets

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm with the best predicted mean reward, among those predicted to converge."""
        predicted = self.regression.costs(features_of(game), budget)
        return list(self.catalog)[int(ranking(predicted, preset, uniform_in_units(game))[0])]

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget


def ranking(predicted: np.ndarray, preset: Preset, uniform: float) -> np.ndarray:
    """Return the indices of algorithms, best first: those predicted to converge, then the others, each by 1 - R̄.

    If the weights ask for speed alone, 1 - R̄ alone decides.

    Args:
        predicted: e on the log scale and s of each algorithm, (algorithms, 2).
        preset: reward weights.
        uniform: exploitability of the uniform policy, in units or big blinds.
    """
    not_converged = (predicted[:, 0] > CONVERGED_LOG) & (not preset.speed_alone)
    return np.lexsort((mean_costs_under(predicted, preset, uniform), not_converged))  # the last key sorts first
