"""Three DQN agents that pick in turn, and learn from the same transitions.

Each agent is a Stable-Baselines3 ``DQNPolicy``: a Q-network, its target network and an optimiser. The class ``DQN``
itself serves one agent with one environment, so its loop and its loss are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn
from torch.nn.functional import one_hot

from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.agents.control.replay_buffer import Transitions
from rlccfr.agents.double_q import Picks, best_answer, learn_from, preferred, values_of_answers
from rlccfr.agents.team.selector_dqn import contained_randomness
from rlccfr.components.controller import AGENTS, CHOICES, OBSERVATION, Controller


class ControlAgents:
    """The agents of :data:`rlccfr.components.controller.AGENTS`.

    The first agent's network takes an observation. Each further one also takes the picks of the agents before it, each
    as one number per choice: 1 for the pick, 0 for the others.

    Args:
        hyperparameters: hyperparameters of the networks and of training.
        seed: seed of the initial weights.

    Attributes:
        hyperparameters: the argument.
        counts: number of choices of each agent.
        policies: Q-network, target network and optimiser of each agent.
        rounds_averaged: number of rounds whose weights are in the mean.
        mean_weights: (weights,) mean of the Q-networks' weights, in the order of :meth:`Controller.flat_weights`; empty
            before the first.
    """

    def __init__(self, hyperparameters: ControlHyperparameters, seed: int) -> None:
        self.hyperparameters = hyperparameters
        self.counts = [len(choices) for choices in CHOICES]
        self.rounds_averaged = 0
        self.mean_weights = np.zeros(0)
        self.policies: list[DQNPolicy] = []
        input_size = len(OBSERVATION)
        with contained_randomness(seed):
            for count in self.counts:
                self.policies.append(
                    DQNPolicy(
                        spaces.Box(-np.inf, np.inf, (input_size,), np.float32),
                        spaces.Discrete(count),
                        lambda _: hyperparameters.learning_rate,
                        net_arch=list(hyperparameters.hidden),
                    )
                )
                input_size += count

    @property
    def current(self) -> Controller:
        """A controller with the Q-networks as they are."""
        networks = []
        for policy in self.policies:
            layers = [layer for layer in policy.q_net.q_net if isinstance(layer, nn.Linear)]
            networks.append(tuple((_array(layer.weight).T.copy(), _array(layer.bias).copy()) for layer in layers))
        return Controller(CHOICES, (tuple(networks),))

    @property
    def controller(self) -> Controller:
        """A controller with the mean of the weights added so far; before the first, with the networks as they are."""
        return self.current.with_weights(self.mean_weights) if self.rounds_averaged else self.current

    def add_to_mean(self) -> None:
        """Add the Q-networks' weights to their mean, which is the training's result.

        Such a mean is less noisy than the last networks (Izmailov, Podoprikhin, Garipov, Vetrov and Wilson, Averaging
        weights leads to wider optima and better generalization, UAI 2018).
        """
        weights = self.current.flat_weights()
        self.rounds_averaged += 1
        previous_mean = self.mean_weights if self.rounds_averaged > 1 else weights
        self.mean_weights = previous_mean + (weights - previous_mean) / self.rounds_averaged

    def learn(self, transitions: Transitions, rate: float) -> float:
        """Make a gradient step of each agent, and move its target network.

        The target of the last agent's pick is the rewards that followed and the value of the later decision. The target
        of an earlier agent's pick is the value of the next agent's best pick, given this one
        (:mod:`rlccfr.agents.double_q`).

        Args:
            transitions: batch of b decisions.
            rate: learning rate.

        Returns:
            The sum of the agents' Huber losses.
        """
        observations = torch.as_tensor(transitions.observations)
        later_observations = torch.as_tensor(transitions.later)
        picked = torch.as_tensor(transitions.picks)
        inputs = [observations, *(self._inputs(observations, picked, agent) for agent in range(1, len(AGENTS)))]
        with torch.no_grad():
            later_values = self._values(later_observations)
            later_values[torch.as_tensor(transitions.over)] = 0.0
        last_target = torch.as_tensor(transitions.rewards, dtype=torch.float32) + later_values
        picks = Picks(inputs, [None] * len(inputs), picked)
        targets = [*values_of_answers(self.policies, picks), last_target]
        return sum(learn_from(self.policies, picks, targets, rate, self.hyperparameters.tau))

    def _inputs(self, observations: torch.Tensor, picks: torch.Tensor, agent: int) -> torch.Tensor:
        """Return an agent's inputs, (b, inputs), after the picks, (b, 3), of the agents before it."""
        earlier_picks = [one_hot(picks[:, k], self.counts[k]).float() for k in range(agent)]
        return torch.cat([observations, *earlier_picks], dim=1)

    def _values(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the value of observations if all agents pick what they prefer, (b,)."""
        inputs = observations
        for policy, count in zip(self.policies[:-1], self.counts, strict=False):
            inputs = torch.cat([inputs, one_hot(preferred(policy, inputs), count).float()], dim=1)
        return best_answer(self.policies[-1], inputs)

    def state(self) -> dict[str, np.ndarray]:
        """Return all arrays that learning depends on, by name."""
        arrays = {"rounds_averaged": np.array(self.rounds_averaged), "mean_weights": self.mean_weights}
        for agent, policy in zip(AGENTS, self.policies, strict=True):
            for name, tensor in policy.state_dict().items():
                arrays[f"{agent}/{name}"] = _array(tensor).copy()
            # Adam's moments, of each parameter by its number.
            for number, moments in policy.optimizer.state_dict()["state"].items():
                for name, tensor in moments.items():
                    arrays[f"{agent}/optimizer/{number}/{name}"] = _array(tensor).copy()
        return arrays

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`state` returned."""
        self.rounds_averaged = int(saved["rounds_averaged"])
        self.mean_weights = saved["mean_weights"]
        for agent, policy in zip(AGENTS, self.policies, strict=True):
            arrays = {name.removeprefix(f"{agent}/"): array for name, array in saved.items() if name.startswith(agent)}
            policy.load_state_dict({name: torch.as_tensor(arrays[name]) for name in policy.state_dict()})
            moments: dict[int, dict[str, torch.Tensor]] = {}
            for name, array in arrays.items():
                if name.startswith("optimizer/"):
                    _, number, moment = name.split("/")
                    moments.setdefault(int(number), {})[moment] = torch.as_tensor(array.copy())
            groups = policy.optimizer.state_dict()["param_groups"]
            policy.optimizer.load_state_dict({"state": moments, "param_groups": groups})


def _array(tensor: torch.Tensor) -> np.ndarray:
    """Return a tensor's values as an array, which shares them."""
    return tensor.detach().numpy()
