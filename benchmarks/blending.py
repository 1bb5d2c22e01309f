"""What blends gain at equal CPU time: ``python -m benchmarks.blending [SPLIT] [HORIZON [SHARE]]``, as Markdown.

On each game of a split (validation, test, or larger, which are the games of LARGER), the controller runs for HORIZON
iterations and blends. Then every fixed algorithm runs for as many CPU seconds; those of BLENDED also do so with a blend
in it. A row per game and contender is kept in benchmarks/results/blending.csv; games that are there are not run
again. SHARE takes the place of the engine's: the share of a run's time that its blends may add.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import rlccfr
from benchmarks.control import MOST_TEST, decades, fixed_algorithms, identity, sizes_of, table, timed
from rlccfr.agents.control.games import control_games
from rlccfr.engine import blending
from rlccfr.files import write_atomically

FILE = Path(__file__).parent / "results" / "blending.csv"
BLENDED = ("cfr", "cfr_plus", "dcfr", "dcfr_plus", "pcfr_plus")
OURS, WITHOUT = "controlled, blended", "controlled"
LARGER = (
    "random_poker(seed=41002,hands=12,boards=3,raises=2)",
    "random_poker(seed=41004,hands=25,boards=3,raises=1)",
    "random_poker(seed=41005,hands=14,boards=3,raises=3)",
    "random_poker(seed=41006,hands=40,boards=2,raises=2)",
    "random_moves(seed=41011,types=12,moves=7,actions=2)",
    "random_moves(seed=41012,types=6,moves=6,actions=3)",
    "random_moves(seed=41014,types=10,moves=6,actions=3)",
    "random_moves(seed=41015,types=8,moves=5,actions=4)",
    "random_moves(seed=41016,types=12,moves=10,actions=2)",
    "leduc(ranks=5,suits=2,raises=2)",
    "leduc(ranks=8,suits=2,raises=1)",
    "leduc(ranks=9,suits=2,raises=2)",
)
"""Games that are in no list of the controller's."""


def in_time(game: rlccfr.GameTree, components: dict[str, Any], iterations: int, budget: float) -> rlccfr.Solver:
    """Return a run that takes about ``budget`` CPU seconds; one by exact passes is told how many iterations that is."""
    solver = rlccfr.Solver(game, **components)
    if components.get("sampler", "none") != "none":
        solver.run(seconds=budget, curve=False)
        return solver
    seconds, _ = timed(game, iterations, components)
    solver.run(iterations=max(int(iterations * budget / seconds), 1), curve=False)
    return solver


def contenders(game: rlccfr.GameTree, horizon: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each contender: iterations, CPU seconds, and log10 of the exploitability over the uniform's."""
    budget, ours = timed(game, horizon, {"control": "shipped", "blend": True})
    yield {"contender": OURS, "iterations": horizon, "seconds": budget, "error": decades(ours)}
    others = {WITHOUT: {"control": "shipped"}, **dict(fixed_algorithms(horizon))}
    others |= {f"{name}, blended": others[name] | {"blend": True} for name in BLENDED}
    for name, components in others.items():
        result = (solver := in_time(game, components, horizon, budget)).result()
        about = {"iterations": result.iterations, "seconds": result.cpu_seconds}
        yield {"contender": name, **about, "error": decades(solver)}


def recorded(about: dict[str, Any]) -> pd.DataFrame:
    """Return the file's rows that have the given values."""
    if not FILE.exists():
        return pd.DataFrame(columns=[*about, "game"])
    rows = pd.read_csv(FILE, dtype={"controller": str})
    return rows[(rows[[*about]] == pd.Series(about)).all(axis=1)]


def last_measured(split: str, horizon: int) -> pd.DataFrame:
    """Return the file's rows of a split for the controller that was measured last, and the present share of time."""
    rows = recorded({"split": split, "horizon": horizon, "share": blending.SHARE})
    return rows[rows["controller"] == rows["controller"].iloc[-1]]


def measured(split: str, horizon: int) -> pd.DataFrame:
    """Measure a split's games that are not in the file yet; return its rows for this controller and share."""
    about = identity(split, horizon) | {"share": blending.SHARE}
    done = set(recorded(about)["game"])
    for name in LARGER if split == "larger" else control_games(split):  # type: ignore[arg-type]
        if name in done:
            continue
        game = rlccfr.load_game(name, max_histories=MOST_TEST)
        own = pd.DataFrame(
            [about | {"game": name, "histories": game.num_histories} | one for one in contenders(game, horizon)]
        )
        before = recorded({})
        rows = pd.concat([before, own], ignore_index=True) if len(before) else own
        write_atomically(FILE, rows.to_csv(index=False, float_format="%.5g").encode())
        print(f"{own['error'].iloc[0]:6.2f} {name}", file=sys.stderr, flush=True)
    return recorded(about)


def report(rows: pd.DataFrame) -> list[str]:
    """Return the comparison as Markdown, from the rows of a split and a number of iterations."""
    split, horizon = rows[["split", "horizon"]].iloc[0]
    errors = rows.pivot_table(index="game", columns="contender", values="error")
    recorded = [name for name, _ in fixed_algorithms(horizon) if name in errors]
    best = errors[recorded].min(axis=1)
    blended = [f"{name}, blended" for name in BLENDED]
    beside = {name: best - errors[name] for name in (OURS, WITHOUT, *blended)}
    beside["the lowest of these five, in hindsight"] = best - errors[blended].min(axis=1)
    own = {f"{name}, blended, against itself": errors[name] - errors[f"{name}, blended"] for name in BLENDED}
    gains = beside[OURS].groupby(sizes_of(rows), observed=True)
    return [
        *table(f"{split} games: best fixed algorithm of each in hindsight, beside", beside | own),
        "",
        *table(f"best fixed algorithm of each in hindsight, beside {OURS}, by size", dict(iter(gains))),
    ]


def main() -> None:
    """Measure what is not measured yet, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("split", nargs="?", choices=("validation", "larger", "test"), default="validation")
    parser.add_argument("horizon", nargs="?", type=int, default=1000)
    parser.add_argument("share", nargs="?", type=float, default=blending.SHARE)
    given = parser.parse_args()
    blending.SHARE = given.share
    print("\n".join(report(measured(given.split, given.horizon))))


if __name__ == "__main__":
    main()
