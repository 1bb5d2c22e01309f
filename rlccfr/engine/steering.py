"""A controller's state in a run, and the planned length of the run; both are the same for all forms of games."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

import numpy as np

from rlccfr.components.controller import OBSERVATION, Controller
from rlccfr.engine.stepper import CHUNK
from rlccfr.errors import CheckpointError
from rlccfr.kernels.control.control_layout import (
    AGENTS,
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
    STATE_SIZE,
    UNIFORM_ERROR,
    Control,
)
from rlccfr.kernels.control.decide import next_mark

_CONTROLLER_STATE = "control"
"""Name under which the controller's state is saved: ``Control.state``."""

_DIGEST = "controller"
"""Name under which a digest of the controller is saved."""

_MOST_SETTINGS = int(np.diff(FIRST_SETTING).max())
"""Largest number of settings of an agent."""

HORIZON_CHANGE = 1.5
"""Factor by which the planned number of iterations must change after a decision for the next one to come early."""

LEAST_GROWTH = 1.5
"""Factor by which the number of iterations done must grow after a decision before the next one may come early."""


def control_of(controller: Controller, features: np.ndarray, utility_range: float, decisions: int = 0) -> Control:
    """Return a controller and its state at the start of a run.

    Args:
        controller: the controller.
        features: (5,) what the controller sees of the game.
        utility_range: largest minus smallest payoff.
        decisions: number of decisions, from the first, whose picks can be forced and that are recorded; see
            :class:`~rlccfr.kernels.control.control_layout.Control`.
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
        # Observations that are recorded must be complete.
        observes_run=controller.observes_run or decisions > 0,
        layers=np.array(controller.layers, np.int64),
        choices=choices,
        features=features,
        state=first_state(utility_range),
        forced_picks=np.full((decisions, AGENTS), -1, np.int64),
        trace=np.zeros((decisions, observation_size + AGENTS + 1)),
        inputs=np.zeros(observation_size + num_choices),
        hidden=np.zeros((3, max(max(sizes) for sizes in controller.layers)), np.float32),
        schedule=np.zeros((CHUNK + 1, SCHEDULE_WIDTH)),
        kept_policies=np.zeros(0),
    )


def first_state(utility_range: float) -> np.ndarray:
    """Return the controller's state before its first decision, (STATE_SIZE,); see the kernels' ``control_layout``."""
    controller_state = np.zeros(STATE_SIZE)
    controller_state[PICKS : PICKS + AGENTS] = -1.0
    controller_state[SEEN_AT] = -1.0
    controller_state[UNIFORM_ERROR] = np.nan
    controller_state[NEXT_LOOK] = NEVER
    controller_state[LOOKED_AT] = -1.0
    controller_state[KEPT_VALUES : KEPT_VALUES + 2] = np.inf
    controller_state[PAYOFF_RANGE] = np.log10(utility_range or 1.0)
    return controller_state


def move_horizon(controller_state: np.ndarray, iterations: int, done: int) -> None:
    """Set the number of iterations that the run is meant to have.

    This may also bring the next decision forward, in two cases: the number differs by more than a factor of
    :data:`HORIZON_CHANGE` from the number at the last decision, or the run has already reached the number at the last
    decision. The next decision is then made when the next regular one is due or, if that is earlier, once the
    iterations have grown by a factor of :data:`LEAST_GROWTH` since the last decision. (Decisions in training are never
    closer together.)

    Args:
        controller_state: the controller's state; changed in place.
        iterations: number of iterations that the run is meant to have; 0 if it is not fixed.
        done: number of iterations done.
    """
    controller_state[HORIZON] = iterations
    is_due = done >= controller_state[NEXT_DECISION]
    if is_due or not controller_state[NUM_DECISIONS]:
        return
    last_horizon = controller_state[DECIDED_HORIZON]
    moved = not last_horizon / HORIZON_CHANGE <= iterations <= last_horizon * HORIZON_CHANGE
    if moved or 0 < last_horizon <= done:
        soonest = max(done, math.ceil(LEAST_GROWTH * controller_state[DECIDED_AT]))
        controller_state[NEXT_DECISION] = min(soonest, next_mark(done, iterations))


def saved_control(control: Control) -> dict[str, np.ndarray]:
    """Return what a checkpoint keeps of a controller: its state, and a digest of its weights and choices."""
    return {_CONTROLLER_STATE: control.state, _DIGEST: _digest_of(control)}


def restore_control(control: Control, saved: Mapping[str, np.ndarray]) -> None:
    """Overwrite a controller's state with a saved one.

    Raises:
        CheckpointError: the state is that of an earlier version, or of another controller.
    """
    if len(saved[_CONTROLLER_STATE]) != STATE_SIZE:
        raise CheckpointError("this run was saved by a version whose controllers had no momentum; start a new run")
    if not np.array_equal(saved[_DIGEST], _digest_of(control)):
        raise CheckpointError("this run's controller has changed since the run was saved; start a new run")
    control.state[:] = saved[_CONTROLLER_STATE]


def _digest_of(control: Control) -> np.ndarray:
    """Return a digest of a controller's weights and choices."""
    content = control.weights.tobytes() + control.choices.tobytes()
    return np.frombuffer(hashlib.sha256(content).digest(), np.uint8)
