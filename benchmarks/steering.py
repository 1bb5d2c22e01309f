"""Ways to steer a run without networks: one point of the choices for the whole run, or one schedule for all games.

``python -m benchmarks.steering HORIZON`` searches for the schedule of runs of HORIZON iterations by CMA-ES on the
controller's training games, and writes it to benchmarks/results/schedules.json. An interrupted search is continued.
``python -m benchmarks.steering ship`` writes all schedules of that file as the controller ``schedule`` of the package.

A run is judged by its result, as in the training of controllers: blends, or each player's best average where runs are
too short for blends. The score of a schedule is a mean over three numbers of iterations near the horizon, since a
single number gives a noisy score.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import rlccfr
from rlccfr.agents.control.collecting import LEAST_LOG_SHARE
from rlccfr.agents.control.games import Split, control_games
from rlccfr.catalog.scheduled import NAMED_CONTROLLERS
from rlccfr.components.controller import AGENTS, CHOICES, SCHEDULE, SETTINGS, Controller
from rlccfr.controller_file import save_controller
from rlccfr.controller_schedule import follow_schedules
from rlccfr.envs.control.run import ControlRun, marks_of
from rlccfr.files import write_atomically
from rlccfr.games.flat_tree import COMPILED

SCHEDULES = Path(__file__).parent / "results" / "schedules.json"
STATE = Path(__file__).parents[1] / "runs" / "schedules"
"""Folder of unfinished searches."""

POINTS = np.array(list(product((0, 2, 5, 8), (2, 4, 6), (0, 2, 4, 13))))
"""Picks, (48, 3), of the 1,632 that a controller can make: points that are kept for a whole run on each game."""

NEARBY = (0.8, 1.0, 1.25)
"""Shares of a horizon at which runs are judged."""

GAMES, POPULATION, GENERATIONS = 8, 12, 200
"""Number of training games per generation of schedules, of schedules per generation, and of generations."""

SPLITS: tuple[Split, ...] = ("train", "larger")
"""Lists from which the games are drawn, the same number from each."""

KNOTS = 3
"""Rows of a schedule: its settings at the start, at the middle decision, and at the end of a run."""

BOUNDS = {
    "alpha": (0.5, 4.0),
    "gamma": (0.0, 20.0),
    "optimism": (0.0, 1.0),
    "momentum": (0.0, 1.0),
    "beta": (-3.0, 1.0),
    "power": (1.0, 2.0),
}
"""Bounds of the settings that are searched. The first four vary over a run, the last two are constant."""

POWER_STEP = 0.5
"""The power is a multiple of this number: iterations with other powers are much slower."""

FAST = {"momentum": (0.0, 0.0), "power": (1.0, 1.0)}
"""Bounds in runs that are too short for blends. Iterations with momentum or a power are slower. A search counts
iterations and not their time, so it would use them even where they do not make up for that time."""

VARYING = 4
NUM_GENES = VARYING * KNOTS + len(BOUNDS) - VARYING
FIXED = {"floor": 0.0, "memory": 0.85}


def new_run(game: rlccfr.GameTree, controller: Controller, horizon: int) -> ControlRun:
    """Return a run that ends like those of ``rlccfr.solve``: with blends, or with the best averages if it is short."""
    return ControlRun(game, controller, horizon, keep=True, blend=horizon >= COMPILED.least_blended)


def last_error(run: ControlRun, picks: np.ndarray | None = None, weights: np.ndarray | None = None) -> float:
    """Return the error at the end of an episode, but at least what can be distinguished from rounding."""
    return max(float(run.episode(picks, weights).errors[-1]), LEAST_LOG_SHARE)


def point_errors(game: rlccfr.GameTree, horizon: int) -> list[float]:
    """Return the error that each of the :data:`POINTS` leaves if it is kept for the whole run."""
    run = new_run(game, Controller.untrained(CHOICES, ()), horizon)
    return [last_error(run, np.tile(point, (len(run.marks), 1))) for point in POINTS]


def scheduled_controller(values: np.ndarray) -> Controller:
    """Return a controller whose k-th choices are the settings of the k-th decision.

    Args:
        values: (decisions, settings), a column for each of SETTINGS.
    """
    columns = {name: values[:, index] for index, name in enumerate(SETTINGS)}
    choices = tuple(np.stack([columns[name] for name in names], axis=1) for names in AGENTS.values())
    return Controller.untrained(choices, ())


def follow(game: rlccfr.GameTree, schedule: np.ndarray, horizon: int) -> float:
    """Return the error that a schedule leaves; the schedule is interpolated between its rows.

    Args:
        schedule: (rows, settings), a column for each of SETTINGS.
    """
    decisions = len(marks_of(horizon))
    run = new_run(game, scheduled_controller(interpolated(schedule, decisions)), horizon)
    picks = np.tile(np.arange(decisions)[:, None], (1, len(AGENTS)))
    return last_error(run, picks)


def schedule_of(genes: np.ndarray, horizon: int) -> np.ndarray:
    """Return the schedule, (KNOTS, settings), for a point of the search space; 0 stands for the middle of the bounds.

    Args:
        genes: (NUM_GENES,) any numbers.
        horizon: number of iterations of the run.
    """
    bounds = BOUNDS if horizon >= COMPILED.least_blended else BOUNDS | FAST
    shares = 1.0 / (1.0 + np.exp(-genes))
    ends = np.cumsum([KNOTS] * VARYING + [1] * (len(BOUNDS) - VARYING))[:-1]
    columns = {name: np.full(KNOTS, value) for name, value in FIXED.items()}
    for (name, (low, high)), share in zip(bounds.items(), np.split(shares, ends), strict=True):
        # Small exponents of the average matter more.
        columns[name] = low + (high - low) * (share**2 if name == "gamma" else share) * np.ones(KNOTS)
    columns["power"] = POWER_STEP * (columns["power"] / POWER_STEP).round()
    return np.stack([columns[name] for name in SETTINGS], axis=1)


def together(schedules: Mapping[int, np.ndarray]) -> Controller:
    """Return a controller that follows the schedule whose horizon is nearest to a run's.

    Args:
        schedules: (rows, settings), by horizon.
    """
    rows: list[np.ndarray] = []
    of_horizons = {}
    for horizon, schedule in schedules.items():
        marks = np.array(marks_of(horizon))
        picks = sum(map(len, rows)) + np.arange(len(marks))
        of_horizons[horizon] = (marks / horizon, np.tile(picks[:, None], (1, len(AGENTS))))
        rows.append(interpolated(schedule, len(marks)))
    return follow_schedules(of_horizons, scheduled_controller(np.concatenate(rows)).choices)


def interpolated(schedule: np.ndarray, decisions: int) -> np.ndarray:
    """Return the settings at each decision of a run, (decisions, settings).

    Args:
        schedule: (rows, settings) at equal distances from the first decision to the last.
    """
    places = np.linspace(0, 1, decisions)
    known_places = np.linspace(0, 1, len(schedule))
    return np.stack([np.interp(places, known_places, column) for column in schedule.T], axis=1)


def judged(game: rlccfr.GameTree, schedule: np.ndarray, horizon: int) -> float:
    """Return the mean error that a schedule leaves near a horizon."""
    return float(np.mean([follow(game, schedule, round(share * horizon)) for share in NEARBY]))


def search(horizon: int, seed: int = 0) -> Iterator[tuple[int, float, np.ndarray]]:
    """Yield, after each generation, its number, its mean error, and the schedule so far.

    Every ten generations, the state is saved in :data:`STATE`; a new call with the same settings continues from there.
    """
    import cma

    pools = [[rlccfr.load_game(name) for name in control_games(split)] for split in SPLITS]
    settings = repr((GAMES, POPULATION, SPLITS, NEARBY, KNOTS, BOUNDS, POWER_STEP, FAST, FIXED, seed))
    state = STATE / f"{horizon}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}.pickle"
    if state.exists():
        done, evolution, rng = pickle.loads(state.read_bytes())
    else:
        options = {"popsize": POPULATION, "seed": seed + 1, "verbose": -9}
        evolution = cma.CMAEvolutionStrategy(np.zeros(NUM_GENES), 0.7, options)
        done, rng = 0, np.random.default_rng(seed)
    for generation in range(done, GENERATIONS):
        population = evolution.ask()
        drawn_games = [
            pool[index] for pool in pools for index in rng.choice(len(pool), GAMES // len(pools), replace=False)
        ]
        errors = np.array(
            [[judged(game, schedule_of(genes, horizon), horizon) for game in drawn_games] for genes in population]
        )
        # Games differ in how far any schedule comes, so each schedule is compared with the generation's mean.
        evolution.tell(population, list((errors - errors.mean(axis=0)).clip(-3, 3).mean(axis=1)))
        if generation % 10 == 9:
            STATE.mkdir(parents=True, exist_ok=True)
            write_atomically(state, pickle.dumps((generation + 1, evolution, rng)))
        yield generation + 1, float(errors.mean()), schedule_of(evolution.result.xfavorite, horizon)


def recorded_schedules() -> dict[int, np.ndarray]:
    """Return the schedules of the file by horizon, each (rows, settings)."""
    if not SCHEDULES.exists():
        return {}
    recorded: dict[str, dict[str, Any]] = json.loads(SCHEDULES.read_text())
    return {int(horizon): np.array(entry["schedule"]) for horizon, entry in recorded.items()}


def record(horizon: int, generations: int, schedule: np.ndarray) -> None:
    """Write a horizon's schedule to the file, in place of an earlier one."""
    recorded = json.loads(SCHEDULES.read_text()) if SCHEDULES.exists() else {}
    recorded[str(horizon)] = {"generations": generations, "settings": SETTINGS, "schedule": schedule.round(4).tolist()}
    write_atomically(SCHEDULES, (json.dumps(recorded, indent=1) + "\n").encode())


def main() -> None:
    """Search for a schedule, and write it from time to time; or ship the schedules."""
    parser = argparse.ArgumentParser()
    parser.add_argument("horizon", help="a number of iterations, or ship")
    given = parser.parse_args().horizon
    if given == "ship":
        recorded = json.loads(SCHEDULES.read_text())
        save_controller(together(recorded_schedules()), NAMED_CONTROLLERS[SCHEDULE], {"schedules": recorded})
        return
    horizon = int(given)
    for generation, error, schedule in search(horizon):
        if generation % 10 == 0:
            record(horizon, generation, schedule)
            print(generation, round(error, 3), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
