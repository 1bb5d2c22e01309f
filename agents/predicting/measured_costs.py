"""Costs of algorithms on measured games, and what choosers by regression have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rlccfr.agents.judging.evidence import Evidence
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset, costs
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam


class MeasuredCosts(NamedTuple):
    """Mean costs of every algorithm's choosing runs, on every game under every budget.

    Attributes:
        features: (games, features) the games' features.
        costs: (budgets, games, algorithms, 2) e and s; algorithms are in the catalog's order.
    """

    catalog: Catalog
    games: tuple[str, ...]
    budgets: tuple[Budget, ...]
    features: np.ndarray
    costs: np.ndarray

    @classmethod
    def read(
        cls, evaluator: Evaluator, catalog: Catalog, games: Sequence[str], budgets: Sequence[Budget]
    ) -> MeasuredCosts:
        """Return the costs that an evaluator measures, or has measured.

        Raises:
            MissingCellError: the evaluator is a table that lacks a measurement.
        """
        found = [[mean_costs(evaluator, catalog, game, budget) for game in games] for budget in budgets]
        features = np.array([described(game) for game in games])
        return cls(catalog, tuple(games), tuple(budgets), features, np.array(found))


class Chooser(Protocol):
    """A way of choosing an algorithm for a game.

    Attributes:
        catalog: what it chooses from.
        games: games that it has learned from.
    """

    catalog: Catalog
    games: Sequence[str]

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
        self.catalog, self.games = predictor.measured.catalog, predictor.measured.games

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm with the best predicted mean reward."""
        found = self.predictor.costs(described(game), budget)
        return list(self.catalog)[int(mean_cost(found, preset).argmin())]

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget


class ByTeam:
    """A team as a chooser."""

    def __init__(self, team: SelectorTeam) -> None:
        self._team = team
        self.catalog, self.games = team.catalog, team.env.games

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the first segment's algorithm of the team's recommendation."""
        return self._team.pick(game, budget, preset)

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget


def mean_costs(evaluator: Evaluator, catalog: Catalog, game: str, budget: Budget) -> np.ndarray:
    """Return e and s of each algorithm, (algorithms, 2), averaged over its choosing runs."""
    runs = Evidence.measured(evaluator, catalog, game, budget).choosing
    return np.array([np.mean([costs(run) for run in runs[cell]], axis=0) for cell in catalog])


def described(game: str) -> np.ndarray:
    """Return a game's features, (features,)."""
    return np.array(GameFeatures.of(compiled(game)))


def mean_cost(found: np.ndarray, preset: Preset) -> np.ndarray:
    """Return 1 - R̄ for costs e and s, (..., 2): the less, the better."""
    return np.asarray(found @ np.mean(preset.weights, axis=0))


def around(budgets: Sequence[Budget], wanted: Budget) -> list[tuple[int, float]]:
    """Return the budgets, by index, between which a budget lies, with weights that interpolate in its logarithm.

    Beyond the largest or the least, that one has all the weight.

    Raises:
        RLCCFRError: no budget has the wanted one's unit.
    """
    alike = sorted((one.amount, number) for number, one in enumerate(budgets) if one.unit == wanted.unit)
    if not alike:
        raise RLCCFRError(f"nothing was measured under a budget in {wanted.unit}")
    amounts, numbers = zip(*alike, strict=True)
    at = float(np.interp(np.log(wanted.amount), np.log(amounts), np.arange(len(amounts))))
    low = min(int(at), len(amounts) - 1)
    high = min(low + 1, len(amounts) - 1)
    return [(numbers[low], 1.0 - (at - low)), (numbers[high], at - low)] if at > low else [(numbers[low], 1.0)]
