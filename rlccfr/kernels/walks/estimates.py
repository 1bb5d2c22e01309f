"""Walks without an update of regrets: their estimates stay in the tables, for statistics and models."""

from __future__ import annotations

from numba import types

from rlccfr.kernels.handles import game_of, memory_of, sampling_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import F8S, HANDLE, PROCEDURE, RNG
from rlccfr.kernels.walks.history_values import true_values
from rlccfr.kernels.walks.walk import walk_on
from rlccfr.kernels.walks.walk_layout import DONE, Weights


@kernel(types.int64(HANDLE, HANDLE, HANDLE, F8S, RNG, types.int64, PROCEDURE, types.boolean))
def add_walks(game, memory, sampling, parameters, rng, traverser, procedure, averages):
    """Perform one player's walks, each with weight 1 / (number of walks), or continue them after a pause.

    Args:
        game, memory, sampling: handles; the memory's tables are changed in place, see :func:`walk`. Its ``progress``
            is cleared when the last walk is done.
        parameters: (p,) the sampler's parameters in this iteration.
        rng: (1,) state of the generator, advanced in place.
        traverser: index of the player.
        procedure: gives the number of walks, and when to pause.
        averages: whether walks also add to the other player's policy sum.

    Returns:
        Number of histories touched.
    """
    histories = game_of(game).histories
    memory = memory_of(memory)
    sampling = sampling_of(sampling)
    weight = 1.0 / procedure.walks
    weights = Weights(weight, weight if averages else 0.0)
    touched = 0
    if sampling.plan.oracle and memory.progress[DONE] == 0:  # else computed before the pause
        touched += true_values(histories, traverser, memory.tables)
    touched += walk_on(histories, traverser, weights, procedure, sampling, parameters, memory, rng)
    if memory.progress[DONE] == procedure.walks:
        memory.progress[DONE] = 0
    return touched
