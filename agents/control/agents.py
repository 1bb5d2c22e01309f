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
from rlccfr.agents.control.memory import Transitions
from rlccfr.agents.double_q import Picks, best_answer, learn_from, preferred, values_of_answers
from rlccfr.agents.team.selector_dqn import contained_randomness
from rlccfr.components.controller import AGENTS, CHOICES, OBSERVATION, Controller


class ControlAgents:
    """The agents of :data:`rlccfr.components.controller.AGENTS`.

    Args:
        seed: seed of the initial weights.
    """

    def __init__(self, hyperparameters: ControlHyperparameters, seed: int) -> None:
        self.hyperparameters = hyperparameters
        self.counts = [len(own) for own in CHOICES]
        self.rounds_averaged, self.mean_weights = 0, np.zeros(0)
        inputs, self.policies = len(OBSERVATION), []
        with contained_randomness(seed):
            for count in self.counts:
                self.policies.append(
                    DQNPolicy(
                        spaces.Box(-np.inf, np.inf, (inputs,), np.float32),
                        spaces.Discrete(count),
                        lambda _: hyperparameters.learning_rate,
                        net_arch=list(hyperparameters.hidden),
                    )
                )
                inputs += count

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
        before = self.mean_weights if self.rounds_averaged > 1 else weights
        self.mean_weights = before + (weights - before) / self.rounds_averaged

    def learn(self, transitions: Transitions, rate: float) -> float:
        """Make a gradient step of each agent, and move its target network.

        The target of the last agent's pick is the rewards that followed and the value of the later decision
        (:mod:`rlccfr.agents.double_q`).

        Args:
            rate: learning rate.

        Returns:
            The sum of the agents' Huber losses.
        """
        seen = torch.as_tensor(transitions.observations)
        later = torch.as_tensor(transitions.later)
        picked = torch.as_tensor(transitions.picks)
        given = [seen, *(self._after(seen, picked, agents) for agents in range(1, len(AGENTS)))]
        with torch.no_grad():
            value = self._value(later)
            value[torch.as_tensor(transitions.over)] = 0.0
        target = torch.as_tensor(transitions.rewards, dtype=torch.float32) + value
        picks = Picks(given, [None] * len(given), picked)
        targets = [*values_of_answers(self.policies, picks), target]
        return sum(learn_from(self.policies, picks, targets, rate, self.hyperparameters.tau))

    def _after(self, seen: torch.Tensor, picks: torch.Tensor, agents: int) -> torch.Tensor:
        """Return what the next agent sees after the picks of the first ``agents``."""
        parts = [one_hot(picks[:, agent], self.counts[agent]).float() for agent in range(agents)]
        return torch.cat([seen, *parts], dim=1)

    def _value(self, seen: torch.Tensor) -> torch.Tensor:
        """Return the value of observations if all agents pick what they prefer, (b,)."""
        inputs = seen
        for policy, count in zip(self.policies[:-1], self.counts, strict=False):
            inputs = torch.cat([inputs, one_hot(preferred(policy, inputs), count).float()], dim=1)
        return best_answer(self.policies[-1], inputs)

    def state(self) -> dict[str, np.ndarray]:
        """Return all arrays that learning depends on, by name."""
        found = {"rounds_averaged": np.array(self.rounds_averaged), "mean_weights": self.mean_weights}
        for agent, policy in zip(AGENTS, self.policies, strict=True):
            found |= {f"{agent}/{name}": _array(tensor).copy() for name, tensor in policy.state_dict().items()}
            for number, own in policy.optimizer.state_dict()["state"].items():
                found |= {f"{agent}/optimizer/{number}/{name}": _array(one).copy() for name, one in own.items()}
        return found

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`state` returned."""
        self.rounds_averaged, self.mean_weights = int(saved["rounds_averaged"]), saved["mean_weights"]
        for agent, policy in zip(AGENTS, self.policies, strict=True):
            own = {name.removeprefix(f"{agent}/"): array for name, array in saved.items() if name.startswith(agent)}
            policy.load_state_dict({name: torch.as_tensor(own[name]) for name in policy.state_dict()})
            moments: dict[int, dict[str, torch.Tensor]] = {}
            for name, array in own.items():
                if name.startswith("optimizer/"):
                    _, number, which = name.split("/")
                    moments.setdefault(int(number), {})[which] = torch.as_tensor(array.copy())
            groups = policy.optimizer.state_dict()["param_groups"]
            policy.optimizer.load_state_dict({"state": moments, "param_groups": groups})


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy()
