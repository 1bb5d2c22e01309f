"""One DQN that picks among all algorithms at once, a baseline for three agents that pick in turn."""

from __future__ import annotations

import numpy as np
import torch

from rlccfr.agents.baselines.task import SearchResult, Task
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.learning import Picks, learn_from
from rlccfr.agents.team.selector import Selector
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.observation import OBSERVATION_SIZE
from rlccfr.envs.selector import SelectorFlatEnv
from rlccfr.errors import RLCCFRError, whole_number
from rlccfr.networks.torch_state import one_thread

VERSION = 2
"""Version of the joint DQN. Raise it when the same seed and measurements would give another choice."""

EXPLORING = 0.5
"""Share of the evaluations over which epsilon, the probability of a random algorithm, falls from 1."""

LEAST_EPSILON = 0.05
"""Value to which epsilon falls, as in the first steps of Stable-Baselines3's DQN."""


def joint_dqn(
    task: Task, *, evaluations: int, seed: int = 0, hyperparameters: Hyperparameters | None = None
) -> SearchResult:
    """Train a DQN whose actions are all algorithms; it recommends the algorithm with the highest Q-value.

    As in a team, no algorithm is measured twice, and an algorithm that is known not to converge is not recommended. The
    DQN takes as many gradient steps as a team's agents.

    Args:
        evaluations: number of algorithms to measure; all available ones if there are fewer.
        seed: seed of the initial weights, of the exploration and of the batches.
        hyperparameters: hyperparameters of the network and of training.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    catalog = task.catalog
    settings = hyperparameters or Hyperparameters()
    env = SelectorFlatEnv(
        task.game, task.budget, preset=task.preset, catalog=task.catalog,
        engine_seeds=task.engine_seeds, evaluator=task.evaluator,
    )  # fmt: skip
    env.reset()
    observation = env.observe()
    available = env.action_masks()
    unmeasured = available.copy()
    count = min(evaluations, int(available.sum()))
    weights_seed, exploration_seed = np.random.SeedSequence(seed).generate_state(2)
    selector = Selector(OBSERVATION_SIZE, len(catalog), settings, int(weights_seed))
    generator = np.random.default_rng(int(exploration_seed))
    measurements: dict[Cell, list[Measurement]] = {}
    actions = []
    rewards = []
    rounds = count + settings.settling
    with one_thread():
        for done in range(rounds):
            # A round measures one more algorithm, while evaluations remain, and then learns from all that were
            # measured.
            if len(measurements) < count:
                epsilon = max(LEAST_EPSILON, 1 - len(measurements) / (EXPLORING * count))
                action = _next_action(selector.q_values(observation), unmeasured, epsilon, generator)
                unmeasured[action] = False
                cell = catalog.cell(*catalog.unravel(action))
                measurements[cell] = task.measure(cell)
                actions.append(action)
                rewards.append(task.rewards({cell: measurements[cell]})[cell])
            _learn(selector, observation, np.array(actions), np.array(rewards), 1 - done / rounds)

        # Algorithms known not to converge are left out, unless none would remain.
        worths = task.worths(measurements)
        not_converged = [catalog.flat(cell) for cell, worth in worths.items() if not worth.converged]
        if len(not_converged) < available.sum():
            available[not_converged] = False
        q_values = np.where(available, selector.q_values(observation), -np.inf)
    return SearchResult(catalog.cell(*catalog.unravel(int(q_values.argmax()))), measurements)


def _learn(
    selector: Selector, observation: np.ndarray, actions: np.ndarray, rewards: np.ndarray, progress_remaining: float
) -> None:
    """Take a round's gradient steps towards the rewards of all actions so far.

    Args:
        selector: the DQN.
        observation: the only observation, (size,).
        actions: index of each measured algorithm, (n,).
        rewards: its reward, (n,).
        progress_remaining: remaining share of the rounds, from 1 to 0.
    """
    settings = selector.hyperparameters
    inputs = torch.as_tensor(np.tile(observation, (settings.batch_size, 1)))
    for _ in range(settings.gradient_steps):
        rows = selector.generator.integers(0, len(actions), size=settings.batch_size)
        picks = Picks([inputs], [None], torch.as_tensor(actions[rows, None]))
        targets = [torch.as_tensor(rewards[rows], dtype=torch.float32)]  # an episode ends with its first action
        learn_from([selector.policy], picks, targets, settings.learning_rate_at(progress_remaining), settings.tau)


def _next_action(q_values: np.ndarray, unmeasured: np.ndarray, epsilon: float, generator: np.random.Generator) -> int:
    """Return the index of an unmeasured algorithm: at random with probability ``epsilon``, else by Q-value.

    Args:
        q_values: Q-value of each algorithm, (algorithms,).
        unmeasured: whether each algorithm can run and was not measured, (algorithms,) bool.
        epsilon: probability of a random algorithm.
        generator: generator of the draws.
    """
    if generator.random() < epsilon:
        return int(generator.choice(np.flatnonzero(unmeasured)))
    return int(np.where(unmeasured, q_values, -np.inf).argmax())
