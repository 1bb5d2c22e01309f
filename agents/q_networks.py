"""Stable-Baselines3's DQN policies as the agents use them: made from a seed, saved and restored.

A ``DQNPolicy`` holds an agent's Q-network, its target network and its optimiser. Stable-Baselines3's class ``DQN``
trains one agent in one environment, so :mod:`rlccfr.agents.team.learning` replaces its training loop and its loss.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn


def new_policy(inputs: int, choices: int, hidden: Sequence[int], learning_rate: Schedule) -> DQNPolicy:
    """Return a policy on the CPU, with weights drawn from torch's global generator.

    Args:
        inputs: length of the agent's observation.
        choices: number of the agent's choices.
        hidden: widths of the hidden layers.
        learning_rate: function that returns the learning rate for the remaining share of the training, which falls from
            1 to 0; the optimiser starts with the function's value at 1.
    """
    observation_space = spaces.Box(-np.inf, np.inf, (inputs,), np.float32)
    return DQNPolicy(observation_space, spaces.Discrete(choices), learning_rate, net_arch=list(hidden))


def network_weights(network: nn.Module) -> dict[str, np.ndarray]:
    """Return a network's weights, keyed by torch's names, without copying them."""
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}


def set_weights(network: nn.Module, weights: Mapping[str, np.ndarray]) -> None:
    """Copy weights, keyed by torch's names, into a network."""
    network.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})


def optimizer_state(policy: DQNPolicy) -> dict[str, np.ndarray]:
    """Return a copy of Adam's moments by name, such as ``0/exp_avg`` for parameter 0; empty before the first step."""
    moments = policy.optimizer.state_dict()["state"]
    return {
        f"{number}/{name}": tensor.numpy().copy()
        for number, moments_of_parameter in moments.items()
        for name, tensor in moments_of_parameter.items()
    }


def restore_optimizer(policy: DQNPolicy, saved: Mapping[str, np.ndarray]) -> None:
    """Restore the moments that :func:`optimizer_state` returned."""
    moments: dict[int, dict[str, torch.Tensor]] = defaultdict(dict)
    for key, array in saved.items():
        number, name = key.split("/")
        moments[int(number)][name] = torch.tensor(array)
    groups = policy.optimizer.state_dict()["param_groups"]
    policy.optimizer.load_state_dict({"state": dict(moments), "param_groups": groups})
