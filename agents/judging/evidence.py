"""Every cell of a catalog measured on a game: by which runs to choose, and by which others to judge the choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from rlccfr.agents.baselines.task import Measurements, measure_all, total_cpu_seconds
from rlccfr.agents.judging.effects import tied_set
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import Preset, Scale, mean_reward

T = TypeVar("T")

TWO_SIDED = 1.96
"""Standard deviations within which 95 % of a normal distribution lie ..."""

MEDIAN = 0.6745
"""... and within which half of it does."""


def selecting(seeds: Sequence[T]) -> tuple[T, ...]:
    """Of a cell's engine seeds, or of its runs by seed, the first two fifths, at least one: (0, 1) of five."""
    return tuple(seeds[: max(1, 2 * len(seeds) // 5)])


def reporting(seeds: Sequence[T]) -> tuple[T, ...]:
    """The seeds that :func:`selecting` leaves; a single one serves for both."""
    return tuple(seeds[len(selecting(seeds)) :] or seeds)


def second_timing(evaluator: Evaluator, game: str, cell: Cell, budget: Budget) -> Measurement | None:
    """Return the second timing of a deterministic cell's only run; None if it draws at random or was timed once."""
    return evaluator.timed_again(game, cell, budget) if is_deterministic((cell,), compiled(game)) else None


class ChoosingRuns(Evaluator):
    """An evaluator that answers from the runs of a table that one may choose by, whatever seed is asked for."""

    def __init__(self, table: TableEvaluator) -> None:
        self.table = table

    def measure(self, request: Request) -> Measurement:
        """The cell's run by the first, second ... of its selecting seeds, and again the first.

        Raises:
            MissingCellError: the table does not have it.
        """
        return self.table.measure(self._among(request))

    def known(self, request: Request) -> bool:
        """Whether the table has it."""
        return self.table.known(self._among(request))

    def result(self, cell_id: str) -> dict[str, Any]:
        """See :meth:`TableEvaluator.result`."""
        return self.table.result(cell_id)

    def frame(self) -> pd.DataFrame:
        """Every record of the table."""
        return self.table.frame()

    def _among(self, request: Request) -> Request:
        seeds = selecting(self.table.seeds(request.game, request.cells[0])) or (request.seed,)
        return replace(request, seed=seeds[request.seed % len(seeds)])


@dataclass(frozen=True)
class Evidence:
    """All cells of a catalog on one game under one budget.

    The best of hundreds of noisy cells looks better than it is on the runs it was chosen by; so it is chosen by some
    runs and judged by others. A deterministic cell has one run: after as many iterations its exploitability is the same
    whenever it runs. Its speed is judged by the run's second timing where a table has one; elsewhere one timing serves
    for both.

    Attributes:
        fixed: the cells that draw nothing at random on this game.
        again: the second timing of each of them that was timed twice.
    """

    selecting: Measurements
    reporting: Measurements
    fixed: frozenset[Cell] = frozenset()
    again: Mapping[Cell, Measurement] = field(default_factory=dict)

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
        """Measure every cell, in the catalog's order.

        Args:
            engine_seeds: of each cell; of a table each cell's own, as it has them.
            progress: called after each cell with the share done.
        """
        runs = measure_all(evaluator, catalog, game, budget, engine_seeds, progress)
        tree = compiled(game)
        fixed = frozenset(cell for cell in catalog if is_deterministic((cell,), tree))
        second = {cell: second_timing(evaluator, game, cell, budget) for cell in fixed}
        again = {cell: run for cell, run in second.items() if run is not None}
        return cls(
            {cell: selecting(own) for cell, own in runs.items()},
            {cell: (again[cell],) if cell in again else reporting(own) for cell, own in runs.items()},
            fixed,
            again,
        )

    @property
    def evaluations(self) -> int:
        """Runs by which one chooses."""
        return sum(map(len, self.selecting.values()))

    @property
    def cpu_seconds(self) -> float:
        """Engine CPU seconds that the runs took by which one chooses."""
        return total_cpu_seconds(self.selecting)

    def tied(self, preset: Preset, scale: Scale = "log") -> frozenset[Cell] | None:
        """The cells that the runs to judge by can't tell from the best of them; None where single runs tell nothing.

        Those that :func:`tied_set` finds, and those no further from the best than two timings of one run are apart.
        Cells with fewer runs than others have, as those with networks, count with their mean, and not as the best.
        """
        rewards, most = self._judged(preset, scale)
        if most == 1 and not self.fixed.issuperset(rewards):
            return None
        whole = {cell for cell, values in rewards.items() if cell in self.fixed or len(values) == most > 1}
        means = {cell: math.fsum(values) / len(values) for cell, values in rewards.items()}
        told = tied_set(
            {cell: values if len(values) == most else [means[cell]] for cell, values in rewards.items()}, whole
        )
        near = max(means[cell] for cell in whole) - TWO_SIDED * math.sqrt(2) * self.timing_error(preset, scale)
        return told | {cell for cell, mean in means.items() if mean >= near}

    def timing_error(self, preset: Preset, scale: Scale = "log") -> float:
        """Standard deviation of a run's R-bar by how it was timed alone: by the median difference of two timings."""
        differences = [
            abs(mean_reward(self.selecting[cell][0], preset, scale) - mean_reward(second, preset, scale))
            for cell, second in self.again.items()
        ]
        return float(np.median(differences)) / MEDIAN / math.sqrt(2) if differences else 0.0

    def standard_error(self, first: Cell, second: Cell, preset: Preset, scale: Scale = "log") -> float:
        """Of the difference of two cells' R-bar over the runs that judge; infinite where one shows no spread."""
        rewards, most = self._judged(preset, scale)
        if {first, second} <= self.fixed:
            return math.sqrt(2) * self.timing_error(preset, scale)
        if most == 1 or any(len(rewards[cell]) < most and cell not in self.fixed for cell in (first, second)):
            return math.inf
        differences = np.broadcast_to(rewards[first], most) - np.broadcast_to(rewards[second], most)
        return float(np.std(differences, ddof=1) / math.sqrt(most))

    def _judged(self, preset: Preset, scale: Scale) -> tuple[dict[Cell, list[float]], int]:
        """R-bar of each cell by seed, and the most seeds that any has."""
        rewards = {cell: [mean_reward(run, preset, scale) for run in runs] for cell, runs in self.reporting.items()}
        return rewards, max(map(len, rewards.values()))
