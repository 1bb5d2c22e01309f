"""Ways of choosing an algorithm for a game: by prediction, or by asking a team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rlccfr.agents.predicting.measured_costs import MeasuredCosts, features_of
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam


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


class Predictor(Protocol):
    """A regression of costs on a game's features and a budget."""

    measured: MeasuredCosts

    def costs(self, features: np.ndarray, budget: Budget) -> np.ndarray:
        """Return predicted e and s of each algorithm, (algorithms, 2), on a game with these features, (features,)."""


class ByPrediction:
    """Chooses the algorithm with the best predicted mean reward, without running anything."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        known = predictor.measured
        self.catalog, self.games, self.budgets = known.catalog, known.games, known.budgets

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm with the best predicted mean reward."""
        found = self.predictor.costs(features_of(game), budget)
        return list(self.catalog)[int(mean_cost(found, preset).argmin())]

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget


class ByTeam:
    """A team as a chooser."""

    def __init__(self, team: SelectorTeam) -> None:
        self._team = team
        self.catalog, self.games, self.budgets = team.catalog, team.env.games, team.env.budgets

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the first segment's algorithm of the team's recommendation."""
        return self._team.pick(game, budget, preset)

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget


def mean_cost(found: np.ndarray, preset: Preset) -> np.ndarray:
    """Return 1 - R̄ for costs e and s, (..., 2): the less, the better."""
    return np.asarray(found @ np.mean(preset.weights, axis=0))
