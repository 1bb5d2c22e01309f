"""Runs on live games, by worker processes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.envs.control.run import ControlRun, Episode
from rlccfr.envs.measuring.compiled_games import compiled_tree

HOLD = 4.0
"""Mean number of decisions for which a held pick lasts."""


class Task(NamedTuple):
    """A game, and the number of iterations of a run on it."""

    game: str
    horizon: int


class Collected(NamedTuple):
    """Runs, and the CPU seconds that they took."""

    episodes: list[Episode]
    cpu_seconds: float


@lru_cache(maxsize=1024)
def _run_on(game: str, hidden: tuple[int, ...]) -> ControlRun:
    return ControlRun(compiled_tree(game, "a controller"), Controller.untrained(CHOICES, hidden), 1)


def run_of(task: Task, hidden: tuple[int, ...]) -> ControlRun:
    """Return the process's run on a task's game, at its start, for networks of these widths."""
    run = _run_on(task.game, hidden)
    if run.horizon != task.horizon:
        run.aim(task.horizon)
    return run


def collect(
    tasks: Sequence[Task], hidden: tuple[int, ...], weights: np.ndarray, forced: Sequence[np.ndarray | None]
) -> Collected:
    """Make a run for each task, under the same networks.

    Args:
        weights: as of :meth:`Controller.flat_weights`.
        forced: for each run the picks to make in place of the networks', or None; see :meth:`ControlRun.episode`.
    """
    begin = time.process_time()
    episodes = [run_of(task, hidden).episode(picks, weights) for task, picks in zip(tasks, forced, strict=True)]
    return Collected(episodes, time.process_time() - begin)


def random_picks(decisions: int, rng: np.random.Generator, epsilon: float) -> np.ndarray:
    """Return picks, (decisions, 3), that are random with probability ``epsilon``, else the networks' own: -1."""
    drawn = np.stack([rng.integers(len(own), size=decisions) for own in CHOICES], axis=1)
    return np.where(rng.random(drawn.shape) < epsilon, drawn, -1)


def held_picks(decisions: int, rng: np.random.Generator) -> np.ndarray:
    """Return random picks, (decisions, 3), each of which is held for some decisions."""
    drawn = random_picks(decisions, rng, 1.0)
    change = rng.random(decisions) < 1.0 / HOLD
    change[0] = True
    held: np.ndarray = drawn[np.maximum.accumulate(np.where(change, np.arange(decisions), 0))]
    return held


def exploring_picks(
    decisions: int, rng: np.random.Generator, share: float, settings: ControlHyperparameters
) -> np.ndarray:
    """Return picks, (decisions, 3), for a run after a share of the training; -1 for the networks' own."""
    if rng.random() < settings.held_at(share):
        return held_picks(decisions, rng)
    return random_picks(decisions, rng, settings.epsilon_at(share))
