"""Decisions of a controlled run: when they are due, what the agents pick, and the schedule that follows."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numba import types

from rlccfr.kernels.control.control_layout import (
    AGENTS,
    ALPHA,
    BETA,
    DECIDED_AT,
    DECIDED_HORIZON,
    ERROR,
    FIRST_SETTING,
    FLOOR_IS_ZERO,
    GAMMA,
    HORIZON,
    LEAST_MARK,
    MEMORY,
    MOMENTUM,
    NEVER,
    NEXT_DECISION,
    NUM_DECISIONS,
    OBSERVED,
    OPTIMISM,
    PICKS,
    POWER,
    SETTINGS,
)
from rlccfr.kernels.control.observe import observe, observe_progress
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE_DECAY,
    F8S,
    FLOOR,
    MATCHING_POWER,
    MOMENTUM_MEMORY,
    MOMENTUM_WEIGHT,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    PREDICTION,
)


@kernel(types.int64(types.int64, types.int64))
def next_mark(done, horizon):
    """Return the number of iterations at which the first decision after ``done`` iterations is due.

    Decisions are due before the first iteration, at horizon / 2^k for each k >= 1 for which this is at least
    LEAST_MARK, and at three quarters and seven eighths of the horizon. If the horizon is not fixed, they are due before
    the first iteration, at LEAST_MARK iterations, and at each doubling.

    Args:
        horizon: number of iterations that the run is meant to have; 0 if it is not fixed.
    """
    if horizon == 0:
        return max(LEAST_MARK, 2 * done)
    next_due = 0
    # Half the horizon, a quarter, and so on: the last of these that still lies ahead is the next.
    mark = horizon // 2
    while mark >= LEAST_MARK and mark > done:
        next_due = mark
        mark = mark // 2
    for share in (4, 8):
        mark = horizon - horizon // share
        if next_due == 0 and mark > done:
            next_due = mark
    return next_due if next_due > 0 else NEVER


@inlined
def decide(view, tables, scratch, done, control):
    """Let the agents pick, and write the settings of the segment that begins after ``done`` iterations.

    Momentum that is switched on starts from M = 0 (M is its running sum), whatever earlier segments have left in M.

    Args:
        tables: ``state``, which holds M, is changed in place.
        control: state, trace and working memory are changed in place.
    """
    if control.observes_run:
        observe(view, tables, scratch, done, control)
    else:  # computing exploitabilities takes as long as several iterations
        observe_progress(done, control)
    had_momentum = control.state[SETTINGS + MOMENTUM] != 0.0
    pick_settings(done, control)
    if not had_momentum and control.state[SETTINGS + MOMENTUM] != 0.0:
        tables.state[:, 0] = 0.0


@kernel
def pick_settings(done, control):
    """Let the agents pick for the observation in ``control.inputs``, and write the settings that their picks stand for.

    Args:
        done: number of iterations done.
        control: state, trace and working memory are changed in place.
    """
    state = control.state
    observation_size = OBSERVED + len(control.features)
    decision = np.int64(state[NUM_DECISIONS])
    first_choice = 0  # the agent's, among those of all agents
    first_weight = 0  # of the agent's network, among those of the first member
    for agent in range(AGENTS):
        pick, first_weight = best_choice(control, agent, first_weight)
        # In training, picks come from outside.
        if decision < len(control.forced_picks) and control.forced_picks[decision, agent] >= 0:
            pick = control.forced_picks[decision, agent]
        for setting in range(FIRST_SETTING[agent], FIRST_SETTING[agent + 1]):
            state[SETTINGS + setting] = control.choices[first_choice + pick, setting - FIRST_SETTING[agent]]
        # The agents after this one see the pick, as an input for each choice, of which one is 1.
        count = control.layers[agent, -1]
        for k in range(count):
            control.inputs[observation_size + first_choice + k] = 1.0 if k == pick else 0.0
        state[PICKS + agent] = pick
        first_choice += count
    if decision < len(control.trace):
        record_decision(control, control.trace[decision], observation_size)
    state[NUM_DECISIONS] += 1
    state[DECIDED_AT] = done
    state[DECIDED_HORIZON] = state[HORIZON]
    state[NEXT_DECISION] = next_mark(done, np.int64(state[HORIZON]))


@inlined
def record_decision(control, row, observation_size):
    """Write a decision to a row of the trace: the observation, the picks, and the error (``control.state[ERROR]``)."""
    for k in range(observation_size):
        row[k] = control.inputs[k]
    for agent in range(AGENTS):
        row[observation_size + agent] = control.state[PICKS + agent]
    row[observation_size + AGENTS] = control.state[ERROR]


@kernel(types.boolean(F8S))
def needs_momentum(settings):
    """Return whether a segment needs the update with momentum, which takes longer.

    Args:
        settings: (8,) or longer; see :func:`fill_rows`.
    """
    return settings[MOMENTUM] != 0.0 or settings[POWER] != 1.0


@kernel
def best_choice(control, agent, first_weight):
    """Return the agent's choice whose Q-values have the largest sum, and where the next agent's weights begin.

    The sum is over the members, each of which has a network for every agent.

    Args:
        first_weight: index of the agent's first weight among the weights of one member.
    """
    q_sums = control.hidden[2]
    count = control.layers[agent, -1]
    weights_per_member = len(control.weights) // control.num_members
    for j in range(count):
        q_sums[j] = 0.0
    end = first_weight
    for member in range(control.num_members):
        values, member_end = q_values(control, control.layers[agent], member * weights_per_member + first_weight)
        for j in range(count):
            q_sums[j] += values[j]
        end = member_end - member * weights_per_member
    best = 0
    for j in range(count):
        if q_sums[j] > q_sums[best]:
            best = j
    return best, end


@kernel
def q_values(control, layers, first_weight):
    """Return the Q-values of a network, and where its weights end.

    Args:
        layers: number of inputs, then the size of each layer.
        first_weight: where the network's weights begin.
    """
    weights = control.weights
    depth = len(layers) - 1
    hidden = control.hidden
    for i in range(layers[0]):
        hidden[1, i] = np.float32(control.inputs[i])
    for layer in range(depth):
        num_inputs = layers[layer]
        num_outputs = layers[layer + 1]
        # Two rows take turns as the layer's inputs and outputs.
        inputs = hidden[(layer + 1) % 2]
        outputs = hidden[layer % 2]
        first_bias = first_weight + num_inputs * num_outputs
        for j in range(num_outputs):
            outputs[j] = weights[first_bias + j]
        for i in range(num_inputs):
            value = inputs[i]
            if value != 0:  # many are 0: choices that were not picked, and rectified units
                for j in range(num_outputs):
                    outputs[j] += weights[first_weight + i * num_outputs + j] * value
        if layer < depth - 1:
            for j in range(num_outputs):
                outputs[j] = max(outputs[j], np.float32(0.0))
        first_weight = first_bias + num_outputs
    return hidden[(depth - 1) % 2], first_weight


@kernel
def fill_rows(settings, first, count, rows):
    """Write the schedule of ``count`` iterations from ``first`` on, and of the one after them, under some settings.

    Args:
        settings: (8,) or longer: alpha, beta, whether the floor is 0, gamma, optimism, momentum, memory and power, as
            in the update rule ``scheduled``; further entries are not used.
        first: number of the first iteration; a run's first one has number 1.
        rows: (count + 1, SCHEDULE_WIDTH) or longer.
    """
    for k in range(count + 1):
        past = float(first + k - 1)  # number of iterations before this one
        row = rows[k]
        log_past = log(max(past, 1.0))
        row[POSITIVE_DISCOUNT] = discount_of(past, log_past, settings[ALPHA])
        row[NEGATIVE_DISCOUNT] = discount_of(past, log_past, settings[BETA])
        row[FLOOR] = 0.0 if settings[FLOOR_IS_ZERO] != 0.0 else -np.inf
        row[AVERAGE_DECAY] = 1.0
        if settings[GAMMA] != 0.0:  # (past / (past + 1))^gamma
            row[AVERAGE_DECAY] = exp(settings[GAMMA] * (log_past - log(past + 1.0))) if past > 0.0 else 0.0
        row[PREDICTION] = settings[OPTIMISM]
        row[MOMENTUM_WEIGHT] = settings[MOMENTUM]
        row[MOMENTUM_MEMORY] = settings[MEMORY]
        row[MATCHING_POWER] = settings[POWER]


@inlined
def discount_of(past, log_past, exponent):
    """Return past^e / (past^e + 1), with e the exponent; 0 if ``past`` is 0, and 1 if the exponent is infinite."""
    if exponent == np.inf:
        return 1.0
    return 1.0 / (1.0 + exp(-exponent * log_past)) if past > 0.0 else 0.0
