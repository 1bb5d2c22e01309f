"""Models that are fitted to targets: a multilayer perceptron in PyTorch, and a table to compare it with.

The perceptron's gradient is written out. For networks this small, a step with PyTorch's automatic differentiation and
optimisers takes about two to three times as long; ``python -m tests.verify --table "training step"`` prints timings.
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
"""Adam's decay rates of the two moments."""

LARGEST_GRADIENT = 1.0
"""Norm to which gradients are clipped, as in Brown et al. 2019."""

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Each layer's weights, (inputs, outputs), and biases, (outputs,)."""

_lock = threading.Lock()
_threads_before: list[int] = []  # PyTorch's number of threads before each call of one_thread that has not ended


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
    """A network of ReLU layers, trained by Adam on the weighted squared error.

    All weights lie in one flat tensor, so that a step of Adam takes few operations.
    """

    def __init__(self, inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> None:
        self._device = _device(settings.device)
        self._settings = settings
        self._inputs = inputs
        self._matrix = torch.from_numpy(inputs.matrix).to(self._device)
        self._batches = Batches(inputs, settings.batch_size, self._device)
        self._sizes = _sizes(inputs.matrix.shape[1], settings, inputs.num_outputs)
        num_weights = sum((n + 1) * m for n, m in self._sizes)
        # Weights, gradient, and Adam's means of the gradient and of its square.
        tensors = torch.zeros((4, num_weights), device=self._device)
        self._weights, self._gradient, self._mean, self._square = tensors
        # On the CPU, Adam's kernel works on the same memory through arrays.
        self._adam_arrays = [tensor.numpy() for tensor in tensors] if self._device.type == "cpu" else []
        self._steps = 0
        self._layers = _views(self._weights, self._sizes)
        self._layer_gradients = _views(self._gradient, self._sizes)
        self._begin(seed)

    def _begin(self, seed: Sequence[int]) -> None:
        """Draw new weights, uniform within +-1 / sqrt(number of inputs), as PyTorch's linear layers do."""
        rng = np.random.default_rng([*seed, 0])
        bounds = np.concatenate([np.full((n + 1) * m, max(n, 1) ** -0.5) for n, m in self._sizes])
        weights = rng.uniform(-bounds, bounds).astype(np.float32)
        self._weights.copy_(torch.from_numpy(weights))
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
        return np.asarray(self._weights.cpu().numpy().copy())

    @torch.inference_mode()
    def fit(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], times: int = 1, steps: int = 0) -> None:
        if not steps:
            if self._settings.from_scratch:
                self._begin(seed)
            steps = self._settings.steps_of_fit(times)
        for matrix, goal, scale in self._batches.of(target, weight, seed, steps):
            self._step(matrix, goal, scale)

    def _step(self, matrix: torch.Tensor, goal: torch.Tensor, scale: torch.Tensor) -> None:
        """Perform one training step on sum(scale (output - goal)^2) / 2."""
        *layer_inputs, output = _forward(matrix, self._layers)
        # Backpropagation: the gradient of the loss with respect to each layer's outputs, from the last layer on.
        output_gradient = (output - goal).mul_(scale)
        for index in reversed(range(len(self._layers))):
            weight_gradient, bias_gradient = self._layer_gradients[index]
            torch.mm(layer_inputs[index].t(), output_gradient, out=weight_gradient)
            torch.sum(output_gradient, 0, out=bias_gradient)
            if index:  # through the ReLU, whose derivative is the sign of its outputs
                weights = self._layers[index][0]
                output_gradient = torch.mm(output_gradient, weights.t()).mul_(layer_inputs[index].sign())
        self._steps += 1
        self._descend()

    def _descend(self) -> None:
        """Perform one step of Adam (Kingma and Ba, ICLR 2015) along the clipped gradient."""
        # The step size and the spread correct for the moments' start at 0.
        step = self._settings.learning_rate / (1 - BETAS[0] ** self._steps)
        spread = (1 - BETAS[1] ** self._steps) ** 0.5
        if self._adam_arrays:
            rates = np.array([LARGEST_GRADIENT, 1 - BETAS[0], 1 - BETAS[1], step, 1 / spread], np.float32)
            adam_step(*self._adam_arrays, *rates)
            return
        norm = float(torch.linalg.vector_norm(self._gradient))
        if norm > LARGEST_GRADIENT:
            self._gradient.mul_(LARGEST_GRADIENT / norm)
        self._mean.lerp_(self._gradient, 1 - BETAS[0])
        self._square.mul_(BETAS[1]).addcmul_(self._gradient, self._gradient, value=1 - BETAS[1])
        root = self._square.sqrt().div_(spread).add_(float(EPSILON))
        self._weights.addcdiv_(self._mean, root, value=-step)

    def state(self) -> dict[str, np.ndarray]:
        arrays = {name: tensor.cpu().numpy().copy() for name, tensor in self._saved_tensors().items()}
        return arrays | {"steps": np.array([self._steps])}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        for name, tensor in self._saved_tensors().items():
            tensor.copy_(torch.from_numpy(state[name]))
        self._steps = int(state["steps"][0])

    def _saved_tensors(self) -> dict[str, torch.Tensor]:
        return {"weights": self._weights, "mean": self._mean, "square": self._square}


def make_model(inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> Model:
    """Return a new model of the settings' kind."""
    if settings.kind == "cards":
        from rlccfr.networks.card_network import CardNetwork

        return CardNetwork(inputs, settings, seed)
    if settings.kind == "table":
        return Table(inputs, settings, seed)
    return Mlp(inputs, settings, seed)


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
            # The first number is the one from before all calls, so that it stays until the last one ends.
            num_threads = _threads_before[0]
            _threads_before.pop()
            if not _threads_before:
                torch.set_num_threads(num_threads)


def _device(name: str) -> torch.device:
    """Return the device that the settings name.

    Raises:
        ComponentError: the settings name CUDA, and there is no CUDA device.
    """
    has_cuda = torch.cuda.is_available()
    if name == "cuda" and not has_cuda:
        raise ComponentError("device='cuda' needs a CUDA device and a PyTorch built for it; use 'cpu' or 'auto'")
    return torch.device("cuda" if has_cuda and name != "cpu" else "cpu")


def _sizes(num_inputs: int, settings: Approximator, num_outputs: int) -> list[tuple[int, int]]:
    """Return each layer's numbers of inputs and of outputs."""
    widths = [num_inputs, *[settings.hidden] * settings.layers, num_outputs]
    return list(pairwise(widths))


def _forward(matrix: torch.Tensor, layers: Layers) -> list[torch.Tensor]:
    """Return the matrix and the output of each layer, (rows, outputs) each."""
    values = [matrix]
    for weights, bias in layers[:-1]:
        values.append(torch.addmm(bias, values[-1], weights).relu_())
    weights, bias = layers[-1]
    return [*values, torch.addmm(bias, values[-1], weights)]


def _views(flat: torch.Tensor, sizes: Sequence[tuple[int, int]]) -> Layers:
    """Return each layer's weights and biases as views of a flat tensor."""
    views: Layers = []
    begin = 0
    for num_inputs, num_outputs in sizes:
        bias_begin = begin + num_inputs * num_outputs
        end = bias_begin + num_outputs
        views.append((flat[begin:bias_begin].view(num_inputs, num_outputs), flat[bias_begin:end]))
        begin = end
    return views
