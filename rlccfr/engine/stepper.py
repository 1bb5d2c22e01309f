"""Base class of steppers, which advance a run; each kind of iteration has one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.errors import ComponentError
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.kernels.layout import Tables

CHUNK = 4096
"""Largest number of iterations per kernel call; it bounds the schedule's memory."""


class Stepper(ABC):
    """Base of objects that advance the tables of a run under one binding.

    A stepper whose policies come from the tables alone overrides only :meth:`advance`.

    Args:
        state: the run's tables, which the stepper changes in place.
        binding: the components.
        previous: the previous stepper, if its models are still valid.

    Raises:
        ComponentError: the game lacks something that the components need.
    """

    learns: ClassVar[bool] = False
    """Whether policies come from models, so that an iteration may take a while."""

    def __init__(self, state: RunState, binding: Binding, previous: Stepper | None = None) -> None:
        self.state, self.binding = state, binding

    @abstractmethod
    def advance(self, iterations: int, max_nodes: int) -> None:
        """Run at most ``iterations`` iterations, and stop once ``max_nodes`` more histories have been touched.

        A stepper may stop earlier, after at least one iteration.
        """

    @property
    def costs(self) -> dict[str, float] | None:
        """What an iteration is expected to use of each budget; None if the stepper does not plan."""
        return None

    def aim(self, iterations: int) -> None:  # noqa: B027  (most steppers do not plan)
        """Learn how many iterations the run is meant to have in all; 0 if that is open."""

    def finish(self) -> bool:
        """End the run, which may go on later; return whether the average policy may have changed."""
        return False

    def enter(self) -> None:  # noqa: B027  (steppers without models have nothing to do)
        """Take over from the tables after the components were changed during a run."""

    def publish(self) -> None:  # noqa: B027  (most steppers work on the run's own tables)
        """Bring the run's tables up to date, if the stepper works on others."""

    @property
    def form(self) -> SequenceForm:
        """The sequence form that iterations run over: the game, or a quotient whose tables determine the game's."""
        return self.state.game

    @property
    def tables(self) -> Tables:
        """The tables over the sequences of ``form``."""
        return self.state.tables

    def average_sums(self) -> np.ndarray:
        """Return an array over the sequences of ``form``, proportional to the average policy at each infoset."""
        return self.tables.policy_sum

    def draw_policy(self, rng: np.random.Generator) -> np.ndarray:
        """Return a policy (m,) drawn from the average policy's mixture; see :meth:`rlccfr.Solver.draw_policy`.

        Raises:
            ComponentError: this stepper keeps no mixture.
        """
        raise ComponentError("policies are drawn only under an update rule with average='value_networks'")

    def is_finite(self) -> bool:
        """Return whether all tables and models are finite; infinities and NaN never disappear again."""
        return all(np.isfinite(table).all() for table in self.tables)

    def saved(self) -> dict[str, np.ndarray]:
        """Return the arrays outside the tables that the next iteration depends on, by name."""
        return {}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:  # noqa: B027
        """Restore the arrays that :meth:`saved` returned."""
