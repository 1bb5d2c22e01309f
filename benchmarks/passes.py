"""The time of an exact iteration of CFR+ over the infosets of the whole game, by parts.

Each pass is timed separately, many times. Threads, and rules that are more than discounts, run these passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

import rlccfr
from benchmarks.alternation import Rates, alternate
from benchmarks.compiled import GAMES, tree
from rlccfr.kernels.handles import rule_of
from rlccfr.kernels.jit import OPTIONS, vectorised
from rlccfr.kernels.layout import FLOOR, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT, Findings, Step, Tables
from rlccfr.kernels.passes import exact_iterations as iterations
from rlccfr.kernels.passes import sequence_form as exact

ONE = (1.0, 1.0)
DECAY = 1.0  # below 1, sums to which nothing is added would become denormal numbers, which are slow


@njit(**OPTIONS)
def gradients(count, view, scratch):
    """Compute the payoffs at the leaves, for both players."""
    for _ in range(count):
        for player in range(2):
            exact.gradient_pass(view, player, scratch.reach, scratch)


@njit(**OPTIONS)
def averages(count, view, tables, scratch):
    """Compute reach and average, for both players."""
    for _ in range(count):
        for player in range(2):
            exact.reach_and_average_pass(view, player, tables, scratch.reach, DECAY, 1.0, -1)


@njit(**OPTIONS)
def updates(count, view, tables, findings, before, row, rule):
    """Compute values, regrets and next policies, each time from the same values at the leaves."""
    rule = rule_of(rule)
    step = Step(row, row, row[FLOOR], (row[POSITIVE_DISCOUNT], row[NEGATIVE_DISCOUNT]), ONE)
    for _ in range(count):
        copies(1, findings.gain, before)
        for player in range(2):
            iterations.update_pass(view, player, tables, findings, step, rule)


@njit(**OPTIONS)
def copies(count, gradient, before):
    """Restore the values at the leaves; this time is subtracted from that of :func:`updates`."""
    for _ in range(count):
        for k in range(len(before)):
            gradient[k] = before[k]


def measure(game: str) -> Rates:
    """Measure the rates of whole iterations and of each pass."""
    solver = rlccfr.Solver(tree(game), "cfr_plus", reduce=False)
    solver.run(iterations=300, curve=False)
    engine, view = solver._engine, tree(game).view
    scratch, rule = engine.state.scratch, engine.stepper.binding.rule_handle
    gradients(1, view, scratch)
    before = scratch.gradient.copy()
    findings = Findings(scratch.gradient.copy(), scratch.mass.copy(), scratch.past_regret.copy())
    tables = Tables(*(table.copy() for table in engine.state.tables))
    row = np.ascontiguousarray(solver.update_rule.schedule(300, 1)[0])

    state, binding = engine.state, engine.stepper.binding

    def iterate(count: int) -> None:
        rows = binding.rows(301, min(count, 1000))
        while count:
            now = min(count, 1000)
            game, run = state.game_handle, state.run_handle
            iterations.exact_iterations(game, run, rule, binding.procedure, rows[: now + 1], 1)
            count -= now

    passes: dict[str, Callable[[int], Any]] = {
        "whole": iterate,
        "leaves": lambda n: gradients(n, view, engine.state.scratch),
        "reach and average": lambda n: averages(n, view, engine.state.tables, engine.state.scratch),
        "regrets and policies": lambda n: updates(n, view, tables, findings, before, row, rule),
        "copies": lambda n: copies(n, findings.gain, before),
    }
    with vectorised():  # the functions above are compiled like the kernels
        return alternate(passes, 0.1, 7)


def report() -> list[str]:
    """Return the table as Markdown."""
    lines = ["| game | us per iteration | leaves | reach and average | regrets and policies |", "|---|---|---|---|---|"]
    for game in GAMES:
        rates = measure(game)
        seconds = {name: 1 / rates.mean(name) for name in rates.per_second}
        seconds["regrets and policies"] -= seconds.pop("copies")
        whole = seconds.pop("whole")
        lines.append(
            f"| {game} | {1e6 * whole:.4g} | {' | '.join(f'{part / whole:.0%}' for part in seconds.values())} |"
        )
    return lines


if __name__ == "__main__":
    print("\n".join(report()))
