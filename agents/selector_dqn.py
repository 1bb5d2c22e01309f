"""One selector: a Stable-Baselines3 DQN whose loop and randomness belong to the team.

``DQN.learn`` owns its loop and ``DQN.predict`` draws from NumPy's global generator, so neither serves three agents
that share one measurement. A selector therefore uses the model's networks, replay buffer and ``train``; what
``learn`` sets up besides (logger, progress) is done here. Its target network has no part: what a memory holds is worth
a finished number (:mod:`rlccfr.agents.induction`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import DQN
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.vec_env import VecNormalize

from rlccfr.agents.hyperparameters import Hyperparameters
from rlccfr.errors import RLCCFRError


class Memory(ReplayBuffer):
    """A replay buffer that is filled anew for each round, and samples by a generator of its own.

    What a choice is worth depends on how the later agents answer it; outcomes from before they learned a better answer
    are not kept.
    """

    def __init__(self, *args: Any, seed: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.generator = np.random.default_rng(seed)

    def refill(self, observations: np.ndarray, actions: np.ndarray, worth: np.ndarray) -> None:
        """Hold these n choices and nothing else, or as many of them as it can, drawn at random.

        Args:
            observations: shape (n, size).
            actions: shape (n,).
            worth: of each until the episode's end, shape (n,).
        """
        if len(worth) > self.buffer_size:
            kept = self.generator.choice(len(worth), self.buffer_size, replace=False)
            observations, actions, worth = observations[kept], actions[kept], worth[kept]
        count = len(worth)
        self.observations[:count, 0], self.actions[:count, 0, 0] = observations, actions
        self.rewards[:count, 0], self.dones[:count, 0] = worth, True
        self.pos, self.full = count % self.buffer_size, count == self.buffer_size

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
        seed: of its initial weights, and of what it samples from its memory.
    """

    def __init__(self, observation_size: int, actions: int, hyperparameters: Hyperparameters, seed: int) -> None:
        self.hyperparameters = hyperparameters
        initial, replay = np.random.SeedSequence(seed).generate_state(2)
        with _contained_randomness(int(initial)):
            self.model = DQN(
                "MlpPolicy",
                _Spaces(observation_size, actions),
                learning_rate=_falling(hyperparameters.learning_rate),
                buffer_size=hyperparameters.buffer_size,
                batch_size=hyperparameters.batch_size,
                replay_buffer_class=Memory,
                replay_buffer_kwargs={"seed": int(replay)},
                policy_kwargs={"net_arch": list(hyperparameters.hidden)},
                device="cpu",  # networks this small are slower on a GPU
            )
        self.model.set_logger(Logger(None, []))  # train() writes to one; the team's log reads the loss from it

    @property
    def buffer(self) -> Memory:
        """What it learns from, filled anew for each round."""
        assert isinstance(self.model.replay_buffer, Memory)
        return self.model.replay_buffer

    @property
    def actions(self) -> int:
        """Number of choices."""
        return int(self.model.q_net.action_space.n)

    @property
    def loss(self) -> float:
        """Of the last call of ``learn``; NaN before the first."""
        return float(self.model.logger.name_to_value.get("train/loss", math.nan))

    def q_values(self, observation: np.ndarray) -> np.ndarray:
        """Of each choice, shape (..., actions), for observations of shape (..., size)."""
        with torch.no_grad():
            values = self.model.q_net(torch.as_tensor(observation.reshape(-1, observation.shape[-1])))
        return np.asarray(values.numpy(), dtype=np.float64).reshape(*observation.shape[:-1], -1)

    def learn(self, progress_remaining: float, steps: int) -> None:
        """Gradient steps on what the memory holds.

        Args:
            progress_remaining: from 1 to 0 over the training; the learning rate falls with it.
            steps: how many.
        """
        self.model._current_progress_remaining = progress_remaining
        self.model.train(steps, self.hyperparameters.batch_size)

    def state(self) -> dict[str, np.ndarray]:
        """The network's weights, by name."""
        return {name: tensor.numpy().copy() for name, tensor in self.model.q_net.state_dict().items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over weights that :meth:`state` gave.

        Raises:
            RLCCFRError: arrays of other names or shapes.
        """
        try:
            self.model.q_net.load_state_dict({name: torch.as_tensor(array) for name, array in state.items()})
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise RLCCFRError(f"the saved networks do not fit: {reason}; train a new team") from None

    def adopt(self, source: Selector, rows: Mapping[int, int], low: float) -> None:
        """Take over another selector's network, whose choices may be fewer and in another order.

        Args:
            rows: for each of the own choices that the other has, the other's index.
            low: Q-value at which the choices start that it does not have.
        """
        state = source.state()
        last = 2 * len(self.hyperparameters.hidden)  # layers and activations alternate; the last is the output
        weight, bias = f"q_net.{last}.weight", f"q_net.{last}.bias"
        new_weight = np.zeros((self.actions, state[weight].shape[1]), dtype=np.float32)
        new_bias = np.full(self.actions, low, dtype=np.float32)
        for own, other in rows.items():
            new_weight[own], new_bias[own] = state[weight][other], state[bias][other]
        state[weight], state[bias] = new_weight, new_bias
        self.restore(state)


def _falling(rate: float) -> Callable[[float], float]:
    """From ``rate`` to a twentieth of it, linear in the remaining progress."""
    return lambda progress_remaining: rate * (0.05 + 0.95 * progress_remaining)


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
