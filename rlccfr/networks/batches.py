"""Batches of rows for a network's training steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from rlccfr.networks.inputs import Inputs

Batch = tuple[torch.Tensor, ...]
"""Rows of inputs, goals for their outputs, and the weight of each output in the loss."""


class Batches:
    """Batches of one model's rows, drawn by weight.

    Args:
        size: largest number of rows of a batch. If there are no more rows than that, each batch has all of them.
    """

    def __init__(self, inputs: Inputs, size: int, device: torch.device) -> None:
        self._inputs, self._size, self._device = inputs, size, device
        self._mask = np.zeros((len(inputs.matrix), inputs.num_outputs), np.float32)
        self._mask.flat[inputs.position] = 1.0

    def of(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], steps: int) -> Iterator[Batch]:
        """Yield a batch for each training step; none if no row has a weight.

        Args:
            target: (m,) targets over sequences.
            weight: (n,) weights over infosets.
            seed: seed of the draws.
        """
        weight = weight[self._inputs.infoset]
        rows = np.flatnonzero(weight)
        if not len(rows):
            return
        goal = np.zeros(self._mask.shape, np.float32)
        goal.flat[self._inputs.position] = target
        share = weight[rows] / weight[rows].sum()
        if len(rows) <= self._size:
            scale = self._mask[rows] * share[:, None].astype(np.float32)
            batch = self._tensors(self._inputs.matrix[rows], goal[rows], scale)
            for _ in range(steps):
                yield batch
            return
        luck = np.random.default_rng([*seed, 1]).random((steps, self._size))
        drawn = rows[np.minimum(np.searchsorted(np.cumsum(share), luck), len(rows) - 1)]
        # The arrays stand side by side, so that a batch is gathered at once.
        packed, batches = self._tensors(np.hstack([self._inputs.matrix, goal, self._mask / self._size]), drawn)
        widths = [self._inputs.matrix.shape[1], self._inputs.num_outputs, self._inputs.num_outputs]
        for chosen in batches:
            yield torch.split(packed.index_select(0, chosen), widths, 1)

    def _tensors(self, *arrays: np.ndarray) -> Batch:
        return tuple(torch.from_numpy(array).to(self._device) for array in arrays)
