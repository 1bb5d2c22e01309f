"""Ways of choosing an algorithm for a game that was not measured: by predicted costs alone, or with short runs too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from rlccfr.agents.predicting.kernel_regression import KernelRegression
from rlccfr.agents.predicting.measured_costs import MeasuredCosts, features_of, log_costs
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.compiled_games import uniform_in_units
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.reward import CONVERGED_LOG, Preset, costs_on_all_scales, mean_costs

WITHOUT_PROBES = "kernel regression"
WITH_PROBES = "kernel regression with probes"
NAMES = (WITHOUT_PROBES, WITH_PROBES)
"""Names of the choosers."""

SHARE = 0.05
"""Share of the budget for all probes together."""

CANDIDATES = 5
"""Number of algorithms that are probed."""

TRUST = 0.75
"""Share of a probe's surprise that is expected of the whole run.

This share and the number of candidates were chosen by leaving out thirds of the training games.
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

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm with the best predicted mean reward, among those predicted to converge."""
        predicted = self.predictor.costs(features_of(game), budget)
        best = int(ranking(predicted, preset, uniform_in_units(game))[0])
        return list(self.catalog)[best]

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget


class Probing(ByPrediction):
    """Chooses among the algorithms with the best predicted reward, by a short run of each.

    A probe's surprise is its costs less those predicted for so short a run. A share of this surprise is added to the
    prediction for the whole run. The chosen algorithm's probe is the beginning of its run, so only the other probes use
    up budget.

    Args:
        predictor: regression of costs.
        evaluator: evaluator that runs the probes, or a table that holds longer runs.
    """

    def __init__(self, predictor: KernelRegression, evaluator: Evaluator) -> None:
        super().__init__(predictor)
        self.evaluator = evaluator

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the candidate with the best corrected prediction.

        Raises:
            MissingCellError: the evaluator is a table that lacks a run.
        """
        probe_budget = self._probe_budget(budget)
        if probe_budget is None:
            return super().pick(game, budget, preset)
        cells = list(self.catalog)
        features = features_of(game)
        uniform = uniform_in_units(game)
        predicted = self.predictor.costs(features, budget)
        candidates = ranking(predicted, preset, uniform)[: self._candidate_count]
        predicted_of_probes = self.predictor.costs(features, probe_budget)
        probes = [self.evaluator.measure(Request(game, (cells[index],), probe_budget)) for index in candidates]
        surprise = np.array([log_costs(run) for run in probes]) - predicted_of_probes[candidates]  # (candidates, 2)
        corrected = predicted[candidates] + TRUST * surprise
        best = ranking(corrected, preset, uniform)[0]
        return cells[int(candidates[best])]

    def left(self, budget: Budget) -> Budget:
        """Return the budget without the probes of the algorithms that are not chosen."""
        probe_budget = self._probe_budget(budget)
        if probe_budget is None:
            return budget
        return Budget(budget.unit, budget.amount - (self._candidate_count - 1) * probe_budget.amount)

    @property
    def _candidate_count(self) -> int:
        """Number of algorithms that are probed."""
        return min(CANDIDATES, len(self.catalog))

    def _probe_budget(self, budget: Budget) -> Budget | None:
        """Return the budget of one probe; None if it is less than every measured budget in its unit."""
        measured_amounts = [measured.amount for measured in self.budgets if measured.unit == budget.unit]
        least = min(measured_amounts, default=np.inf)
        amount = budget.amount * SHARE / self._candidate_count
        if budget.unit != "seconds":
            amount = int(amount)
        return Budget(budget.unit, amount) if amount >= least else None


def named(name: str, measured: MeasuredCosts, evaluator: Evaluator) -> Chooser:
    """Return a chooser that has learned from costs.

    Args:
        name: one of :data:`NAMES`.
        measured: costs to learn from.
        evaluator: evaluator that runs the probes, if the chooser has any.
    """
    predictor = KernelRegression(measured)
    return Probing(predictor, evaluator) if name == WITH_PROBES else ByPrediction(predictor)


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
