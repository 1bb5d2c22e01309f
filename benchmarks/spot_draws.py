"""Whether it pays on no-limit spots to draw the board: ``python -m benchmarks.spot_draws``, as Markdown.

Three spots are solved by exact passes, and by passes that draw each public card: two turns of the split ``train`` in
benchmarks/results/spots.csv, and a flop with few hands. A number is the exploitability of the average policy in per
cent of the pot, after so many engine CPU seconds on one thread; of runs that draw, the geometric mean over seeds. A
dash means that no point of the curve is as early.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

import rlccfr
from benchmarks import spots
from benchmarks.markdown import table
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.experiments.pcs import at

TURNS = (100_004, 100_000)
"""Seeds of the turns, the smaller one first."""

FLOP = {
    "board": "Td9d6h", "pot": 100, "stack": 100, "oop": "TT,99,AhTh,KdQd,AA:0.5,8d7d,QJs",
    "ip": "QQ-JJ,AdKd,T9s,A5s:0.25,KQs,77", "bets": "75%", "raises": "a",
}  # fmt: skip

RULES = ("dcfr", "lcfr")
SAMPLERS = ("none", "public_chance")
SEEDS = 3
TIMES = (0.1, 0.3, 1.0, 3.0)
"""Engine CPU seconds at which exploitabilities are compared."""


def games() -> Iterator[rlccfr.PublicGame]:
    """Yield the spots."""
    listed = pd.read_csv(spots.FILE)
    turns = listed[listed["street"] == "turn"].set_index("seed")["game"]
    for seed in TURNS:
        yield rlccfr.load_game(turns[seed])
    yield rlccfr.subgame(**FLOP)


def exploitabilities(game: rlccfr.PublicGame, rule: str, sampler: str, seed: int) -> np.ndarray:
    """Return what a run has reached at each of :data:`TIMES`, (times,), in per cent of the pot."""
    rlccfr.Solver(game, rule, sampler).run(iterations=1, curve=False)  # loads the kernels
    solver = rlccfr.Solver(game, rule, sampler, seed=seed)
    solver.run(seconds=TIMES[-1])
    points = [point for point in solver.points if point.iteration]
    curve = pd.DataFrame(
        {
            "CPU seconds": [point.cpu_seconds for point in points],
            "exploitability": [100 * point.exploitability / game.pot for point in points],
        }
    )
    return np.array([at(curve, seconds) for seconds in TIMES])


def measured(game: rlccfr.PublicGame) -> pd.DataFrame:
    """Return a row for each rule and sampler on a spot, with a column for each of :data:`TIMES`."""
    rows = []
    for rule, sampler in product(RULES, SAMPLERS):
        seeds = range(1 if sampler == "none" else SEEDS)
        reached = np.array([exploitabilities(game, rule, sampler, seed) for seed in seeds])
        means = np.exp(np.log(reached).mean(axis=0))
        cells = {
            f"{time:g} s": "-" if np.isnan(mean) else f"{mean:.2g}" for time, mean in zip(TIMES, means, strict=True)
        }
        rows.append({"update_rule": rule, "sampler": sampler, **cells})
    return pd.DataFrame(rows)


def main() -> None:
    """Print a table for each spot."""
    print(f"On {processor_model()}:")
    for game in games():
        print(f"{game.name}: {game.num_sequences:,} entries", file=sys.stderr, flush=True)
        title = f"**{game.name}**, {game.num_sequences:,} entries"
        print("\n".join(["", title, "", *table(measured(game))]), flush=True)


if __name__ == "__main__":
    main()
