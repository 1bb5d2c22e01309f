"""A reservoir of rows (infoset, mass, vector over the infoset's sequences), and sums over the rows kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import F8, F8M, F8S, RNG, U4S
from rlccfr.kernels.walks.random_words import uniform

# Entries of ``Rows.counts``.
NUM_SEEN = 0
NUM_KEPT = 1


class Rows(NamedTuple):
    """The rows of a reservoir, and their sums.

    Sums are in current units: all discounts so far have been applied. Rows are stored times a factor, the ``scale`` of
    the functions below, so that a discount need not touch them (:meth:`rlccfr.networks.reservoir.Reservoir.discount`).
    n is the number of infosets, m that of sequences.
    """

    infoset: np.ndarray  # (capacity,)
    mass: np.ndarray  # (capacity,)
    vector: np.ndarray  # (capacity, largest number of actions), or (capacity, 0) if only masses are kept
    counts: np.ndarray  # (2,): number of rows seen, at index NUM_SEEN, and kept, at index NUM_KEPT
    mass_sum: np.ndarray  # (n,): sum of the masses of the infoset's rows
    vector_sum: np.ndarray  # (m,): sum of their vectors
    num_rows: np.ndarray  # (n,): number of rows kept per infoset


ROWS = types.NamedTuple((U4S, F8S, F8M, types.int64[::1], F8S, F8S, types.int64[::1]), Rows)


@kernel
def _subtract_row(first_sequence, slot, scale, rows):
    """Subtract a row from the sums; an infoset without further rows gets sums of exactly 0.

    Args:
        first_sequence: (n + 1,) first sequence per infoset, from the game's sequence view.
        slot: index of the row.
        scale: factor from current units to those of the rows.
        rows: the sums and ``num_rows`` are changed in place.
    """
    infoset = rows.infoset[slot]
    first, end = first_sequence[infoset], first_sequence[infoset + 1]
    rows.num_rows[infoset] -= 1
    # Without this factor, rounding errors would remain at an infoset whose last row is removed.
    has_rows = 1.0 if rows.num_rows[infoset] > 0 else 0.0
    rows.mass_sum[infoset] = has_rows * max(rows.mass_sum[infoset] - rows.mass[slot] / scale, 0.0)
    if rows.vector.shape[1] > 0:
        for k in range(first, end):
            rows.vector_sum[k] = has_rows * (rows.vector_sum[k] - rows.vector[slot, k - first] / scale)


@kernel(types.void(U4S, U4S, F8S, F8S, F8, ROWS, types.boolean, RNG))
def insert_rows(first_sequence, infosets, mass, vector, scale, rows, newest, rng):
    """Offer the reservoir a row for each of some infosets.

    When the reservoir is full, a row enters by chance and replaces a random one; or it replaces the oldest one, if
    ``newest`` is set. Source: Vitter, "Random sampling with a reservoir", ACM TOMS 1985, algorithm R.

    Args:
        first_sequence: (n + 1,) first sequence per infoset, from the game's sequence view.
        infosets: (number of new rows,) infoset of each new row.
        mass, vector: (n,) and (m,) tables with the new rows' masses and vectors, in current units.
        scale: factor from current units to those of the rows.
        rows: changed in place.
        newest: whether each row enters a full reservoir, and replaces the oldest one.
        rng: (1,) state of the generator, advanced in place.
    """
    capacity, width = rows.vector.shape
    for infoset in infosets:
        rows.counts[NUM_SEEN] += 1
        num_seen = rows.counts[NUM_SEEN]
        slot = rows.counts[NUM_KEPT]
        if slot < capacity:
            rows.counts[NUM_KEPT] += 1
        else:
            # Algorithm R draws one of as many slots as rows have been seen. So the row enters with probability
            # capacity / (rows seen), which is also the probability that an earlier row is still there.
            slot = (num_seen - 1) % capacity if newest else np.int64(uniform(rng) * num_seen)
            if slot >= capacity:
                continue
            _subtract_row(first_sequence, slot, scale, rows)
        first, end = first_sequence[infoset], first_sequence[infoset + 1]
        rows.infoset[slot] = infoset
        rows.mass[slot] = mass[infoset] * scale
        rows.mass_sum[infoset] += mass[infoset]
        rows.num_rows[infoset] += 1
        if width > 0:
            rows.vector[slot] = 0.0
            for k in range(first, end):
                rows.vector[slot, k - first] = vector[k] * scale
                rows.vector_sum[k] += vector[k]
