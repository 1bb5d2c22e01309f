"""Controllers from agents that Stable-Baselines3 trained on ``rlccfr/Control-v0``."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from torch import nn

from rlccfr.components.controller import CHOICES, OBSERVATION, Controller, Layer
from rlccfr.errors import RLCCFRError, with_article

INSTEAD = "or keep the picks of one episode: env.unwrapped.schedule()"
"""End of error messages: an alternative that works for agents of any kind."""


def controller_from_sb3(agent: Any) -> Controller:
    """Return a controller that makes the same picks as an agent of Stable-Baselines3 whose network has ReLU layers.

    The agent must have been trained on ``rlccfr/Control-v0`` with ``"MlpPolicy"`` and
    ``policy_kwargs={"activation_fn": torch.nn.ReLU}``. PPO, A2C and sb3-contrib's TRPO have such policies. The
    controller picks what ``agent.predict(observation, deterministic=True)`` returns. It can be saved by
    :func:`rlccfr.controller_file.save_controller`, and needs neither PyTorch nor the agent.

    A controller sees the environment's own observations, so the agent must not have been trained under a wrapper that
    changes them, such as ``VecNormalize``. For an agent that was read from a file, this can't be checked. For agents
    trained under such a wrapper, and for agents with other networks, use ``env.unwrapped.schedule()``: it keeps the
    picks of one episode.

    Args:
        agent: the agent. ``PPO.load("agent.zip")`` reads one from a file; such files can run code, so load only those
            that you trust.

    Raises:
        RLCCFRError: the agent has another kind of policy, other layers, other spaces, or an environment in which
            ``VecNormalize`` changes the observations.

    Examples:
        >>> import gymnasium, torch, rlccfr
        >>> from stable_baselines3 import PPO
        >>> from rlccfr.agents import controller_from_sb3
        >>> env = gymnasium.make("rlccfr/Control-v0", games=["kuhn"], horizon=50)
        >>> agent = PPO("MlpPolicy", env, n_steps=64, policy_kwargs={"activation_fn": torch.nn.ReLU}, seed=0)
        >>> solver = rlccfr.Solver(rlccfr.load_game("kuhn"), control=controller_from_sb3(agent.learn(64)))
        >>> solver.run(iterations=50).exploitability < 0.05
        True
    """
    policy = getattr(agent, "policy", None)
    # A recurrent policy has a state, which a controller's networks can't keep.
    if not isinstance(policy, ActorCriticPolicy) or hasattr(policy, "lstm_actor"):
        kind = with_article(type(agent).__name__)
        raise RLCCFRError(f"{kind} has no actor network that a controller can use; train PPO or A2C, {INSTEAD}")
    normalization = agent.get_vec_normalize_env()
    if normalization is not None and normalization.norm_obs:
        raise RLCCFRError(
            "a controller sees unchanged observations, but the agent's VecNormalize changes them: train with "
            f"norm_obs=False, {INSTEAD}"
        )
    _check_spaces(policy)
    shared = [_layer(module) for module in _linear_modules(policy.mlp_extractor.policy_net)]
    assert isinstance(policy.action_net, nn.Linear)
    weights, biases = _layer(policy.action_net)
    networks = []
    first = 0
    num_earlier_choices = 0
    for choices in CHOICES:
        last = first + len(choices)
        # The actor's outputs are the preferences of all agents together. Each agent of the controller has a copy of the
        # hidden layers, and its part of the outputs.
        layers = [*shared, (weights[:, first:last], biases[first:last])]
        networks.append((_with_more_inputs(layers[0], num_earlier_choices), *layers[1:]))
        num_earlier_choices += len(choices)
        first = last
    return Controller(CHOICES, (tuple(networks),))


def _check_spaces(policy: ActorCriticPolicy) -> None:
    """Check that a policy has the observations and the choices of controllers, and leaves observations unchanged.

    Raises:
        RLCCFRError: the policy has other spaces, or changes the observations.
    """
    counts = [len(choices) for choices in CHOICES]
    actions = policy.action_space
    elsewhere = "the agent was not trained on rlccfr/Control-v0"
    if not isinstance(actions, spaces.MultiDiscrete) or actions.nvec.tolist() != counts:
        raise RLCCFRError(f"{elsewhere}: its actions are {actions}, not MultiDiscrete({counts})")
    shape = policy.observation_space.shape
    if shape != (len(OBSERVATION),):
        raise RLCCFRError(
            f"{elsewhere}, or a wrapper changed its observations: their shape is {shape}, not ({len(OBSERVATION)},); "
            f"train without the wrapper, {INSTEAD}"
        )
    # Only this extractor passes observations on unchanged.
    if not isinstance(policy.features_extractor, FlattenExtractor):
        extractor = type(policy.features_extractor).__name__
        raise RLCCFRError(f'a controller can\'t use {extractor}; train with "MlpPolicy", {INSTEAD}')


def _linear_modules(network: nn.Module) -> list[nn.Linear]:
    """Return the linear modules of a network in which linear modules and ReLUs alternate.

    Raises:
        RLCCFRError: the network has another module.
    """
    modules = list(network.children())
    for module, expected in zip(modules, (nn.Linear, nn.ReLU) * len(modules), strict=False):
        if not isinstance(module, expected):
            raise RLCCFRError(
                f"a controller's network has linear layers and ReLUs only, but the agent's has "
                f"{type(module).__name__}: train with policy_kwargs={{'activation_fn': torch.nn.ReLU}}, {INSTEAD}"
            )
    return [module for module in modules if isinstance(module, nn.Linear)]


def _layer(module: nn.Linear) -> Layer:
    """Return a linear module's weights, (inputs, outputs), and biases, (outputs,)."""
    weights = module.weight.detach().cpu().numpy().astype(float).T
    return weights, module.bias.detach().cpu().numpy().astype(float)


def _with_more_inputs(layer: Layer, count: int) -> Layer:
    """Return a layer with ``count`` further inputs for the earlier agents' picks, all with weight 0."""
    weights, biases = layer
    return np.vstack([weights, np.zeros((count, weights.shape[1]))]), biases
