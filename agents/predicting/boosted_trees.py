"""Gradient-boosted trees that predict algorithms' costs; they need scikit-learn."""

from __future__ import annotations

import numpy as np

from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.envs.measuring.request import Budget
from rlccfr.errors import RLCCFRError

TREES = 300
"""Number of trees for each of e and s."""

LEAVES = 31
"""Largest number of a tree's leaves."""

LEAST_LEAF = 10
"""Least number of rows in a leaf."""

RATE = 0.08
"""Learning rate: the share of each tree's prediction that is added."""


class BoostedTrees:
    """Predicts costs by gradient-boosted regression trees.

    Each row holds the game's features and the logarithm of the budget; the budget's unit and the three components are
    categories.

    Args:
        measured: costs to learn from.
        seed: seed of scikit-learn's draws.

    Attributes:
        measured: the argument.

    Raises:
        RLCCFRError: scikit-learn is not installed.
    """

    def __init__(self, measured: MeasuredCosts, seed: int = 0) -> None:
        try:
            from sklearn.ensemble import HistGradientBoostingRegressor
        except ImportError as error:
            raise RLCCFRError("gradient-boosted trees need scikit-learn: pip install scikit-learn") from error
        self.measured = measured
        self._units = list(dict.fromkeys(budget.unit for budget in measured.budgets))
        self._cells = np.array([measured.catalog.index(cell) for cell in measured.catalog], float)  # (algorithms, 3)
        # A row per budget, game and algorithm, in the order of measured.costs.
        rows = np.vstack(
            [self._rows(features, budget) for budget in measured.budgets for features in measured.features]
        )
        values = measured.costs.reshape(-1, 2)
        is_category = np.arange(rows.shape[1]) >= rows.shape[1] - 4  # the budget's unit, and the three components
        self._models = [
            HistGradientBoostingRegressor(
                max_iter=TREES, max_leaf_nodes=LEAVES, min_samples_leaf=LEAST_LEAF, learning_rate=RATE,
                categorical_features=is_category, early_stopping=False, random_state=seed,
            ).fit(rows, column)
            for column in values.T
        ]  # fmt: skip

    def costs(self, features: np.ndarray, budget: Budget) -> np.ndarray:
        """Return predicted e and s of each algorithm, (algorithms, 2), on a game with these features, (features,).

        Raises:
            RLCCFRError: nothing was measured under a budget in this unit.
        """
        if budget.unit not in self._units:
            raise RLCCFRError(f"nothing was measured under a budget in {budget.unit}")
        rows = self._rows(features, budget)
        predicted = np.stack([model.predict(rows) for model in self._models], axis=1)
        return np.asarray(np.clip(predicted, 0.0, 1.0))

    def _rows(self, features: np.ndarray, budget: Budget) -> np.ndarray:
        """Return the models' inputs for all algorithms on one game, (algorithms, features + 5).

        Each row has the game's features, the logarithm of the budget, the number of its unit, and the indices of the
        algorithm's three components.
        """
        shared_columns = [*features, np.log10(budget.amount), self._units.index(budget.unit)]
        return np.hstack([np.tile(shared_columns, (len(self._cells), 1)), self._cells])
