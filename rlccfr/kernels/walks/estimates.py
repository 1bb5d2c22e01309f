"""Walks without a fold: their estimates stay in the tables, for statistics and models."""

from __future__ import annotations

from numba import types

from rlccfr.kernels.handles import game_of, memory_of, sampling_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import F8S, HANDLE, RNG
from rlccfr.kernels.walks.history_values import true_values
from rlccfr.kernels.walks.walk import walk
from rlccfr.kernels.walks.walk_layout import Weights


@kernel(types.int64(HANDLE, HANDLE, HANDLE, F8S, RNG, types.int64, types.int64, types.boolean))
def add_walks(game, memory, sampling, parameters, rng, traverser, walks, averages):
    """Perform walks for one player, each with weight 1 / walks.

    Args:
        game, memory, sampling: handles; the memory's tables are changed in place, see :func:`walk`.
        parameters: (p,) the sampler's parameters in this iteration.
        rng: (1,) state of the generator, advanced in place.
        traverser: number of the player.
        walks: number of walks.
        averages: whether walks also add to the other player's policy sum.

    Returns:
        Number of histories touched.
    """
    histories, memory, sampling = game_of(game).histories, memory_of(memory), sampling_of(sampling)
    weights = Weights(1.0 / walks, 1.0 / walks if averages else 0.0)
    touched = true_values(histories, traverser, memory.tables) if sampling.plan.oracle else 0
    for _ in range(walks):
        touched += walk(histories, traverser, weights, sampling, parameters, memory, rng)
    return touched
