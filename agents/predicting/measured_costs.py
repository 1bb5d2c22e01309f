"""Error costs and speed costs of algorithms on measured games."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rlccfr.agents.judging.evidence import Evidence
from rlccfr.archives import archive_of, check_format, read_archive
from rlccfr.catalog import AXES, Catalog
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset, costs, costs_on_all_scales, mean_costs
from rlccfr.errors import RLCCFRError, what_failed
from rlccfr.files import write_atomically
from rlccfr.games.compiled_games import compiled, uniform_in_units

FORMAT = "rlccfr-costs-2"


class MeasuredCosts(NamedTuple):
    """Mean error cost and speed cost of every algorithm, on every game under every budget.

    The means are over the algorithm's choosing runs (:class:`rlccfr.agents.judging.evidence.Evidence`).

    Attributes:
        catalog, games, budgets: the algorithms, the games and the budgets.
        features: (games, features) the games' features.
        uniform: (games,) exploitability of the uniform policy, in the game's units, or in big blinds if the game has
            blinds.
        costs: (budgets, games, algorithms, 2) the error cost e on the log scale, and the speed cost s (see
            :class:`rlccfr.envs.reward.Costs`); algorithms are in the catalog's order.
    """

    catalog: Catalog
    games: tuple[str, ...]
    budgets: tuple[Budget, ...]
    features: np.ndarray
    uniform: np.ndarray
    costs: np.ndarray

    @classmethod
    def read(
        cls, evaluator: Evaluator, catalog: Catalog, games: Sequence[str], budgets: Sequence[Budget]
    ) -> MeasuredCosts:
        """Return costs from an evaluator, which measures them if they are not known.

        Raises:
            MissingCellError: the evaluator is a table that lacks a measurement.
        """
        costs = [[costs_of(evaluator, catalog, game, budget) for game in games] for budget in budgets]
        features = np.array([features_of(game) for game in games])
        uniform = np.array([uniform_in_units(game) for game in games])
        return cls(catalog, tuple(games), tuple(budgets), features, uniform, np.array(costs))

    def save(self, path: Path) -> None:
        """Write the costs to a file, in single precision."""
        header = {
            "format": FORMAT,
            "catalog": dict(zip(AXES, self.catalog.axes, strict=True)),
            "games": self.games,
            "budgets": [asdict(budget) for budget in self.budgets],
        }
        arrays = {
            "header": np.array(json.dumps(header)),
            "features": self.features,
            "uniform": self.uniform,
            "costs": self.costs.astype(np.float32),
        }
        write_atomically(path, archive_of(arrays, compress=True))

    @classmethod
    def load(cls, path: Path) -> MeasuredCosts:
        """Return the costs that a file holds.

        Raises:
            RLCCFRError: the file is missing or damaged, or of another format.
        """
        try:
            arrays = read_archive(path)
            header = json.loads(str(arrays["header"]))
            check_format(header["format"], FORMAT, path, "costs")
            catalog = Catalog(*(tuple(header["catalog"][axis]) for axis in AXES))
            budgets = tuple(Budget(**budget) for budget in header["budgets"])
            games = tuple(header["games"])
            return cls(catalog, games, budgets, arrays["features"], arrays["uniform"], arrays["costs"].astype(float))
        except RLCCFRError:
            raise
        except FileNotFoundError:
            raise RLCCFRError(f"there is no file {path}") from None
        except Exception as error:  # the errors of damaged archives have no common base class
            raise RLCCFRError(
                f"{path} is not a complete file of costs ({what_failed(error)}); write it again with save()"
            ) from error


def costs_of(evaluator: Evaluator, catalog: Catalog, game: str, budget: Budget) -> np.ndarray:
    """Return the mean error cost (log scale) and speed cost of each algorithm's choosing runs, (algorithms, 2)."""
    runs = Evidence.measured(evaluator, catalog, game, budget).choosing
    return np.array([np.mean([log_costs(run) for run in runs[cell]], axis=0) for cell in catalog])


def log_costs(run: Measurement) -> tuple[float, float]:
    """Return the error cost e on the log scale, and the speed cost s, of a run."""
    run_costs = costs(run)
    return run_costs.log, run_costs.speed


def features_of(game: str) -> np.ndarray:
    """Return a game's features, (features,)."""
    return np.array(GameFeatures.of(compiled(game)))


def interpolation(budgets: Sequence[Budget], wanted: Budget) -> list[tuple[int, float]]:
    """Return the indices of the two budgets around a wanted one, with their weights in a linear interpolation.

    The interpolation is linear in the logarithm of the amount. Only budgets in the unit of the wanted one are used. If
    the wanted budget equals one of them, or is larger or smaller than all of them, only the nearest one is returned.

    Raises:
        RLCCFRError: no budget has the unit of ``wanted``.

    Examples:
        >>> budgets = [Budget("seconds", 0.01), Budget("seconds", 1.0)]
        >>> interpolation(budgets, Budget("seconds", 0.1))
        [(0, 0.5), (1, 0.5)]
    """
    same_unit = sorted((budget.amount, index) for index, budget in enumerate(budgets) if budget.unit == wanted.unit)
    if not same_unit:
        raise RLCCFRError(f"no budget in {wanted.unit} was measured; give a budget in another unit")
    amounts, indices = zip(*same_unit, strict=True)
    # Outside the measured range, np.interp gives the nearer end.
    position = float(np.interp(np.log(wanted.amount), np.log(amounts), np.arange(len(amounts))))
    low = int(position)
    weight_of_next = position - low
    if weight_of_next == 0:
        return [(indices[low], 1.0)]
    return [(indices[low], 1.0 - weight_of_next), (indices[low + 1], weight_of_next)]


def mean_costs_under(log_costs: np.ndarray, preset: Preset, uniform: float | np.ndarray) -> np.ndarray:
    """Return the mean cost 1 - R̄, (...), where R̄ is the mean of the three agents' rewards; less is better.

    Args:
        log_costs: (..., 2) the error cost e on the log scale, and the speed cost s.
        preset: reward weights.
        uniform: exploitability of the uniform policy, in the game's units or in big blinds; a number, or an array that
            broadcasts to (...).
    """
    on_all_scales = costs_on_all_scales(log_costs[..., 0], log_costs[..., 1], np.asarray(uniform))
    return mean_costs(on_all_scales, preset)
