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

SHARE, CANDIDATES = 0.05, 5
"""Share of the budget for all probes together, and number of algorithms that are probed."""

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
        self.predictor, self.evaluator = predictor, evaluator
        known = predictor.measured
        self.catalog, self.games, self.budgets = known.catalog, known.games, known.budgets

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the candidate with the best corrected prediction.

        Raises:
            MissingCellError: the evaluator is a table that lacks a run.
        """
        cells = list(self.catalog)
        features = features_of(game)
        uniform = uniform_in_units(game)
        probe_budget = self._probe(budget)
        whole = self.predictor.costs(features, budget)
        ranked = ranking(whole, preset, uniform)
        if probe_budget is None:
            return cells[int(ranked[0])]
        candidates = ranked[: self._count]
        short = self.predictor.costs(features, probe_budget)
        probes = [log_costs(self.evaluator.measure(Request(game, (cells[one],), probe_budget))) for one in candidates]
        surprise = np.array(probes) - short[candidates]
        corrected = whole[candidates] + TRUST * surprise
        return cells[int(candidates[ranking(corrected, preset, uniform)[0]])]

    def left(self, budget: Budget) -> Budget:
        """Return the budget without the probes of the algorithms that are not chosen."""
        brief = self._probe(budget)
        return budget if brief is None else Budget(budget.unit, budget.amount - (self._count - 1) * brief.amount)

    @property
    def _count(self) -> int:
        """Number of algorithms that are probed."""
        return min(CANDIDATES, len(self.catalog))

    def _probe(self, budget: Budget) -> Budget | None:
        """Return the budget of one probe; None if that is less than any budget that was measured."""
        least = min((one.amount for one in self.predictor.measured.budgets if one.unit == budget.unit), default=np.inf)
        amount = budget.amount * SHARE / self._count
        if budget.unit != "seconds":
            amount = int(amount)
        return Budget(budget.unit, amount) if amount >= least else None
