"""Reservoir sampling of rows (infoset, mass, vector over its sequences), and the sums over those that are kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import F8, F8M, F8S, U4S
from rlccfr.kernels.walks.random_words import STATE, uniform

SEEN = 0
KEPT = 1


class Rows(NamedTuple):
    """The rows in the units of their birth, scaled (see networks/memory.py); sums in those of now."""

    infoset: np.ndarray  # (capacity,)
    mass: np.ndarray  # (capacity,)
    vector: np.ndarray  # (capacity, most actions), or (capacity, 0) where only masses are kept
    counts: np.ndarray  # (2,): rows SEEN and KEPT
    mass_sum: np.ndarray  # (n,)
    vector_sum: np.ndarray  # (m,)
    num_rows: np.ndarray  # (n,): kept, of each infoset


ROWS = types.NamedTuple((U4S, F8S, F8M, types.int64[::1], F8S, F8S, types.int64[::1]), Rows)


@kernel
def _leave(first_sequence, slot, scale, rows):
    """Take a row out of the sums; those of an infoset's last row become 0, without rounding."""
    infoset = rows.infoset[slot]
    first, last = first_sequence[infoset], first_sequence[infoset + 1]
    rows.num_rows[infoset] -= 1
    stays = 1.0 if rows.num_rows[infoset] > 0 else 0.0
    rows.mass_sum[infoset] = stays * max(rows.mass_sum[infoset] - rows.mass[slot] / scale, 0.0)
    if rows.vector.shape[1] > 0:
        for k in range(first, last):
            rows.vector_sum[k] = stays * (rows.vector_sum[k] - rows.vector[slot, k - first] / scale)


@kernel(types.void(U4S, U4S, F8S, F8S, F8, ROWS, STATE))
def insert_rows(first_sequence, infosets, mass, vector, scale, rows, rng):
    """Let a row for each of ``infosets`` in, in the place of a random one when all are taken.

    Vitter, "Random sampling with a reservoir", ACM TOMS 1985, algorithm R.

    Args:
        mass, vector: of the new rows, in tables over infosets (n,) and sequences (m,).
        scale: between the rows' units and those of now.
    """
    capacity, width = rows.vector.shape
    for infoset in infosets:
        rows.counts[SEEN] += 1
        slot = rows.counts[KEPT]
        if slot < capacity:
            rows.counts[KEPT] += 1
        else:
            slot = np.int64(uniform(rng) * rows.counts[SEEN])
            if slot >= capacity:
                continue
            _leave(first_sequence, slot, scale, rows)
        first, last = first_sequence[infoset], first_sequence[infoset + 1]
        rows.infoset[slot], rows.mass[slot] = infoset, mass[infoset] * scale
        rows.mass_sum[infoset] += mass[infoset]
        rows.num_rows[infoset] += 1
        if width > 0:
            rows.vector[slot] = 0.0
            for k in range(first, last):
                rows.vector[slot, k - first] = vector[k] * scale
                rows.vector_sum[k] += vector[k]
