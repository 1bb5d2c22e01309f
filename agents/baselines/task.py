"""The task of a search for an algorithm, and the search's measurements.

An evaluation is one distinct algorithm measured with one engine seed. Comparisons use R̄, the mean of the three agents'
rewards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.identity import why_unavailable
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.reward import Preset, Worth, costs, mean_reward

Measurements = Mapping[Cell, Sequence[Measurement]]
"""Measurements by algorithm, one per engine seed."""

Rewards = Mapping[Cell, float]
"""R̄, the mean of the three agents' rewards, by algorithm."""

Worths = Mapping[Cell, Worth]
"""Worth by algorithm: whether it has converged, and its R̄ (:class:`rlccfr.envs.reward.Worth`)."""


class Rank(NamedTuple):
    """The numbers by which algorithms are ranked where the best one on a game is shown; the largest rank is the best.

    Ranks are compared field by field. Worths alone may tie: on the log scale, the error cost e is 0 for any
    exploitability eight or more decades below the uniform policy's.

    Attributes:
        worth: the algorithm's worth.
        accuracy: minus the mean exploitability; decides between equal worths.
        speed: mean throughput as a multiple of plain CFR's; decides between equal worths and exploitabilities.
    """

    worth: Worth
    accuracy: float
    speed: float


def measure(
    evaluator: Evaluator, cell: Cell, game: str, budget: Budget, seeds: Sequence[int] = (0,)
) -> list[Measurement]:
    """Measure one algorithm on one game; return one measurement per engine seed.

    Raises:
        MissingCellError: the evaluator is a table that lacks a measurement.
    """
    return [evaluator.measure(Request(game, (cell,), budget, seed=seed)) for seed in seeds]


def measure_all(
    evaluator: Evaluator,
    catalog: Catalog,
    game: str,
    budget: Budget,
    seeds: Sequence[int] = (0,),
    progress: Callable[[float], None] | None = None,
) -> dict[Cell, list[Measurement]]:
    """Measure every algorithm of a catalog on one game, in the catalog's order.

    Args:
        evaluator: evaluator that measures.
        catalog, game, budget: algorithms, game and budget of each run.
        seeds: engine seeds of each algorithm's runs; if the evaluator is a table, the seeds that it has for an
            algorithm replace them.
        progress: function called after each algorithm with the share that is done.

    Returns:
        Measurements by algorithm, one per engine seed.

    Raises:
        MissingCellError: the evaluator is a table that lacks a measurement.

    Examples:
        >>> from rlccfr.envs.measuring.live import LiveEvaluator
        >>> catalog = Catalog(("cfr", "dcfr"), ("none",), ("none",))
        >>> runs = measure_all(LiveEvaluator(), catalog, "kuhn", Budget("iterations", 10))
        >>> [str(cell) for cell in runs]
        ['cfr x none x none', 'dcfr x none x none']
    """
    measured = {}
    for done, cell in enumerate(catalog, start=1):
        measured[cell] = measure(evaluator, cell, game, budget, evaluator.seeds(game, cell) or seeds)
        if progress:
            progress(done / len(catalog))
    return measured


def rewards_of(measurements: Measurements, preset: Preset) -> dict[Cell, float]:
    """Return each algorithm's R̄, the mean of the three agents' rewards, averaged over its engine seeds."""
    return {
        cell: math.fsum(mean_reward(run, preset) for run in runs) / len(runs) for cell, runs in measurements.items()
    }


def worths_of(measurements: Measurements, preset: Preset) -> dict[Cell, Worth]:
    """Return each algorithm's worth, by which it is ranked: whether it has converged, and its mean reward R̄."""
    return {cell: preset.worth([costs(run) for run in runs]) for cell, runs in measurements.items()}


def ranks_of(measurements: Measurements, preset: Preset) -> dict[Cell, Rank]:
    """Return each algorithm's rank: its worth, then its exploitability and its speed."""
    return {
        cell: Rank(
            worth,
            accuracy=-_mean([run.exploitability if run.ok else math.inf for run in measurements[cell]]),
            speed=_mean([run.speed if run.ok else 0.0 for run in measurements[cell]]),
        )
        for cell, worth in worths_of(measurements, preset).items()
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


@dataclass(frozen=True)
class Task:
    """The task of a search: find the best algorithm for a game, a budget and reward weights.

    Attributes:
        evaluator: evaluator that measures.
        catalog: algorithms to choose from.
        game, budget, preset: game, budget and reward weights to choose for.
        engine_seeds: engine seeds of each algorithm's runs.
    """

    evaluator: Evaluator
    catalog: Catalog
    game: str
    budget: Budget
    preset: Preset
    engine_seeds: Sequence[int] = (0,)

    @property
    def available(self) -> list[Cell]:
        """The catalog's algorithms that can run in this installation."""
        return [cell for cell in self.catalog if why_unavailable(cell) is None]

    def measure(self, cell: Cell, budget: Budget | None = None) -> list[Measurement]:
        """Measure an algorithm under a budget, by default the task's; return one measurement per engine seed."""
        return measure(self.evaluator, cell, self.game, budget or self.budget, self.engine_seeds)

    def on(self, engine_seeds: Sequence[int]) -> Task:
        """Return the same task with other engine seeds."""
        return replace(self, engine_seeds=tuple(engine_seeds))

    def rewards(self, measurements: Measurements) -> dict[Cell, float]:
        """Return R̄, the mean of the three agents' rewards, of the measured algorithms."""
        return rewards_of(measurements, self.preset)

    def worths(self, measurements: Measurements) -> dict[Cell, Worth]:
        """Return the worths of the measured algorithms."""
        return worths_of(measurements, self.preset)

    def ranks(self, measurements: Measurements) -> dict[Cell, Rank]:
        """Return the ranks of the measured algorithms."""
        return ranks_of(measurements, self.preset)


@dataclass(frozen=True)
class SearchResult:
    """The recommendation of a search, with the search's measurements.

    Attributes:
        cell: recommended algorithm.
        measurements: measurements by algorithm, one per engine seed.
    """

    cell: Cell
    measurements: Mapping[Cell, Sequence[Measurement]]

    @property
    def evaluations(self) -> int:
        """Number of measured runs, one per algorithm and engine seed."""
        return sum(map(len, self.measurements.values()))

    @property
    def cpu_seconds(self) -> float:
        """Engine CPU seconds of the measured runs that succeeded; a run that all engine seeds share counts once."""
        return total_cpu_seconds(self.measurements)


def total_cpu_seconds(measurements: Measurements) -> float:
    """Return the engine CPU seconds of all runs that succeeded.

    A deterministic algorithm has one run, which all engine seeds share; it counts once.
    """
    seconds_by_run = {run.cell_id: run.cpu_seconds for runs in measurements.values() for run in runs if run.ok}
    return math.fsum(seconds_by_run.values())
