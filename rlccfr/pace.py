"""How many iterations a kernel call runs, so that it is short enough to be interrupted."""

from __future__ import annotations

from rlccfr.engine.stepper import CHUNK

SLICE = 0.05
"""CPU seconds that a kernel call should last at most, so that Ctrl-C, progress and time budgets take effect."""


class Pace:
    """The speed of a run so far.

    Args:
        learns: whether the run's policies come from models, so that an iteration may take a while.
        pass_size: number of histories, or of private states, that a pass touches.
    """

    def __init__(self, learns: bool, pass_size: int) -> None:
        self._rate = 1.0 if learns else max(1.0, 1e6 / pass_size)  # a cautious guess, until some have been timed

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
