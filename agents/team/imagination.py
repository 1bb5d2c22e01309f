"""Games that nobody has measured, imagined about those that somebody has.

A network that has learned of thirty games says anything at all of one beside them. So it learns as well of games that
are imagined (Dyna: Sutton, 1991): they differ from real games as these do from one another, and what a cell costs on
them is estimated from the real ones. Over games and budgets there is a trend in the logarithms of a game's size and of
the budget; what that leaves of a cell's costs is alike on games that are alike (kernel regression), and nothing far
from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.request import Budget

SHRINKAGE = 0.5
"""The part of the trend in size that is believed, as other games are larger than those that it is known from.

The trend in budget is believed wholly: a team is asked for budgets that it has learned. This number and those below
were chosen by leaving out games to learn on (ADR 16).
"""

WIDTH = 0.7
"""Of the Gaussian kernel, in standard deviations of the features."""

NOISE = 0.5
"""Variance of what a game's costs show beside what its features explain, over that which these explain."""

REACH = 0.3
"""How far an imagined game lies off a real one, over the difference of two real ones: a Cauchy distribution's scale."""

REAL = 0.3
"""Share of real games; their costs are estimated, too, from their own and their neighbours'."""

SIZE = GameFeatures._fields.index("histories")


class Imagination:
    """Draws games and what the cells cost on them.

    Args:
        features: of the real games, shape (games, features).
        budgets: of the circumstances in which costs were measured: pairs of an engine seed and a budget.
        costs: e and s of all cells on each game; shape (circumstances, games, ..., 2).
    """

    def __init__(self, features: np.ndarray, budgets: Sequence[Budget], costs: np.ndarray) -> None:
        self._features, self._base, self._slope = features, np.empty_like(costs[:, 0]), np.empty_like(costs[:, 0])
        size = features[:, SIZE]
        self._mean_size = size.mean()
        units, amounts = np.array([one.unit for one in budgets]), np.log([one.amount for one in budgets])
        for unit in np.unique(units):  # every game has every budget, so the two slopes can be fitted apart
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
        self._weights = np.moveaxis(solved.reshape(residuals.shape), 0, 1)  # as costs, (circumstances, games, ...)

    def draw(
        self, games: np.ndarray, circumstances: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """A game about each of some real ones.

        Args:
            games, circumstances: indices, shape (n,).

        Returns:
            Features, shape (n, features), and costs of the cells, shape (n, ..., 2); both within [0, 1].
        """
        count, real = len(games), self._features
        reach = np.where(generator.random(count) < REAL, 0.0, REACH * generator.standard_cauchy(count))
        one, other = generator.integers(len(real), size=(2, count))
        drawn = np.clip(real[games] + reach[:, None] * (real[one] - real[other]), 0.0, 1.0)
        return drawn, self.costs(drawn, circumstances)

    def costs(self, features: np.ndarray, circumstances: np.ndarray) -> np.ndarray:
        """What the cells cost on games of such features, shape (n, ..., 2), within [0, 1]."""
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
        """How alike games of such features are to each of the real ones, in [0, 1]; shape (n, games)."""
        differences = (features[:, None] - self._features) / self._scale
        return np.asarray(np.exp(-np.square(differences).mean(axis=-1) / (2 * WIDTH**2)))


def _slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of y, shape (n, ...), in x by least squares; 0 where x does not vary."""
    if np.ptp(x) == 0:  # rounding may leave something when the mean is taken off
        return np.zeros(y.shape[1:])
    centred = x - x.mean()
    return np.asarray(np.tensordot(centred, y, axes=1) / (centred @ centred))
