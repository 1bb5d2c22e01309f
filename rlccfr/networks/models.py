"""Models that are fitted to targets: a multilayer perceptron in PyTorch, and a table to compare it with.

The perceptron's gradient is written out. For networks this small, a step with PyTorch's automatic differentiation and
optimisers takes about two to three times as long (docs/verification.md has timings of both kinds of step).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch

from rlccfr.errors import ComponentError
from rlccfr.kernels.learning.adam import EPSILON, adam_step
from rlccfr.networks.batches import Batches
from rlccfr.networks.inputs import Inputs
from rlccfr.networks.settings import Approximator

BETAS = (0.9, 0.999)
_lock = threading.Lock()
_threads_before: list[int] = []

Layers = list[tuple[torch.Tensor, torch.Tensor]]
LARGEST_GRADIENT = 1.0
"""Norm to which gradients are clipped, as in Brown et al. 2019."""


class Model(Protocol):
    """A function from a player's sequences to numbers."""

    def predict(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return predictions, (m,) float64; if given, ``weights`` replace the model's own."""

    def weights(self) -> np.ndarray:
        """Return a copy, in one dimension, of all that ``predict`` depends on."""

    def fit(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], times: int = 1, steps: int = 0) -> None:
        """Fit the model to targets.

        Args:
            target: (m,) targets over sequences.
            weight: (n,) weights over infosets; where the weight is 0 the target is ignored.
            seed: seed of the draws in this fit.
            times: number of fits whose training steps this fit takes; without effect for a table, and for a model that
                begins each fit with new weights.
            steps: number of training steps from the present weights, whatever the settings say; 0 for the settings'.
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
        known = weight[self._infoset] > 0
        self._values[known] = target[known]

    def state(self) -> dict[str, np.ndarray]:
        return {"values": self._values}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self._values[:] = state["values"]


class Mlp:
    """A network of ReLU layers, trained by Adam on the weighted squared error.

    All weights lie in one flat tensor, so that a step of Adam takes few operations.
    """

    def __init__(self, inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> None:
        self._device = _device(settings.device)
        self._settings = settings
        self._inputs = inputs
        self._matrix = torch.from_numpy(inputs.matrix).to(self._device)
        columns = inputs.matrix.shape[1]
        self._batches = Batches(inputs, settings.batch_size, self._device)
        self._sizes = _sizes(columns, settings, inputs.num_outputs)
        length = sum((n + 1) * m for n, m in self._sizes)
        self._flat, self._gradient, self._mean, self._square = torch.zeros((4, length), device=self._device)
        # On the CPU the kernel works on the same memory.
        tensors = (self._flat, self._gradient, self._mean, self._square)
        self._arrays = [tensor.numpy() for tensor in tensors] if self._device.type == "cpu" else []
        self._steps = 0
        self._layers, self._gradients = _views(self._flat, self._sizes), _views(self._gradient, self._sizes)
        self._begin(seed)

    def _begin(self, seed: Sequence[int]) -> None:
        """Draw new weights, uniform within +-1 / sqrt(number of inputs), as PyTorch's linear layers do."""
        rng = np.random.default_rng([*seed, 0])
        bounds = np.concatenate([np.full((n + 1) * m, max(n, 1) ** -0.5) for n, m in self._sizes])
        weights = rng.uniform(-bounds, bounds).astype(np.float32)
        self._flat.copy_(torch.from_numpy(weights))
        self._mean.zero_()
        self._square.zero_()
        self._steps = 0

    @torch.inference_mode()
    def predict(self, weights: np.ndarray | None = None) -> np.ndarray:
        layers = self._layers
        if weights is not None:
            layers = _views(torch.from_numpy(weights).to(self._device), self._sizes)
        output = _forward(self._matrix, layers)[-1].cpu().numpy()
        return np.asarray(output.reshape(-1)[self._inputs.position], np.float64)

    def weights(self) -> np.ndarray:
        return np.asarray(self._flat.cpu().numpy().copy())

    @torch.inference_mode()
    def fit(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], times: int = 1, steps: int = 0) -> None:
        new = self._settings.from_scratch and not steps
        if new:
            self._begin(seed)
        # A fit that begins with new weights takes the usual number of steps, however much there is to learn.
        steps = steps or self._settings.train_steps * (1 if new else times)
        for batch in self._batches.of(target, weight, seed, steps):
            self._step(*batch)

    def _step(self, matrix: torch.Tensor, goal: torch.Tensor, scale: torch.Tensor) -> None:
        """Perform one training step on sum(scale (output - goal)^2) / 2."""
        *values, output = _forward(matrix, self._layers)
        error = (output - goal).mul_(scale)
        for index in reversed(range(len(self._layers))):
            weight_gradient, bias_gradient = self._gradients[index]
            torch.mm(values[index].t(), error, out=weight_gradient)
            torch.sum(error, 0, out=bias_gradient)
            if index:
                error = torch.mm(error, self._layers[index][0].t()).mul_(values[index].sign())
        self._steps += 1
        self._descend()

    def _descend(self) -> None:
        """Perform one step of Adam (Kingma and Ba, ICLR 2015) along the clipped gradient."""
        step = self._settings.learning_rate / (1 - BETAS[0] ** self._steps)
        spread = (1 - BETAS[1] ** self._steps) ** 0.5
        if self._arrays:
            rates = np.array([LARGEST_GRADIENT, 1 - BETAS[0], 1 - BETAS[1], step, 1 / spread], np.float32)
            adam_step(*self._arrays, *rates)
            return
        norm = float(torch.linalg.vector_norm(self._gradient))
        if norm > LARGEST_GRADIENT:
            self._gradient.mul_(LARGEST_GRADIENT / norm)
        self._mean.lerp_(self._gradient, 1 - BETAS[0])
        self._square.mul_(BETAS[1]).addcmul_(self._gradient, self._gradient, value=1 - BETAS[1])
        self._flat.addcdiv_(self._mean, self._square.sqrt().div_(spread).add_(float(EPSILON)), value=-step)

    def state(self) -> dict[str, np.ndarray]:
        tensors = {"weights": self._flat, "mean": self._mean, "square": self._square}
        return {name: tensor.cpu().numpy().copy() for name, tensor in tensors.items()} | {
            "steps": np.array([self._steps])
        }

    def restore(self, state: dict[str, np.ndarray]) -> None:
        for name, tensor in (("weights", self._flat), ("mean", self._mean), ("square", self._square)):
            tensor.copy_(torch.from_numpy(state[name]))
        self._steps = int(state["steps"][0])


def make_model(inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> Model:
    """Return a new model of the settings' kind."""
    if settings.kind == "cards":
        from rlccfr.networks.card_network import CardNetwork

        return CardNetwork(inputs, settings, seed)
    return Table(inputs, settings, seed) if settings.kind == "table" else Mlp(inputs, settings, seed)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread.

    For matrices this small, a second thread costs more than it saves, and CPU time is measured for one thread only.
    PyTorch's number of threads is that of the whole process. If several solvers run, each in its own thread, the last
    one to end restores the number.
    """
    with _lock:
        _threads_before.append(torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            last = len(_threads_before) == 1
            threads = _threads_before.pop(0 if last else -1)
            if last:
                torch.set_num_threads(threads)


def _device(name: str) -> torch.device:
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise ComponentError("device='cuda' needs a CUDA device and a PyTorch built for it; use 'cpu' or 'auto'")
    return torch.device("cuda" if there and name != "cpu" else "cpu")


def _sizes(inputs: int, settings: Approximator, outputs: int) -> list[tuple[int, int]]:
    widths = [inputs, *[settings.hidden] * settings.layers, outputs]
    return list(pairwise(widths))


def _forward(matrix: torch.Tensor, layers: Layers) -> list[torch.Tensor]:
    """Return the matrix and the output of each layer."""
    values = [matrix]
    for weight, bias in layers[:-1]:
        values.append(torch.addmm(bias, values[-1], weight).relu_())
    weight, bias = layers[-1]
    return [*values, torch.addmm(bias, values[-1], weight)]


def _views(flat: torch.Tensor, sizes: Sequence[tuple[int, int]]) -> Layers:
    """Return each layer's weights and bias as views of a flat tensor."""
    views: Layers = []
    at = 0
    for n, m in sizes:
        views.append((flat[at : at + n * m].view(n, m), flat[at + n * m : at + (n + 1) * m]))
        at += (n + 1) * m
    return views
