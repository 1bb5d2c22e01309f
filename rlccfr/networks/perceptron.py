"""A multilayer perceptron in PyTorch, with its gradient written out.

For networks this small, a step with PyTorch's automatic differentiation and optimisers takes about two to three times
as long; ``python -m tests.verify --table "training step"`` prints timings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch

from rlccfr.errors import ComponentError
from rlccfr.kernels.learning.adam import EPSILON, adam_step
from rlccfr.networks.settings import Approximator

BETAS = (0.9, 0.999)
"""Adam's decay rates of the two moments."""

LARGEST_GRADIENT = 1.0
"""Norm to which gradients are clipped, as in Brown et al. 2019."""

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Each layer's weights, (inputs, outputs), and biases, (outputs,)."""


class Perceptron:
    """A network of ReLU layers, trained by Adam on the weighted squared error.

    All weights lie in one flat tensor, so that a step of Adam takes few operations.

    Args:
        num_inputs, num_outputs: numbers of inputs and outputs.
        settings: settings of the model.
        seed: seed of the first weights.

    Attributes:
        device: where the network is computed.
    """

    def __init__(self, num_inputs: int, num_outputs: int, settings: Approximator, seed: Sequence[int]) -> None:
        self.device = _device(settings.device)
        self._settings = settings
        self._sizes = _sizes(num_inputs, settings, num_outputs)
        num_weights = sum((n + 1) * m for n, m in self._sizes)
        # Weights, gradient, and Adam's means of the gradient and of its square.
        tensors = torch.zeros((4, num_weights), device=self.device)
        self._weights, self._gradient, self._mean, self._square = tensors
        # On the CPU, Adam's kernel works on the same memory through arrays.
        self._adam_arrays = [tensor.numpy() for tensor in tensors] if self.device.type == "cpu" else []
        self._steps = 0
        self._layers = _views(self._weights, self._sizes)
        self._layer_gradients = _views(self._gradient, self._sizes)
        self.begin(seed)

    def begin(self, seed: Sequence[int]) -> None:
        """Draw new weights, uniform within +-1 / sqrt(number of inputs), as PyTorch's linear layers do."""
        rng = np.random.default_rng([*seed, 0])
        bounds = np.concatenate([np.full((n + 1) * m, max(n, 1) ** -0.5) for n, m in self._sizes])
        weights = rng.uniform(-bounds, bounds).astype(np.float32)
        self._weights.copy_(torch.from_numpy(weights))
        self._mean.zero_()
        self._square.zero_()
        self._steps = 0

    @torch.inference_mode()
    def outputs(self, matrix: torch.Tensor, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the outputs for some inputs, (rows, outputs) float32; if given, ``weights`` replace the network's."""
        layers = self._layers
        if weights is not None:
            layers = _views(torch.from_numpy(weights).to(self.device), self._sizes)
        outputs: np.ndarray = _forward(matrix, layers)[-1].cpu().numpy()
        return outputs

    def weights(self) -> np.ndarray:
        """Return a one-dimensional copy of all weights."""
        return np.asarray(self._weights.cpu().numpy().copy())

    def set_weights(self, weights: np.ndarray) -> None:
        """Overwrite all weights with those that :meth:`weights` returned; Adam's means stay."""
        self._weights.copy_(torch.from_numpy(weights))

    def step(self, matrix: torch.Tensor, goal: torch.Tensor, scale: torch.Tensor, learning_rate: float) -> None:
        """Perform one training step on sum(scale (output - goal)^2) / 2; call it in ``torch.inference_mode()``.

        Args:
            matrix: (rows, inputs) inputs.
            goal, scale: (rows, outputs) what the outputs should be, and the weight of each in the loss.
            learning_rate: learning rate of the step.
        """
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
        self._descend(learning_rate)

    def _descend(self, learning_rate: float) -> None:
        """Perform one step of Adam (Kingma and Ba, ICLR 2015) along the clipped gradient."""
        # The step size and the spread correct for the moments' start at 0.
        step = learning_rate / (1 - BETAS[0] ** self._steps)
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
        """Return all that the next step depends on."""
        arrays = {name: tensor.cpu().numpy().copy() for name, tensor in self._saved_tensors().items()}
        return arrays | {"steps": np.array([self._steps])}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Restore what :meth:`state` returned."""
        for name, tensor in self._saved_tensors().items():
            tensor.copy_(torch.from_numpy(state[name]))
        self._steps = int(state["steps"][0])

    def _saved_tensors(self) -> dict[str, torch.Tensor]:
        return {"weights": self._weights, "mean": self._mean, "square": self._square}


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
