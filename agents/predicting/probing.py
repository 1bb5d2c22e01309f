"""Choosing by short runs of the algorithms that a regression prefers."""

from __future__ import annotations

import numpy as np

from rlccfr.agents.predicting.choosers import Predictor, ranking
from rlccfr.agents.predicting.measured_costs import features_of, log_costs
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.compiled_games import uniform_in_units
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.reward import Preset

SHARE = 0.05
"""Share of the budget for all probes together."""

CANDIDATES = 5
"""Number of algorithms that are probed."""

TRUST = 0.75
"""Share of a probe's surprise that is expected of the whole run.

This share and the number of candidates were chosen by leaving out thirds of the training games.
"""


class Probing:
    """Chooses among the algorithms with the best predicted reward, by a short run of each.

    A probe's surprise is its costs less those predicted for so short a run. A share of this surprise is added to the
    prediction for the whole run. The chosen algorithm's probe is the beginning of its run, so only the other probes use
    up budget.

    Args:
        predictor: regression of costs.
        evaluator: evaluator that runs the probes, or a table that holds longer runs.
    """

    def __init__(self, predictor: Predictor, evaluator: Evaluator) -> None:
        self.predictor = predictor
        self.evaluator = evaluator
        self.catalog = predictor.measured.catalog
        self.games = predictor.measured.games
        self.budgets = predictor.measured.budgets

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the candidate with the best corrected prediction.

        Raises:
            MissingCellError: the evaluator is a table that lacks a run.
        """
        cells = list(self.catalog)
        features = features_of(game)
        uniform = uniform_in_units(game)
        probe_budget = self._probe_budget(budget)
        predicted = self.predictor.costs(features, budget)
        ranked = ranking(predicted, preset, uniform)
        if probe_budget is None:
            return cells[int(ranked[0])]
        candidates = ranked[: self._candidate_count]
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
        """Return the budget of one probe; None if that is less than any budget that was measured."""
        measured_amounts = [measured.amount for measured in self.budgets if measured.unit == budget.unit]
        least = min(measured_amounts, default=np.inf)
        amount = budget.amount * SHARE / self._candidate_count
        if budget.unit != "seconds":
            amount = int(amount)
        return Budget(budget.unit, amount) if amount >= least else None
