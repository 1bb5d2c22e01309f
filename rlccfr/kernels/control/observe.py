"""What a controller sees of a run.

An observation has these entries, then the game's features: log10 of the iterations done, and of the horizon; their
quotient; log10 of the average policy's exploitability as a share of the uniform policy's, its change per doubling of
iterations since the last observation, and that before; log10 of the current policy's exploitability as a share of the
average policy's; the share of zeros in the current policy; the mean distance of the two policies; the change of log10
of the sum of positive regrets per doubling; log10 of the uniform policy's exploitability as a share of the range of
payoffs; and the settings of the segment just run, since its progress depends on them: alpha / (alpha + 2), beta / 2,
whether there is a floor, log10(1 + gamma), and optimism. Each is scaled to the order of 1 and lies in [-LARGEST,
LARGEST].
"""

from __future__ import annotations

from math import log2, log10

import numpy as np
from numba import types

from rlccfr.kernels.control.control_layout import (
    ALPHA,
    BETA,
    DECISIONS,
    ERROR,
    FLOOR_IS_ZERO,
    GAMMA,
    HORIZON,
    LEAST_HORIZON,
    NUMBER_OF_SETTINGS,
    OBSERVED,
    OPEN_HORIZON,
    OPTIMISM,
    RANGE,
    REGRET,
    SEEN_AT,
    SETTINGS,
    SLOPE,
    START,
)
from rlccfr.kernels.handles import control_of, game_of, run_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import HANDLE, LEAST_ERROR
from rlccfr.kernels.passes.sequence_form import evaluation

LARGEST = 4.0
"""Largest absolute value of an entry."""


@inlined
def observe(view, tables, scratch, done, control):
    """Write the observation to ``control.inputs`` and what later ones need to ``control.memory``, unless it is there.

    Args:
        done: number of iterations done.
        scratch: overwritten.
    """
    memory, seen, average = control.memory, control.inputs, scratch.response
    least = LEAST_ERROR * 10.0 ** memory[RANGE]
    if memory[SEEN_AT] == done:
        return
    if np.isnan(memory[START]):
        fill_average(view, tables.policy_sum, 0.0, average)
        memory[START] = error_of(view, average, scratch, least)
    fill_average(view, tables.policy_sum, 1.0, average)
    zeros, distance, regret = spread(tables, average)
    error = error_of(view, average, scratch, least) - memory[START]
    current = error_of(view, tables.policy, scratch, least) - memory[START]
    slope, growth = 0.0, 0.0
    if memory[SEEN_AT] > 0:
        doublings = log2(done / memory[SEEN_AT])
        slope = clipped((error - memory[ERROR]) / doublings, 2.0)
        growth = clipped((regret - memory[REGRET]) / doublings, 2.0)
    horizon = memory[HORIZON] if memory[HORIZON] > 0 else max(OPEN_HORIZON * done, LEAST_HORIZON)
    seen[0], seen[1], seen[2] = log10(1.0 + done) / 4.0, log10(horizon) / 4.0, min(done / horizon, 1.0)
    seen[3], seen[4], seen[5] = error / 4.0, slope, memory[SLOPE]
    seen[6], seen[7], seen[8] = clipped(current - error, 2.0) / 2.0, zeros, 4.0 * distance
    seen[9], seen[10] = growth, (memory[START] - memory[RANGE]) / 2.0
    show_settings(memory, seen)
    for k in range(len(control.features)):
        seen[OBSERVED + k] = control.features[k]
    for k in range(OBSERVED + len(control.features)):  # single precision, which hides in what order sums were added
        seen[k] = np.float32(clipped(seen[k], LARGEST))
    memory[SEEN_AT], memory[ERROR], memory[SLOPE], memory[REGRET] = done, error, slope, regret


@inlined
def show_settings(memory, seen):
    """Write the settings of the last segment to the last entries before the game's features; 0 before the first."""
    first = OBSERVED - NUMBER_OF_SETTINGS
    for k in range(NUMBER_OF_SETTINGS):
        seen[first + k] = 0.0
    if memory[DECISIONS] > 0:
        alpha, gamma = memory[SETTINGS + ALPHA], memory[SETTINGS + GAMMA]
        seen[first + ALPHA] = 1.0 - 2.0 / (2.0 + alpha)
        seen[first + BETA] = memory[SETTINGS + BETA] / 2.0
        seen[first + FLOOR_IS_ZERO] = memory[SETTINGS + FLOOR_IS_ZERO]
        seen[first + GAMMA] = log10(1.0 + gamma)
        seen[first + OPTIMISM] = memory[SETTINGS + OPTIMISM]


@inlined
def clipped(value, bound):
    """Return the value, at least ``-bound`` and at most ``bound``."""
    return min(max(value, -bound), bound)


@kernel
def error_of(view, policy, scratch, least):
    """Return log10 of a policy's exploitability, which is at least ``least``."""
    _, first, second = evaluation(view, scratch, policy)
    return log10(max(0.5 * (first + second), least))


@inlined
def spread(tables, average):
    """Return the share of zeros in the current policy, its mean distance to the average, and log10 of all regrets > 0.

    Args:
        average: (m,) the average policy.
    """
    zeros, distance, regret, count = 0.0, 0.0, 0.0, max(len(average), 1)
    for k in range(len(average)):
        zeros += 1.0 if tables.policy[k] == 0.0 else 0.0
        distance += abs(tables.policy[k] - average[k])
        regret += max(tables.regret[k], 0.0)
    return zeros / count, distance / count, log10(max(regret, 1e-300))


@kernel
def fill_average(view, policy_sum, weight, average):
    """Set the average policy, or the uniform one.

    Args:
        policy_sum: (m,) policy sums.
        weight: 1 for the average policy, 0 for the uniform one.
        average: (m,) overwritten.
    """
    for infoset in range(len(view.parent)):
        first, last = np.int64(view.first_sequence[infoset]), np.int64(view.first_sequence[infoset + 1])
        total = 0.0
        for k in range(first, last):
            total += weight * policy_sum[k]
        for k in range(first, last):
            average[k] = policy_sum[k] / total if total > 0.0 else 1.0 / (last - first)


@kernel(types.void(HANDLE, HANDLE, HANDLE))
def observed(game, run, control):
    """Observe a run; see :func:`observe`.

    Args:
        game, run, control: handles.
    """
    _, view = game_of(game)
    tables, _, _, counts, scratch = run_of(run)
    observe(view, tables, scratch, counts[0], control_of(control))
