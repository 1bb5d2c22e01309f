"""A bounded reservoir of the rows that a model is fitted to, with their sums per infoset.

The rows that stay are drawn in :mod:`rlccfr.kernels.learning.reservoir_sampling`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.learning.reservoir_sampling import NUM_KEPT, NUM_SEEN, Rows, insert_rows
from rlccfr.networks.settings import FullMemory

LARGEST_SCALE = 1e100
"""Scale above which :meth:`Reservoir.discount` rescales the stored rows to current units, so that none overflows."""


class Reservoir:
    """A bounded number of rows (infoset, mass, vector) under a common discount.

    A row holds one infoset's data from one fit: the sum of the masses, and the sum of the vectors times the masses,
    with one entry per action.

    Up to a constant, the squared error over all rows equals the error over one row per infoset, with the total mass
    and the mean of the infoset's rows. So a fit needs only the sums per infoset. Rows are kept only to be subtracted
    from the sums when they leave.

    Args:
        game: the game, with n infosets and m sequences.
        capacity: largest number of rows.
        seed: seed of the random sample.
        vectors: whether vectors are kept as well as masses.
        full: rows that a full reservoir keeps: a random sample of all, or the newest; see
            :class:`rlccfr.networks.settings.Networks`.
    """

    def __init__(
        self, game: GameTree, capacity: int, seed: Sequence[int], *, vectors: bool, full: FullMemory = "reservoir"
    ) -> None:
        self._newest = full == "window"
        self._first_sequence = game.view.first_sequence
        most_actions = np.diff(self._first_sequence).max(initial=0)
        self._rows = Rows(
            infoset=np.empty(capacity, np.uint32),
            mass=np.empty(capacity),
            vector=np.empty((capacity, most_actions if vectors else 0)),
            counts=np.zeros(2, np.int64),
            mass_sum=np.zeros(game.num_infosets),
            vector_sum=np.zeros(game.num_sequences),
            num_rows=np.zeros(game.num_infosets, np.int64),
        )
        self._scale = np.ones(1)  # rows are stored times this, so that a discount need not touch them
        self._rng = np.random.SeedSequence([*seed]).generate_state(1, np.uint64)

    def __len__(self) -> int:
        return int(self._rows.counts[NUM_KEPT])

    def discount(self, factor: float) -> None:
        """Multiply the masses and vectors of all rows by ``factor``; 0 empties the reservoir."""
        rows = self._rows
        num_kept = len(self)
        if factor == 1.0 or not num_kept:
            return
        # Rows are stored times the inverse of all factors; 0 has no inverse, so they are dropped.
        if factor == 0.0:
            rows.counts[:] = 0
            for sums in (rows.mass_sum, rows.vector_sum, rows.num_rows):
                sums[:] = 0
            self._scale[0] = 1.0
            return
        # The sums take the factor at once. The rows, of which there are many, keep their numbers.
        rows.mass_sum[:] *= factor
        rows.vector_sum[:] *= factor
        self._scale[0] /= factor
        if self._scale[0] > LARGEST_SCALE:
            rows.mass[:num_kept] /= self._scale
            rows.vector[:num_kept] /= self._scale
            self._scale[0] = 1.0

    def add(self, infosets: np.ndarray, mass: np.ndarray, vector: np.ndarray) -> None:
        """Offer the reservoir a row for each of some infosets.

        Args:
            infosets: (rows,) indices of the infosets.
            mass: (n,) masses of all infosets.
            vector: (m,) vectors of all infosets, by their sequences.
        """
        insert_rows(
            self._first_sequence,
            infosets.astype(np.uint32),
            mass,
            vector,
            self._scale[0],
            self._rows,
            self._newest,
            self._rng,
        )

    @property
    def _seen_per_kept(self) -> float:
        """Number of added rows for which each row in the reservoir stands."""
        num_seen, num_kept = self._rows.counts[[NUM_SEEN, NUM_KEPT]]
        return float(num_seen / num_kept) if num_kept and not self._newest else 1.0

    def mass(self) -> np.ndarray:
        """Return, for each infoset, an estimate of the discounted sum of the masses of all rows added so far, (n,).

        With ``full="window"``, it is the sum over the rows that are kept.
        """
        return self._rows.mass_sum * self._seen_per_kept

    def vector(self) -> np.ndarray:
        """Return, for each sequence, an estimate of the discounted sum of the vectors of all rows added so far, (m,).

        See :meth:`mass` for ``full="window"``.
        """
        return self._rows.vector_sum * self._seen_per_kept

    def state(self) -> dict[str, np.ndarray]:
        state = self._rows._asdict()
        for name in _PER_ROW:
            state[name] = state[name][: len(self)]
        return {**state, "scale": self._scale, "rng": self._rng}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        for name, array in self._rows._asdict().items():
            array[: len(state[name])] = state[name]
        self._scale[:] = state["scale"]
        self._rng[:] = state["rng"]


_PER_ROW = ("infoset", "mass", "vector")
"""Arrays of :class:`Rows` with an entry per row, of which only the rows kept are saved."""
