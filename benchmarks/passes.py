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
from benchmarks.compiled import GAMES, over_infosets, tree
from rlccfr.kernels.handles import rule_of
from rlccfr.kernels.jit import OPTIONS, vectorised
from rlccfr.kernels.layout import FLOOR, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT, Findings, Step, Tables
from rlccfr.kernels.passes import exact_iterations as iterations
from rlccfr.kernels.passes import sequence_form as exact

NO_LIMIT = 2**62
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
def updates(count, view, tables, findings, before, row, rule, reach):
    """Compute values, regrets and next policies, each time from the same values at the leaves."""
    rule = rule_of(rule)
    step = Step(row, row, row[FLOOR], (row[POSITIVE_DISCOUNT], row[NEGATIVE_DISCOUNT]), ONE)
    for _ in range(count):
        copies(1, findings.gain, before)
        for player in range(2):
            iterations.update_pass(view, player, tables, findings, reach, step, rule)


@njit(**OPTIONS)
def copies(count, gradient, before):
    """Restore the values at the leaves; this time is subtracted from that of :func:`updates`."""
    for _ in range(count):
        for k in range(len(before)):
            gradient[k] = before[k]


def measure(game: str) -> Rates:
    """Measure the rates of whole iterations and of each pass."""
    with over_infosets():
        solver = rlccfr.Solver(tree(game), "cfr_plus", reduce=False)
    solver.run(iterations=300, curve=False)
    engine = solver._engine
    state = engine.state
    view = tree(game).view
    scratch = state.scratch
    rule = engine.stepper.binding.rule_handle
    gradients(1, view, scratch)
    before = scratch.gradient.copy()
    findings = Findings(scratch.gradient.copy(), scratch.mass.copy(), scratch.past_regret.copy())
    tables = Tables(*(table.copy() for table in state.tables))
    row = np.ascontiguousarray(solver.update_rule.schedule(300, 1)[0])

    def advance(count: int) -> None:
        while count:
            count -= engine.advance(count, NO_LIMIT)

    passes: dict[str, Callable[[int], Any]] = {
        "whole": advance,
        "leaves": lambda n: gradients(n, view, scratch),
        "reach and average": lambda n: averages(n, view, state.tables, scratch),
        "regrets and policies": lambda n: updates(n, view, tables, findings, before, row, rule, scratch.reach),
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
