"""Adam (Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1), in one pass.

The ten PyTorch operations that do the same would take as long as a small network's matrix products.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.jit import kernel

_F4 = types.float32
_F4S = types.float32[::1]
_NO_SHRINKING = np.float32(1.0)
EPSILON = np.float32(1e-8)


@kernel(types.void(_F4S, _F4S, _F4S, _F4S, _F4, _F4, _F4, _F4, _F4))
def adam_step(weights, gradient, mean, square, largest, mean_rate, square_rate, step, spread_scale):
    """Perform one step of Adam, with a gradient whose length is clipped at ``largest``.

    Args:
        weights: (w,) changed in place.
        gradient: (w,) gradient of the loss.
        mean, square: (w,) running first and second moments, changed in place.
        largest: Euclidean length to which longer gradients are shortened.
        mean_rate, square_rate: 1 - beta for each moment.
        step: learning rate, divided by the first moment's bias correction.
        spread_scale: 1 / (square root of the second moment's bias correction).
    """
    # The length is summed in double precision; all else is in single precision.
    length = np.float64(0.0)
    for k in range(len(gradient)):
        length += gradient[k] * gradient[k]
    length = np.sqrt(length)
    shrinking = np.float32(largest / length) if length > largest else _NO_SHRINKING
    for k in range(len(weights)):
        slope = gradient[k] * shrinking
        # m <- m + (1 - beta_1) (g - m), and v likewise with g^2: the moments of algorithm 1, with one product fewer.
        mean[k] += (slope - mean[k]) * mean_rate
        square[k] += (slope * slope - square[k]) * square_rate
        # The caller has put both bias corrections into ``step`` and ``spread_scale``.
        weights[k] -= step * mean[k] / (np.sqrt(square[k]) * spread_scale + EPSILON)
