"""Runs of games for training, made in worker processes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.envs.control.run import ControlRun, Episode
from rlccfr.games.compiled_games import compiled_tree
from rlccfr.games.flat_tree import COMPILED

HOLD = 4.0
"""Mean number of consecutive decisions for which :func:`held_picks` keeps the same picks."""

LEAST_LOG_SHARE = -9.0
"""Least error of a run, where the error is log10 of its exploitability as a share of the uniform policy's.

Smaller errors are raised to this value. Otherwise, a game that can be solved up to rounding would outweigh all others.
"""


class Task(NamedTuple):
    """The game of a run, and the run's length.

    Attributes:
        game: name of the game.
        horizon: number of iterations of the run.
    """

    game: str
    horizon: int


class Collected(NamedTuple):
    """Runs, one per task.

    Attributes:
        episodes: the runs.
        cpu_seconds: CPU seconds that the runs took together.
    """

    episodes: list[Episode]
    cpu_seconds: float


@lru_cache(maxsize=2048)
def _run_on(game: str, hidden: tuple[int, ...], blend: bool) -> ControlRun:
    """Return this process's run on a game; the run is made once and then reused."""
    controller = Controller.untrained(CHOICES, hidden)
    return ControlRun(compiled_tree(game, "a controller"), controller, 1, keep=not blend, blend=blend)


def run_of(task: Task, hidden: tuple[int, ...]) -> ControlRun:
    """Return this process's run on a task's game, with the task's horizon and hidden layers of the given widths.

    The run is reused, so it may be at its end; :meth:`ControlRun.episode` returns to the start.
    """
    run = _run_on(task.game, hidden, task.horizon >= COMPILED.least_blended)
    if run.horizon != task.horizon:
        run.aim(task.horizon)
    return run


def collect(
    tasks: Sequence[Task], hidden: tuple[int, ...], weights: np.ndarray, forced: Sequence[np.ndarray | None]
) -> Collected:
    """Make a run for each task; the same networks steer all runs.

    The last error of a run is the error of the policies that :func:`rlccfr.solve` would return: blends of average
    policies or, in short runs, each player's best average policy. Errors below :data:`LEAST_LOG_SHARE` are raised to
    it.

    Args:
        tasks: a task for each run.
        hidden: widths of the networks' hidden layers.
        weights: the networks' weights, as :meth:`Controller.flat_weights` returns them.
        forced: for each run, the picks that replace those of the networks, or None; see :meth:`ControlRun.episode`.
    """
    begin = time.process_time()
    episodes = []
    for task, picks in zip(tasks, forced, strict=True):
        episode = run_of(task, hidden).episode(picks, weights)
        episodes.append(episode._replace(errors=np.maximum(episode.errors, LEAST_LOG_SHARE)))
    return Collected(episodes, time.process_time() - begin)


def random_picks(decisions: int, rng: np.random.Generator, epsilon: float) -> np.ndarray:
    """Return picks, (decisions, 3): random with probability ``epsilon``, else -1, which lets the network pick."""
    random = np.stack([rng.integers(len(choices), size=decisions) for choices in CHOICES], axis=1)
    return np.where(rng.random(random.shape) < epsilon, random, -1)


def held_picks(decisions: int, rng: np.random.Generator) -> np.ndarray:
    """Return random picks, (decisions, 3), that all agents keep for :data:`HOLD` decisions on average."""
    random = random_picks(decisions, rng, 1.0)
    change = rng.random(decisions) < 1.0 / HOLD
    change[0] = True
    # Each decision has the random picks of the latest decision at which the picks changed.
    last_change = np.maximum.accumulate(np.where(change, np.arange(decisions), 0))
    held: np.ndarray = random[last_change]
    return held


def exploring_picks(
    decisions: int, rng: np.random.Generator, share: float, settings: ControlHyperparameters
) -> np.ndarray:
    """Return the exploring picks, (decisions, 3), of a run that begins when a ``share`` of the training is done.

    A pick is -1 where the agent's network decides.
    """
    if rng.random() < settings.held_at(share):
        return held_picks(decisions, rng)
    return random_picks(decisions, rng, settings.epsilon_at(share))
