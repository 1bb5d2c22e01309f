"""A Stable-Baselines3 DQN whose loop and randomness belong to the team.

``DQN.learn`` owns its loop, and ``DQN.predict`` draws from NumPy's global generator, so neither serves three agents
that share one measurement. Q-learning (:mod:`rlccfr.agents.team.learning`) therefore uses the model's
policy: the Q-network, its target and the optimiser. The joint DQN (:mod:`rlccfr.agents.baselines.joint`) uses its
replay buffer and ``train``; the values in its memory are final, so the target network has no effect there. The logger
and the progress are set up here, as ``learn`` would.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
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

from rlccfr.agents.team.hyperparameters import Hyperparameters


class ReplayMemory(ReplayBuffer):
    """A replay buffer that is filled anew for each round and has its own random generator.

    The value of a choice depends on how the later agents answer it, so outcomes from before they learned a better
    answer are not kept.
    """

    def __init__(self, *args: Any, seed: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.generator = np.random.default_rng(seed)

    def refill(self, observations: np.ndarray, actions: np.ndarray, worth: np.ndarray) -> None:
        """Replace the contents with n choices, or with as many of them as fit, drawn at random.

        Args:
            observations: observation at each choice, shape (n, size).
            actions: index of each choice, shape (n,).
            worth: value of each choice until the episode's end, shape (n,).
        """
        if len(worth) > self.buffer_size:
            kept = self.generator.choice(len(worth), self.buffer_size, replace=False)
            observations, actions, worth = observations[kept], actions[kept], worth[kept]
        count = len(worth)
        self.observations[:count, 0], self.actions[:count, 0, 0] = observations, actions
        self.rewards[:count, 0], self.dones[:count, 0] = worth, True
        self.pos, self.full = count % self.buffer_size, count == self.buffer_size

    def sample(self, batch_size: int, env: VecNormalize | None = None) -> ReplayBufferSamples:
        """Return ``batch_size`` transitions, drawn with replacement; ``env`` is ignored."""
        rows = self.generator.integers(0, self.size(), size=batch_size)
        arrays = (self.observations, self.actions, self.next_observations, self.dones, self.rewards)
        observations, actions, next_observations, dones, rewards = (self.to_torch(array[rows, 0]) for array in arrays)
        return ReplayBufferSamples(observations, actions, next_observations, dones[:, None], rewards[:, None])


def new_dqn(observation_size: int, actions: int, settings: Hyperparameters, seed: int) -> DQN:
    """Return a model with a :class:`ReplayMemory`, which only the joint DQN uses.

    Args:
        seed: seed of the initial weights and of the samples from the memory.
    """
    initial, replay = np.random.SeedSequence(seed).generate_state(2)
    with contained_randomness(int(initial)):
        model = DQN(
            "MlpPolicy",
            _Spaces(observation_size, actions),
            learning_rate=_falling(settings.learning_rate),
            buffer_size=settings.buffer_size,
            batch_size=settings.batch_size,
            replay_buffer_class=ReplayMemory,
            replay_buffer_kwargs={"seed": int(replay)},
            policy_kwargs={"net_arch": list(settings.hidden)},
            device="cpu",  # networks this small are slower on a GPU
        )
    model.set_logger(Logger(None, []))  # train() writes the loss to it; the team's log reads it there
    return model


def weights_of(model: DQN) -> dict[str, np.ndarray]:
    """Return the arrays of the Q-network by torch's names, without copying them."""
    return {name: tensor.numpy() for name, tensor in model.q_net.state_dict().items()}


def evaluate(model: DQN, observations: np.ndarray) -> np.ndarray:
    """Return Q-values, shape (..., actions), for observations of shape (..., size)."""
    with torch.no_grad():
        values = model.q_net(torch.as_tensor(observations.reshape(-1, observations.shape[-1])))
    return np.asarray(values.numpy(), dtype=np.float64).reshape(*observations.shape[:-1], -1)


def learning_of(model: DQN) -> dict[str, np.ndarray]:
    """Return the training state apart from the Q-network's weights; empty before training.

    It has the target network, the optimiser's moments, and the random state of the memory.
    """
    moments = model.policy.optimizer.state_dict()["state"]
    if not moments:
        return {}
    saved = {f"{number}/{name}": one.numpy().copy() for number, own in moments.items() for name, one in own.items()}
    saved |= {f"target/{name}": tensor.numpy().copy() for name, tensor in model.q_net_target.state_dict().items()}
    return saved | {"draws": np.array(json.dumps(_memory(model).generator.bit_generator.state))}


def restore_learning(model: DQN, saved: Mapping[str, np.ndarray]) -> None:
    """Restore the training state that :func:`learning_of` returned."""
    moments: dict[int, dict[str, torch.Tensor]] = defaultdict(dict)
    for key, array in saved.items():
        number, _, name = key.partition("/")
        if number.isdigit():
            moments[int(number)][name] = torch.as_tensor(array.copy())
    target = model.q_net_target.state_dict()
    model.q_net_target.load_state_dict({name: torch.as_tensor(saved[f"target/{name}"].copy()) for name in target})
    _memory(model).generator.bit_generator.state = json.loads(str(saved["draws"]))
    groups = model.policy.optimizer.state_dict()["param_groups"]
    model.policy.optimizer.load_state_dict({"state": dict(moments), "param_groups": groups})


def _memory(model: DQN) -> ReplayMemory:
    assert isinstance(model.replay_buffer, ReplayMemory)
    return model.replay_buffer


def _falling(rate: float) -> Callable[[float], float]:
    """Return a schedule from ``rate`` to a twentieth of it, linear in the remaining progress."""
    return partial(_rate_at, rate)  # unlike a lambda, it can be pickled


def _rate_at(rate: float, progress_remaining: float) -> float:
    return rate * (0.05 + 0.95 * progress_remaining)


class _Spaces(gym.Env[np.ndarray, np.int64]):
    """An environment that only tells a DQN its spaces; the team steps the real one."""

    def __init__(self, observation_size: int, actions: int) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (observation_size,), np.float32)
        self.action_space = spaces.Discrete(actions)


@contextmanager
def contained_randomness(seed: int) -> Iterator[None]:
    """Seed torch's global generator within the block, and restore every global generator after it."""
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
    """Limit torch to one thread within the block: with more, networks this small are slower."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
