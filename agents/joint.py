"""One DQN over all cells at once: what three agents in turn are compared with."""

from __future__ import annotations

import numpy as np

from rlccfr.agents.baselines import SearchResult
from rlccfr.agents.hyperparameters import Hyperparameters
from rlccfr.agents.selector_dqn import Selector, single_threaded
from rlccfr.catalog import Catalog
from rlccfr.envs.measurement import Budget, Evaluator, Measurement
from rlccfr.envs.observation import OBSERVATION_SIZE
from rlccfr.envs.reward import Preset, Scale, mean_reward
from rlccfr.envs.selector import SelectorFlatEnv
from rlccfr.errors import RLCCFRError, whole_number

EXPLORING = 0.5
"""Share of the evaluations over which the share of cells drawn at random falls from 1 ..."""

LEAST_EPSILON = 0.05
"""... to this, as Stable-Baselines3's DQN does over its first steps."""


def joint_dqn(
    evaluator: Evaluator,
    catalog: Catalog,
    game: str,
    budget: Budget,
    preset: Preset,
    *,
    evaluations: int,
    scale: Scale = "log",
    engine_seed: int = 0,
    seed: int = 0,
    hyperparameters: Hyperparameters | None = None,
) -> SearchResult:
    """Train a DQN whose actions are all cells; it recommends the one with the highest Q-value.

    As in a team, no cell is measured twice, and measured ones are learned from as often as a team's agents learn.

    Args:
        evaluations: cells to measure; all that can run here if they are fewer.
        seed: of weights, exploration and replay.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    settings = hyperparameters or Hyperparameters()
    env = SelectorFlatEnv(game, budget, 1, preset, scale, catalog, engine_seed, evaluator)
    env.reset()
    observation, open_ = env.observe(), env.action_masks()
    available, count = open_.copy(), min(evaluations, int(open_.sum()))
    weights, draws = np.random.SeedSequence(seed).generate_state(2)
    selector = Selector(OBSERVATION_SIZE, len(catalog), settings, int(weights))
    generator = np.random.default_rng(int(draws))
    measured: dict[int, Measurement] = {}
    steps = count * (1 + settings.replays) + settings.settling
    with single_threaded():
        for step in range(steps):
            if step % (1 + settings.replays) == 0 and len(measured) < count:
                epsilon = max(LEAST_EPSILON, 1 - len(measured) / (EXPLORING * count))
                action = _next(selector.q_values(observation), open_, epsilon, generator)
                open_[action] = False
                measured[action] = evaluator.measure(env.request(catalog.cell(*catalog.unravel(action))))
                reward = mean_reward(measured[action], preset, scale)
                selector.remember(action, observation, action, reward, observation, True)
            selector.learn(1 - step / steps)
        values = np.where(available, selector.q_values(observation), -np.inf)
    cells = {catalog.cell(*catalog.unravel(action)): [one] for action, one in measured.items()}
    return SearchResult(catalog.cell(*catalog.unravel(int(values.argmax()))), cells)


def _next(values: np.ndarray, open_: np.ndarray, epsilon: float, generator: np.random.Generator) -> int:
    """An unmeasured cell: at random, or the one of the highest value."""
    if generator.random() < epsilon:
        return int(generator.choice(np.flatnonzero(open_)))
    return int(np.where(open_, values, -np.inf).argmax())
