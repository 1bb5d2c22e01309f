"""``python -m benchmarks.pilot``: estimate how long it takes to measure all 336 algorithms on the four games.

A run of a sweep has at least 1,000 iterations and takes at least one engine CPU second. A hundredth of the iterations
is timed for each algorithm, after a warm-up of the same length. The estimate is the length of a run at this rate, plus
the time to make the solver and to measure the curve, multiplied by the algorithm's number of seeds in the sweep.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence

import rlccfr
from rlccfr.catalog import Catalog
from rlccfr.envs.sweeping.estimate import cost_of
from rlccfr.envs.sweeping.plan import jobs

SEEDS = {"kuhn": range(5), "goofspiel": range(5), "leduc": range(5), "royal": range(3)}


def report(games: Sequence[str] = tuple(SEEDS)) -> list[str]:
    """Return the table as Markdown."""
    lines = ["| game | kind | algorithms | runs | CPU hours iterating | around it |", "|---|---|---|---|---|---|"]
    total = 0.0
    for game in games:
        rlccfr.Solver(rlccfr.load_game(game)).run(iterations=1)  # so that loading is not counted
        planned = jobs({game: SEEDS[game]}, Catalog.paper().with_networks("sweep"))
        runs = Counter(job.cell for job in planned)
        found = defaultdict(list)
        for job in {job.cell: job for job in planned}.values():
            kind = "networks" if job.cell.update_rule.startswith("deep_") else "regressors" if job.learns else "tables"
            cost = cost_of(job)
            found[kind].append((runs[job.cell], *(runs[job.cell] * seconds for seconds in cost)))
        for kind, costs in found.items():
            count, iterating, around = map(sum, zip(*costs, strict=True))
            total += iterating + around
            hours = f"{iterating / 3600:.2f} | {around / 3600:.2f}"
            lines.append(f"| {game} | {kind} | {len(costs)} | {count} | {hours} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return [*lines, "", f"{total / 3600:.1f} CPU hours in all."]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pilot", description=__doc__)
    parser.add_argument("--games", nargs="*", default=list(SEEDS), choices=list(SEEDS))
    print("\n".join(report(parser.parse_args().games)))
