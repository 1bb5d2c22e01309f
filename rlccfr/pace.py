"""How many iterations a kernel call runs, so that it is short enough to be interrupted."""

from __future__ import annotations

from typing import Any

from rlccfr.engine.stepper import CHUNK, Stepper

SLICE = 0.05
"""CPU seconds that a kernel call should last at most, so that Ctrl-C, progress and time budgets take effect."""


class Pace:
    """The speed of a run so far.

    Args:
        stepper: the run's stepper.
    """

    def __init__(self, stepper: Stepper[Any]) -> None:
        # A cautious guess, until some have been timed.
        self._rate = 1.0 if stepper.learns else max(1.0, 2e6 / stepper.nodes_per_iteration)

    def most(self, iterations: int, seconds: float) -> int:
        """Return how many iterations to run in the next call, at least 1.

        Args:
            iterations: number of iterations that are left.
            seconds: CPU seconds that are left.
        """
        return max(1, min(iterations, CHUNK, int(self._rate * min(1.0, seconds / SLICE))))

    def note(self, done: int, seconds: float) -> None:
        """Note how many iterations a call ran, and its CPU seconds."""
        rate = min(2.0 * self._rate, done * SLICE / max(seconds, 1e-9)) if seconds < SLICE else done / 2
        self._rate = max(rate, 1.0)
