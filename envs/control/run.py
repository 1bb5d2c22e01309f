"""Runs of one game under a controller, again and again, as training needs them."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.components.controller import AGENTS, OBSERVATION, SETTINGS, Controller
from rlccfr.engine.controlled import ControlledStepper, control_of
from rlccfr.engine.engine import Engine, RunOptions
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.control import control_layout
from rlccfr.kernels.control.decide import next_mark
from rlccfr.kernels.layout import LEAST_ERROR
from rlccfr.policy import Policy


class Episode(NamedTuple):
    """A controlled run with d decisions.

    Attributes:
        observations: (d, k) what the agents saw: the entries of OBSERVATION.
        picks: (d, 3) what they picked.
        errors: (d + 1,) log10 of the average policy's exploitability as a share of the uniform policy's, at each
            decision and at the end.
    """

    observations: np.ndarray
    picks: np.ndarray
    errors: np.ndarray


def marks_of(horizon: int) -> tuple[int, ...]:
    """Return the numbers of iterations at which decisions are due in a run of ``horizon`` iterations."""
    marks = [0]
    while (mark := int(next_mark(marks[-1], horizon))) < horizon:
        marks.append(mark)
    return tuple(marks)


class ControlRun:
    """Runs of one game under a controller, one at a time.

    Args:
        horizon: number of iterations of each run.
        keep: whether each player keeps its best average policy of the run's last eighth, as a solver's runs do. The
            last error of an episode is then that of the policies kept. Controllers are trained without.

    Attributes:
        marks: numbers of iterations at which decisions are due.
        cpu_seconds: CPU seconds since the run's start, with observing included.
    """

    def __init__(self, game: GameTree, controller: Controller, horizon: int, *, keep: bool = False) -> None:
        self.game, self._controller, self._keep = game, controller, keep
        engine = Engine(game, 0, RunOptions(reduce=True))
        engine.bind(UpdateRule.controlled_by(controller), Sampler(exact=True), Abstraction())
        assert isinstance(engine.stepper, ControlledStepper)
        self._engine, self._stepper = engine, engine.stepper
        self.aim(horizon)

    def aim(self, horizon: int) -> None:
        """Go back to the start of a run of another number of iterations, with the controller's own weights."""
        self.horizon, self.marks = horizon, marks_of(horizon)
        control = control_of(self._controller, self.game, len(self.marks))
        self._control = control._replace(weights=control.weights.copy())  # an episode may be given others
        self._stepper.take(self._control, keep=self._keep)
        self.restart()

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return self._engine.iteration

    @property
    def error(self) -> float:
        """log10 of the average policy's exploitability, as a share of the uniform policy's, when last observed."""
        return float(self._control.memory[control_layout.ERROR])

    @property
    def exploitability(self) -> float:
        """Exploitability of the average policy when last observed, in the game's units."""
        return float(10.0 ** (self.error + self._control.memory[control_layout.START]))

    def average_policy(self) -> Policy:
        """Return the average policy so far."""
        return Policy.from_sums(self.game, self._stepper.average_sums())

    @property
    def settings(self) -> dict[str, float | bool | None]:
        """The settings picked last, as hyperparameters of the update rule ``scheduled``."""
        first = control_layout.SETTINGS
        alpha, beta, floor, gamma, optimism = map(float, self._control.memory[first : first + len(SETTINGS)])
        return {
            "alpha": None if math.isinf(alpha) else alpha,
            "beta": None if floor else beta,
            "gamma": gamma,
            "optimism": optimism,
            "floor": bool(floor),
        }

    def restart(self) -> None:
        """Go back to the start of the run."""
        self._stepper.restart()
        self._stepper.aim(self.horizon)
        self._control.forced.fill(-1)
        self.cpu_seconds = 0.0

    def observe(self) -> np.ndarray:
        """Return a copy of what the agents see, (k,), at a decision or at the end.

        What they see next counts from there.
        """
        begin = time.thread_time()
        seen = self._stepper.observe().copy()
        self.cpu_seconds += time.thread_time() - begin
        return seen

    def step(self, picks: Sequence[int] | np.ndarray) -> None:
        """Make a decision, and run to the next one or to the end."""
        number = self.marks.index(self.iteration)
        self._control.forced[number] = picks
        ends = (*self.marks[1:], self.horizon)
        self._run(ends[number] - self.iteration)

    def episode(self, forced: np.ndarray | None = None, weights: np.ndarray | None = None) -> Episode:
        """Make a whole run.

        Args:
            forced: (decisions, 3) picks to make in place of the networks'; negative for the networks' own.
            weights: weights for this run and later ones, as of :meth:`Controller.flat_weights`.
        """
        self.restart()
        if weights is not None:
            self._control.weights[:] = weights
        if forced is not None:
            self._control.forced[:] = forced
        self._run(self.horizon)
        self.observe()
        last = self._kept_error() if self._keep else self.error
        trace, size = self._control.trace, len(OBSERVATION)
        picks = trace[:, size : size + len(AGENTS)].astype(np.int64)
        return Episode(trace[:, :size].copy(), picks, np.append(trace[:, -1], last))

    def _kept_error(self) -> float:
        """Return the error of the policies kept at the end of the run."""
        memory = self._control.memory
        least = LEAST_ERROR * 10.0 ** memory[control_layout.RANGE]
        reached = memory[control_layout.KEPT : control_layout.KEPT + 2].mean()
        return float(np.log10(max(reached, least)) - memory[control_layout.START])

    def _run(self, iterations: int) -> None:
        begin, end = time.thread_time(), self.iteration + iterations
        while self.iteration < end:
            self._engine.advance(end - self.iteration, sys.maxsize)
        self.cpu_seconds += time.thread_time() - begin
