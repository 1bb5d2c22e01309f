"""Controllers of agents that Stable-Baselines3 trained."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from support import game

import rlccfr
from rlccfr.agents import controller_from_sb3
from rlccfr.components.controller import CHOICES
from rlccfr.controller_file import load_controller, save_controller
from rlccfr.envs import ControlEnv
from rlccfr.envs.control.run import ControlRun
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError

RECTIFIED = {"activation_fn": torch.nn.ReLU}


def agent_of(kind=PPO, env=None, **policy_kwargs):
    env = ControlEnv("leduc", horizon=64) if env is None else env
    batches = {"batch_size": 8} if kind is PPO else {}
    policy_kwargs = {**RECTIFIED, **policy_kwargs}
    return kind("MlpPolicy", env, n_steps=8, policy_kwargs=policy_kwargs, seed=0, device="cpu", **batches)


@pytest.mark.slow
def test_a_controller_picks_as_its_agent_does(tmp_path):
    trained = agent_of().learn(64)
    for agent in (trained, agent_of(A2C, net_arch=[]), agent_of(net_arch={"pi": [8, 16, 8], "vf": [4]})):
        save_controller(controller_from_sb3(agent), tmp_path / "agent.npz")
        steered = ControlRun(game("leduc"), load_controller(tmp_path / "agent.npz"), 64)
        episode = steered.episode()
        env = ControlEnv("leduc", horizon=64)
        observation, _ = env.reset()
        terminated, picks = False, []
        while not terminated:
            action, _ = agent.predict(observation, deterministic=True)
            picks.append(action.tolist())
            observation, _, terminated, _, info = env.step(action)
        assert episode.picks.tolist() == picks
        assert steered.exploitability == info["exploitability"]
    solver = rlccfr.Solver(game("leduc"), control=controller_from_sb3(trained))
    assert solver.run(iterations=64).exploitability < rlccfr.Policy.uniform(game("leduc")).exploitability() / 2


class WithSquares(gymnasium.ObservationWrapper):
    """Observations of twice as many numbers."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(-16, 16, (2 * env.observation_space.shape[0],), np.float32)

    def observation(self, observation):
        return np.concatenate([observation, observation**2])


def normalized(*, norm_obs):
    return VecNormalize(DummyVecEnv([lambda: ControlEnv("kuhn", 16)]), norm_obs=norm_obs)


def test_rewards_may_be_normalized():
    assert controller_from_sb3(agent_of(env=normalized(norm_obs=False))).counts == tuple(map(len, CHOICES))


def test_an_agent_that_no_controller_can_be_is_refused_with_a_way_out():
    refused = [
        (PPO("MlpPolicy", ControlEnv("kuhn", 16), n_steps=8, batch_size=8), "has Tanh: train with"),
        (DQN("MlpPolicy", "CartPole-v1"), "a DQN has no actor network"),
        (agent_of(env=gymnasium.make("CartPole-v1")), "not trained on rlccfr/Control-v0: its actions are Discrete"),
        (agent_of(env=WithSquares(ControlEnv("kuhn", 16))), r"its observations: their shape is \(48,\), not \(24,\)"),
        (agent_of(env=normalized(norm_obs=True)), "VecNormalize changes them: train with norm_obs=False"),
        ("agent.zip", "a str has no actor network"),
    ]
    for agent, message in refused:
        with pytest.raises(RLCCFRError, match=message):
            controller_from_sb3(agent)


def test_a_solver_says_how_an_agent_becomes_a_controller(tmp_path):
    agent = agent_of()
    agent.save(tmp_path / "agent.zip")
    with pytest.raises(ComponentError, match=r"rlccfr\.agents\.controller_from_sb3"):
        rlccfr.Solver(game("kuhn"), control=agent)
    with pytest.raises(ComponentError, match=r"agent\.zip is an agent of Stable-Baselines3; load it with that library"):
        rlccfr.Solver(game("kuhn"), control=tmp_path / "agent.zip")
    with pytest.raises(CheckpointError, match=r"rlccfr\.agents\.controller_from_sb3"):
        load_controller(tmp_path / "agent.zip")
