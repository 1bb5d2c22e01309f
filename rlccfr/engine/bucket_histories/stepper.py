"""Iterations on hold'em in buckets: passes over all bucket histories, or only over those that drawn cards allow."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.bucket_histories.draws import BoardSweeps, HandSweeps, cards_of, kept_showdowns
from rlccfr.engine.bucket_histories.sweeps import Sweeps, current, scratch_for
from rlccfr.engine.bucket_histories.tables import BucketHistoryTables
from rlccfr.engine.public.draws import iterations_before_restart, logs_of
from rlccfr.engine.stepper import CHUNK, Stepper, StepperKind
from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.bucket_histories.draws import chance_iterations
from rlccfr.kernels.layout import AVERAGE_DECAY, NEGATIVE_DISCOUNT, PARAMETERS, POSITIVE_DISCOUNT

STEPPERS = (
    StepperKind(lambda binding: binding.sampler.exact, "rlccfr.engine.bucket_histories.stepper:BucketHistoryStepper"),
    StepperKind(
        lambda binding: binding.sampler.chance == "public", "rlccfr.engine.bucket_histories.stepper:BoardStepper"
    ),
    StepperKind(lambda binding: True, "rlccfr.engine.bucket_histories.stepper:DealStepper"),
)
"""All kinds of iteration on hold'em in buckets; a run uses the first one that serves its binding."""

_DISCOUNTS = [POSITIVE_DISCOUNT, NEGATIVE_DISCOUNT, AVERAGE_DECAY]

_sweeps: WeakKeyDictionary[BucketHistoryGame, dict[np.dtype, Sweeps]] = WeakKeyDictionary()


def sweeps_of(game: BucketHistoryGame, dtype: np.dtype) -> Sweeps:
    """Return a game's passes on one thread; all runs and evaluations in one precision share these passes."""
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
        self._all_sweeps = (
            sweeps_of(state.game, state.dtype) if threads == 1 else Sweeps(state.game, state.dtype, threads)
        )
        self._valued_at = -1  # iteration after which the kept values were computed
        self._average_value = (np.nan, np.nan, np.nan)
        self._prepare()

    def _prepare(self) -> None:
        """Compile the kernels of an iteration, or load them from disk; the run's time does not include this."""
        schedule = self._scheduled(self.binding.rows(self.state.iteration + 1, 1))
        self._all_sweeps.compile(self.state.tables, self.state.pending, schedule)

    def enter(self) -> None:
        with uninterrupted():
            self.state.adopt(self.binding)

    def _scheduled(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of the rule's schedule as kernels read them: the columns they use, in the tables' type."""
        columns = rows.shape[1] if self.binding.rule.momentum is not None else PARAMETERS
        return np.ascontiguousarray(rows[:, :columns], self.state.dtype)

    def advance(self, iterations: int, max_nodes: int) -> None:
        count = min(iterations, CHUNK, -(-max_nodes // self.nodes_per_iteration))
        schedule = self._scheduled(self.binding.rows(self.state.iteration + 1, count))
        for t in range(count):
            with uninterrupted():  # an iteration takes several kernel calls
                self._all_sweeps.iterate(self.state.tables, self.state.pending, schedule[t : t + 2])
                np.add(self.state.counts, (1, self.nodes_per_iteration), out=self.state.counts)

    def average_sums(self) -> np.ndarray:
        return self.state.tables.policy_sum

    def current_sums(self) -> np.ndarray:
        return current(self.state.tables).copy()

    def average_value(self) -> tuple[float, float, float]:
        """See :meth:`Stepper.average_value`; values are kept until the policy changes, since they can take seconds."""
        if self._valued_at != self.state.iteration:
            self._average_value = self._all_sweeps.values(self.average_sums())
            self._valued_at = self.state.iteration
        return self._average_value

    def current_value(self) -> tuple[float, float, float]:
        return self._all_sweeps.values(current(self.state.tables))

    def is_finite(self) -> bool:
        return all(np.isfinite(table.sum()) for table in self.state.tables[:4])

    def restore(self, saved: Any) -> None:
        self._valued_at = -1


class DrawingStepper(BucketHistoryStepper):
    """Base of steppers that draw cards, and make passes over the bucket histories that the cards allow."""

    def advance(self, iterations: int, max_nodes: int) -> None:
        state = self.state
        rows = self.binding.rows(state.iteration + 1, min(iterations, CHUNK))
        logs = logs_of(rows[:-1, _DISCOUNTS])
        count = iterations_before_restart(rows)
        if count == 0:
            with uninterrupted():
                self._iterate_and_settle(rows[:2], logs[:1])
        else:
            self._iterate(rows[: count + 1], logs[:count], max_nodes)

    def average_sums(self) -> np.ndarray:
        self.state.clear_ended_averages()
        return super().average_sums()

    def _iterate_and_settle(self, rows: np.ndarray, logs: np.ndarray) -> None:
        """Run one iteration, after which all pending discounts are applied."""
        self._iterate(rows, logs, 1)
        self.state.settle()

    @abstractmethod
    def _iterate(self, rows: np.ndarray, logs: np.ndarray, max_nodes: int) -> None:
        """Run the iterations of some rows of the schedule.

        Args:
            rows: (iterations + 1, 5 + p) rows of these iterations and of the one after them.
            logs: (iterations, 3) logarithms of the discounts of positive and of other regrets, and of policy sums.
            max_nodes: number of bucket histories; the iteration in which this many have been met is the last.
        """


class BoardStepper(DrawingStepper):
    """Stepper that draws a board in each iteration, and makes passes over the bucket histories of the hands on it.

    With the option ``by_hand``, the passes go over the hands themselves, which makes the same updates.
    """

    def _prepare(self) -> None:
        options = self.binding.options
        kind = HandSweeps if options.by_hand else BoardSweeps
        self._board_sweeps = kind(self.state.game, self.state.dtype, options.threads)
        schedule = self._scheduled(self.binding.rows(self.state.iteration + 1, 1))
        self._board_sweeps.draw(self.state.rng.copy())
        self._board_sweeps.compile(self.state.tables, self.state.pending, schedule)

    def _iterate(self, rows: np.ndarray, logs: np.ndarray, max_nodes: int) -> None:
        state = self.state
        schedule = self._scheduled(rows)
        met_before = state.nodes
        for t in range(len(logs)):
            with uninterrupted():
                state.pending.clock[:] += logs[t]
                num_met = self._board_sweeps.draw(state.rng)
                self._board_sweeps.iterate(state.tables, state.pending, schedule[t : t + 2])
                np.add(state.counts, (1, num_met), out=state.counts)
            if state.nodes - met_before >= max_nodes:
                return


class DealStepper(DrawingStepper):
    """Stepper that draws a deal for each player's update; the update visits the bucket histories of the two hands."""

    def _prepare(self) -> None:
        state = self.state
        game = state.game
        self._rounds = tuple(self._all_sweeps.rounds)
        self._scratch = scratch_for(game, state.dtype)
        self._cards = cards_of(game.bucketing)
        self._showdowns = kept_showdowns(game.bucketing)
        self._pots = game.rounds[-1].pots.astype(state.dtype)
        most_leaves = max(max(betting.num_folds, betting.num_ends) * betting.num_lines for betting in game.rounds)
        self._leaves = np.zeros((2, len(game.rounds), most_leaves), state.dtype)
        self._cost = 4 * sum(betting.num_lines * len(betting.nodes) for betting in game.rounds)
        self._iterate(self.binding.rows(state.iteration + 1, 0), np.zeros((0, 3)), 0)

    def _iterate(self, rows: np.ndarray, logs: np.ndarray, max_nodes: int) -> None:
        self._update(0, 2, rows, logs, max_nodes)

    def _iterate_and_settle(self, rows: np.ndarray, logs: np.ndarray) -> None:
        # Player 1's update plays against player 0's new policy, even at histories that player 0's update did not visit.
        # So player 0's discounts are applied in between.
        self._update(0, 1, rows, logs, 1)
        self.state.settle([0])
        self._update(1, 2, rows, np.zeros_like(logs), 1)
        self.state.settle([1])

    def _update(self, first_player: int, end_player: int, rows: np.ndarray, logs: np.ndarray, max_nodes: int) -> None:
        """Run the updates of some players; an iteration counts once player 1 is updated."""
        state = self.state
        chance_iterations(
            self._rounds, state.tables, current(state.tables), state.pending, state.game.bucketing.tables,
            self._showdowns, self._cards, state.rng, self._pots, self._leaves, self._scratch, state.counts,
            self._scheduled(rows), logs, self._cost, max_nodes, first_player, end_player,
        )  # fmt: skip
