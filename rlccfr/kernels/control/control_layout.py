"""What a controlled run has besides its tables: networks, choices, and the state that earlier decisions leave.

In a controlled run, a :class:`rlccfr.components.Controller` picks the settings of the update rule. A *decision* is one
pick by every agent. It sets the settings of the next *segment* of the run, up to the next decision. The *horizon* is
the number of iterations that the run is meant to have. A *look* measures the average policy; see
:mod:`rlccfr.kernels.control.looks`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.components.controller import AGENTS as AGENT_NAMES
from rlccfr.components.controller import OF_RUN
from rlccfr.components.schedules import MOMENTUM_COLUMNS
from rlccfr.kernels.layout import F8M, F8S, PARAMETERS

AGENTS = len(AGENT_NAMES)
"""Number of agents; each picks one of its choices in turn, and sees the picks before its own."""

LEAST_MARK = 4
"""Least number of iterations after which there is a decision, apart from the one before the first iteration."""

OPEN_HORIZON = 4
"""If the horizon is not fixed, agents see this multiple of the iterations done as the horizon, or LEAST_HORIZON.

They see the larger of the two.
"""

LEAST_HORIZON = 1000

# Entries of the controller's state.
HORIZON = 0  # number of iterations that the run is meant to have; 0 if it is not fixed
NEXT_DECISION = 1  # number of iterations at which the next decision is due
NUM_DECISIONS = 2  # number of decisions so far
SETTINGS = 3  # first of the settings of the present segment, see below
PICKS = 11  # first of the agents' last picks; negative before the first decision
UNIFORM_ERROR = 14  # log10 of the uniform policy's exploitability; NaN until it is known
SEEN_AT = 15  # number of iterations at the last observation; negative before the first
ERROR = 16  # log10 of the average policy's exploitability at the last observation, less UNIFORM_ERROR
ERROR_SLOPE = 17  # change of ERROR per doubling of iterations, from the last observation but one to the last
REGRET_SUM = 18  # log10 of the sum of positive regrets at the last observation
PAYOFF_RANGE = 19  # log10 of the game's largest payoff less its smallest
DECIDED_HORIZON = 20  # HORIZON at the last decision
NEXT_LOOK = 21  # number of iterations at which the next look is due
LOOKED_AT = 22  # number of iterations at the last look; negative before the first
KEPT_VALUES = 23  # first of two: the value of the opponent's best response to each player's kept policy
DECIDED_AT = 25  # number of iterations at the last decision
STATE_SIZE = 26  # number of entries

NEVER = 2**62
"""Value of NEXT_LOOK or NEXT_DECISION if none is due any more."""

NUM_LOOKS = 4
"""Number of looks in the last eighth of a run."""

# Settings of a segment, as offsets from SETTINGS and as columns of the choices.
ALPHA, BETA, FLOOR_IS_ZERO, GAMMA, OPTIMISM, MOMENTUM, MEMORY, POWER = range(8)
FIRST_SETTING = (ALPHA, GAMMA, OPTIMISM, POWER + 1)
"""Offset of each agent's first setting, followed by the number of settings."""

NUMBER_OF_SETTINGS = FIRST_SETTING[-1]

SCHEDULE_WIDTH = PARAMETERS + len(MOMENTUM_COLUMNS)
"""Number of columns of the schedule that a controller makes."""

OBSERVED = len(OF_RUN)
"""Number of entries of an observation before the game's features; see :mod:`rlccfr.kernels.control.observe`."""


class Control(NamedTuple):
    """A controller and its state in one run.

    Attributes:
        weights: weights and biases of all networks in single precision, member by member and agent by agent: for each
            layer the weights, (inputs, outputs), and then the biases.
        num_members: number of members of the controller; an agent picks by the sums of its Q-values over the members.
        observes_run: whether the networks see the run's results and the game, or only its length and the iterations
            done.
        layers: (AGENTS, number of layers + 1) number of inputs of each agent's network, then the sizes of its layers.
        choices: (number of all agents' choices, 4) settings that each choice stands for; column 0 holds the first
            setting of the choice's agent.
        features: features of the game, at the end of each observation.
        state: (STATE_SIZE,) see above; saved with the run.
        forced_picks: (decisions, AGENTS) picks that replace those of the networks; negative where the networks decide.
            The networks also make all decisions after the last row.
        trace: (decisions, size of an observation + AGENTS + 1) for each decision its observation, picks and ERROR;
            decisions after the last row are not recorded.
        inputs: working memory for an observation and the picks so far.
        hidden: (3, largest layer) working memory for the layers' values, and for the sums of Q-values; in single
            precision.
        schedule: (largest number of iterations of a call + 1, SCHEDULE_WIDTH) working memory for the schedule.
        kept_policies: (m,) for each player, the best of the average policies that looks have measured; see
            :mod:`rlccfr.kernels.control.looks`. Empty if none is to be kept.
    """

    weights: np.ndarray
    num_members: int
    observes_run: bool
    layers: np.ndarray
    choices: np.ndarray
    features: np.ndarray
    state: np.ndarray
    forced_picks: np.ndarray
    trace: np.ndarray
    inputs: np.ndarray
    hidden: np.ndarray
    schedule: np.ndarray
    kept_policies: np.ndarray


F4S = types.float32[::1]
F4M = types.float32[:, ::1]
I8M = types.int64[:, ::1]
CONTROL = types.NamedTuple((F4S, types.int64, types.boolean, I8M, F8M, F8S, F8S, I8M, F8M, F8S, F4M, F8M, F8S), Control)
