"""What a team of selectors is compared with, on the same evaluator at equal evaluations.

An evaluation is a distinct cell measured. Comparisons are on R-bar, the mean of the three agents' rewards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.cells import REGISTRIES, why_unavailable
from rlccfr.envs.measurement import Budget, Evaluator, Measurement, Request
from rlccfr.envs.reward import Preset, Scale, mean_reward
from rlccfr.envs.table import TableEvaluator
from rlccfr.errors import RLCCFRError, whole_number

Measurements = Mapping[Cell, Sequence[Measurement]]
"""Of each cell one measurement an engine seed."""

Rewards = Mapping[Cell, float]
"""R-bar of each cell."""

VERSION = 1
"""Version of random search. Raise it when the same seed and measurements would give another choice."""

FIXED = {
    "CFR": Cell("cfr", "none", "none"),
    "LCFR": Cell("lcfr", "none", "none"),
    "DCFR": Cell("dcfr", "none", "none"),
    "ECFR": Cell("ecfr", "none", "none"),
    "DeepCFR": Cell("deep_cfr", "external", "none"),
    "ES-MCCFR": Cell("cfr", "external", "none"),
}
"""The paper's fixed algorithms as cells; ES-MCCFR is external-sampling Monte Carlo CFR."""


def fixed_cells(catalog: Catalog) -> dict[str, Cell]:
    """Those of :data:`FIXED` that a catalog has, whatever hyperparameters its components have there."""
    by_id = [
        {registry[spec].id: spec for spec in reversed(specs)}
        for registry, specs in zip(REGISTRIES, catalog.axes, strict=True)
    ]
    return {
        name: Cell(*(specs[id] for id, specs in zip(cell, by_id, strict=True)))
        for name, cell in FIXED.items()
        if all(id in specs for id, specs in zip(cell, by_id, strict=True))
    }


def measure(
    evaluator: Evaluator, cell: Cell, game: str, budget: Budget, seeds: Sequence[int] = (0,)
) -> list[Measurement]:
    """One cell on one game, one measurement an engine seed."""
    return [evaluator.measure(Request(game, (cell,), budget, seed=seed)) for seed in seeds]


def measure_all(
    evaluator: Evaluator,
    catalog: Catalog,
    game: str,
    budget: Budget,
    seeds: Sequence[int] = (0,),
    progress: Callable[[float], None] | None = None,
) -> dict[Cell, list[Measurement]]:
    """Every cell of a catalog on one game, in the catalog's order.

    Args:
        seeds: of the engine; of a table each cell's own, as it has them.
        progress: called after each cell with the share done.
    """
    measured = {}
    for done, cell in enumerate(catalog, start=1):
        own = evaluator.seeds(game, cell) if isinstance(evaluator, TableEvaluator) else ()
        measured[cell] = measure(evaluator, cell, game, budget, own or seeds)
        if progress:
            progress(done / len(catalog))
    return measured


def rewards_of(measurements: Measurements, preset: Preset, scale: Scale = "log") -> dict[Cell, float]:
    """R-bar of each cell, averaged over its engine seeds."""
    return {
        cell: math.fsum(mean_reward(run, preset, scale) for run in runs) / len(runs)
        for cell, runs in measurements.items()
    }


def virtual_best(rewards: Rewards) -> Cell:
    """The virtual best solver of a game: its best cell; of equals the first in the catalog's order.

    Raises:
        RLCCFRError: there are no cells.
    """
    if not rewards:
        raise RLCCFRError("no cells to choose from: measure some first")
    return max(rewards, key=rewards.__getitem__)


def single_best(rewards_by_game: Mapping[str, Rewards], game: str) -> Cell:
    """The single best solver for a game: the cell with the highest mean R-bar over the *other* games.

    Args:
        rewards_by_game: R-bar of the same cells on each game; ``game`` itself need not be among them.

    Raises:
        RLCCFRError: no other game, or games measured on different cells.
    """
    others = [rewards for name, rewards in rewards_by_game.items() if name != game]
    if not others:
        raise RLCCFRError(f"the single best solver for {game!r} needs measurements of at least one other game")
    if any(rewards.keys() != others[0].keys() for rewards in others):
        raise RLCCFRError("the games were measured on different cells: measure one catalog on all of them")
    return virtual_best({cell: math.fsum(rewards[cell] for rewards in others) for cell in others[0]})


@dataclass(frozen=True)
class Task:
    """What a search is to find the best cell for, and by what it measures."""

    evaluator: Evaluator
    catalog: Catalog
    game: str
    budget: Budget
    preset: Preset
    scale: Scale = "log"
    engine_seeds: Sequence[int] = (0,)

    @property
    def available(self) -> list[Cell]:
        """The cells that can run here."""
        return [cell for cell in self.catalog if why_unavailable(cell) is None]

    def measure(self, cell: Cell, budget: Budget | None = None) -> list[Measurement]:
        """A cell, under the task's budget or another: one measurement an engine seed."""
        return measure(self.evaluator, cell, self.game, budget or self.budget, self.engine_seeds)

    def on(self, engine_seeds: Sequence[int]) -> Task:
        """The same on other engine seeds."""
        return replace(self, engine_seeds=tuple(engine_seeds))

    def rewards(self, measurements: Measurements) -> dict[Cell, float]:
        """R-bar of measured cells."""
        return rewards_of(measurements, self.preset, self.scale)


@dataclass(frozen=True)
class SearchResult:
    """What a search over cells recommends, and what it measured on the way."""

    cell: Cell
    measurements: Mapping[Cell, Sequence[Measurement]]

    @property
    def evaluations(self) -> int:
        """Runs measured: each cell once for each engine seed."""
        return sum(map(len, self.measurements.values()))

    @property
    def cpu_seconds(self) -> float:
        """Engine CPU seconds that the measured runs took."""
        return total_cpu_seconds(self.measurements)


def random_search(task: Task, *, evaluations: int, seed: int = 0) -> SearchResult:
    """Measure distinct cells drawn at random among those that can run here; recommend the best of them.

    Args:
        evaluations: cells to draw; all that there are if they are fewer.
        seed: of the draw.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    available = task.available
    count = min(evaluations, len(available))
    drawn = np.random.default_rng(seed).choice(len(available), count, replace=False)
    cells = [available[int(index)] for index in drawn]
    measured = {cell: task.measure(cell) for cell in cells}
    return SearchResult(virtual_best(task.rewards(measured)), measured)


def median_search(rewards: Rewards, evaluations: int, seed: int = 0, searches: int = 1001) -> Cell:
    """What random search typically finds: of so many searches the one with the median reward.

    Args:
        rewards: R-bar of every cell.
        evaluations: cells that a search draws.
    """
    cells, values = list(rewards), np.array(list(rewards.values()))
    generator = np.random.default_rng(seed)
    count = min(evaluations, len(cells))
    drawn = [generator.choice(len(cells), count, replace=False) for _ in range(searches)]
    found = sorted((int(one[np.argmax(values[one])]) for one in drawn), key=lambda index: float(values[index]))
    return cells[found[len(found) // 2]]


def total_cpu_seconds(measurements: Measurements) -> float:
    """Engine CPU seconds of all runs that came to an end; what several engine seeds share ran once."""
    return math.fsum(
        {run.cell_id: run.cpu_seconds for runs in measurements.values() for run in runs if run.ok}.values()
    )
