"""Exact passes on two threads compared with one, in wall-clock time; the machine must be idle.

Each game is measured over bundles of infosets, as runs with CFR+ go there, and over infosets, as those do whose rules
bundles do not serve. Short iterations, which threads do not share otherwise, show from what length on they gain.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np

import rlccfr
from benchmarks import flops
from benchmarks.compiled import over_infosets

FLOP = "3betpotFAST"
"""A flop of no-limit hold'em; see :mod:`benchmarks.flops`. Its passes go over public states."""

GAMES = ("royal", "liars_dice(numdice=1)", "liars_dice(dice_sides=7)", "liars_dice(dice_sides=8)")
SHORT_GAMES = ("liars_dice(dice_sides=5)", "leduc(ranks=13,suits=2,raises=1)", "leduc")
ROUNDS, SECONDS, TARGET = 7, 1.0, 1.7

WARM_UP = 20
"""Largest number of iterations before the first round; a large game has fewer, which take about SECONDS."""


def gains(game: Any, over: str) -> np.ndarray:
    """Return, for each round, how many times as fast two threads are, over the whole game.

    Args:
        game: the game.
        over: what passes go over: "bundles", "infosets" or "public states".
    """
    with ExitStack() as stack:
        stack.enter_context(over_infosets() if over == "infosets" else nullcontext())
        for least in ("bundled.LEAST_SHARED_COST", "bundled.LEAST_GAIN", "threads.LEAST_COST"):
            stack.enter_context(patch(f"rlccfr.engine.{least}", 0.0))
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
    lines = [
        "| game | passes over | two threads, times as fast (median) | least and most | target |",
        "|---|---|---|---|---|",
    ]
    for name in GAMES:
        game = rlccfr.load_game(name, max_histories=20_000_000)
        lines += [_row(name, over, gains(game, over), TARGET) for over in ("bundles", "infosets")]
    lines.append(_row(FLOP, "public states", gains(flops.load(FLOP), "public states"), TARGET))
    for name in SHORT_GAMES:
        lines.append(_row(name, "bundles", gains(rlccfr.load_game(name), "bundles"), None))
    return lines


def _row(name: str, over: str, ratios: np.ndarray, target: float | None) -> str:
    """Return a row of the table."""
    missed = " **missed**" if target is not None and np.median(ratios) < target else ""
    spread = f"{ratios.min():.2f} to {ratios.max():.2f}"
    return f"| {name} | {over} | {np.median(ratios):.2f} | {spread} | {target or ''}{missed} |"


if __name__ == "__main__":
    print("\n".join(report()))
