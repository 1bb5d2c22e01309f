"""Iterations over a public tree: by exact passes, or by passes that draw public outcomes and perhaps private states."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from rlccfr import kernels
from rlccfr.components.schedules import MOMENTUM_COLUMNS
from rlccfr.engine.binding import Binding
from rlccfr.engine.blending_stepper import BlendingStepper
from rlccfr.engine.public.draws import iterations_before_restart, logs_of
from rlccfr.engine.public.evaluation import pass_cost, public_values, workspace_of
from rlccfr.engine.public.public_crew import PublicCrew, crew_for, current
from rlccfr.engine.public.public_state import PublicState
from rlccfr.engine.stepper import CHUNK, Stepper
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, PARAMETERS, POSITIVE_DISCOUNT
from rlccfr.kernels.public.drawing import AVERAGE
from rlccfr.kernels.public.public_iterations import drawn_iterations, drawn_passes, public_iterations
from rlccfr.kernels.public.workspace import PublicTables

kernels.announce(kernels.PUBLIC, "public trees")

_DISCOUNTS = [POSITIVE_DISCOUNT, NEGATIVE_DISCOUNT, AVERAGE_DECAY]


class PublicStepper(BlendingStepper[PublicState]):
    """Stepper that runs exact passes over a public tree, for all private states of a node at once."""

    def __init__(self, state: PublicState, binding: Binding, previous: Stepper[PublicState] | None = None) -> None:
        super().__init__(state, binding, previous)
        self.sparse = state.game.is_large
        self._crew = crew_for(state.game, state.dtype, binding.options.threads)
        self._valued_at = (-1, -1)  # iteration of _average_value, and that of its blends
        self._average_value = (np.nan, np.nan, np.nan)
        self._compile()
        if binding.options.blend:  # only with exact passes, and so not in a DrawnStepper
            self._prepare_blends()

    def _prepare_blends(self) -> None:
        """Make the blender, or warn that its memory is not available; in both cases, set the notice about memory."""
        from rlccfr.engine.blending import Blender
        from rlccfr.engine.public.mixer import PublicMixer, memory_for_blends

        state = self.state
        memory, self.notice = memory_for_blends(state)
        if not memory:
            warnings.warn(self.notice, RuntimeWarning, stacklevel=2)
            return
        mixer = PublicMixer(state.game, state.dtype, self._crew, memory)
        self.blender = Blender(mixer, state.iteration, self.run_sums)

    def _compile(self) -> None:
        """Compile the kernels of an iteration, or load them from disk; the run's time does not include this."""
        no_rows = self.binding.rows(self.state.iteration + 1, 0)
        if self._crew is None:
            self._iterate(no_rows, 0)
        else:
            self._crew.compile(self._tables, self.scheduled(no_rows))

    def enter(self) -> None:
        with uninterrupted():
            self.state.adopt(self.binding)

    def _run(self, iterations: int) -> None:
        rows = self._rows(self._until_next_window(iterations))
        with self._noting_decays(rows):
            if self._crew is None:
                self._iterate(rows, 0)
            else:
                self._iterate_together(self._crew, self.scheduled(rows))

    def _rows(self, iterations: int) -> np.ndarray:
        """Return the schedule's rows for at most ``iterations`` next iterations, and for the one after them."""
        return self.binding.rows(self.state.iteration + 1, iterations)

    def _iterate(self, rows: np.ndarray, max_nodes: int) -> None:
        """Run the iterations of a schedule on one thread."""
        state = self.state
        workspace, outcomes = workspace_of(state.game, state.dtype)
        schedule = self.scheduled(rows)
        public_iterations(
            state.game.view, self._tables, workspace, outcomes, state.counts, schedule, self.nodes_per_iteration
        )

    def _iterate_together(self, crew: PublicCrew, schedule: np.ndarray) -> None:
        """Run the iterations of a schedule, as :meth:`scheduled` returns it, on all threads."""
        for t in range(len(schedule) - 1):
            with uninterrupted():  # several kernel calls make one iteration
                crew.iterate(self._tables, schedule[t : t + 2])
                np.add(self.state.counts, (1, self.nodes_per_iteration), out=self.state.counts)

    @property
    def _tables(self) -> PublicTables:
        """The tables that passes change."""
        return self.state.tables

    @property
    def run_sums(self) -> np.ndarray:
        return self.state.tables.policy_sum

    @property
    def iteration_seconds(self) -> float:
        passes = self.nodes_per_iteration / self.state.game.pass_size
        return 1e-9 * passes * pass_cost(self.state.game)

    def scheduled(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of the rule's schedule as kernels read them.

        They are in the tables' units, and in the type in which passes compute.
        """
        schedule = rows[:, : self._columns].copy()
        schedule[:, FLOOR] /= self.state.game.pair_probability  # as in tables; kernels divide by the deal's share
        return schedule.astype(self.state.dtype)

    @property
    def _columns(self) -> int:
        """Number of columns of the schedule that kernels read.

        If the columns for momentum are among them, kernels also update the table M of momentum.
        """
        return PARAMETERS if self.binding.rule.momentum is None else PARAMETERS + len(MOMENTUM_COLUMNS)

    def average_sums(self) -> np.ndarray:
        return self.blended_sums(self.run_sums)

    def current_sums(self) -> np.ndarray:
        return self._current.copy()

    @property
    def _current(self) -> np.ndarray:
        """The entries, (m,), to whose positive parts the current policy is proportional."""
        return current(self.state.tables)

    def average_value(self) -> tuple[float, float, float]:
        """See :meth:`Stepper.average_value`; values are kept until the policy changes, since they can take seconds."""
        now = self.state.iteration, -1 if self.blender is None else self.blender.blended_at
        if self._valued_at != now:
            if self.blender is None:
                self._average_value = public_values(self.state.game, self.run_sums, self._crew)
            else:
                self._average_value = self.blender.values(self.state.iteration, self.run_sums)
            self._valued_at = now
        return self._average_value

    def current_value(self) -> tuple[float, float, float]:
        return public_values(self.state.game, self._current, self._crew)

    def is_finite(self) -> bool:
        return all(np.isfinite(table.sum()) for table in self.state.tables)

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        super().restore(saved)
        self._valued_at = (-1, -1)


class DrawnStepper(PublicStepper):
    """Stepper that draws one outcome at each public chance node, and private states if the sampler says so.

    Only evaluation uses several threads.
    """

    def _compile(self) -> None:
        self._iterate(self.binding.rows(self.state.iteration + 1, 0), 0)

    def advance(self, iterations: int, max_nodes: int) -> None:
        rows = self.binding.rows(self.state.iteration + 1, min(iterations, CHUNK))
        # Before the first iteration, regrets are 0, so its discount has no effect.
        count = iterations_before_restart(rows, first=0 if self.state.iteration else 1)
        if count == 0:
            with uninterrupted():
                self._iterate_and_settle(rows[:2])
        else:
            self._iterate(rows[: count + 1], max_nodes)

    @property
    def run_sums(self) -> np.ndarray:
        self.state.clear_ended_averages()
        return super().run_sums

    def _log_discounts(self, rows: np.ndarray) -> np.ndarray:
        """Return the logarithms of the discounts of a schedule's iterations, (iterations, 3)."""
        log_discounts = logs_of(rows[:-1, _DISCOUNTS])
        if self.binding.abstraction.best_response:
            # Responses are found by exact passes, which update all averages. So no discounts of averages are pending.
            log_discounts[:, AVERAGE] = 0.0
        return log_discounts

    def _iterate_and_settle(self, rows: np.ndarray) -> None:
        """Run one iteration, and apply each player's pending discounts right after its update.

        So player 1's update meets player 0's new policy even at decisions that player 0's update has not reached.
        """
        state = self.state
        if self.binding.abstraction.best_response:  # each update meets a response that was found before both
            self._iterate(rows, 1)
            state.settle()
            return
        workspace, outcomes = workspace_of(state.game, state.dtype)
        workspace = workspace._replace(drawing=state.drawing)
        state.drawing.clock[:] += self._log_discounts(rows)[0]
        schedule = self.scheduled(rows)
        for player in range(2):
            state.counts[1] += drawn_passes(
                state.game.view, player, self._current, state.tables, workspace, outcomes, schedule, 1
            )
            state.settle(player, player + 1)
        state.counts[0] += 1

    def _iterate(self, rows: np.ndarray, max_nodes: int) -> None:
        state = self.state
        workspace, outcomes = workspace_of(state.game, state.dtype)
        drawn_iterations(
            state.game.view,
            state.tables,
            workspace._replace(drawing=state.drawing),
            workspace,
            outcomes,
            state.counts,
            self.scheduled(rows),
            self._log_discounts(rows),
            max_nodes,
        )
