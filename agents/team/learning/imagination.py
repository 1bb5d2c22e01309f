"""Imagined games near the measured ones, with estimated costs.

A network that has learned thirty games may predict anything for other games. So it also learns imagined games
(Dyna: Sutton, 1991), which differ from real games as real games differ from one another. An algorithm's costs on them
are estimated from its costs on real games. The estimate has two parts. A trend over games and budgets is linear in the
logarithms of a game's size and of the budget. The residuals from the trend are similar on similar games (kernel
regression), and zero far from all real games.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

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

REACH = 0.3
"""Scale of the Cauchy distribution of an imagined game's offset from a real one.

The unit is the difference between two real games drawn at random.
"""

REAL = 0.3
"""Share of real games among those drawn; their costs, too, are estimated from their own and their neighbours'."""

SIZE = GameFeatures._fields.index("histories")


class Imagination:
    """A source of imagined games and of the algorithms' costs on them.

    Args:
        features: features of the real games, shape (games, features).
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

    def draw(
        self, games: np.ndarray, circumstances: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw one game near each of n real games; a share of :data:`REAL` are the real games themselves.

        Args:
            games, circumstances: indices of the real games and of their circumstances, shape (n,).

        Returns:
            Features, shape (n, features), and costs of the algorithms, shape (n, ..., 2); both within [0, 1].
        """
        count, real = len(games), self._features
        reach = np.where(generator.random(count) < REAL, 0.0, REACH * generator.standard_cauchy(count))
        one, other = generator.integers(len(real), size=(2, count))
        drawn = np.clip(real[games] + reach[:, None] * (real[one] - real[other]), 0.0, 1.0)
        return drawn, self.costs(drawn, circumstances)

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
