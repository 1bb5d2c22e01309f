"""Iterations by passes over a public tree: exact, or with draws of public outcomes and perhaps of private states."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlccfr import kernels
from rlccfr.engine.binding import Binding
from rlccfr.engine.public.draws import logs_of
from rlccfr.engine.public.evaluation import public_values, workspace_of
from rlccfr.engine.public.public_crew import crew_for, current
from rlccfr.engine.public.public_state import PublicState
from rlccfr.engine.stepper import CHUNK, Stepper, StepperKind
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, PARAMETERS, POSITIVE_DISCOUNT
from rlccfr.kernels.public.drawing import AVERAGE
from rlccfr.kernels.public.public_iterations import drawn_iterations, public_iterations

kernels.announce(kernels.PUBLIC, "public trees")

STEPPERS = (
    StepperKind(lambda binding: binding.sampler.exact, "rlccfr.engine.public.passes:PublicStepper"),
    StepperKind(lambda binding: True, "rlccfr.engine.public.passes:DrawnStepper"),
)
"""All kinds of iteration over a public tree; the first that serves a binding is used."""

_DISCOUNTS = [POSITIVE_DISCOUNT, NEGATIVE_DISCOUNT, AVERAGE_DECAY]


class PublicStepper(Stepper[PublicState]):
    """Stepper that runs exact passes over a public tree, for all private states of a node at once."""

    def __init__(self, state: PublicState, binding: Binding, previous: Stepper[PublicState] | None = None) -> None:
        super().__init__(state, binding, previous)
        self.sparse = state.game.is_large
        self._crew = crew_for(state.game, state.dtype, binding.options.threads)
        self._valued_at = -1  # iteration of the values kept
        self._average_value = (np.nan, np.nan, np.nan)
        self._compile()

    def _compile(self) -> None:
        """Compile the kernels of an iteration, or load them from disk; the run's time does not include this."""
        no_rows = self.binding.rows(self.state.iteration + 1, 0)
        if self._crew is None:
            self._iterate(no_rows, 0)
        else:
            self._crew.compile(self.state.tables, self.scheduled(no_rows))

    def enter(self) -> None:
        with uninterrupted():
            self.state.adopt(self.binding)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state = self.state
        cost = self.nodes_per_iteration
        rows = self.binding.rows(state.iteration + 1, min(iterations, CHUNK, -(-max_nodes // cost)))
        if self._crew is None:
            self._iterate(rows, max_nodes)
            return
        schedule = self.scheduled(rows)
        for t in range(len(schedule) - 1):
            with uninterrupted():  # several kernel calls make one iteration
                self._crew.iterate(state.tables, schedule[t : t + 2])
                np.add(state.counts, (1, cost), out=state.counts)

    def _iterate(self, rows: np.ndarray, max_nodes: int) -> None:
        """Run the iterations of a schedule on one thread."""
        state = self.state
        workspace, outcomes = workspace_of(state.game, state.dtype)
        schedule = self.scheduled(rows)
        public_iterations(
            state.game.view, state.tables, workspace, outcomes, state.counts, schedule, self.nodes_per_iteration
        )

    def scheduled(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of the rule's schedule as kernels take them: in the tables' units and type."""
        columns = rows.shape[1] if self.binding.rule.momentum is not None else PARAMETERS
        schedule = rows[:, :columns].copy()
        schedule[:, FLOOR] /= self.state.game.unit  # tables leave out the unit; kernels divide by the deal's share
        return schedule.astype(self.state.dtype)

    def average_sums(self) -> np.ndarray:
        return self.state.tables.policy_sum

    def current_sums(self) -> np.ndarray:
        return self._current.copy()

    @property
    def _current(self) -> np.ndarray:
        """The entries, (m,), to whose positive parts the current policy is proportional."""
        return current(self.state.tables)

    def average_value(self) -> tuple[float, float, float]:
        """See :meth:`Stepper.average_value`; kept until the next iteration, because large games take seconds."""
        if self._valued_at != self.state.iteration:
            self._average_value = public_values(self.state.game, self.state.tables.policy_sum, self._crew)
            self._valued_at = self.state.iteration
        return self._average_value

    def current_value(self) -> tuple[float, float, float]:
        """See :meth:`Stepper.current_value`; NaN for large games."""
        if self.sparse:
            return np.nan, np.nan, np.nan
        return public_values(self.state.game, self._current, self._crew)

    def is_finite(self) -> bool:
        return all(np.isfinite(table.sum()) for table in self.state.tables)

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        self._valued_at = -1


class DrawnStepper(PublicStepper):
    """Stepper that draws one outcome at each public chance; only evaluation uses several threads."""

    def _compile(self) -> None:
        self._iterate(self.binding.rows(self.state.iteration + 1, 0), 0)

    def advance(self, iterations: int, max_nodes: int) -> None:
        self._iterate(self.binding.rows(self.state.iteration + 1, min(iterations, CHUNK)), max_nodes)

    def _iterate(self, rows: np.ndarray, max_nodes: int) -> None:
        state = self.state
        log_discounts = logs_of(rows[:-1, _DISCOUNTS])
        if self.binding.abstraction.best_response:
            # The passes that find responses meet all averages, so that no discounts of these are pending.
            log_discounts[:, AVERAGE] = 0.0
        workspace, outcomes = workspace_of(state.game, state.dtype)
        drawn_iterations(
            state.game.view,
            state.tables,
            workspace._replace(drawing=state.drawing),
            workspace,
            outcomes,
            state.counts,
            self.scheduled(rows),
            log_discounts,
            max_nodes,
        )
