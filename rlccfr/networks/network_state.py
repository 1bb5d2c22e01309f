"""Conversion of a PyTorch network and its Adam optimiser to arrays for files, and back."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

_MOMENTS = ("exp_avg", "exp_avg_sq")
"""Names of Adam's moments in PyTorch: the means of the gradient and of its square."""


def weights_of(network: nn.Module) -> np.ndarray:
    """Return a one-dimensional copy of a network's weights."""
    return np.asarray(nn.utils.parameters_to_vector(network.parameters()).detach().numpy().copy())


def set_weights(network: nn.Module, weights: np.ndarray) -> None:
    """Overwrite a network's weights with those that :func:`weights_of` returned."""
    nn.utils.vector_to_parameters(torch.from_numpy(weights.copy()), network.parameters())


def state_of(network: nn.Module, adam: torch.optim.Adam) -> dict[str, np.ndarray]:
    """Return the arrays that further training steps depend on, by name."""
    parameters = list(network.parameters())
    steps = next((int(adam_state["step"]) for adam_state in adam.state.values()), 0)
    arrays = {}
    for name in _MOMENTS:
        # Adam has no moments before its first step.
        moments = [adam.state[parameter][name] if steps else torch.zeros_like(parameter) for parameter in parameters]
        arrays[name] = nn.utils.parameters_to_vector(moments).numpy().copy()
    return {"weights": weights_of(network), **arrays, "steps": np.array([steps])}


def set_rate(adam: torch.optim.Adam, learning_rate: float) -> None:
    """Set the learning rate of the next steps."""
    for group in adam.param_groups:
        group["lr"] = learning_rate


def restored_adam(network: nn.Module, learning_rate: float, state: dict[str, np.ndarray]) -> torch.optim.Adam:
    """Restore a network from the arrays that :func:`state_of` returned; return its optimiser."""
    set_weights(network, state["weights"])
    parameters = list(network.parameters())
    adam = torch.optim.Adam(parameters, lr=learning_rate)
    steps = float(state["steps"][0])
    # Before its first step, Adam has no moments to restore.
    if not steps:
        return adam
    begin = 0
    for parameter in parameters:
        # The moments of all parameters form one vector, in the parameters' order.
        entries = slice(begin, begin + parameter.numel())
        begin = entries.stop
        adam.state[parameter] = {
            "step": torch.tensor(steps),
            **{name: torch.from_numpy(state[name][entries].copy()).view_as(parameter) for name in _MOMENTS},
        }
    return adam
