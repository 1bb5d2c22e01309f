"""Hyperparameters of a team's learning and exploration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from rlccfr.errors import RLCCFRError

Rewards = Literal["mean", "own"]


@dataclass(frozen=True)
class Hyperparameters:
    """Hyperparameters of the three DQNs and of the team's exploration.

    Few episodes are measured, so the defaults make much use of each: small networks, many gradient steps, no discount.

    Attributes:
        hidden: widths of the networks' hidden layers.
        learning_rate: Adam's learning rate at the start of training; it falls linearly to a twentieth.
        gamma: discount between the decision points of an episode.
        batch_size: transitions per gradient step.
        gradient_steps: gradient steps per agent and round of learning; one round follows each measured episode.
        settling: number of further rounds of learning, after the round that follows the last measured episode.
        buffer_size: not used, since a team replays all of its experience; kept for files and programs that set it.
        tau: share by which target networks move towards the Q-networks at each gradient step.
        rewards: ``"mean"``: all agents learn R̄, the mean of their rewards, by which picks are judged. ``"own"``: each
            learns its own, R_A, R_B or R_C.
        epsilon: once every component has been tried, the probability that the next algorithm to measure is drawn at
            random; 0 suffices, since exploration tries variations of the best algorithm anyway.

    Raises:
        RLCCFRError: a value out of range.
    """

    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 2e-3
    gamma: float = 1.0
    batch_size: int = 64
    gradient_steps: int = 20
    settling: int = 100
    buffer_size: int = 2**15
    tau: float = 0.02
    rewards: Rewards = "mean"
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, Sequence) or isinstance(self.hidden, str):
            raise RLCCFRError(f"hidden must be the widths of layers, such as (64, 64), not {self.hidden!r}")
        object.__setattr__(self, "hidden", tuple(self.hidden))
        whole_numbers = (*self.hidden, self.batch_size, self.gradient_steps, self.buffer_size)
        if not all(isinstance(value, int) and value >= 1 for value in whole_numbers):
            raise RLCCFRError("hidden, batch_size, gradient_steps and buffer_size must be whole numbers of at least 1")
        if not (isinstance(self.settling, int) and self.settling >= 0):
            raise RLCCFRError(f"settling must be a whole number of at least 0, not {self.settling!r}")
        if not self.learning_rate > 0:
            raise RLCCFRError(f"learning_rate must be positive, not {self.learning_rate!r}")
        if not all(0 <= value <= 1 for value in (self.gamma, self.tau, self.epsilon)):
            raise RLCCFRError("gamma, tau and epsilon must lie in [0, 1]")
        if self.rewards not in get_args(Rewards):
            raise RLCCFRError(f"rewards must be 'mean' or 'own', not {self.rewards!r}")

    def learning_rate_at(self, progress_remaining: float) -> float:
        """Return the learning rate for the remaining share of training, which falls from 1 to 0; a schedule for SB3."""
        return self.learning_rate * (0.05 + 0.95 * progress_remaining)
