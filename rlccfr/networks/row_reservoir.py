"""A bounded reservoir of rows that are stored visit by visit, for games whose infosets are not numbered."""

from __future__ import annotations

import numpy as np

from rlccfr.networks.settings import FullMemory

LARGEST_SCALE = 1e20
"""Scale above which stored weights are rescaled, so that they do not overflow in single precision."""


class RowReservoir:
    """A bounded number of rows, each with a target and a weight, under a common discount.

    Unlike :class:`rlccfr.networks.reservoir.Reservoir`, it does not sum up the rows of an infoset: there may be too
    many infosets for an array over them.

    Args:
        row_type: type of the rows.
        num_targets: number of targets of each row.
        capacity: largest number of rows.
        full: rows that a full reservoir keeps: a random sample of all, or the newest.
    """

    def __init__(self, row_type: np.dtype, num_targets: int, capacity: int, full: FullMemory = "reservoir") -> None:
        # The arrays take memory only once they are written.
        self._rows = np.empty(capacity, row_type)
        self._target = np.empty((capacity, num_targets), np.float32)
        self._weight = np.empty(capacity, np.float32)
        self._is_old = np.empty(capacity, bool)
        self._newest = full == "window"
        self._num_seen = 0
        self._scale = 1.0  # weights are stored times this, so that a discount need not touch them

    def __len__(self) -> int:
        return min(self._num_seen, len(self._rows))

    @property
    def num_targets(self) -> int:
        """Number of targets of each row."""
        return self._target.shape[1]

    @property
    def most_bytes(self) -> int:
        """Number of bytes that a full reservoir takes."""
        return sum(array.nbytes for array in (self._rows, self._target, self._weight, self._is_old))

    def discount(self, factor: float) -> None:
        """Multiply the weights of all rows by ``factor``; 0 empties the reservoir."""
        if factor == 0.0:
            self.clear()
            return
        self._scale /= factor
        if self._scale > LARGEST_SCALE:
            self._weight[: len(self)] /= self._scale
            self._scale = 1.0

    def clear(self) -> None:
        """Remove all rows."""
        self._num_seen = 0
        self._scale = 1.0

    def add(
        self, rows: np.ndarray, target: np.ndarray, rng: np.random.Generator, weights: np.ndarray | None = None
    ) -> None:
        """Offer the reservoir some rows.

        Args:
            rows: (n,) rows.
            target: (n, targets) their targets.
            rng: generator of the random sample.
            weights: (n,) their weights; by default 1.
        """
        capacity = len(self._rows)
        numbers = self._num_seen + np.arange(len(rows))
        self._num_seen += len(rows)
        if self._newest:
            places = numbers % capacity
        else:  # row k, from 0, replaces a random kept row, with probability capacity / (k + 1)
            drawn = (rng.random(len(rows)) * (numbers + 1)).astype(np.int64)
            places = np.where(numbers < capacity, numbers, drawn)
        stays = places < capacity
        places = places[stays]  # where a place occurs twice, the later row stays
        self._rows[places] = rows[stays]
        self._target[places] = target[stays]
        self._weight[places] = self._scale if weights is None else self._scale * weights[stays]
        self._is_old[places] = False

    def mark_old(self) -> None:
        """Mark all rows as older than the last fit."""
        self._is_old[: len(self)] = True

    def mean_weight(self) -> float:
        """Return the mean of the stored weights, in the units of :meth:`at`."""
        return float(self._weight[: len(self)].mean(dtype=np.float64))

    def at(self, places: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return some rows, their targets, their weights up to a common factor, and whether they are old."""
        return self._rows[places], self._target[places], self._weight[places], self._is_old[places]

    def state(self) -> dict[str, np.ndarray]:
        kept = slice(len(self))
        rows, target, weight, is_old = self.at(kept)
        numbers = np.array([self._num_seen, self._scale])
        return {"rows": rows, "target": target, "weight": weight, "is_old": is_old, "numbers": numbers}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        num_seen, scale = state["numbers"].tolist()
        self._num_seen = int(num_seen)
        self._scale = scale
        kept = slice(len(self))
        self._rows[kept] = state["rows"]
        self._target[kept] = state["target"]
        self._weight[kept] = state["weight"]
        self._is_old[kept] = state["is_old"]
