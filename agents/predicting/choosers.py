"""Ways of choosing an algorithm for a game that was not measured.

The costs of all algorithms are predicted from the game's features. The predictions are a choice, or a prior: the
algorithms with the best predictions then run on the game by successive halving.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from rlccfr.agents.baselines.halving import climb, equal_rungs, share_of
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.predicting.kernel_regression import KernelRegression
from rlccfr.agents.predicting.measured_costs import MeasuredCosts, features_of
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.compiled_games import uniform_in_units
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import CONVERGED_LOG, Preset, costs_on_all_scales, mean_costs

BY_FEATURES = "kernel regression"
BY_HALVING = "kernel regression, then halving"
NAMES = (BY_FEATURES, BY_HALVING)
"""Names of the choosers."""

SHARE = 0.1
"""Share of the budget for halving."""

RUNGS = (4, 2)
"""Number of algorithms of each of its rungs.

They were chosen by leaving out thirds of the training games: ``python -m benchmarks.prior``.
"""


class Chooser(Protocol):
    """A way of choosing an algorithm for a game."""

    @property
    def catalog(self) -> Catalog:
        """What it chooses from."""

    @property
    def games(self) -> Sequence[str]:
        """The games that it has learned from."""

    @property
    def budgets(self) -> Sequence[Budget]:
        """The budgets that it has learned from."""

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm for a game, a budget and reward weights."""

    def left(self, budget: Budget) -> Budget:
        """Return what choosing leaves of a budget."""


class ByPrediction:
    """Chooses the algorithm with the best predicted mean reward, among those predicted to converge; runs nothing.

    Args:
        predictor: regression of costs.
    """

    def __init__(self, predictor: KernelRegression) -> None:
        self.predictor = predictor
        self.catalog = predictor.measured.catalog
        self.games = predictor.measured.games
        self.budgets = predictor.measured.budgets

    def ranked(self, game: str, budget: Budget, preset: Preset) -> list[Cell]:
        """Return all algorithms, the one with the best prediction first; see :func:`ranking`."""
        predicted = self.predictor.costs(features_of(game), budget)
        cells = list(self.catalog)
        return [cells[index] for index in ranking(predicted, preset, uniform_in_units(game))]

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm with the best predicted mean reward, among those predicted to converge."""
        return self.ranked(game, budget, preset)[0]

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget


class ByHalving(ByPrediction):
    """Chooses among the algorithms with the best predicted reward, by successive halving on the game.

    The chosen algorithm's run goes on, so that only the others' runs use up budget.

    Args:
        predictor: regression of costs.
        evaluator: evaluator that runs the algorithms, or a table that holds longer runs.
    """

    def __init__(self, predictor: KernelRegression, evaluator: Evaluator) -> None:
        super().__init__(predictor)
        self.evaluator = evaluator

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the winner of the halving.

        Raises:
            MissingCellError: the evaluator is a table that lacks a run.
        """
        task = Task(self.evaluator, self.catalog, game, budget, preset)
        return climb(task, self.ranked(game, budget, preset), equal_rungs(RUNGS, SHARE)).cell

    def left(self, budget: Budget) -> Budget:
        """Return the budget without the runs of the algorithms that are not chosen."""
        _, winners_share = equal_rungs(RUNGS, SHARE)[-1]
        return share_of(budget, 1 - SHARE + winners_share)


def named(name: str, measured: MeasuredCosts, evaluator: Evaluator) -> Chooser:
    """Return a chooser that has learned from costs.

    Args:
        name: one of :data:`NAMES`.
        measured: costs to learn from.
        evaluator: evaluator that runs the probes, if the chooser has any.
    """
    predictor = KernelRegression(measured)
    return ByHalving(predictor, evaluator) if name == BY_HALVING else ByPrediction(predictor)


def predicted_mean_costs(predicted: np.ndarray, preset: Preset, uniform: float | np.ndarray) -> np.ndarray:
    """Return 1 - R̄, (...), for e on the log scale and s, (..., 2): the less, the better.

    Args:
        predicted: (..., 2) e on the log scale and s.
        preset: reward weights.
        uniform: exploitability of the uniform policy, in units or big blinds; a number, or broadcast to (...).
    """
    on_all_scales = costs_on_all_scales(predicted[..., 0], predicted[..., 1], np.asarray(uniform))
    return mean_costs(on_all_scales, preset)


def ranking(predicted: np.ndarray, preset: Preset, uniform: float) -> np.ndarray:
    """Return the indices of algorithms, best first: those predicted to converge, then the others, each by 1 - R̄.

    If the weights ask for speed alone, 1 - R̄ alone decides.

    Args:
        predicted: e on the log scale and s of each algorithm, (algorithms, 2).
        preset: reward weights.
        uniform: exploitability of the uniform policy, in units or big blinds.
    """
    not_converged = (predicted[:, 0] > CONVERGED_LOG) & (not preset.speed_alone)
    return np.lexsort((predicted_mean_costs(predicted, preset, uniform), not_converged))  # the last key sorts first
