"""Searches for the settings of ``scheduled`` that reach fine targets soonest: ``python -m benchmarks.points SEED``.

The update rule ``scheduled`` has CFR's rules as its points. CMA-ES searches for a point on training games, and writes
the best one to benchmarks/results/points.json, by seed. An interrupted search is continued. The score of a point is the
mean logarithm of the iterations after which the average policy reaches :data:`TARGETS`. Iterations are counted, not
their time, because times of short runs are noisy; iterations of all points of the search take about the same time.

The default takes such a point (:data:`rlccfr.games.target_runs.FINE_TARGETS_RULE`). ``python -m
benchmarks.soonest_rules validation`` compares it with all rules.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rlccfr
from benchmarks.default import load
from benchmarks.soonest_rules import seconds_to_targets
from rlccfr.agents.control.games import control_games
from rlccfr.files import write_atomically
from rlccfr.limits import uniform_exploitability
from rlccfr.result import CurvePoint

POINTS = Path(__file__).parent / "results" / "points.json"
STATE = Path(__file__).parents[1] / "runs" / "points"
"""Folder of unfinished searches."""

TARGETS = (1e-4, 1e-5, 1e-6)
"""Targets that count, as shares of the uniform policy's exploitability."""

BOUNDS = {
    "alpha": (0.5, 4.0),
    "gamma": (0.0, 20.0),
    "optimism": (0.0, 1.0),
    "halving": (2.0, 3000.0),
    "momentum": (0.0, 1.0),
    "memory": (0.5, 0.98),
}
"""Bounds of the settings; ``halving`` is the number of iterations after which the optimism is halved."""

FIXED = {"power": 2.0}
"""Settings that are not searched. Iterations with other powers than 1 and 2 take longer."""

HORIZON = 1000
"""Default horizon of ``scheduled``, to which its ``decay`` is relative."""

GAMES, POPULATION, GENERATIONS = 12, 12, 150
"""Number of training games per generation of points, of points per generation, and of generations."""

LONGEST = 1500
"""Iterations of a run; a target that it misses counts as reached after :data:`MISSED` times as many."""

MISSED = 2.0


def point_of(genes: np.ndarray) -> dict[str, Any]:
    """Return the arguments of ``scheduled`` for a point of the search space, (len(BOUNDS),) any numbers.

    0 stands for the middle of the bounds. Arguments have two significant digits.
    """
    shares = 1.0 / (1.0 + np.exp(-genes))
    values = {}
    for (name, (low, high)), share in zip(BOUNDS.items(), shares, strict=True):
        if name == "halving":
            value = low * (high / low) ** share
        else:
            value = low + (high - low) * (share**2 if name == "gamma" else share)  # small exponents matter more
        values[name] = float(f"{value:.2g}")
    decay = values.pop("halving") / HORIZON
    return {**values, "decay": decay, **FIXED}


def name_of(arguments: Mapping[str, Any]) -> str:
    """Return the component id of a point of ``scheduled``."""
    return f"scheduled({','.join(f'{name}={value}' for name, value in arguments.items())})"


def iterations_to(points: Sequence[CurvePoint], targets: Sequence[float], longest: int = LONGEST) -> np.ndarray:
    """Return the iterations, (targets,), at which a curve reaches each target; see :data:`LONGEST`.

    Args:
        points: the points of the curve of a run of at most ``longest`` iterations.
        targets: in the game's units.
    """
    by_iteration = [point._replace(cpu_seconds=float(point.iteration)) for point in points]
    found = np.array(list(seconds_to_targets(by_iteration, targets)))
    return np.where(np.isfinite(found), found, MISSED * longest)


def score(game: Any, rule: str) -> float:
    """Return the mean logarithm of the iterations that a rule needs to :data:`TARGETS`."""
    uniform = uniform_exploitability(game)
    targets = [share * uniform for share in TARGETS]
    result = rlccfr.Solver(game, rule).run(iterations=LONGEST, until=min(targets))
    return float(np.log(iterations_to(result.points, targets)).mean())


def pools() -> list[list[Any]]:
    """Return the lists of training games from which a search draws, the same number from each.

    They are games with chance, since the default has another run for games without chance.
    """
    lists = [[load(name) for name in control_games(split)] for split in ("train", "larger")]
    return [[game for game in games if game.num_chance_nodes > 0] for games in lists]


def search(seed: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield, after each generation, its number and the arguments of the best point so far.

    Every ten generations, the state is saved in :data:`STATE`; a new call with the same settings continues from there.
    """
    import cma

    settings = repr((TARGETS, BOUNDS, FIXED, GAMES, POPULATION, LONGEST, MISSED, seed))
    state = STATE / f"{hashlib.sha256(settings.encode()).hexdigest()[:8]}.pickle"
    if state.exists():
        done, evolution, rng = pickle.loads(state.read_bytes())
    else:
        options = {"popsize": POPULATION, "seed": seed + 1, "verbose": -9}
        evolution = cma.CMAEvolutionStrategy(np.zeros(len(BOUNDS)), 0.7, options)
        done, rng = 0, np.random.default_rng(seed)
    lists = pools()
    for generation in range(done, GENERATIONS):
        population = evolution.ask()
        drawn = [games[k] for games in lists for k in rng.choice(len(games), GAMES // len(lists), replace=False)]
        rules = [name_of(point_of(genes)) for genes in population]
        scores = np.array([[score(game, rule) for game in drawn] for rule in rules])
        # Games differ in what any point needs, so each point is compared with the generation's mean.
        evolution.tell(population, list((scores - scores.mean(axis=0)).mean(axis=1)))
        if generation % 10 == 9:
            STATE.mkdir(parents=True, exist_ok=True)
            write_atomically(state, pickle.dumps((generation + 1, evolution, rng)))
        yield generation + 1, point_of(evolution.result.xfavorite)


def main() -> None:
    """Search, and write the point every ten generations."""
    parser = argparse.ArgumentParser("python -m benchmarks.points")
    parser.add_argument("seed", type=int)
    seed = parser.parse_args().seed
    for generation, point in search(seed):
        if generation % 10 == 0:
            recorded = json.loads(POINTS.read_text()) if POINTS.exists() else {}
            recorded[str(seed)] = {"generations": generation, "point": point}
            write_atomically(POINTS, (json.dumps(recorded, indent=1) + "\n").encode())
            print(generation, point, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
