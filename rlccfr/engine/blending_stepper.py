"""Base of the steppers that make exact passes and may end a run with blends."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.stepper import CHUNK, State, Stepper
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY

if TYPE_CHECKING:
    from rlccfr.engine.blending import Blender

TIMED = 0.01
"""CPU seconds of iterations that must be measured before their mean time replaces the predicted one."""


class BlendingStepper(Stepper[State]):
    """Base of steppers that run whole iterations by passes, and make blends if the run's options ask for them.

    Attributes:
        blender: makes the players' blends; None in a run without blends.
    """

    blender: Blender | None = None

    def __init__(self, state: State, binding: Binding, previous: Stepper[State] | None = None) -> None:
        super().__init__(state, binding, previous)
        self._timed_seconds = 0.0
        self._timed_iterations = 0

    @property
    def blends(self) -> bool:
        return self.blender is not None

    @property
    @abstractmethod
    def run_sums(self) -> np.ndarray:
        """The run's own policy sums, (m,), without blends."""

    @property
    @abstractmethod
    def iteration_seconds(self) -> float:
        """CPU seconds that an iteration is predicted to take."""

    @abstractmethod
    def _run(self, iterations: int) -> None:
        """Run at most ``iterations`` iterations."""

    def advance(self, iterations: int, max_nodes: int) -> None:
        before = self.state.iteration
        begin = time.thread_time()
        self._run(min(iterations, CHUNK, -(-max_nodes // self.nodes_per_iteration)))
        self._timed_seconds += time.thread_time() - begin
        self._timed_iterations += self.state.iteration - before

    def _until_next_window(self, iterations: int) -> int:
        """Return how many of the next ``iterations`` may be run before a window begins."""
        if self.blender is None:
            return iterations
        return min(iterations, self.blender.iterations_to_next_window(self.state.iteration))

    @contextmanager
    def _noting_decays(self, rows: np.ndarray) -> Iterator[None]:
        """After the block, tell the blender which of a schedule's rows were run, and begin a window if one is due.

        Args:
            rows: (iterations + 1, 5 + p) rows of the schedule; the block may run fewer iterations.
        """
        before = self.state.iteration
        try:
            yield
        finally:  # Ctrl-C takes effect when the kernel has returned
            if self.blender is not None:
                with uninterrupted():  # a window must not be half ended
                    done = self.state.iteration
                    self.blender.note_decays(rows[: done - before, AVERAGE_DECAY])
                    if self.blender.is_due(done):
                        self.blender.start_next_window(done, self.run_sums)

    @property
    def costs(self) -> dict[str, float] | None:
        """See :attr:`Stepper.costs`; seconds are predicted until enough iterations have been timed."""
        return None if self.blender is None else self._costs()

    def _costs(self) -> dict[str, float]:
        if self._timed_seconds > TIMED:
            seconds = self._timed_seconds / self._timed_iterations
        else:
            seconds = self.iteration_seconds
        return {"iterations": 1.0, "nodes": float(self.nodes_per_iteration), "seconds": seconds}

    def set_horizon(self, iterations: int) -> None:
        if self.blender is not None:
            self.blender.set_horizon(iterations, self.state.iteration)

    def finish_near(self, exploitability: float, target: float) -> bool:
        blender = self.blender
        if blender is None or not blender.is_worth_trying(self.state.iteration, exploitability, target):
            return False
        return blender.make_blends(self.state.iteration, self.run_sums, target)

    def finish(self) -> bool:
        if self.blender is None:
            return False
        return self.blender.make_blends(self.state.iteration, self.run_sums)

    def blended_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return policy sums, (m,): each player's blend, or ``sums`` where no blend is less exploitable."""
        return sums if self.blender is None else self.blender.better(self.state.iteration, sums)

    def saved(self) -> dict[str, np.ndarray]:
        return {} if self.blender is None else self.blender.saved()

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        if self.blender is None:
            return
        if "window_ends" in saved:
            self.blender.restore(saved)
        else:  # the run had no blends when it was saved
            self.blender.begin_window(self.state.iteration, self.run_sums)
