"""Exact passes over a public tree, with settings from a schedule: a controller that reads only the run's progress.

Other controllers observe the run at each decision. They can do so only on compiled games, so public trees have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlccfr.components.controller import OF_GAME
from rlccfr.engine.binding import Binding
from rlccfr.engine.public.passes import PublicStepper
from rlccfr.engine.public.public_state import PublicState
from rlccfr.engine.steering import control_of, move_horizon, restore_control, saved_control
from rlccfr.engine.stepper import Stepper
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.control.control_layout import CONTROL, MOMENTUM, SETTINGS
from rlccfr.kernels.control.decide import needs_momentum
from rlccfr.kernels.control.scheduled_segments import prepare_segment_by_progress
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import PARAMETERS
from rlccfr.kernels.public.workspace import PublicTables


class SteeredPublicStepper(PublicStepper):
    """Stepper that runs exact passes over a public tree, with settings that a schedule picks at each decision.

    Decisions fall due after the same numbers of iterations as on compiled games; see
    :func:`rlccfr.kernels.control.decide.next_mark`. The result is the average policy or, with blends, each player's
    blend: no policies on the way are kept.

    Attributes:
        control: the schedule, and its state in this run.
    """

    def __init__(self, state: PublicState, binding: Binding, previous: Stepper[PublicState] | None = None) -> None:
        controller = binding.rule.controller
        assert controller is not None
        self.control = control_of(controller, np.zeros(len(OF_GAME)), state.game.utility_range)
        self._control_handle: Any = handle_of(self.control, CONTROL)
        super().__init__(state, binding, previous)

    @property
    def costs(self) -> dict[str, float]:
        return self._costs()  # a schedule must know the run's length, also without blends

    def set_horizon(self, iterations: int) -> None:
        """See :meth:`Stepper.set_horizon`; for decisions, see :func:`rlccfr.engine.steering.move_horizon`."""
        super().set_horizon(iterations)
        move_horizon(self.control.state, iterations, self.state.iteration)

    def _rows(self, iterations: int) -> np.ndarray:
        """See :meth:`PublicStepper._rows`. If a decision is due, it is made first."""
        with uninterrupted():  # M must be reset if the decision is recorded
            had_momentum = self._settings[MOMENTUM] != 0.0
            count = prepare_segment_by_progress(self._control_handle, self.state.iteration, iterations)
            if self._settings[MOMENTUM] != 0.0 and not had_momentum:
                self.state.tables.movement.fill(0.0)  # whatever earlier segments have left in M
        return self.control.schedule[: count + 1]

    @property
    def _settings(self) -> np.ndarray:
        """Settings of the present segment; see :func:`rlccfr.kernels.control.decide.fill_rows`."""
        return self.control.state[SETTINGS:]

    @property
    def _tables(self) -> PublicTables:
        """The tables that passes change. Segments without momentum skip the work for it, and leave M as it is."""
        tables = self.state.tables
        return tables if needs_momentum(self._settings) else tables._replace(movement=tables.movement[:0])

    @property
    def _columns(self) -> int:
        return super()._columns if needs_momentum(self._settings) else PARAMETERS

    def saved(self) -> dict[str, np.ndarray]:
        return super().saved() | saved_control(self.control)

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        restore_control(self.control, saved)
        super().restore(saved)
