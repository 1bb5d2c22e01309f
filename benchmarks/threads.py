"""Exact passes on two threads compared with one, in wall-clock time; the machine must be idle.

Both pass over infosets, also where a run on one thread would go over bundles of them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import rlccfr
from benchmarks import flops
from benchmarks.compiled import over_infosets

FLOP = "3betpotFAST"
"""A flop of no-limit hold'em; see :mod:`benchmarks.flops`."""

GAMES = ("royal", "liars_dice(dice_sides=7)", "liars_dice(dice_sides=8)", FLOP)
ROUNDS, SECONDS, TARGET = 7, 1.0, 1.7

WARM_UP = 20
"""Largest number of iterations before the first round; a large game has fewer, which take about SECONDS."""


def gains(name: str) -> np.ndarray:
    """Return, for each round, how many times as fast two threads are, over the whole game."""
    game: Any = flops.load(name) if name == FLOP else rlccfr.load_game(name, max_histories=20_000_000)
    with over_infosets():
        one, two = (rlccfr.Solver(game, "cfr_plus", reduce=False, threads=threads) for threads in (1, 2))
    first = _clocked(one, 1)
    warm_up = max(1, min(WARM_UP, int(SECONDS / first)))
    for solver in (one, two):  # the first iterations wait for memory
        _clocked(solver, warm_up)
    count = max(1, int(SECONDS / (_clocked(one, warm_up) / warm_up)))
    return np.array([_clocked(one, count) / _clocked(two, count) for _ in range(ROUNDS)])


def _clocked(solver: rlccfr.Solver, iterations: int) -> float:
    begin = time.perf_counter()
    solver.run(iterations=iterations, curve=False)
    return time.perf_counter() - begin


def report() -> list[str]:
    """Return the table as Markdown."""
    lines = ["| game | two threads, times as fast (median) | least and most | target |", "|---|---|---|---|"]
    for name in GAMES:
        found = gains(name)
        missed = " **missed**" if np.median(found) < TARGET else ""
        lines.append(f"| {name} | {np.median(found):.2f} | {found.min():.2f} to {found.max():.2f} | {TARGET}{missed} |")
    return lines


if __name__ == "__main__":
    print("\n".join(report()))
