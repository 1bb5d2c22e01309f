"""One selector: a Stable-Baselines3 DQN whose loop and randomness belong to the team.

``DQN.learn`` owns its loop and ``DQN.predict`` draws from NumPy's global generator, so neither serves three agents
that share one measurement. A selector therefore uses the model's networks, replay buffer and ``train``; what
``learn`` sets up besides (logger, progress, target network) is done here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import DQN
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.utils import polyak_update
from stable_baselines3.common.vec_env import VecNormalize

from rlccfr.errors import RLCCFRError


@dataclass(frozen=True)
class Hyperparameters:
    """Of the three DQNs and of the team's exploration.

    Few episodes are measured, so each is learned from hard: small networks, many gradient steps, no discount.

    Attributes:
        hidden: widths of the networks' hidden layers.
        learning_rate: Adam's.
        gamma: discount between the decision points of an episode.
        batch_size: transitions a gradient step.
        gradient_steps: after each episode, for each agent.
        target_interval: gradient steps between copies of a network to its target.
        buffer_size: transitions each agent remembers.
        replays: episodes on cells measured already that follow each new one; they cost no evaluation.
        epsilon: share of measured episodes that go to a cell drawn at random, at the start ...
        final_epsilon: ... and when the evaluations are used up; linear in between.

    Raises:
        RLCCFRError: a value out of range.
    """

    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 2e-3
    gamma: float = 1.0
    batch_size: int = 64
    gradient_steps: int = 4
    target_interval: int = 50
    buffer_size: int = 4096
    replays: int = 9
    epsilon: float = 0.2
    final_epsilon: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        whole = (*self.hidden, self.batch_size, self.gradient_steps, self.target_interval, self.buffer_size)
        if not all(isinstance(value, int) and value >= 1 for value in whole):
            raise RLCCFRError("hidden, batch_size, gradient_steps, target_interval and buffer_size must be at least 1")
        if not (isinstance(self.replays, int) and self.replays >= 0 and self.learning_rate > 0):
            raise RLCCFRError("replays must be a whole number of at least 0, and learning_rate positive")
        if not all(0 <= value <= 1 for value in (self.gamma, self.epsilon, self.final_epsilon)):
            raise RLCCFRError("gamma, epsilon and final_epsilon must lie in [0, 1]")


class SeededReplayBuffer(ReplayBuffer):
    """A replay buffer that samples by a generator of its own instead of NumPy's global one."""

    def __init__(self, *args: Any, seed: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.generator = np.random.default_rng(seed)

    def sample(self, batch_size: int, env: VecNormalize | None = None) -> ReplayBufferSamples:
        """``batch_size`` transitions, drawn with replacement."""
        rows = self.generator.integers(0, self.size(), size=batch_size)
        arrays = (self.observations, self.actions, self.next_observations, self.dones, self.rewards)
        observations, actions, next_observations, dones, rewards = (self.to_torch(array[rows, 0]) for array in arrays)
        return ReplayBufferSamples(observations, actions, next_observations, dones[:, None], rewards[:, None])


class Selector:
    """One agent of the team: Q-values of its choices, given what it observes.

    Args:
        observation_size: length of an observation.
        actions: number of choices.
        seed: of its initial weights and of what it replays.
    """

    def __init__(self, observation_size: int, actions: int, hyperparameters: Hyperparameters, seed: int) -> None:
        self.hyperparameters = hyperparameters
        initial, replay = np.random.SeedSequence(seed).generate_state(2)
        with _contained_randomness(int(initial)):
            self.model = DQN(
                "MlpPolicy",
                _Spaces(observation_size, actions),
                learning_rate=hyperparameters.learning_rate,
                buffer_size=hyperparameters.buffer_size,
                batch_size=hyperparameters.batch_size,
                gamma=hyperparameters.gamma,
                replay_buffer_class=SeededReplayBuffer,
                replay_buffer_kwargs={"seed": int(replay)},
                policy_kwargs={"net_arch": list(hyperparameters.hidden)},
                device="cpu",  # networks this small are slower on a GPU
            )
        self.log_to(Logger(None, []))
        self._last_sync = 0

    @property
    def buffer(self) -> SeededReplayBuffer:
        """What it has lived through."""
        assert isinstance(self.model.replay_buffer, SeededReplayBuffer)
        return self.model.replay_buffer

    @property
    def actions(self) -> int:
        """Number of choices."""
        return int(self.model.q_net.action_space.n)

    def log_to(self, logger: Logger) -> None:
        """Send loss and learning rate to this logger."""
        self.model.set_logger(logger)

    def q_values(self, observation: np.ndarray) -> np.ndarray:
        """Of each choice, shape (actions,)."""
        with torch.no_grad():
            values = self.model.q_net(torch.as_tensor(observation[None]))
        return np.asarray(values[0].numpy(), dtype=np.float64)

    def remember(
        self, observation: np.ndarray, action: int, reward: float, next_observation: np.ndarray, done: bool
    ) -> None:
        """Add one transition to the replay buffer."""
        self.buffer.add(observation, next_observation, np.array([action]), np.array([reward]), np.array([done]), [{}])

    def learn(self, gradient_steps: int, progress_remaining: float) -> None:
        """Gradient steps on replayed transitions; the target network follows at its interval.

        Args:
            progress_remaining: from 1 to 0 over the training, for learning rates that are schedules.
        """
        if not self.buffer.size():
            return
        self.model._current_progress_remaining = progress_remaining
        self.model.train(gradient_steps, self.hyperparameters.batch_size)
        if self.model._n_updates - self._last_sync >= self.hyperparameters.target_interval:
            polyak_update(self.model.q_net.parameters(), self.model.q_net_target.parameters(), 1.0)
            self._last_sync = self.model._n_updates

    def output_rows(self, rows: Mapping[int, int], low: float, source: Selector) -> None:
        """Take over another selector's networks, whose choices may stand in another order.

        Args:
            rows: for each of the own choices that the other has, the other's index.
            low: how far below the other's least Q-value each new choice starts, so that it is not picked before
                it has been learned.
        """
        for mine, other in (
            (self.model.q_net, source.model.q_net),
            (self.model.q_net_target, source.model.q_net_target),
        ):
            state = {name: tensor.clone() for name, tensor in other.state_dict().items()}
            last = len(self.hyperparameters.hidden) * 2
            weight, bias = f"q_net.{last}.weight", f"q_net.{last}.bias"
            state[weight], state[bias] = _mapped(state[weight], state[bias], rows, self.actions, low)
            mine.load_state_dict(state)


def _mapped(
    weight: torch.Tensor, bias: torch.Tensor, rows: Mapping[int, int], actions: int, low: float
) -> tuple[torch.Tensor, torch.Tensor]:
    new_weight = weight.new_zeros((actions, weight.shape[1]))
    new_bias = bias.new_full((actions,), low)
    for row, source in rows.items():
        new_weight[row], new_bias[row] = weight[source], bias[source]
    return new_weight, new_bias


class _Spaces(gym.Env[np.ndarray, np.int64]):
    """Tells a DQN its spaces; the team steps the real environment."""

    def __init__(self, observation_size: int, actions: int) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (observation_size,), np.float32)
        self.action_space = spaces.Discrete(actions)


@contextmanager
def _contained_randomness(seed: int) -> Iterator[None]:
    """Seed torch's global generator for the block, and leave every global generator as it was."""
    numpy_state, python_state = np.random.get_state(), random.getstate()
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)


@contextmanager
def single_threaded() -> Iterator[None]:
    """One torch thread for the block: networks this small lose time to more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def greedy(values: np.ndarray, allowed: Sequence[bool] | np.ndarray | None = None) -> int:
    """The allowed choice of the highest value; of equals the first."""
    return int(np.argmax(values if allowed is None else np.where(allowed, values, -np.inf)))
