"""Walks without a fold: a sampler's estimates, for statistics and for models."""

from __future__ import annotations

from rlccfr.kernels.handles import inclusion_of, mixture_of
from rlccfr.kernels.jit import kernel
from rlccfr.kernels.walks.walk import walk


@kernel
def add_walks(
    count, histories, traverser, weight, average_weight, plan, inclusion, mixture, parameters, tables, frames, rng
):  # fmt: skip
    """So many walks for one player, all with the same weights in regrets and averages. Returns histories touched."""
    including, mixing = inclusion_of(inclusion), mixture_of(mixture)
    touched = 0
    for _ in range(count):
        touched += walk(
            histories, traverser, weight, average_weight, plan, including, mixing, parameters, tables, frames, rng
        )
    return touched
