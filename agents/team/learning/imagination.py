"""Imagined games near the measured ones, with estimated costs.

A network that has learned thirty games may predict anything for other games. So it also learns imagined games
(Dyna: Sutton, 1991), which differ from real games as real games differ from one another. An algorithm's costs on them
are estimated from its costs on real games (:mod:`rlccfr.agents.predicting.kernel_regression`).
"""

from __future__ import annotations

import numpy as np

from rlccfr.agents.predicting.kernel_regression import CostRegression

REACH = 0.3
"""Scale of the Cauchy distribution of an imagined game's offset from a real one.

The unit is the difference between two real games drawn at random.
"""

REAL = 0.3
"""Share of real games among those drawn; their costs, too, are estimated from their own and their neighbours'."""


class Imagination(CostRegression):
    """A source of imagined games and of the algorithms' costs on them."""

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
