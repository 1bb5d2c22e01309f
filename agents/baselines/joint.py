"""One DQN over all algorithms at once, a baseline for three agents in turn."""

from __future__ import annotations

import numpy as np

from rlccfr.agents.baselines.task import SearchResult, Task
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.selector import Selector
from rlccfr.agents.team.selector_dqn import single_threaded
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.observation import OBSERVATION_SIZE
from rlccfr.envs.selector import SelectorFlatEnv
from rlccfr.errors import RLCCFRError, whole_number

VERSION = 2
"""Version of the joint DQN. Raise it when the same seed and measurements would give another choice."""

EXPLORING = 0.5
"""Share of the evaluations over which epsilon, the share of algorithms drawn at random, falls from 1."""

LEAST_EPSILON = 0.05
"""Value to which epsilon falls, as in Stable-Baselines3's DQN over its first steps."""


def joint_dqn(
    task: Task, *, evaluations: int, seed: int = 0, hyperparameters: Hyperparameters | None = None
) -> SearchResult:
    """Train a DQN whose actions are all algorithms; it recommends the algorithm with the highest Q-value.

    As in a team, no algorithm is measured twice, and none is recommended that is known not to converge. The DQN learns
    as often as a team's agents.

    Args:
        evaluations: number of algorithms to measure; all available ones if there are fewer.
        seed: seed of initial weights, exploration and samples from the memory.
        hyperparameters: hyperparameters of the network and of training.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    catalog, settings = task.catalog, hyperparameters or Hyperparameters()
    env = SelectorFlatEnv(
        task.game, task.budget, preset=task.preset, catalog=task.catalog,
        engine_seeds=task.engine_seeds, evaluator=task.evaluator,
    )  # fmt: skip
    env.reset()
    observation, open_ = env.observe(), env.action_masks()
    available, count = open_.copy(), min(evaluations, int(open_.sum()))
    weights, draws = np.random.SeedSequence(seed).generate_state(2)
    selector = Selector(OBSERVATION_SIZE, len(catalog), settings, int(weights))
    generator = np.random.default_rng(int(draws))
    measured: dict[Cell, list[Measurement]] = {}
    actions, rewards = [], []
    rounds = count + settings.settling
    with single_threaded():
        for done in range(rounds):
            if len(measured) < count:
                epsilon = max(LEAST_EPSILON, 1 - len(measured) / (EXPLORING * count))
                actions.append(_next(selector.q_values(observation), open_, epsilon, generator))
                open_[actions[-1]] = False
                cell = catalog.cell(*catalog.unravel(actions[-1]))
                measured[cell] = task.measure(cell)
                rewards.append(task.rewards({cell: measured[cell]})[cell])
                seen = np.tile(observation, (len(actions), 1))
                selector.buffer.refill(seen, np.array(actions), np.array(rewards))
            selector.learn(1 - done / rounds, settings.gradient_steps)
        worths = task.worths(measured)
        failing = [catalog.flat(cell) for cell, worth in worths.items() if not worth.converged]
        if len(failing) < available.sum():
            available[failing] = False
        values = np.where(available, selector.q_values(observation), -np.inf)
    return SearchResult(catalog.cell(*catalog.unravel(int(values.argmax()))), measured)


def _next(values: np.ndarray, open_: np.ndarray, epsilon: float, generator: np.random.Generator) -> int:
    """Return an unmeasured algorithm: one drawn at random, or the one with the highest Q-value."""
    if generator.random() < epsilon:
        return int(generator.choice(np.flatnonzero(open_)))
    return int(np.where(open_, values, -np.inf).argmax())
