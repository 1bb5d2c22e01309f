"""The gain of exact passes from bundles of infosets, and the law of their time.

``python -m benchmarks.bundles --fit`` prints the constants of the law in rlccfr/engine/reduced.py, and ``--steered``
its constant for runs that follow a schedule. ``--all`` also measures games whose lanes are too empty for bundles, which
runs do not use there.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

import rlccfr
from benchmarks.alternation import Rates, Step, alternate
from benchmarks.compiled import over_infosets
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.bundled import BundledTables
from rlccfr.engine.reduced import RunCopy, bundled_cost, bundled_cost_terms, pass_cost, quotient_for_passes
from rlccfr.engine.state import RunState
from rlccfr.games import bundles
from rlccfr.games.bundles import Bundles, bundles_of
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.quotient import Quotient
from rlccfr.games.records import BUNDLE_LANES
from rlccfr.kernels.passes.exact_iterations import exact_iterations
from rlccfr.registry import abstractions, samplers, update_rules

GAMES = (
    "kuhn",
    "leduc",
    "leduc(ranks=4,suits=4)",
    "leduc(ranks=6)",
    "leduc(ranks=13,suits=2,raises=1)",
    "royal",
    "liars_dice(numdice=1,dice_sides=3)",
    "liars_dice(numdice=1,dice_sides=4)",
    "liars_dice(numdice=1,dice_sides=5)",
    "liars_dice(numdice=1)",
    "liars_dice(numdice=2,dice_sides=3)",
    "goofspiel",
    "goofspiel(imp_info=True,num_cards=5,points_order=descending)",
)
RULES = ("cfr_plus", "pcfr_plus")
MOST_ROWS = 1000
"""Iterations per call of a kernel."""


class Measured(NamedTuple):
    """Passes over the bundles of a game, or of its quotient where runs use that, beside passes over infosets."""

    game: str
    form: SequenceForm
    cut: Bundles
    rates: Rates


def steps(game: rlccfr.GameTree, rule: str, cut: Bundles) -> dict[str, Step]:
    """Return functions that run iterations over infosets and over bundles."""
    components = update_rules[rule].make(), samplers["none"].make(), abstractions["none"].make()
    binding = Binding.of(game, *components, RunOptions(), 0)
    quotient = quotient_for_passes(game)
    infoset_run = _new_run(game, binding, quotient)
    tables_to_cut = _new_run(game, binding, quotient).tables
    bundled = BundledTables(cut, tables_to_cut, RunState.at_start(game, 0), binding)

    def run_infosets(rows: np.ndarray) -> None:
        game_handle = infoset_run.game_handle
        run_handle = infoset_run.run_handle
        exact_iterations(game_handle, run_handle, binding.rule_handle, binding.procedure, rows, 1)

    def run_bundles(rows: np.ndarray) -> None:
        bundled.iterate(binding.rule_handle, binding.procedure, rows, 1)

    def step(run) -> Step:
        rows = binding.rows(1, MOST_ROWS)

        def advance(count: int) -> None:
            while count:
                now = min(count, MOST_ROWS)
                run(rows[: now + 1])
                count -= now

        return advance

    return {"infosets": step(run_infosets), "bundles": step(run_bundles)}


def _new_run(game: rlccfr.GameTree, binding: Binding, quotient: Quotient | None) -> RunState | RunCopy:
    """Return new tables over a game or its quotient, with the arrays that the rule declares."""
    state = RunState.at_start(game, 0).ready_for(binding)
    return state if quotient is None else RunCopy(state, quotient)


def measure(name: str, rule: str, seconds: float = 0.1, rounds: int = 7) -> Measured | None:
    """Measure a game; None if it is not cut into bundles."""
    game = rlccfr.load_game(name)
    form = quotient_for_passes(game) or game
    cut = bundles_of(form)
    if cut is None:
        return None
    return Measured(game.name, form, cut, alternate(steps(game, rule, cut), seconds, rounds))


def report() -> list[str]:
    """Return the table of gains as Markdown."""
    lines = [
        "| game | infosets | bundles | lanes filled | gain of CFR+ | of PCFR+ | CFR+, us per iteration | predicted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in GAMES:
        by_rule = [measured for rule in RULES if (measured := measure(name, rule)) is not None]
        if not by_rule:
            continue
        gains = [measured.rates.mean("bundles") / measured.rates.mean("infosets") for measured in by_rule]
        _, form, cut, rates = by_rule[0]
        num_bundles = len(cut.view.first)
        fill = form.num_infosets / num_bundles / BUNDLE_LANES
        lines.append(
            f"| {name} | {form.num_infosets:,} | {num_bundles:,} | {fill:.0%} | "
            f"{gains[0]:.2f} | {gains[1]:.2f} | {1e6 / rates.mean('bundles'):.3g} | {1e-3 * bundled_cost(cut):.3g} |"
        )
    return lines


def fit() -> None:
    """Print the constants of the law: least squares of relative errors, of CFR+ on games that runs cut."""
    measured = [one for name in GAMES if (one := measure(name, "cfr_plus")) is not None]
    times = np.array([1e9 / one.rates.mean("bundles") for one in measured])
    terms = np.array([bundled_cost_terms(one.cut) for one in measured])
    constants = nnls(terms / times[:, None], np.ones(len(times)))[0]
    print(*(f"{constant:.3g}" for constant in constants))
    for one, time, row in zip(measured, times, terms, strict=True):
        print(f"{one.game[:40]:40} {time:12.0f} {row @ constants / time:6.2f}")


STEERED_ITERATIONS = 1000


def steered_seconds(game: rlccfr.GameTree, rounds: int = 3) -> float:
    """Return the least engine CPU seconds of a run that follows a schedule and ends with blends."""
    seconds = []
    for _ in range(rounds):
        solver = rlccfr.Solver(game, control="schedule", blend=True)
        seconds.append(solver.run(iterations=STEERED_ITERATIONS, curve=False).cpu_seconds)
    return min(seconds)


def fit_steered() -> None:
    """Print, for each game, how a steered run's time over bundles compares with its time over infosets.

    Each time is a multiple of the one that is predicted for CFR+; the last line has the mean of the ratios.

    Kuhn poker is left out: there, the blends take most of the time.
    """
    ratios = []
    for name in GAMES[1:]:
        game = rlccfr.load_game(name)
        form = quotient_for_passes(game) or game
        cut = bundles_of(form)
        if cut is None:
            continue
        with over_infosets():
            over_rows = steered_seconds(game) / pass_cost(form.view)
        over_bundles = steered_seconds(game) / bundled_cost(cut)
        ratios.append(over_bundles / over_rows)
        print(f"{name:40} {ratios[-1]:.2f}")
    print(f"geometric mean {np.exp(np.log(ratios).mean()):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bundles", description=__doc__)
    parser.add_argument("--fit", action="store_true", help="print the constants of the law, and the fit's errors")
    parser.add_argument("--steered", action="store_true", help="compare steered runs over bundles and over infosets")
    parser.add_argument("--all", action="store_true", help="measure games that runs do not cut, too")
    arguments = parser.parse_args()
    if arguments.all:
        bundles.LEAST_FILL = 0.0
    if arguments.fit:
        fit()
    elif arguments.steered:
        fit_steered()
    else:
        print("\n".join(report()))
