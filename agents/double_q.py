"""Double Q-learning of agents that pick in turn, and whose picks are rewarded together.

Values of answers are those of target networks at the picks that the Q-networks prefer (van Hasselt, Guez and Silver,
Deep reinforcement learning with double Q-learning, AAAI 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from stable_baselines3.common.utils import polyak_update
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn
from torch.nn.functional import smooth_l1_loss

MOST_GRADIENT = 10.0
"""Largest norm of an agent's gradient."""


class Picks(NamedTuple):
    """Picks to learn from, and what each agent knew.

    Attributes:
        given: for each agent, (b, inputs) what it saw, the earlier agents' picks included.
        open: for each agent, (b, choices) which picks could be made; None for all.
        picks: (b, agents) what was picked.
    """

    given: Sequence[torch.Tensor]
    open: Sequence[torch.Tensor | None]
    picks: torch.Tensor


def preferred(policy: DQNPolicy, inputs: torch.Tensor, open_: torch.Tensor | None = None) -> torch.Tensor:
    """Return the pick, (b,), with the highest value of an agent's Q-network, among those that can be made."""
    values = policy.q_net(inputs)
    if open_ is not None:
        values = values.masked_fill(~open_, -torch.inf)
    return torch.as_tensor(values.argmax(1))


def best_answer(policy: DQNPolicy, inputs: torch.Tensor, open_: torch.Tensor | None = None) -> torch.Tensor:
    """Return the target network's value, (b,), of the pick that the Q-network prefers."""
    best = preferred(policy, inputs, open_)
    values: torch.Tensor = policy.q_net_target(inputs)
    return values.gather(1, best[:, None])[:, 0]


def values_of_answers(policies: Sequence[DQNPolicy], picks: Picks) -> list[torch.Tensor]:
    """Return the target, (b,), of each agent's pick but the last one's: the value of the next agent's best answer."""
    with torch.no_grad():
        answers = zip(policies[1:], picks.given[1:], picks.open[1:], strict=True)
        return [best_answer(*answer) for answer in answers]


def learn_from(
    policies: Sequence[DQNPolicy], picks: Picks, targets: Sequence[torch.Tensor], rate: float, tau: float
) -> list[float]:
    """Make a gradient step of each agent towards the targets of its picks, and move its target network.

    Args:
        targets: for each agent, (b,) value of its picks.
        rate: learning rate.
        tau: share by which the target networks move.

    Returns:
        The Huber loss of each agent.
    """
    losses = []
    for agent, (policy, inputs, target) in enumerate(zip(policies, picks.given, targets, strict=True)):
        chosen = policy.q_net(inputs).gather(1, picks.picks[:, agent : agent + 1])[:, 0]
        loss = smooth_l1_loss(chosen, target)
        for group in policy.optimizer.param_groups:
            group["lr"] = rate
        policy.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(policy.q_net.parameters(), MOST_GRADIENT)
        policy.optimizer.step()
        losses.append(float(loss.detach()))
    for policy in policies:
        polyak_update(policy.q_net.parameters(), policy.q_net_target.parameters(), tau)
    return losses
