"""Ways of choosing an algorithm for a game: by prediction, or by asking a team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rlccfr.agents.predicting.measured_costs import MeasuredCosts, features_of
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.compiled_games import uniform_in_units
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import CONVERGED_LOG, Preset, costs_on_all_scales, mean_costs

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
    """A regression of costs on a game's features and a budget.

    Attributes:
        measured: costs that it has learned from.
    """

    measured: MeasuredCosts

    def costs(self, features: np.ndarray, budget: Budget) -> np.ndarray:
        """Return predicted e on the log scale and s of each algorithm, (algorithms, 2), on a game.

        Args:
            features: the game's features, (features,).
            budget: budget of the run.
        """


class ByPrediction:
    """Chooses the algorithm with the best predicted mean reward, among those predicted to converge; runs nothing."""

    def __init__(self, predictor: Predictor) -> None:
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


class ByTeam:
    """A team as a chooser."""

    def __init__(self, team: SelectorTeam) -> None:
        self._team = team
        self.catalog = team.catalog
        self.games = team.env.games
        self.budgets = team.env.budgets

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the first segment's algorithm of the team's recommendation."""
        return self._team.pick(game, budget, preset)

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget


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
