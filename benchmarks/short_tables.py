"""Runs with tables of 16-bit numbers beside single and double precision: ``python -m benchmarks.short_tables``.

The table has the exploitability of a river and of a turn after some numbers of iterations, and the CPU time of an
iteration: the least of several measurements, in which the types alternate. ``python -m benchmarks.short_tables TITLE
DTYPE`` solves one of the flops of :mod:`benchmarks.flops` instead, in this process, and prints what that took.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import rlccfr
from benchmarks import flops
from benchmarks.memory import peak_bytes

RULE = "dcfr"
DTYPES = ("float64", "float32", "int16")
MARKS = {"river": (100, 300, 1000), "turn": (100, 200, 300)}
"""Numbers of iterations after which exploitability is measured, by the spot."""

TIMED = {"river": 300, "turn": 15}
"""Number of iterations whose time is measured at once, by the spot."""

ROUNDS = 5
"""Number of measurements of each type."""

SPOTS: dict[str, dict[str, Any]] = {
    "river": {
        "board": "Td9d6hQc2s", "pot": 200, "stack": 900,
        "oop": "66+,A8s+,AJo+,KQo:0.5", "ip": "QQ-22,AQs-A2s,ATo+,KJo+",
        "bets": {"river": ("60%, a", "33%, 75%, a")}, "raises": "2.5x, a",
    },
    "turn": {  # the example of postflop-solver's documentation
        "board": "Td9d6hQc", "pot": 200, "stack": 900, "bets": "60%, e, a", "raises": "2.5x", "donk": {"river": "50%"},
        "oop": "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
        "ip": "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
        "add_allin": 1.5, "force_allin": 0.15, "merging": 0.1,
    },
}  # fmt: skip


def measure(spot: str) -> list[dict[str, Any]]:
    """Return for each type the exploitability at the marks, in per cent of the pot, and the seconds of an iteration."""
    game = rlccfr.subgame(**SPOTS[spot])
    rows = []
    solvers = {}
    for dtype in DTYPES:
        solver = solvers[dtype] = rlccfr.Solver(game, RULE, dtype=dtype)  # type: ignore[arg-type]
        shares = []
        for mark in MARKS[spot]:
            result = solver.run(iterations=mark - solver.result().iterations, curve=False)
            shares.append(100 * result.exploitability / game.pot)
        rows.append({"spot": spot, "dtype": dtype, "shares": shares, "seconds": float("inf")})
    for _ in range(ROUNDS):
        for row in rows:
            solver = solvers[row["dtype"]]
            before = solver.cpu_seconds
            solver.run(iterations=TIMED[spot], curve=False)
            row["seconds"] = min(row["seconds"], (solver.cpu_seconds - before) / TIMED[spot])
    return rows


def report() -> list[str]:
    """Return the table as Markdown."""
    lines = ["| spot | numbers | exploitability, % of the pot | microseconds an iteration |", "|---" * 4 + "|"]
    for spot, marks in MARKS.items():
        for row in measure(spot):
            shares = ", ".join(f"{share:.4f} at {mark}" for share, mark in zip(row["shares"], marks, strict=True))
            lines.append(f"| {spot} | {row['dtype']} | {shares} | {1e6 * row['seconds']:.4g} |")
    return lines


def solve_flop(title: str, dtype: str) -> dict[str, Any]:
    """Solve a flop to the target of :mod:`benchmarks.flops` in this process, and return what it took."""
    game = flops.load(title)
    solver = rlccfr.Solver(game, RULE, dtype=dtype)  # type: ignore[arg-type]
    result = solver.run(until=f"{100 * flops.TARGETS[title]:g}%")
    return {
        "title": title,
        "dtype": dtype,
        "share": result.exploitability / game.pot,
        "iterations": result.iterations,
        "cpu": result.cpu_seconds,
        "peak": peak_bytes(),
    }


if __name__ == "__main__":
    print(json.dumps(solve_flop(*sys.argv[1:])) if sys.argv[1:] else "\n".join(report()))
