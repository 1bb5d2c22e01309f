"""``python -m benchmarks.pilot``: how long measuring all 336 algorithms on the four games would take.

Each algorithm runs for a hundredth of the sweep's budget, which is the longer of 1,000 iterations and a CPU second with
tables, and 1,000 iterations with models. What it took, times a hundred and the seeds that the sweep gives it, is the
estimate; to which come making the solver, and measuring its curve at ten points a decade.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import rlccfr
from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.facts import facts
from rlccfr.result import POINTS_PER_DECADE

SHARE = 0.01
ITERATIONS, SECONDS = 1_000, 1.0
SEEDS = {"kuhn": 5, "goofspiel": 5, "leduc": 5, "royal": 3}
MODEL_SEEDS = 2


class Estimate(NamedTuple):
    """CPU seconds of one algorithm on one game, over all seeds."""

    kind: str
    iterating: float
    around: float  # making the solver, and measuring its curve


def estimate(tree: rlccfr.GameTree, cell: Cell, game_seeds: int) -> Estimate:
    """From a hundredth of one run, after as many iterations that do not count: models are slowest at first."""
    known = facts(cell)
    deep = cell.update_rule.startswith("deep_")
    learns = deep or cell.abstraction == "rcfr"
    begin = time.process_time()
    rule = {"id": cell.update_rule, "preset": "sweep"} if deep else cell.update_rule
    solver = rlccfr.Solver(tree, rule, cell.sampler, cell.abstraction)
    making = time.process_time() - begin
    count = round(SHARE * ITERATIONS)
    first = solver.run(iterations=count, curve=False).cpu_seconds
    each = (solver.run(iterations=count, curve=False).cpu_seconds - first) / count
    begin = time.process_time()
    solver.exploitability()
    measuring = 2 * (time.process_time() - begin)  # the average policy's, and the current one's
    seconds = each * ITERATIONS if learns else max(each * ITERATIONS, SECONDS)
    points = POINTS_PER_DECADE * math.log10(max(seconds / each, ITERATIONS))
    seeds = 1 if known.deterministic else MODEL_SEEDS if learns else game_seeds
    kind = "networks" if deep else "regressors" if learns else "tables"
    return Estimate(kind, seeds * seconds, seeds * (making + points * measuring))


def report(games: Sequence[str] = tuple(SEEDS)) -> list[str]:
    """The table as Markdown."""
    lines = ["| game | kind | algorithms | CPU hours iterating | around it |", "|---|---|---|---|---|"]
    total = 0.0
    for game in games:
        tree, found = rlccfr.load_game(game), defaultdict(list)
        rlccfr.Solver(tree).run(iterations=1)
        for cell in Catalog.paper():
            one = estimate(tree, cell, SEEDS[game])
            found[one.kind].append(one)
        for kind, estimates in found.items():
            iterating, around = (sum(column) / 3600 for column in list(zip(*estimates, strict=True))[1:])
            total += iterating + around
            lines.append(f"| {game} | {kind} | {len(estimates)} | {iterating:.2f} | {around:.2f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return [*lines, "", f"{total:.1f} CPU hours in all."]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pilot", description=__doc__)
    parser.add_argument("--games", nargs="*", default=list(SEEDS), choices=list(SEEDS))
    print("\n".join(report(parser.parse_args().games)))
