"""A bounded memory of the rows that a model is fitted to, with their sums per infoset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.learning.reservoir import KEPT, SEEN, Rows, insert_rows
from rlccfr.networks.settings import FullMemory

LARGEST_SCALE = 1e100


class Memory:
    """Rows (infoset, mass, vector) under a common discount, of which a bounded number is kept.

    Up to a constant, the squared error over all rows equals the error over one row per infoset, with the total mass
    and the mean of the infoset's rows. So a fit needs only the sums per infoset. Rows are kept only to be subtracted
    from the sums when they leave.

    Args:
        capacity: largest number of rows.
        vectors: whether vectors are kept, not only masses.
        full: rows that a full memory keeps: a random sample of all, or the newest; see :class:`Networks`.
    """

    def __init__(
        self, game: GameTree, capacity: int, seed: Sequence[int], *, vectors: bool, full: FullMemory = "reservoir"
    ) -> None:
        self._newest = full == "window"
        self._first_sequence = game.view.first_sequence
        self._rows = Rows(
            infoset=np.empty(capacity, np.uint32),
            mass=np.empty(capacity),
            vector=np.empty((capacity, np.diff(self._first_sequence).max(initial=0) if vectors else 0)),
            counts=np.zeros(2, np.int64),
            mass_sum=np.zeros(game.num_infosets),
            vector_sum=np.zeros(game.num_sequences),
            num_rows=np.zeros(game.num_infosets, np.int64),
        )
        self._scale = np.ones(1)
        self._rng = np.random.SeedSequence([*seed]).generate_state(1, np.uint64)

    def __len__(self) -> int:
        return int(self._rows.counts[KEPT])

    def discount(self, factor: float) -> None:
        """Multiply all rows by ``factor``; 0 empties the memory."""
        rows, kept = self._rows, len(self)
        if factor == 1.0 or not kept:
            return
        if factor == 0.0:
            rows.counts[:] = 0
            for sums in (rows.mass_sum, rows.vector_sum, rows.num_rows):
                sums[:] = 0
            self._scale[0] = 1.0
            return
        rows.mass_sum[:] *= factor
        rows.vector_sum[:] *= factor
        self._scale[0] /= factor
        if self._scale[0] > LARGEST_SCALE:
            rows.mass[:kept] /= self._scale
            rows.vector[:kept] /= self._scale
            self._scale[0] = 1.0

    def add(self, infosets: np.ndarray, mass: np.ndarray, vector: np.ndarray) -> None:
        """Offer the memory a row for each of ``infosets``, from tables over infosets (n,) and sequences (m,)."""
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
        seen, kept = self._rows.counts[[SEEN, KEPT]]
        return float(seen / kept) if kept and not self._newest else 1.0

    def mass(self) -> np.ndarray:
        """Return estimates, (n,), of the discounted sums of masses over all rows added so far, or over the newest."""
        return self._rows.mass_sum * self._seen_per_kept

    def vector(self) -> np.ndarray:
        """Return estimates, (m,), of the discounted sums of vectors over the same rows."""
        return self._rows.vector_sum * self._seen_per_kept

    def state(self) -> dict[str, np.ndarray]:
        kept = len(self)
        rows = {name: array[:kept] if name in _PER_ROW else array for name, array in self._rows._asdict().items()}
        return {**rows, "scale": self._scale, "rng": self._rng}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        for name, array in self._rows._asdict().items():
            array[: len(state[name])] = state[name]
        self._scale[:], self._rng[:] = state["scale"], state["rng"]


_PER_ROW = ("infoset", "mass", "vector")
