"""Ways to steer a run without networks, beside the controller: one point, greedy choices, one schedule for all games.

``python -m benchmarks.steering`` trains the schedule by CMA-ES on the controller's training games, and writes it to
benchmarks/results/schedule.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

import rlccfr
from rlccfr.agents.control.games import control_games
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.envs.control.run import ControlRun, marks_of

SCHEDULE = Path(__file__).parent / "results" / "schedule.json"
HORIZON = 1000
POINTS = np.array(list(product((0, 2, 3, 6, 7), (1, 3, 5, 6), (0, 2, 4, 6))))
"""Picks, (80, 3), of the 1,632 that a controller has: the points of ``scheduled`` that are tried on each game."""

GAMES, POPULATION, GENERATIONS = 24, 12, 400
"""Training games that each generation of schedules is judged on, schedules per generation, and generations."""

LOW, HIGH = np.array([0.5, 0.0, 0.0]), np.array([8.0, 40.0, 1.0])
"""Bounds of alpha, gamma and optimism in a schedule; the floor is 0."""


def best_point(game: rlccfr.GameTree, horizon: int) -> float:
    """Return the least error that one of the :data:`POINTS` leaves, chosen in hindsight."""
    run = ControlRun(game, Controller.untrained(CHOICES, ()), horizon, keep=True)
    return float(min(run.episode(np.tile(point, (len(run.marks), 1))).errors[-1] for point in POINTS))


def greedy(game: rlccfr.GameTree, horizon: int) -> float:
    """Return the error if each decision is for the point with the least error at the next decision.

    Trials are free. Each of them makes the run again from its start.
    """
    run = ControlRun(game, Controller.untrained(CHOICES, ()), horizon, keep=True)
    made: list[np.ndarray] = []
    for _ in run.marks:
        _, best = min((_error_after(run, [*made, point]), k) for k, point in enumerate(POINTS))
        made.append(POINTS[best])
    return float(run.episode(np.array(made)).errors[-1])


def _error_after(run: ControlRun, picks: list[np.ndarray]) -> float:
    """Return the error at the decision after some picks, or at the end."""
    run.restart()
    for pick in picks:
        run.step(pick)
    run.observe()
    return run.error


def scheduled_controller(values: np.ndarray) -> Controller:
    """Return a controller whose k-th choices are the settings of the k-th decision.

    Args:
        values: (decisions, 3) alpha, gamma and optimism.
    """
    alpha, gamma, optimism = values.T[:, :, None]
    zeros = np.zeros_like(alpha)
    ones = np.ones_like(alpha)
    discounting = np.hstack([alpha, zeros, ones])
    prediction = np.hstack([optimism, zeros, zeros, ones])
    return Controller.untrained((discounting, gamma, prediction), ())


def follow(game: rlccfr.GameTree, values: np.ndarray, horizon: int, *, keep: bool = False) -> float:
    """Return the error that a schedule leaves; at horizons with other decisions, the schedule is interpolated.

    Args:
        keep: see :class:`ControlRun`.
    """
    decisions = len(marks_of(horizon))
    at, known = np.linspace(0, 1, decisions), np.linspace(0, 1, len(values))
    own = np.stack([np.interp(at, known, column) for column in values.T], axis=1)
    run = ControlRun(game, scheduled_controller(own), horizon, keep=keep)
    return float(run.episode(np.tile(np.arange(decisions)[:, None], (1, 3))).errors[-1])


def settings(genes: np.ndarray) -> np.ndarray:
    """Return the schedule, (decisions, 3), that a point of the search space stands for; 0 is the middle."""
    share = 1.0 / (1.0 + np.exp(-genes.reshape(-1, 3)))
    share[:, :2] **= 2  # small exponents matter more
    return LOW + (HIGH - LOW) * share


def search(seed: int = 0) -> Iterator[tuple[int, float, np.ndarray]]:
    """Yield, after each generation, its number, its mean error, and the schedule so far."""
    import cma

    rng, games = np.random.default_rng(seed), [rlccfr.load_game(name) for name in control_games("train")]
    evolution = cma.CMAEvolutionStrategy(
        np.zeros(3 * len(marks_of(HORIZON))), 0.7, {"popsize": POPULATION, "seed": seed + 1, "verbose": -9}
    )
    for generation in range(GENERATIONS):
        genes, drawn = evolution.ask(), rng.choice(len(games), GAMES, replace=False)
        errors = np.array([[follow(games[one], settings(own), HORIZON) for one in drawn] for own in genes])
        evolution.tell(genes, list((errors - errors.mean(axis=0)).clip(-3, 3).mean(axis=1)))
        yield generation, float(errors.mean()), settings(evolution.result.xfavorite)


def main() -> None:
    """Search for a schedule, and write it now and then."""
    for generation, error, values in search():
        if generation % 20 == 19:
            SCHEDULE.write_text(
                json.dumps({"generation": generation + 1, "schedule": values.round(4).tolist()}, indent=1)
            )
            print(generation + 1, round(error, 3), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
