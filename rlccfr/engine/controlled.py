"""Iterations by exact passes whose settings a controller chooses during the run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlccfr.components.controller import OBSERVATION, Controller
from rlccfr.engine.binding import Binding
from rlccfr.engine.evaluation import better_of
from rlccfr.engine.exact import ExactStepper
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, Stepper
from rlccfr.errors import CheckpointError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.control.control_layout import (
    AGENTS,
    CONTROL,
    DECIDED_AT,
    DECIDED_HORIZON,
    FIRST_SETTING,
    HORIZON,
    KEPT_VALUES,
    LOOKED_AT,
    NEVER,
    NEXT_DECISION,
    NEXT_LOOK,
    NUM_DECISIONS,
    PAYOFF_RANGE,
    PICKS,
    SCHEDULE_WIDTH,
    SEEN_AT,
    SETTINGS,
    STATE_SIZE,
    UNIFORM_ERROR,
    Control,
)
from rlccfr.kernels.control.controlled_iterations import (
    controlled_iterations,
    look_at_average,
    next_look,
    prepare_segment_of_run,
)
from rlccfr.kernels.control.decide import needs_momentum, next_mark
from rlccfr.kernels.control.observe import observe_run
from rlccfr.kernels.handles import handle_of

_CONTROLLER_STATE = "control"
"""Name under which the controller's state is saved: ``Control.state``."""

_DIGEST = "controller"
"""Name under which a digest of the controller is saved."""

_KEPT_POLICIES = "kept"
"""Name under which the best average policies are saved."""

_MOST_SETTINGS = int(np.diff(FIRST_SETTING).max())
"""Largest number of settings of an agent."""

HORIZON_CHANGE = 1.5
"""Factor by which the horizon, the number of iterations aimed at, must change before a decision is made out of turn."""

LEAST_GROWTH = 1.5
"""Factor by which iterations must have grown since the last decision before another is made out of turn."""


class ControlledStepper(ExactStepper):
    """Stepper of exact iterations whose settings the rule's controller picks at each decision.

    Each player keeps its best average policy of the last eighth of the run; see
    :mod:`rlccfr.kernels.control.controlled_iterations`. In a run with blends (:mod:`rlccfr.engine.blending`), no such
    policies are kept: the blends take their place.

    Attributes:
        control: the controller, and its state in this run.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        assert binding.rule.controller is not None
        self.control = control_of(binding.rule.controller, state.game)
        super().__init__(state, binding, previous)

    def _set_up(self, reduce: bool = True) -> None:
        super()._set_up(reduce)
        self.take(self.control, keep=self.blender is None)

    def take(self, control: Control, *, keep: bool = True) -> None:
        """Continue with another controller and its state.

        Args:
            control: the controller and its state.
            keep: whether the best average policies are kept.
        """
        self.control = control._replace(kept_policies=np.zeros(self.form.num_sequences if keep else 0))
        self._control_handle: Any = handle_of(self.control, CONTROL)

    @property
    def costs(self) -> dict[str, float]:
        return self._costs()

    def set_horizon(self, iterations: int) -> None:
        """See :meth:`Stepper.set_horizon`.

        If the run's end has moved by more than a factor of :data:`HORIZON_CHANGE` since the last decision, or has been
        reached, a decision out of turn may fall due. It falls due when the iterations have grown by a factor of
        :data:`LEAST_GROWTH` since the last decision, because decisions in training are never closer together; or at the
        next regular decision if that comes first. Otherwise, the next decision stays where it is.
        """
        super().set_horizon(iterations)
        controller_state = self.control.state
        done = self.state.iteration
        controller_state[NEXT_LOOK] = next_look(done, iterations) if len(self.control.kept_policies) else NEVER
        controller_state[HORIZON] = iterations
        if not controller_state[NUM_DECISIONS]:
            return
        last_horizon = controller_state[DECIDED_HORIZON]
        moved = not last_horizon / HORIZON_CHANGE <= iterations <= last_horizon * HORIZON_CHANGE
        if moved or 0 < last_horizon <= done:
            soonest = max(done, math.ceil(LEAST_GROWTH * controller_state[DECIDED_AT]))
            controller_state[NEXT_DECISION] = min(soonest, next_mark(done, iterations))

    def _run(self, iterations: int) -> None:
        if self._crew is not None or self.blender is not None:
            super()._run(iterations)
        else:  # in one call, with all decisions that fall due
            game, run, control = self._handles
            rules = self.binding.rule_handle_without_momentum, self.binding.rule_handle
            procedure = self.binding.procedure
            controlled_iterations(game, run, rules, procedure, control, iterations, self.nodes_per_iteration)
        if self.state.iteration >= self.control.state[NEXT_LOOK]:
            look_at_average(*self._handles)

    def _rows(self, iterations: int) -> np.ndarray:
        """See :meth:`ExactStepper._rows`. If a look at the average policy or a decision is due, it is made first."""
        return self.control.schedule[: prepare_segment_of_run(*self._handles, iterations) + 1]

    @property
    def _rule_handle(self) -> Any:
        """See :attr:`ExactStepper._rule_handle`. Segments without momentum skip the work for it."""
        settings = self.control.state[SETTINGS:]
        return self.binding.rule_handle if needs_momentum(settings) else self.binding.rule_handle_without_momentum

    @property
    def _handles(self) -> tuple[Any, Any, Any]:
        """Handles of the game or quotient over which the passes run, of the run, and of the controller."""
        return self._arrays.game_handle, self._arrays.run_handle, self._control_handle

    def own_sums(self) -> np.ndarray:
        """See :meth:`FlatStepper.own_sums`; each player has the less exploitable of its present and its kept policy."""
        controller_state = self.control.state
        sums = super().own_sums()
        looked_at = controller_state[LOOKED_AT]
        if looked_at < 0 or not np.isfinite(sums).all():  # policies kept must not hide an overflow
            return sums
        kept_sums = self._kept_sums()
        if looked_at < self.state.iteration:
            return better_of(self.form, kept_sums, controller_state[KEPT_VALUES : KEPT_VALUES + 2], sums)
        return kept_sums

    def _kept_sums(self) -> np.ndarray:
        """Return the kept policies, over the sequences of ``form``; empty if none is to be kept."""
        kept_sums = self.control.kept_policies
        if self._crew is None or not len(kept_sums):
            return kept_sums.copy()
        return kept_sums[self._crew.sequences]

    def restart(self) -> None:
        """Go back to the start of the run, which must have only one thread."""
        tables = self._arrays.tables
        tables.regret.fill(0.0)
        tables.policy_sum.fill(0.0)
        tables.state.fill(0.0)
        tables.policy[:] = self.form.uniform_policy()
        self.state.counts.fill(0)
        self.control.state[:] = first_state(self.state.game)
        self.blender = self._new_blender()

    def observe(self) -> np.ndarray:
        """Return what the controller would see now, (24,); see :data:`rlccfr.components.controller.OBSERVATION`."""
        observe_run(*self._handles)
        return self.control.inputs[: len(OBSERVATION)]

    def saved(self) -> dict[str, np.ndarray]:
        return {
            **super().saved(),
            _CONTROLLER_STATE: self.control.state,
            _KEPT_POLICIES: self._kept_sums(),
            _DIGEST: self._digest,
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        if len(saved[_CONTROLLER_STATE]) != STATE_SIZE:
            raise CheckpointError("this run was saved by a version whose controllers had no momentum; start a new run")
        if not np.array_equal(saved[_DIGEST], self._digest):
            raise CheckpointError("this run's controller has changed since the run was saved; start a new run")
        super().restore(saved)
        kept_sums = saved[_KEPT_POLICIES]
        self.take(self.control, keep=len(kept_sums) > 0)
        self.control.state[:] = saved[_CONTROLLER_STATE]
        if len(kept_sums):
            self.control.kept_policies[... if self._crew is None else self._crew.sequences] = kept_sums

    @property
    def _digest(self) -> np.ndarray:
        """Digest of the controller's weights and choices."""
        content = self.control.weights.tobytes() + self.control.choices.tobytes()
        return np.frombuffer(hashlib.sha256(content).digest(), np.uint8)


def control_of(controller: Controller, game: GameTree, decisions: int = 0) -> Control:
    """Return a controller and its state at the start of a run.

    Args:
        decisions: number of decisions that may be forced and are recorded.
    """
    observation_size = len(OBSERVATION)
    num_choices = sum(controller.counts)
    # All agents' choices, stacked, and padded with zeros to the same number of settings.
    choices = np.zeros((num_choices, _MOST_SETTINGS))
    first = 0
    for agent_choices in controller.choices:
        num_agent_choices, num_settings = agent_choices.shape
        choices[first : first + num_agent_choices, :num_settings] = agent_choices
        first += num_agent_choices
    return Control(
        weights=controller.single_weights,
        num_members=len(controller.members),
        looks=controller.looks or decisions > 0,  # recorded decisions have whole observations
        layers=np.array(controller.layers, np.int64),
        choices=choices,
        features=features_of(game),
        state=first_state(game),
        forced_picks=np.full((decisions, AGENTS), -1, np.int64),
        trace=np.zeros((decisions, observation_size + AGENTS + 1)),
        inputs=np.zeros(observation_size + num_choices),
        hidden=np.zeros((3, max(max(sizes) for sizes in controller.layers)), np.float32),
        schedule=np.zeros((CHUNK + 1, SCHEDULE_WIDTH)),
        kept_policies=np.zeros(0),
    )


def first_state(game: GameTree) -> np.ndarray:
    """Return the controller's state before its first decision, (STATE_SIZE,); see the kernels' ``control_layout``."""
    controller_state = np.zeros(STATE_SIZE)
    controller_state[PICKS : PICKS + AGENTS] = -1.0
    controller_state[SEEN_AT] = -1.0
    controller_state[UNIFORM_ERROR] = np.nan
    controller_state[NEXT_LOOK] = NEVER
    controller_state[LOOKED_AT] = -1.0
    controller_state[KEPT_VALUES : KEPT_VALUES + 2] = np.inf
    controller_state[PAYOFF_RANGE] = np.log10(game.utility_range or 1.0)
    return controller_state


def features_of(game: GameTree) -> np.ndarray:
    """Return the features of a game that controllers see, (5,); none of them grows with the game's size alone.

    They are the mean and the largest number of actions at infosets, each as n / (n + 4); the depth, as n / (n + 10);
    the share of chance nodes among the inner histories; and the share of terminal histories among all histories.
    """
    actor = np.ascontiguousarray(game.histories["actor"])  # contiguous, so that it is counted faster
    num_actions = np.diff(game.view.first_sequence.astype(np.int64))  # at each infoset
    num_inner = max(int(np.count_nonzero(actor != TERMINAL)), 1)
    mean_actions = float(num_actions.mean()) if len(num_actions) else 0.0
    most_actions = int(num_actions.max(initial=0))
    return np.array(
        [
            mean_actions / (mean_actions + 4),
            most_actions / (most_actions + 4),
            game.depth / (game.depth + 10),
            int(np.count_nonzero(actor == CHANCE)) / num_inner,
            1 - num_inner / game.num_histories,
        ]
    )
