"""Adam over all weights in one pass; as ten operations of PyTorch it costs as much as a small network's products."""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.jit import kernel

_F4, _F4S = types.float32, types.float32[::1]
_ONE = np.float32(1.0)
EPSILON = np.float32(1e-8)


@kernel(types.void(_F4S, _F4S, _F4S, _F4S, _F4, _F4, _F4, _F4, _F4))
def adam_step(weights, gradient, mean, square, largest, mean_rate, square_rate, step, spread_scale):
    """One step along a gradient that is no longer than ``largest``.

    Args:
        weights, gradient, mean, square: (w,) the last two being the running moments.
        mean_rate, square_rate: 1 - beta of each moment.
        step: the learning rate over the first moment's correction.
        spread_scale: 1 / root of the second moment's correction.
    """
    length = np.float64(0.0)
    for k in range(len(gradient)):
        length += gradient[k] * gradient[k]
    length = np.sqrt(length)
    shrink = np.float32(largest / length) if length > largest else _ONE
    for k in range(len(weights)):
        slope = gradient[k] * shrink
        mean[k] += (slope - mean[k]) * mean_rate
        square[k] += (slope * slope - square[k]) * square_rate
        weights[k] -= step * mean[k] / (np.sqrt(square[k]) * spread_scale + EPSILON)
