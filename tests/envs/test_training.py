"""Plain Stable-Baselines3 agents learn in the environments, without anything from rlccfr.agents."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3 import DQN, PPO

import rlccfr.envs
from rlccfr.catalog import Catalog

KWARGS = {"games": "kuhn", "budget": {"unit": "iterations", "amount": 100}, "preset": "accuracy"}
CATALOG = Catalog(("cfr", "dcfr"), ("outcome", "none"), ("none",))


@pytest.fixture(scope="module")
def evaluator():
    return rlccfr.envs.LiveEvaluator()


@pytest.mark.slow
def test_dqn_finds_the_best_triple(evaluator):
    env = gym.make("rlccfr/SelectorFlat-v0", catalog=CATALOG, evaluator=evaluator, **KWARGS)
    model = DQN(
        "MlpPolicy", env, seed=0, learning_starts=20, train_freq=1, gamma=1.0, exploration_fraction=0.8,
        learning_rate=5e-3, policy_kwargs={"net_arch": [32]}, device="cpu",
    )  # fmt: skip
    model.learn(300)
    observation, _ = env.reset(seed=1)
    action, _ = model.predict(observation, deterministic=True)
    scores = []
    for index in range(len(CATALOG)):
        env.reset()
        scores.append(env.step(index)[1])
    assert scores[int(action)] == max(scores)
    assert np.ptp(scores) > 0.05


@pytest.mark.slow
def test_ppo_trains(evaluator):
    env = gym.make("rlccfr/Selector-v0", segments=2, catalog=CATALOG, evaluator=evaluator, **KWARGS)
    model = PPO("MlpPolicy", env, seed=0, n_steps=32, batch_size=32, gamma=1.0, device="cpu")
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(64)
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    action, _ = model.predict(env.reset(seed=0)[0])
    assert env.action_space.contains(action)
