"""Decisions of a controlled run: when they are due, what the agents pick, and the schedule that follows."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numba import types

from rlccfr.kernels.control.control_layout import (
    AGENTS,
    ALPHA,
    BETA,
    DECIDED,
    DECISIONS,
    ERROR,
    FIRST_SETTING,
    FLOOR_IS_ZERO,
    GAMMA,
    HORIZON,
    LEAST_MARK,
    NEVER,
    NEXT,
    OBSERVED,
    OPTIMISM,
    PICKS,
    SETTINGS,
)
from rlccfr.kernels.control.observe import observe
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT, PREDICTION


@kernel(types.int64(types.int64, types.int64))
def next_mark(done, horizon):
    """Return the number of iterations at which the first decision after ``done`` iterations is due.

    Decisions are due before the first iteration, at horizon / 2^k for all k down to LEAST_MARK iterations, and at three
    quarters and seven eighths of the horizon. With an open horizon, they are due at each doubling.

    Args:
        horizon: number of iterations that the run is meant to have; 0 if that is open.
    """
    if horizon == 0:
        return max(LEAST_MARK, 2 * done)
    mark, found = horizon // 2, 0
    while mark >= LEAST_MARK and mark > done:
        mark, found = mark // 2, mark
    for share in (4, 8):
        mark = horizon - horizon // share
        if found == 0 and mark > done:
            found = mark
    return found if found > 0 else NEVER


@inlined
def decide(view, tables, scratch, done, control):
    """Let the agents pick, and write the settings of the segment that begins after ``done`` iterations.

    Args:
        control: memory, trace and working memory are changed in place.
    """
    memory, size = control.memory, OBSERVED + len(control.features)
    observe(view, tables, scratch, done, control)
    number, first, at = np.int64(memory[DECISIONS]), 0, 0
    for agent in range(AGENTS):
        pick, at = best_choice(control, agent, at)
        if number < len(control.forced) and control.forced[number, agent] >= 0:
            pick = control.forced[number, agent]
        for setting in range(FIRST_SETTING[agent], FIRST_SETTING[agent + 1]):
            memory[SETTINGS + setting] = control.choices[first + pick, setting - FIRST_SETTING[agent]]
        count = control.layers[agent, -1]
        for k in range(count):
            control.inputs[size + first + k] = 1.0 if k == pick else 0.0
        memory[PICKS + agent] = pick
        first += count
    if number < len(control.trace):
        record(control, control.trace[number], size)
    memory[DECISIONS] += 1
    memory[DECIDED] = memory[HORIZON]
    memory[NEXT] = next_mark(done, np.int64(memory[HORIZON]))


@inlined
def record(control, row, size):
    """Write a decision to a row of the trace: observation, picks, and ERROR.

    Args:
        size: number of entries of the observation.
    """
    for k in range(size):
        row[k] = control.inputs[k]
    for agent in range(AGENTS):
        row[size + agent] = control.memory[PICKS + agent]
    row[size + AGENTS] = control.memory[ERROR]


@kernel
def best_choice(control, agent, at):
    """Return the choice of an agent with the largest Q-value, and where the next agent's weights begin.

    Args:
        at: where the agent's weights begin among the first member's.
    """
    total, count, apart = control.hidden[2], control.layers[agent, -1], len(control.weights) // control.members
    for j in range(count):
        total[j] = 0.0
    end = at
    for member in range(control.members):
        values, after = evaluated(control, control.layers[agent], member * apart + at)
        for j in range(count):
            total[j] += values[j]
        end = after - member * apart
    best = 0
    for j in range(count):
        if total[j] > total[best]:
            best = j
    return best, end


@kernel
def evaluated(control, layers, at):
    """Return the Q-values of a network, and where its weights end.

    Args:
        layers: size of each layer, inputs first.
        at: where the network's weights begin.
    """
    weights, depth, hidden = control.weights, len(layers) - 1, control.hidden
    for i in range(layers[0]):
        hidden[1, i] = np.float32(control.inputs[i])
    for layer in range(depth):
        inputs, outputs = layers[layer], layers[layer + 1]
        given, result = hidden[(layer + 1) % 2], hidden[layer % 2]
        for j in range(outputs):
            result[j] = weights[at + inputs * outputs + j]
        for i in range(inputs):
            value = given[i]
            if value != 0:
                for j in range(outputs):
                    result[j] += weights[at + i * outputs + j] * value
        if layer < depth - 1:
            for j in range(outputs):
                result[j] = max(result[j], np.float32(0.0))
        at += (inputs + 1) * outputs
    return hidden[(depth - 1) % 2], at


@kernel
def fill_rows(settings, first, count, rows):
    """Write the schedule of iterations ``first`` to ``first + count`` under the settings of a segment.

    Args:
        settings: (5,) or longer: alpha, beta, whether the floor is 0, gamma and optimism, as of the update rule that
            has these hyperparameters.
        rows: (count + 1, 5) or longer.
    """
    for k in range(count + 1):
        past, row = float(first + k - 1), rows[k]
        scale = log(max(past, 1.0))
        row[POSITIVE_DISCOUNT] = discounted(past, scale, settings[ALPHA])
        row[NEGATIVE_DISCOUNT] = discounted(past, scale, settings[BETA])
        row[FLOOR] = 0.0 if settings[FLOOR_IS_ZERO] != 0.0 else -np.inf
        row[AVERAGE_DECAY] = 1.0
        if settings[GAMMA] != 0.0:
            row[AVERAGE_DECAY] = exp(settings[GAMMA] * (scale - log(past + 1.0))) if past > 0.0 else 0.0
        row[PREDICTION] = settings[OPTIMISM]


@inlined
def discounted(past, scale, exponent):
    """Return past^e / (past^e + 1), with ``scale`` = log(past); 0 without a past, and 1 if the exponent is infinite."""
    if exponent == np.inf:
        return 1.0
    return 1.0 / (1.0 + exp(-exponent * scale)) if past > 0.0 else 0.0
