"""The task that a search for an algorithm has, and what it measures.

An evaluation is a distinct cell measured. Comparisons are on R-bar, the mean of the three agents' rewards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.identity import why_unavailable
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.reward import Preset, Scale, mean_reward

Measurements = Mapping[Cell, Sequence[Measurement]]
"""Of each cell one measurement an engine seed."""

Rewards = Mapping[Cell, float]
"""R-bar of each cell."""


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
        measured[cell] = measure(evaluator, cell, game, budget, evaluator.seeds(game, cell) or seeds)
        if progress:
            progress(done / len(catalog))
    return measured


def rewards_of(measurements: Measurements, preset: Preset, scale: Scale = "log") -> dict[Cell, float]:
    """R-bar of each cell, averaged over its engine seeds."""
    return {
        cell: math.fsum(mean_reward(run, preset, scale) for run in runs) / len(runs)
        for cell, runs in measurements.items()
    }


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


def total_cpu_seconds(measurements: Measurements) -> float:
    """Engine CPU seconds of all runs that came to an end; what several engine seeds share ran once."""
    return math.fsum(
        {run.cell_id: run.cpu_seconds for runs in measurements.values() for run in runs if run.ok}.values()
    )
