"""Models that are fitted to targets: networks in PyTorch, and a table to compare them with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch

from rlccfr.networks.batches import Batches
from rlccfr.networks.inputs import Inputs
from rlccfr.networks.perceptron import Perceptron
from rlccfr.networks.settings import Approximator


class Model(Protocol):
    """A function from a player's sequences to numbers."""

    def predict(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return predictions, (m,) float64; if given, ``weights`` replace the model's own."""

    def weights(self) -> np.ndarray:
        """Return a one-dimensional copy of all that ``predict`` depends on."""

    def fit(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], times: int = 1, steps: int = 0) -> None:
        """Fit the model to targets.

        Args:
            target: (m,) target of each sequence.
            weight: (n,) weight of each infoset; where it is 0, the targets are ignored.
            seed: seed of the draws in this fit.
            times: factor on the number of training steps. It has no effect on a table, nor on a model that begins each
                fit with new weights.
            steps: number of training steps from the present weights, whatever the settings say; 0 for the settings'
                number.
        """

    def state(self) -> dict[str, np.ndarray]:
        """Return all that the next fit depends on."""

    def restore(self, state: dict[str, np.ndarray]) -> None: ...


class Table:
    """A table, which fits every target exactly."""

    def __init__(self, inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> None:
        self._infoset = inputs.infoset[inputs.position // inputs.num_outputs]
        self._values = np.zeros(len(inputs.position))

    def predict(self, weights: np.ndarray | None = None) -> np.ndarray:
        return self.weights() if weights is None else weights

    def weights(self) -> np.ndarray:
        return self._values.copy()

    def fit(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], times: int = 1, steps: int = 0) -> None:
        has_weight = weight[self._infoset] > 0
        self._values[has_weight] = target[has_weight]

    def state(self) -> dict[str, np.ndarray]:
        return {"values": self._values}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self._values[:] = state["values"]


class Mlp:
    """A network of ReLU layers from rows of the inputs; see :class:`rlccfr.networks.perceptron.Perceptron`."""

    def __init__(self, inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> None:
        self._settings = settings
        self._inputs = inputs
        self._network = Perceptron(inputs.matrix.shape[1], inputs.num_outputs, settings, seed)
        self._matrix = torch.from_numpy(inputs.matrix).to(self._network.device)
        self._batches = Batches(inputs, settings.batch_size, self._network.device)

    def predict(self, weights: np.ndarray | None = None) -> np.ndarray:
        outputs = self._network.outputs(self._matrix, weights)
        return np.asarray(outputs.reshape(-1)[self._inputs.position], np.float64)

    def weights(self) -> np.ndarray:
        return self._network.weights()

    @torch.inference_mode()
    def fit(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], times: int = 1, steps: int = 0) -> None:
        if not steps:
            if self._settings.from_scratch:
                self._network.begin(seed)
            steps = self._settings.steps_of_fit(times)
        for step, (matrix, goal, scale) in enumerate(self._batches.of(target, weight, seed, steps)):
            self._network.step(matrix, goal, scale, self._settings.rate_at(step, steps))

    def state(self) -> dict[str, np.ndarray]:
        return self._network.state()

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self._network.restore(state)


def make_model(inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> Model:
    """Return a new model of the settings' kind."""
    if settings.kind == "cards":
        from rlccfr.networks.card_network import CardNetwork

        return CardNetwork(inputs, settings, seed)
    if settings.kind == "table":
        return Table(inputs, settings, seed)
    return Mlp(inputs, settings, seed)
