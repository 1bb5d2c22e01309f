"""Evidence: the runs of every algorithm of a catalog on a game, divided into choosing and judging runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from rlccfr.agents.baselines.task import Measurements, measure_all, total_cpu_seconds, worths_of
from rlccfr.agents.judging.effects import tied_set
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import Preset, mean_reward
from rlccfr.games.compiled_games import compiled

T = TypeVar("T")

TWO_SIDED = 1.96
"""Half-width, in standard deviations, of the interval around the mean that contains 95 % of a normal distribution."""

MEDIAN = 0.6745
"""Half-width, in standard deviations, of the interval around the mean that contains half of a normal distribution."""


def choosing_part(seeds: Sequence[T]) -> tuple[T, ...]:
    """Return the choosing seeds (or runs) of an algorithm: the first two fifths, rounded down, but at least one."""
    return tuple(seeds[: max(1, 2 * len(seeds) // 5)])


def judging_part(seeds: Sequence[T]) -> tuple[T, ...]:
    """Return the judging seeds (or runs) of an algorithm: all but the choosing ones, or the only one."""
    return tuple(seeds[len(choosing_part(seeds)) :] or seeds)


def second_timing(evaluator: Evaluator, game: str, cell: Cell, budget: Budget) -> Measurement | None:
    """Return the second timing of a deterministic algorithm's run.

    Return None if the algorithm is not deterministic, or the evaluator has no second timing of the run.

    Raises:
        MissingCellError: the evaluator is a table that does not have the run.
    """
    return evaluator.timed_again(game, cell, budget) if is_deterministic((cell,), compiled(game)) else None


class ChoosingRuns(Evaluator):
    """An evaluator that answers with a table's choosing runs, whatever seed is requested."""

    def __init__(self, table: TableEvaluator) -> None:
        self.table = table

    def measure(self, request: Request) -> Measurement:
        """Return an algorithm's measurement with a choosing seed.

        The request's seed, modulo the number of choosing seeds, is the index of the choosing seed.

        Raises:
            MissingCellError: the table does not have the run.
        """
        return self.table.measure(self._with_choosing_seed(request))

    def known(self, request: Request) -> bool:
        """Return whether the table has the run."""
        return self.table.known(self._with_choosing_seed(request))

    def result(self, cell_id: str) -> dict[str, Any]:
        """Return the full record of a measurement (:meth:`TableEvaluator.result`)."""
        return self.table.result(cell_id)

    def frame(self) -> pd.DataFrame:
        """Return every record of the table as a row, without its curve."""
        return self.table.frame()

    def _with_choosing_seed(self, request: Request) -> Request:
        """Return the request with a choosing seed, or with its own seed if the algorithm has no runs."""
        seeds = choosing_part(self.table.seeds(request.game, request.cells[0])) or (request.seed,)
        return replace(request, seed=seeds[request.seed % len(seeds)])


@dataclass(frozen=True)
class Evidence:
    """The runs of every algorithm of a catalog on one game under one budget.

    The best of hundreds of noisy algorithms looks better than it is on the runs by which it was chosen. So some runs
    are used to choose, and the others to judge. A deterministic algorithm has one run, since a given number of
    iterations always reaches the same exploitability. Its speed is judged by the run's second timing if a table has
    one; otherwise one timing serves for both.

    Attributes:
        choosing: choosing runs of each algorithm.
        judging: judging runs of each algorithm.
        deterministic: algorithms that draw nothing at random on this game.
        second: second timing of each deterministic algorithm that was timed twice.
    """

    choosing: Measurements
    judging: Measurements
    deterministic: frozenset[Cell] = frozenset()
    second: Mapping[Cell, Measurement] = field(default_factory=dict)

    @classmethod
    def measured(
        cls,
        evaluator: Evaluator,
        catalog: Catalog,
        game: str,
        budget: Budget,
        engine_seeds: Sequence[int] = (0,),
        progress: Callable[[float], None] | None = None,
    ) -> Evidence:
        """Measure every algorithm of a catalog on a game, in the catalog's order.

        Args:
            engine_seeds: engine seeds of each algorithm's runs; if the evaluator is a table, its seeds for an algorithm
                replace them.
            progress: function called after each algorithm with the share that is done.

        Raises:
            MissingCellError: the evaluator is a table that lacks a measurement.
        """
        runs = measure_all(evaluator, catalog, game, budget, engine_seeds, progress)
        tree = compiled(game)
        deterministic = frozenset(cell for cell in catalog if is_deterministic((cell,), tree))
        # A deterministic algorithm has no other run to be judged by, but its speed can be timed twice.
        timings = {cell: second_timing(evaluator, game, cell, budget) for cell in deterministic}
        second = {cell: run for cell, run in timings.items() if run is not None}
        return cls(
            choosing={cell: choosing_part(measurements) for cell, measurements in runs.items()},
            judging={
                cell: (second[cell],) if cell in second else judging_part(measurements)
                for cell, measurements in runs.items()
            },
            deterministic=deterministic,
            second=second,
        )

    @property
    def evaluations(self) -> int:
        """Number of choosing runs."""
        return sum(map(len, self.choosing.values()))

    @property
    def cpu_seconds(self) -> float:
        """Engine CPU seconds of the choosing runs that succeeded."""
        return total_cpu_seconds(self.choosing)

    def recommendable(self, preset: Preset) -> list[Cell]:
        """Return the algorithms that may be recommended: those that have converged in all of their choosing runs.

        If the reward weights ask for speed alone, or no algorithm has converged, all algorithms may be recommended.
        """
        worths = worths_of(self.choosing, preset)
        # If none has converged, the best state is "not converged", and all have it.
        best_state = max(worth.converged for worth in worths.values())
        return [cell for cell, worth in worths.items() if worth.converged == best_state]

    def tied(self, preset: Preset) -> frozenset[Cell] | None:
        """Return the tied set: the algorithms that may be recommended and are not clearly worse than the best of these.

        The judging runs decide. Two kinds of algorithms are tied with the best: those that :func:`tied_set` finds, and
        those that are no further from the best than two timings of one run may be apart. An algorithm that draws at
        random and has fewer runs than others, such as one with networks, counts with its mean and never as the best.

        Returns:
            The tied set. None if there are too few runs to tell: every algorithm has a single run and some draw at
            random, or all that may be recommended have fewer runs than others.
        """
        all_rewards, most_runs = self._judging_rewards(preset)
        if most_runs == 1 and not self.deterministic.issuperset(all_rewards):
            return None
        rewards = {cell: all_rewards[cell] for cell in self.recommendable(preset)}
        means = {cell: math.fsum(values) / len(values) for cell, values in rewards.items()}

        # The best is sought among the algorithms with the most reliable means: those with all seeds, or nothing random.
        reliable = {
            cell for cell, values in rewards.items() if cell in self.deterministic or len(values) == most_runs > 1
        }
        if not reliable:
            return None
        samples = {cell: values if len(values) == most_runs else [means[cell]] for cell, values in rewards.items()}
        tied_by_seeds = tied_set(samples, reliable)

        # Seeds tell nothing about the noise of timing, which also differs between two runs with the same seed.
        timing_margin = TWO_SIDED * math.sqrt(2) * self.timing_error(preset)
        least_mean = max(means[cell] for cell in reliable) - timing_margin
        return tied_by_seeds | {cell for cell, mean in means.items() if mean >= least_mean}

    def timing_error(self, preset: Preset) -> float:
        """Return the standard deviation of the mean reward R̄ over timings of one run; 0 if no run was timed twice.

        It is estimated from the median difference between two timings, which a few disturbed runs do not affect: the
        difference between two normal variables is at most ``MEDIAN * sqrt(2)`` standard deviations half of the time.
        """
        differences = [
            abs(mean_reward(self.choosing[cell][0], preset) - mean_reward(timing, preset))
            for cell, timing in self.second.items()
        ]
        if not differences:
            return 0.0
        return float(np.median(differences)) / MEDIAN / math.sqrt(2)

    def standard_error(self, first: Cell, second: Cell, preset: Preset) -> float:
        """Return the standard error of the difference between two algorithms' mean rewards R̄, by the judging runs.

        It is infinite if an algorithm that draws at random has a single judging run, or fewer than others have.
        """
        rewards, most_runs = self._judging_rewards(preset)
        if {first, second} <= self.deterministic:
            return math.sqrt(2) * self.timing_error(preset)
        random_cells = [cell for cell in (first, second) if cell not in self.deterministic]
        if most_runs == 1 or any(len(rewards[cell]) < most_runs for cell in random_cells):
            return math.inf
        # Runs with the same seed are paired. A deterministic algorithm has the same reward with every seed.
        differences = np.broadcast_to(rewards[first], most_runs) - np.broadcast_to(rewards[second], most_runs)
        return float(np.std(differences, ddof=1) / math.sqrt(most_runs))

    def _judging_rewards(self, preset: Preset) -> tuple[dict[Cell, list[float]], int]:
        """Return the mean rewards R̄ of each algorithm's judging runs, and the largest number of runs that any has."""
        rewards = {cell: [mean_reward(run, preset) for run in runs] for cell, runs in self.judging.items()}
        return rewards, max(map(len, rewards.values()))
