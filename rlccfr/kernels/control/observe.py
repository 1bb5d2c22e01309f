"""What a controller sees of a run.

An observation has the entries of :data:`rlccfr.components.controller.OBSERVATION`: those below, then the game's
features. Each is scaled to the order of 1 and lies in [-LARGEST_ENTRY, LARGEST_ENTRY]. Where an entry is one
exploitability as a share of another, it is the share's log10.

- ``iterations``, ``horizon``: log10 of the number of iterations done, and log10 of the horizon, the number of
  iterations that the run is meant to have.
- ``share``: number of iterations done, divided by the horizon.
- ``error``: exploitability of the average policy as a share of the uniform policy's.
- ``slope``, ``earlier_slope``: change of ``error`` per doubling of iterations since the last observation, and the
  ``slope`` of the last observation.
- ``current``: exploitability of the current policy as a share of the average policy's.
- ``zeros``, ``distance``: share of zeros in the current policy, and its mean distance to the average policy.
- ``growth``: change of log10 of the sum of positive regrets per doubling of iterations since the last observation.
- ``start``: exploitability of the uniform policy as a share of the range of payoffs.
- ``last_...``: the settings of the segment just run, since its progress depends on them: alpha / (alpha + 2), beta / 2
  (at most 1), whether there is a floor, log10(1 + gamma), optimism, momentum, memory, and the power less 1.
"""

from __future__ import annotations

from math import log2, log10

import numpy as np

from rlccfr.kernels.control.control_layout import (
    ALPHA,
    BETA,
    ERROR,
    ERROR_SLOPE,
    FLOOR_IS_ZERO,
    GAMMA,
    HORIZON,
    LEAST_HORIZON,
    MEMORY,
    MOMENTUM,
    NUM_DECISIONS,
    NUMBER_OF_SETTINGS,
    OBSERVED,
    OPEN_HORIZON,
    OPTIMISM,
    PAYOFF_RANGE,
    POWER,
    REGRET_SUM,
    SEEN_AT,
    SETTINGS,
    UNIFORM_ERROR,
)
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import LEAST_ERROR
from rlccfr.kernels.passes.sequence_form import evaluation

LARGEST_ENTRY = 4.0
"""Largest absolute value of an entry."""


@inlined
def observe_progress(done, control):
    """Write the first three entries of the observation, the run's length and progress, to ``control.inputs``.

    Args:
        done: number of iterations done.
    """
    state = control.state
    observation = control.inputs
    horizon = state[HORIZON] if state[HORIZON] > 0 else max(OPEN_HORIZON * done, LEAST_HORIZON)
    observation[0] = np.float32(clipped(log10(1.0 + done) / 4.0, LARGEST_ENTRY))
    observation[1] = np.float32(clipped(log10(horizon) / 4.0, LARGEST_ENTRY))
    observation[2] = np.float32(min(done / horizon, 1.0))


@inlined
def observe(view, tables, scratch, done, control):
    """Write the observation to ``control.inputs``, and the values that the next observation needs to ``control.state``.

    A second call after the same number of iterations does nothing.

    Args:
        done: number of iterations done.
        scratch: overwritten.
    """
    state = control.state
    observation = control.inputs
    average = scratch.response
    least_exploitability = LEAST_ERROR * 10.0 ** state[PAYOFF_RANGE]
    if state[SEEN_AT] == done:
        return
    # 1. Errors: log10 of exploitabilities, relative to the uniform policy's, which is computed once in a run.
    if np.isnan(state[UNIFORM_ERROR]):
        fill_average(view, tables.policy_sum, 0.0, average)
        state[UNIFORM_ERROR] = error_of(view, average, scratch, least_exploitability)
    fill_average(view, tables.policy_sum, 1.0, average)
    zeros, distance, regret_sum = policy_statistics(tables, average)
    error = error_of(view, average, scratch, least_exploitability) - state[UNIFORM_ERROR]
    current_error = error_of(view, tables.policy, scratch, least_exploitability) - state[UNIFORM_ERROR]
    # 2. Progress since the last observation, unless that was before the first iteration.
    slope = 0.0
    growth = 0.0
    if state[SEEN_AT] > 0:
        doublings = log2(done / state[SEEN_AT])
        slope = clipped((error - state[ERROR]) / doublings, 2.0)
        growth = clipped((regret_sum - state[REGRET_SUM]) / doublings, 2.0)
    # 3. The entries, in the order of OBSERVATION, each scaled to the order of 1.
    observe_progress(done, control)
    observation[3] = error / 4.0
    observation[4] = slope
    observation[5] = state[ERROR_SLOPE]
    observation[6] = clipped(current_error - error, 2.0) / 2.0
    observation[7] = zeros
    observation[8] = 4.0 * distance
    observation[9] = growth
    observation[10] = (state[UNIFORM_ERROR] - state[PAYOFF_RANGE]) / 2.0
    fill_last_settings(state, observation)
    for k in range(len(control.features)):
        observation[OBSERVED + k] = control.features[k]
    for k in range(OBSERVED + len(control.features)):
        # Single precision hides in what order sums were added, so that one thread and several see the same.
        observation[k] = np.float32(clipped(observation[k], LARGEST_ENTRY))
    # 4. What the next observation compares with.
    state[SEEN_AT] = done
    state[ERROR] = error
    state[ERROR_SLOPE] = slope
    state[REGRET_SUM] = regret_sum


@inlined
def fill_last_settings(state, observation):
    """Write the last segment's settings, or 0 before the first segment, to the entries before the game's features."""
    first = OBSERVED - NUMBER_OF_SETTINGS
    for k in range(NUMBER_OF_SETTINGS):
        observation[first + k] = 0.0
    if state[NUM_DECISIONS] > 0:
        alpha = state[SETTINGS + ALPHA]
        gamma = state[SETTINGS + GAMMA]
        observation[first + ALPHA] = 1.0 - 2.0 / (2.0 + alpha)  # also for an infinite alpha
        observation[first + BETA] = min(state[SETTINGS + BETA] / 2.0, 1.0)  # also for an infinite beta
        observation[first + FLOOR_IS_ZERO] = state[SETTINGS + FLOOR_IS_ZERO]
        observation[first + GAMMA] = log10(1.0 + gamma)
        observation[first + OPTIMISM] = state[SETTINGS + OPTIMISM]
        observation[first + MOMENTUM] = state[SETTINGS + MOMENTUM]
        observation[first + MEMORY] = state[SETTINGS + MEMORY]
        observation[first + POWER] = state[SETTINGS + POWER] - 1.0


@inlined
def clipped(value, bound):
    """Return the value, limited to the range from ``-bound`` to ``bound``."""
    return min(max(value, -bound), bound)


@kernel
def error_of(view, policy, scratch, least_exploitability):
    """Return log10 of a policy's exploitability, or of ``least_exploitability`` if this is larger."""
    _, response_value_0, response_value_1 = evaluation(view, scratch, policy)
    return log10(max(0.5 * (response_value_0 + response_value_1), least_exploitability))


@inlined
def policy_statistics(tables, average):
    """Compute three statistics of the current policy and the regrets.

    Args:
        average: (m,) the average policy.

    Returns:
        The share of zeros in the current policy, its mean distance to the average policy, and log10 of the sum of the
        positive regrets.
    """
    num_zeros = 0.0
    distance = 0.0
    regret_sum = 0.0
    count = max(len(average), 1)
    for k in range(len(average)):
        num_zeros += 1.0 if tables.policy[k] == 0.0 else 0.0
        distance += abs(tables.policy[k] - average[k])
        regret_sum += max(tables.regret[k], 0.0)
    return num_zeros / count, distance / count, log10(max(regret_sum, 1e-300))


@kernel
def fill_average(view, policy_sum, weight, average):
    """Set the average policy, or the uniform one.

    Args:
        policy_sum: (m,) policy sums.
        weight: 1 for the average policy, 0 for the uniform one.
        average: (m,) overwritten.
    """
    for infoset in range(len(view.parent)):
        first, end = np.int64(view.first_sequence[infoset]), np.int64(view.first_sequence[infoset + 1])
        total = 0.0
        for k in range(first, end):
            total += weight * policy_sum[k]
        for k in range(first, end):
            average[k] = policy_sum[k] / total if total > 0.0 else 1.0 / (end - first)
