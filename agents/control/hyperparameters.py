"""Hyperparameters for training a controller."""

from __future__ import annotations

from dataclasses import dataclass, fields

from rlccfr.errors import RLCCFRError


@dataclass(frozen=True)
class ControlHyperparameters:
    """Hyperparameters of the three DQN agents that learn to steer runs.

    Attributes:
        hidden: widths of the networks' hidden layers.
        learning_rate: Adam's learning rate at the start of training; it falls linearly to a twentieth.
        batch_size: decisions per gradient step.
        runs_per_round: runs per round of training, all under the same networks.
        steps_per_round: gradient steps per round.
        n_steps: number of decisions whose rewards are summed; the target network's value of the state after them is
            added.
        tau: share by which the target networks move towards the Q-networks at each gradient step.
        average_from: share of the training after which each round's weights are averaged; the mean is the result. With
            1, the last networks are the result.
        epsilon: probability that an agent picks at random, at the start of training; it falls linearly to
            ``least_epsilon`` within the first seven tenths.
        held: share of runs in which all picks are random and held over several decisions, at the start of training; it
            falls in proportion to epsilon.
        warm_up: number of runs with held random picks for each game and horizon, before the first gradient step.
        memory: number of runs that the replay buffer holds.
        cap: largest difference that counts in full between a run's error and its task's average error, in units of the
            task's spread. Larger differences are compressed logarithmically, so that games solved up to rounding do not
            dominate all others; see :class:`rlccfr.agents.control.replay_buffer.ReplayBuffer`.

    Raises:
        RLCCFRError: a value out of range.
    """

    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    batch_size: int = 512
    runs_per_round: int = 20
    steps_per_round: int = 6
    n_steps: int = 3
    tau: float = 0.01
    average_from: float = 0.75
    epsilon: float = 0.6
    least_epsilon: float = 0.03
    held: float = 0.36
    warm_up: int = 4
    memory: int = 40_000
    cap: float = 3.0

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, tuple | list):
            raise RLCCFRError(f"hidden must be the widths of the hidden layers, as in (64, 64), not {self.hidden!r}")
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "hidden":
                whole_numbers = value
            elif field.type == "int":
                whole_numbers = (value,)
            else:
                whole_numbers = ()
            if not all(isinstance(number, int) and number >= 1 for number in whole_numbers):
                raise RLCCFRError(f"{field.name} must be a whole number of at least 1, not {value!r}")
        if not (self.learning_rate > 0 and self.cap > 0):
            raise RLCCFRError(f"learning_rate and cap must be positive, not {self.learning_rate!r} and {self.cap!r}")
        shares = (self.tau, self.average_from, self.epsilon, self.least_epsilon, self.held)
        if not all(0 <= share <= 1 for share in shares):
            raise RLCCFRError("tau, average_from, epsilon, least_epsilon and held must lie in [0, 1]")
        if self.least_epsilon > self.epsilon:
            raise RLCCFRError("least_epsilon must not exceed epsilon")

    def learning_rate_at(self, share: float) -> float:
        """Return the learning rate after a share of the training."""
        return self.learning_rate * (0.05 + 0.95 * (1.0 - share))

    def epsilon_at(self, share: float) -> float:
        """Return epsilon, the probability of a random pick, after a share of the training."""
        return max(self.least_epsilon, self.epsilon * (1.0 - share / 0.7))

    def held_at(self, share: float) -> float:
        """Return the share of runs whose random picks are held, after a share of the training."""
        return self.held * self.epsilon_at(share) / self.epsilon if self.epsilon else 0.0
