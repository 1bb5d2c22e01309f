"""Which run gets farthest within a budget: ``python -m benchmarks.budgets``.

On each validation game, steered passes run for a number of iterations, with blends at the end where
:func:`rlccfr.solve` makes them. The others then get as many CPU seconds, blends included. The table shows by how much
log10 of their exploitability, as a share of the uniform policy's, differs from that of steered passes: below 0, they
have come nearer. Each figure is a mean over games and over up to five numbers of iterations near the one at its head,
since one run is a noisy witness. The winner is what :attr:`rlccfr.game.Form.best_run` should be.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
import pandas as pd

import rlccfr
from benchmarks.default import games_of, interval, load
from benchmarks.every_rule import LEAST_SHARE
from benchmarks.markdown import table
from benchmarks.momentum import NEARBY
from rlccfr.engine.blending import SHARE
from rlccfr.games.flat_tree import COMPILED

OTHERS: dict[str, dict[str, Any]] = {
    "momentum_dcfr, blended": {"update_rule": "momentum_dcfr", "blend": True},
    "momentum_dcfr": {"update_rule": "momentum_dcfr"},
}
HORIZONS = (100, 1000)
"""Numbers of iterations near which runs are compared."""

LONGEST = 4.0
"""CPU seconds that a steered run may be expected to take; longer ones are left out."""


def run_for(game: rlccfr.GameTree, seconds: float, blend: bool = False, **components: Any) -> tuple[float, float]:
    """Run for about some CPU seconds, blends included; return the exploitability and the seconds taken."""
    solver = rlccfr.Solver(game, blend=blend, **components)
    result = solver.run(seconds=seconds / (1 + SHARE) if blend else seconds, curve=False)
    return result.exploitability, solver.cpu_seconds


def compare(name: str) -> list[dict[str, Any]]:
    """Return a row for each horizon and contender: its difference from steered passes, and its share of their time."""
    game = load(name)
    uniform = rlccfr.Policy.uniform(game).exploitability()

    def decades(exploitability: float) -> float:
        return math.log10(max(exploitability / uniform, LEAST_SHARE))

    rows = []
    per_iteration = 0.0
    for horizon in HORIZONS:
        for share in NEARBY:
            iterations = round(share * horizon)
            if iterations * per_iteration > LONGEST:
                continue
            steered = rlccfr.Solver(game, control="shipped", blend=iterations >= COMPILED.least_blended)
            reached = decades(steered.run(iterations=iterations, curve=False).exploitability)
            per_iteration = steered.cpu_seconds / iterations
            for contender, arguments in OTHERS.items():
                exploitability, seconds = run_for(game, steered.cpu_seconds, **arguments)
                rows.append(
                    {
                        "game": name,
                        "histories": game.num_histories,
                        "horizon": horizon,
                        "contender": contender,
                        "difference": decades(exploitability) - reached,
                        "time": seconds / steered.cpu_seconds,
                    }
                )
    return rows


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each contender and horizon: its mean difference with an interval, and how often it is ahead."""
    lines = []
    for (contender, horizon), of_pair in rows.groupby(["contender", "horizon"], sort=False):
        of_games = of_pair.groupby("game")["difference"].mean()
        mean, low, high = (math.log(bound) for bound in interval(of_games.tolist()))
        lines.append(
            {
                "contender": contender,
                "iterations": horizon,
                "games": len(of_games),
                "mean difference": mean,
                "from": low,
                "to": high,
                "ahead on": f"{np.mean(of_games < 0):.0%}",
                "time": of_pair["time"].mean(),
            }
        )
    return pd.DataFrame(lines).round(2)


def main() -> None:
    """Print the table."""
    begin = time.process_time()
    rows: list[dict[str, Any]] = []
    for name in games_of("validation"):
        rows += compare(name)
        print(f"{name}: {time.process_time() - begin:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(table(summary(pd.DataFrame(rows)))))


if __name__ == "__main__":
    main()
