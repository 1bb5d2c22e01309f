"""What blends gain at equal CPU time: ``python -m benchmarks.blending [HORIZON [SHARE]]`` prints it as Markdown.

On each validation game and each game of LARGER, the controller runs for HORIZON iterations and blends. Then every fixed
algorithm by exact passes runs for as many CPU seconds, and those of BLENDED also with a blend in the same time. Test
games are not touched. A row per game and contender is kept in benchmarks/results/blending.csv; games that are there
are not run again. SHARE takes the place of the engine's: the share of a run's time that its blends may add.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import rlccfr
from benchmarks.control import MOST_TEST, decades, fixed_algorithms, table, timed
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
    """Return a run that takes about ``budget`` CPU seconds, judging by the time that ``iterations`` take."""
    seconds, _ = timed(game, iterations, components)
    solver = rlccfr.Solver(game, **components)
    solver.run(iterations=max(int(iterations * budget / seconds), 1), curve=False)
    return solver


def contenders(game: rlccfr.GameTree, horizon: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each contender: iterations, CPU seconds, and log10 of the exploitability over the uniform's."""
    budget, ours = timed(game, horizon, {"control": "shipped", "blend": True})
    yield {"contender": OURS, "iterations": horizon, "seconds": budget, "error": decades(ours)}
    others = {WITHOUT: {"control": "shipped"}}
    for name, components in fixed_algorithms(horizon):
        if "sampler" not in components:
            others[name] = components
        if name in BLENDED:
            others[f"{name}, blended"] = components | {"blend": True}
    for name, components in others.items():
        result = (solver := in_time(game, components, horizon, budget)).result()
        about = {"iterations": result.iterations, "seconds": result.cpu_seconds}
        yield {"contender": name, **about, "error": decades(solver)}


def measured(horizon: int) -> pd.DataFrame:
    """Measure the games that are not in the file yet, and return its rows for a horizon and the engine's share."""
    about = {"horizon": horizon, "share": blending.SHARE}
    rows = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=[*about, "game"])
    for name in (*control_games("validation"), *LARGER):
        if (rows[[*about, "game"]] == pd.Series(about | {"game": name})).all(axis=1).any():
            continue
        game = rlccfr.load_game(name, max_histories=MOST_TEST)
        own = [about | {"game": name, "histories": game.num_histories} | one for one in contenders(game, horizon)]
        rows = pd.concat([rows, pd.DataFrame(own)], ignore_index=True) if len(rows) else pd.DataFrame(own)
        write_atomically(FILE, rows.to_csv(index=False, float_format="%.5g").encode())
        print(f"{own[0]['error']:6.2f} {name}", file=sys.stderr, flush=True)
    rows = pd.read_csv(FILE)  # as rounded there
    return rows[(rows[[*about]] == pd.Series(about)).all(axis=1)]


def report(horizon: int) -> list[str]:
    """Return the comparison as Markdown."""
    rows, lines = measured(horizon), []
    validation = set(control_games("validation"))
    for title, group in (
        ("validation games", rows["game"].isin(validation)),
        ("larger", ~rows["game"].isin(validation)),
    ):
        errors = rows[group].pivot_table(index="game", columns="contender", values="error")
        fixed = [name for name, _ in fixed_algorithms(horizon) if name in errors]
        best = errors[fixed].min(axis=1)
        steered = {name: best - errors[name] for name in (OURS, WITHOUT)}
        blended = {f"{name}, blended": best - errors[f"{name}, blended"] for name in BLENDED}
        own = {f"{name}, blended, against itself": errors[name] - errors[f"{name}, blended"] for name in BLENDED}
        names = f"{len(errors)} {title}: best fixed algorithm of each game in hindsight, beside"
        lines += [*table(names, {**steered, **blended, **own}), ""]
    return lines[:-1]


if __name__ == "__main__":
    if len(sys.argv) > 2:
        blending.SHARE = float(sys.argv[2])
    print("\n".join(report(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)))
