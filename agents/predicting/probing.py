"""Choosing by short runs of the algorithms that a regression prefers."""

from __future__ import annotations

import numpy as np

from rlccfr.agents.predicting.measured_costs import Predictor, described, mean_cost
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.reward import Preset, costs

SHARE, CANDIDATES = 0.05, 5
"""Share of the budget for all probes together, and number of algorithms that are probed."""

TRUST = 0.75
"""Share of a probe's surprise that is expected of the whole run.

It and the number of candidates were chosen by leaving out thirds of the training games.
"""


class Probing:
    """Chooses among the algorithms with the best predicted reward, by a short run of each.

    A probe's surprise is its costs less those predicted for so short a run. The prediction for the whole run is
    corrected by a share of it. The chosen algorithm's probe is the beginning of its run, so only the others are spent.

    Args:
        predictor: regression of costs.
        evaluator: what makes the probes, or has made longer runs.
    """

    def __init__(self, predictor: Predictor, evaluator: Evaluator) -> None:
        self.predictor, self.evaluator = predictor, evaluator
        self.catalog, self.games = predictor.measured.catalog, predictor.measured.games

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the candidate with the best corrected prediction.

        Raises:
            MissingCellError: the evaluator is a table that lacks a run.
        """
        cells, features, brief = list(self.catalog), described(game), self._probe(budget)
        whole = mean_cost(self.predictor.costs(features, budget), preset)
        if brief is None:
            return cells[int(whole.argmin())]
        candidates, short = np.argsort(whole, kind="stable")[:CANDIDATES], self.predictor.costs(features, brief)
        found = [costs(self.evaluator.measure(Request(game, (cells[one],), brief))) for one in candidates]
        surprise = mean_cost(np.array(found) - short[candidates], preset)
        return cells[int(candidates[(whole[candidates] + TRUST * surprise).argmin()])]

    def left(self, budget: Budget) -> Budget:
        """Return the budget without the probes of the algorithms that are not chosen."""
        brief = self._probe(budget)
        return budget if brief is None else Budget(budget.unit, budget.amount - (CANDIDATES - 1) * brief.amount)

    def _probe(self, budget: Budget) -> Budget | None:
        """Return the budget of one probe; None if the whole budget is too small for probes."""
        amount = budget.amount * SHARE / CANDIDATES
        if budget.unit == "seconds":
            return Budget("seconds", amount)
        return Budget(budget.unit, int(amount)) if amount >= 1 else None
