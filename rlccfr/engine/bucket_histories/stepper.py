"""Iterations on hold'em in buckets, by exact passes over bucket histories."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.bucket_histories.sweeps import Sweeps, current
from rlccfr.engine.bucket_histories.tables import BucketHistoryTables
from rlccfr.engine.stepper import CHUNK, Stepper, StepperKind
from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import PARAMETERS

STEPPERS = (StepperKind(lambda binding: True, "rlccfr.engine.bucket_histories.stepper:BucketHistoryStepper"),)
"""All kinds of iteration on hold'em in buckets."""

_sweeps: WeakKeyDictionary[BucketHistoryGame, dict[np.dtype, Sweeps]] = WeakKeyDictionary()


def sweeps_of(game: BucketHistoryGame, dtype: np.dtype) -> Sweeps:
    """Return passes on one thread, whose working arrays all runs and evaluations in one precision share."""
    by_dtype = _sweeps.setdefault(game, {})
    if dtype not in by_dtype:
        by_dtype[dtype] = Sweeps(game, dtype)
    return by_dtype[dtype]


class BucketHistoryStepper(Stepper[BucketHistoryTables]):
    """Stepper that runs exact passes over bucket histories."""

    def __init__(
        self, state: BucketHistoryTables, binding: Binding, previous: Stepper[BucketHistoryTables] | None = None
    ) -> None:
        super().__init__(state, binding, previous)
        self.sparse = state.game.is_large
        threads = binding.options.threads
        self._sweeps = sweeps_of(state.game, state.dtype) if threads == 1 else Sweeps(state.game, state.dtype, threads)
        self._sweeps.compile(state.tables, self._scheduled(binding.rows(state.iteration + 1, 1)))
        self._valued_at = -1  # iteration of the values kept
        self._average_value = (np.nan, np.nan, np.nan)

    def enter(self) -> None:
        with uninterrupted():
            self.state.adopt(self.binding)

    def _scheduled(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of the rule's schedule as kernels take them: in the tables' type."""
        columns = rows.shape[1] if self.binding.rule.momentum is not None else PARAMETERS
        return np.ascontiguousarray(rows[:, :columns], self.state.dtype)

    def advance(self, iterations: int, max_nodes: int) -> None:
        count = min(iterations, CHUNK, -(-max_nodes // self.nodes_per_iteration))
        schedule = self._scheduled(self.binding.rows(self.state.iteration + 1, count))
        for t in range(count):
            with uninterrupted():  # several calls make one iteration
                self._sweeps.iterate(self.state.tables, schedule[t : t + 2])
                np.add(self.state.counts, (1, self.nodes_per_iteration), out=self.state.counts)

    def average_sums(self) -> np.ndarray:
        return self.state.tables.policy_sum

    def current_sums(self) -> np.ndarray:
        return current(self.state.tables).copy()

    def average_value(self) -> tuple[float, float, float]:
        """See :meth:`Stepper.average_value`; kept until the policy changes, because large games take seconds."""
        if self._valued_at != self.state.iteration:
            self._average_value = self._sweeps.values(self.average_sums())
            self._valued_at = self.state.iteration
        return self._average_value

    def current_value(self) -> tuple[float, float, float]:
        return self._sweeps.values(current(self.state.tables))

    def is_finite(self) -> bool:
        return all(np.isfinite(table.sum()) for table in self.state.tables[:4])
