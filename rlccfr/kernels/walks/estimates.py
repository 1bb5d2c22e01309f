"""Walks without an update of regrets: their estimates stay in the tables, for statistics and models."""

from __future__ import annotations

from numba import types

from rlccfr.kernels.handles import game_of, sampling_of, walk_state_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import F8S, HANDLE, PROCEDURE, RNG
from rlccfr.kernels.walks.history_values import true_values
from rlccfr.kernels.walks.walk import walk_on
from rlccfr.kernels.walks.walk_layout import DONE, Weights


@kernel(types.int64(HANDLE, HANDLE, HANDLE, F8S, RNG, types.int64, PROCEDURE, types.boolean))
def add_walks(game, walk_state, sampling, parameters, rng, traverser, procedure, averages):
    """Perform one player's walks, each with weight 1 / (number of walks), or continue them after a pause.

    Args:
        game, walk_state, sampling: handles; the walk state's tables are changed in place, see :func:`walk`. Its
            ``progress`` is cleared when the last walk is done.
        parameters: (p,) the sampler's parameters in this iteration.
        rng: (1,) state of the generator, advanced in place.
        traverser: index of the player.
        procedure: gives the number of walks, and when to pause.
        averages: whether walks also add to the other player's policy sum.

    Returns:
        Number of histories touched.
    """
    histories = game_of(game).histories
    walk_state = walk_state_of(walk_state)
    sampling = sampling_of(sampling)
    weight = 1.0 / procedure.walks
    weights = Weights(weight, weight if averages else 0.0)
    touched = 0
    if sampling.plan.oracle and walk_state.progress[DONE] == 0:  # else computed before the pause
        touched += true_values(histories, traverser, walk_state.tables)
    touched += walk_on(histories, traverser, weights, procedure, sampling, parameters, walk_state, rng)
    if walk_state.progress[DONE] == procedure.walks:
        walk_state.progress[DONE] = 0
    return touched
