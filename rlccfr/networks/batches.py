"""Batches of rows for a network's training steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from rlccfr.networks.inputs import Inputs

Batch = tuple[torch.Tensor, ...]
"""A batch's inputs, (rows, d), the targets of its outputs, and the weights of its outputs in the loss.

The last two have the shape (rows, outputs).
"""


class Batches:
    """Batches of one model's rows, drawn in proportion to the rows' weights.

    Args:
        inputs: the model's inputs, with m sequences and n infosets.
        size: largest number of rows of a batch. If there are no more rows than that, each batch has all of them.
        device: device on which the batches are stored.
    """

    def __init__(self, inputs: Inputs, size: int, device: torch.device) -> None:
        self._inputs = inputs
        self._size = size
        self._device = device
        self._is_sequence = np.zeros((len(inputs.matrix), inputs.num_outputs), np.float32)  # 1 for legal actions
        self._is_sequence.flat[inputs.position] = 1.0

    def of(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], steps: int) -> Iterator[Batch]:
        """Yield a batch for each training step; yield nothing if all weights are 0.

        Args:
            target: (m,) target of each sequence.
            weight: (n,) weight of each infoset.
            seed: seed of the draws.
            steps: number of training steps.
        """
        inputs = self._inputs
        row_weight = weight[inputs.infoset]
        rows = np.flatnonzero(row_weight)
        if not len(rows):
            return
        goal = np.zeros(self._is_sequence.shape, np.float32)
        goal.flat[inputs.position] = target
        share = row_weight[rows] / row_weight[rows].sum()
        # Few rows: each batch has all of them, and the loss weighs them.
        if len(rows) <= self._size:
            scale = self._is_sequence[rows] * share[:, None].astype(np.float32)
            batch = self._tensors(inputs.matrix[rows], goal[rows], scale)
            for _ in range(steps):
                yield batch
            return
        # Many rows: they are drawn by weight, with replacement, and the loss then weights all drawn rows equally.
        draws = np.random.default_rng([*seed, 1]).random((steps, self._size))
        drawn_rows = rows[np.minimum(np.searchsorted(np.cumsum(share), draws), len(rows) - 1)]
        # The arrays are stored side by side, so that one call gathers a batch.
        packed_arrays = np.hstack([inputs.matrix, goal, self._is_sequence / self._size])
        packed, rows_of_batches = self._tensors(packed_arrays, drawn_rows)
        widths = [inputs.matrix.shape[1], inputs.num_outputs, inputs.num_outputs]
        for batch_rows in rows_of_batches:
            yield torch.split(packed.index_select(0, batch_rows), widths, 1)

    def _tensors(self, *arrays: np.ndarray) -> Batch:
        return tuple(torch.from_numpy(array).to(self._device) for array in arrays)
