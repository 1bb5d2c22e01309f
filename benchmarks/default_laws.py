"""The laws by which the default predicts runs to targets: ``python -m benchmarks.default_laws``.

``rlccfr.solve`` runs to each target of :mod:`benchmarks.default` by iterations alone, on the validation games and on
others. The laws are fitted to these runs, and printed: for each run of compiled games, its number of
iterations (``law`` of :class:`rlccfr.game.TargetRun`), and for all of them the time of iterations (``SECONDS_LAW`` in
:mod:`rlccfr.solving`). Steered runs plan for the number that their law predicts: if it has changed much, run this again
with the new law. With ``--without-chance``, only the law for games without chance is fitted and printed, and with
``--public-trees``, only the laws for runs over public trees, which do not depend on the size. Either takes minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

import rlccfr
from benchmarks.default import TARGETS, games_of, load, prepare, target_of, timed
from benchmarks.public_steering import LARGER_TREES, LARGEST_TREES, TREES
from rlccfr.agents.control.games import control_games
from rlccfr.engine.reduced import iteration_cost
from rlccfr.game import policy_class
from rlccfr.games.flat_tree import COMPILED
from rlccfr.games.public.view import PUBLIC_TREE

_GOOFSPIEL = "goofspiel(num_cards={},imp_info=True,points_order={},returns_type={})"
_OSHI_ZUMO = "oshi_zumo(coins={},size={},horizon={})"
_BATTLESHIP = "battleship(board_width={},board_height={},ship_sizes={},ship_values={},num_shots={})"
WITHOUT_CHANCE = (
    _GOOFSPIEL.format(3, "descending", "win_loss"),
    _GOOFSPIEL.format(4, "descending", "point_difference"),
    _GOOFSPIEL.format(4, "ascending", "win_loss"),
    _GOOFSPIEL.format(5, "descending", "win_loss"),
    _GOOFSPIEL.format(5, "ascending", "point_difference"),
    _OSHI_ZUMO.format(4, 1, 4),
    _OSHI_ZUMO.format(6, 1, 3),
    _OSHI_ZUMO.format(7, 1, 3),
    _OSHI_ZUMO.format(5, 2, 4),
    _OSHI_ZUMO.format(4, 2, 5),
    _BATTLESHIP.format(3, 1, "[1]", "[1]", 3),
    _BATTLESHIP.format(2, 2, "[1]", "[1]", 3),
    _BATTLESHIP.format(2, 2, "[2]", "[1]", 3),
    _BATTLESHIP.format(2, 2, "[1;2]", "[1;2]", 2),
    "blotto(coins=8,fields=3)",
    "dark_hex(board_size=2)",
)
"""Games without chance, of which the validation list has too few for fitting a law."""

ENOUGH = 10**6
"""Iterations that suffice for every target."""

SIZE = 4.0
"""Logarithm of a medium number of histories, about which laws are fitted."""

SIMILAR = 1.0
"""Range of logarithms of numbers of histories in which games count as of about the same size."""

LARGER_STEP = 4
"""Step in the list of larger training games: one of this many games is used."""

SHORTEST = 20
"""Iterations of the first run in a search for the shortest one that reaches a target."""

LENGTHENING = 1.15
"""Factor between two runs of such a search."""

EDGE = 0.01
"""Decades by which rounding may move a target across the edge of a range."""


def runs_to_targets(names: Iterable[str]) -> pd.DataFrame:
    """Return a row for each game and target: iterations and CPU seconds of ``rlccfr.solve`` to it, and what it needed.

    A run that is steered or blended makes about as many iterations as it was told to expect. So its column ``needed``
    has the number for which a law would be right: that of the shortest of several runs that end at the target.
    """
    rows = []
    for name in names:
        game = load(name)
        uniform = policy_class(game).uniform(game).exploitability()
        prepare(game, uniform)
        about = {
            "game": name,
            "histories": game.num_histories,
            "has_chance": game.num_chance_nodes > 0,
            "iteration_seconds": 1e-9 * iteration_cost(game),
        }
        for share in TARGETS:
            target = target_of(game, share, uniform)
            # A budget in iterations rules a linear program out.
            seconds, solution = timed(partial(rlccfr.solve, game, until=target, iterations=ENOUGH))
            if solution.reached:
                iterations = solution.result.iterations
                arguments = COMPILED.target_runs[_number_of(about | {"share": share})].arguments
                needed = shortest_run(game, target, arguments) if "control" in arguments else iterations
                rows.append(about | {"share": share, "seconds": seconds, "iterations": iterations, "needed": needed})
        print(name, file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def shortest_run(game: Any, target: float, arguments: Mapping[str, Any]) -> int:
    """Return the least of some numbers of iterations after which a run has reached a target.

    Args:
        arguments: arguments of :class:`rlccfr.Solver`.
    """
    iterations = SHORTEST
    while iterations < ENOUGH:
        solver = rlccfr.Solver(game, **arguments)
        if solver.run(iterations=iterations, curve=False).exploitability <= target:
            return iterations
        iterations = math.ceil(LENGTHENING * iterations)
    return ENOUGH


def fit(rows: pd.DataFrame) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the laws for numbers of iterations, one for each run of compiled games, and the law for their time.

    Each is fitted to the targets and games that its run serves; see :class:`rlccfr.game.TargetRun` and ``SECONDS_LAW``
    in :mod:`rlccfr.solving`.

    Args:
        rows: rows of :func:`runs_to_targets`.
    """
    # The few games without chance of the other lists are left out, so that their law is that of ``--without-chance``.
    rows = rows[rows["has_chance"] | rows["game"].isin(WITHOUT_CHANCE)]
    served = [rows[_is_served(rows, number)] for number in range(len(COMPILED.target_runs))]
    laws = [law_of(runs) for runs in served]
    runs = pd.concat(served)
    engine_seconds = (runs["iterations"] * runs["iteration_seconds"]).to_numpy(float)

    def residuals(logs: np.ndarray) -> np.ndarray:
        start, factor = np.exp(logs)
        return np.log(start + factor * engine_seconds) - np.log(runs["seconds"])

    return laws, np.exp(least_squares(residuals, np.log([0.002, 3.0]), loss="soft_l1").x)


def law_of(runs: pd.DataFrame) -> np.ndarray:
    """Return the law, (3,), for the numbers of iterations of some runs: those that one run of compiled games serves.

    Among games of about the same size, the law does not depend on the size.
    """
    sizes = np.log10(runs["histories"])
    features = np.stack([np.ones(len(runs)), -np.log10(runs["share"]), sizes - SIZE], axis=1)
    if np.ptp(sizes) < SIMILAR:
        features[:, 2] = 0.0
    law = np.linalg.lstsq(features, np.log10(runs["needed"].to_numpy(float)), rcond=None)[0]
    return np.array([law[0] - SIZE * law[2], law[1], law[2]])


def _is_served(rows: pd.DataFrame, number: int) -> pd.Series:
    """Return which rows belong to a run of compiled games, with targets and games that this run serves."""
    return rows.apply(_number_of, axis=1) == number


def _number_of(row: Mapping[str, Any]) -> int:
    """Return the number of the run of compiled games that serves the target and the game of a row."""
    decades = -math.log10(row["share"]) - EDGE
    about = (decades, row["histories"], row["has_chance"])
    return next(index for index, run in enumerate(COMPILED.target_runs) if run.serves(*about))


def print_laws_of_trees(names: Iterable[str]) -> None:
    """Fit the laws for runs over public trees, and print them.

    Printed are the coefficients (a, b, 0) of each run's law (see :attr:`rlccfr.game.TargetRun.law`), fitted to the
    targets that it serves; and the seconds of a run, as a multiple of those predicted for its iterations.
    """
    rows = []
    for name in names:
        game = load(name)
        uniform = policy_class(game).uniform(game).exploitability()
        prepare(game, uniform)
        predicted = 1e-9 * PUBLIC_TREE.part("iteration_cost")(game)
        for share in TARGETS[:-1] if name in LARGEST_TREES else TARGETS:  # the last would take minutes
            target = target_of(game, share, uniform)
            seconds, solution = timed(partial(rlccfr.solve, game, until=target, iterations=ENOUGH))
            if not solution.reached:
                continue
            iterations = solution.result.iterations
            decades = -math.log10(share)
            about = {"run": _number_on_trees(game, decades), "decades": decades, "iterations": iterations}
            rows.append(about | {"factor": seconds / (iterations * predicted)})
            print(name, rows[-1], file=sys.stderr, flush=True)
    for number, runs in pd.DataFrame(rows).groupby("run"):
        slope, constant = np.polyfit(runs["decades"], np.log10(runs["iterations"]), 1)
        print(PUBLIC_TREE.target_runs[number], f"{constant:.3g}, {slope:.3g}, 0")
    print("seconds of iterations, times", round(float(np.exp(np.log(pd.DataFrame(rows)["factor"]).mean())), 3))


def _number_on_trees(game: Any, decades: float) -> int:
    """Return the number of the run of public trees that serves a target on a game."""
    run = PUBLIC_TREE.run_to(game, decades - EDGE)
    return next(number for number, other in enumerate(PUBLIC_TREE.target_runs) if other is run)


def main() -> None:
    """Fit the laws, and print them.

    The games are those of the validation list, of :data:`WITHOUT_CHANCE`, and some of the larger training games of
    schedules.
    """
    parser = argparse.ArgumentParser("python -m benchmarks.default_laws")
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--without-chance", action="store_true", help="fit the law for games without chance alone")
    parts.add_argument("--public-trees", action="store_true", help="fit the laws for public trees alone")
    given = parser.parse_args()
    if given.public_trees:
        print_laws_of_trees((*TREES["validation"], *LARGER_TREES, *LARGEST_TREES))
        return
    if given.without_chance:
        runs = runs_to_targets(WITHOUT_CHANCE)
        print(", ".join(f"{number:.3g}" for number in law_of(runs)))
        return
    names = (*games_of("validation"), *WITHOUT_CHANCE, *control_games("larger")[::LARGER_STEP])
    laws, seconds_law = fit(runs_to_targets(dict.fromkeys(names)))  # two games are on two lists
    for run, law in zip(COMPILED.target_runs, laws, strict=True):
        print(dict(run.arguments), ", ".join(f"{number:.3g}" for number in law))
    print("seconds:", ", ".join(f"{number:.3g}" for number in seconds_law))


if __name__ == "__main__":
    main()
