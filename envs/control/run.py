"""Repeated runs of one game under a controller, as training needs them."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rlccfr.components import Abstraction, Sampler
from rlccfr.components.controller import AGENTS, OBSERVATION, SETTINGS, Controller
from rlccfr.controller_schedule import array_of, checked_picks, follow_schedule
from rlccfr.engine.controlled import ControlledStepper, features_of
from rlccfr.engine.engine import Engine, RunOptions
from rlccfr.engine.steering import control_of
from rlccfr.errors import RLCCFRError, whole_number
from rlccfr.games.flat_tree import GameTree, checked_tree
from rlccfr.garbage import collector_paused
from rlccfr.kernels.control import control_layout
from rlccfr.kernels.control.decide import next_mark
from rlccfr.kernels.layout import LEAST_ERROR
from rlccfr.policy import Policy
from rlccfr.registry import controlled_rule


class Episode(NamedTuple):
    """A controlled run with d decisions.

    Attributes:
        observations: (d, k) float64, what the agents saw: the k entries of OBSERVATION.
        picks: (d, 3) int64, index of each agent's choice.
        errors: (d + 1,) log10 of the average policy's exploitability as a share of the uniform policy's, at each
            decision and at the end. The last entry may be that of other policies: see ``keep`` and ``blend`` of
            :class:`ControlRun`.
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

    A run is performed step by step, with the caller's picks (:meth:`observe`, :meth:`step`), or as a whole, with the
    controller's picks (:meth:`episode`). :meth:`restart` returns to the run's start. :meth:`schedule` returns the picks
    as a controller.

    Args:
        game: game, from :func:`rlccfr.load_game`.
        controller: the controller, its file, or ``"shipped"``.
        horizon: number of iterations of each run.
        keep: whether each player keeps its best average policy from the run's last eighth, as in a solver's runs. The
            last error of an episode is then the error of the kept policies.
        blend: whether a run ends with the players' blends (:mod:`rlccfr.engine.blending`) in place of kept policies.
            The last error of an episode is then the error of the blends.

    Attributes:
        game: the game.
        horizon: number of iterations of each run.
        marks: numbers of iterations at which decisions are due.
        cpu_seconds: CPU seconds since the run's start, including those of observing.

    Raises:
        RLCCFRError: an invalid argument.
        TypeError: ``game`` does not come from :func:`rlccfr.load_game`.

    Examples:
        >>> import rlccfr
        >>> run = ControlRun(rlccfr.load_game("kuhn"), "shipped", horizon=64)
        >>> run.marks
        (0, 4, 8, 16, 32, 48, 56)
        >>> episode = run.episode()
        >>> episode.picks.shape, episode.errors.shape
        ((7, 3), (8,))
    """

    def __init__(
        self,
        game: GameTree,
        controller: str | Path | Controller,
        horizon: int,
        *,
        keep: bool = False,
        blend: bool = False,
    ) -> None:
        self.game = checked_tree(game, "a controller")
        rule = controlled_rule(controller)
        assert rule.controller is not None
        self._controller = rule.controller
        self._keep = keep
        self._blend = blend
        # An episode records what the run looks like at each decision, which needs tables over infosets.
        self._engine = Engine(self.game, 0, RunOptions(reduce=True, blend=blend, bundles=False))
        self._engine.bind(rule, Sampler(exact=True), Abstraction())
        assert isinstance(self._engine.stepper, ControlledStepper)
        self._stepper = self._engine.stepper
        self.aim(horizon)

    def aim(self, horizon: int) -> None:
        """Go to the start of a run of ``horizon`` iterations, and restore the controller's own weights.

        Raises:
            RLCCFRError: ``horizon`` is not a positive integer.
        """
        self.horizon = whole_number(horizon, "horizon", 1, RLCCFRError)
        self.marks = marks_of(self.horizon)
        control = control_of(self._controller, features_of(self.game), self.game.utility_range, len(self.marks))
        # A copy, because episode() may write other weights into it.
        self._control = control._replace(weights=control.weights.copy())
        self._stepper.take(self._control, keep=self._keep and not self._blend)
        self.restart()

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return self._engine.iteration

    @property
    def error(self) -> float:
        """log10 of the average policy's exploitability as a share of the uniform policy's, at the last observation."""
        return float(self._control.state[control_layout.ERROR])

    @property
    def exploitability(self) -> float:
        """Exploitability of the average policy at the last observation, in the game's units."""
        return float(10.0 ** (self.error + self._control.state[control_layout.UNIFORM_ERROR]))

    def average_policy(self) -> Policy:
        """Return the average policy so far."""
        return Policy.from_sums(self.game, self._stepper.average_sums())

    @property
    def settings(self) -> dict[str, float | bool | None]:
        """The settings picked last, as hyperparameters of the update rule ``scheduled``."""
        first = control_layout.SETTINGS
        values = self._control.state[first : first + len(SETTINGS)].tolist()
        settings = dict(zip(SETTINGS, values, strict=True))
        has_floor = bool(settings["floor"])
        # An infinite exponent makes the discount 1, which ``scheduled`` writes as None. With a floor, no regret is
        # negative, so beta has no meaning.
        return {
            **settings,
            "alpha": None if math.isinf(settings["alpha"]) else settings["alpha"],
            "beta": None if has_floor or math.isinf(settings["beta"]) else settings["beta"],
            "floor": has_floor,
        }

    def schedule(self) -> Controller:
        """Return a controller that repeats the picks that were made so far; see :func:`follow_schedule`.

        Raises:
            RLCCFRError: no decision has been made.
        """
        decisions = int(self._control.state[control_layout.NUM_DECISIONS])
        if not decisions:
            raise RLCCFRError("no decision has been made: call step() first")
        picks = self._control.trace[:decisions, len(OBSERVATION) : len(OBSERVATION) + len(AGENTS)].astype(np.int64)
        shares = np.array(self.marks[:decisions]) / self.horizon
        return follow_schedule(shares, picks, self._controller.choices)

    def restart(self) -> None:
        """Return to the start of the run."""
        self._stepper.restart()
        self._stepper.set_horizon(self.horizon)
        self._control.forced_picks.fill(-1)  # the networks pick
        self.cpu_seconds = 0.0

    def observe(self) -> np.ndarray:
        """Return what the agents see, (k,), at a decision or at the end; the array is a copy.

        Changes in the next observation, such as the slope of the error, are measured from this observation.
        """
        with collector_paused():
            begin = time.thread_time()
            observation = self._stepper.observe().copy()
            self.cpu_seconds += time.thread_time() - begin
        return observation

    def step(self, picks: Sequence[int] | np.ndarray) -> None:
        """Make a decision, and run until the next one is due or the run ends.

        Args:
            picks: (3,) index of each agent's choice.

        Raises:
            RLCCFRError: an index out of range, or a run that is over.
        """
        if self.iteration >= self.horizon:
            raise RLCCFRError("the run is over: call restart() first")
        picks = checked_picks("an action must be three indices", picks, (len(AGENTS),), self._controller.counts)
        # The kernel decides at each mark, and uses a forced pick in place of the networks' pick.
        decision = self.marks.index(self.iteration)
        self._control.forced_picks[decision] = picks
        segment_ends = (*self.marks[1:], self.horizon)
        self._run(segment_ends[decision] - self.iteration)

    def episode(self, forced: np.ndarray | None = None, weights: np.ndarray | None = None) -> Episode:
        """Perform a whole run from the start, and return its observations, picks and errors.

        Args:
            forced: (decisions, 3) picks that replace the networks' picks; negative where the networks decide.
            weights: weights of the networks for this and later episodes of this object, as
                :meth:`Controller.flat_weights` returns them; the controller itself does not change.

        Raises:
            RLCCFRError: picks out of range, a wrong number of picks or weights, or weights that are not finite.
        """
        if forced is not None:
            shape = len(self.marks), len(AGENTS)
            expected = f"forced must be {shape[0]} rows of three indices"
            forced = checked_picks(expected, forced, shape, self._controller.counts, least=-math.inf)
        if weights is not None:
            weights = self._checked_weights(weights)
        # All arguments are checked before anything changes.
        self.restart()
        if weights is not None:
            self._control.weights[:] = weights
        if forced is not None:
            self._control.forced_picks[:] = forced
        self._run(self.horizon)
        self.observe()  # after this, ``error`` is the error at the end
        last_error = self._last_error()
        # A row of the trace holds a decision's observation, its picks and the error.
        trace = self._control.trace
        size = len(OBSERVATION)
        picks = trace[:, size : size + len(AGENTS)].astype(np.int64)
        return Episode(trace[:, :size].copy(), picks, np.append(trace[:, -1], last_error))

    def __reduce__(self) -> tuple[Any, ...]:
        control = self._control
        own = {"weights": control.weights, "forced": control.forced_picks, "trace": control.trace}
        arrays = {**own, **self._engine.saved()}
        options = {"keep": self._keep, "blend": self._blend}
        return _restored, (self.game, self._controller, self.horizon, options, arrays, self.cpu_seconds)

    def __deepcopy__(self, memo: dict[int, Any]) -> ControlRun:
        # Restoring copies the arrays; game and controller never change.
        restore, arguments = self.__reduce__()
        copied: ControlRun = restore(*arguments)
        return copied

    def _checked_weights(self, weights: Any) -> np.ndarray:
        """Return weights as an array, (number of weights,).

        Raises:
            RLCCFRError: the number of weights is wrong, or a weight is not a finite number.
        """
        array = array_of(weights)
        size = len(self._control.weights)
        if array.shape != (size,) or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise RLCCFRError(f"weights must be {size:,} finite numbers, as Controller.flat_weights returns")
        return array

    def _last_error(self) -> float:
        """Return the :attr:`error` of the run's result: of the blends, the kept policies, or the average policy."""
        state = self._control.state
        blender = self._stepper.blender
        if blender is not None:
            self._stepper.finish()
            # There may be no blends, as after very few iterations; the result is then the average policy.
            exploitability = min(blender.exploitability, self.exploitability)
        elif self._keep:
            # Exploitability is the mean value of the best responses to the two kept policies.
            exploitability = state[control_layout.KEPT_VALUES : control_layout.KEPT_VALUES + 2].mean()
        else:
            return self.error
        least_exploitability = LEAST_ERROR * 10.0 ** state[control_layout.PAYOFF_RANGE]
        return float(np.log10(max(exploitability, least_exploitability)) - state[control_layout.UNIFORM_ERROR])

    def _run(self, iterations: int) -> None:
        """Perform iterations, and count their CPU seconds."""
        with collector_paused():
            begin = time.thread_time()
            last_iteration = self.iteration + iterations
            # One call may run fewer, so that Ctrl-C is noticed in between.
            while self.iteration < last_iteration:
                self._engine.advance(last_iteration - self.iteration, sys.maxsize)
            self.cpu_seconds += time.thread_time() - begin


def _restored(
    game: GameTree,
    controller: Controller,
    horizon: int,
    options: Mapping[str, bool],
    arrays: Mapping[str, np.ndarray],
    cpu_seconds: float,
) -> ControlRun:
    """Return a run that continues from the arrays of another run."""
    run = ControlRun(game, controller, horizon, **options)
    run._control.weights[:] = arrays["weights"]
    run._control.forced_picks[:] = arrays["forced"]
    run._control.trace[:] = arrays["trace"]
    run._engine.restore(arrays)
    run.cpu_seconds = cpu_seconds
    return run
