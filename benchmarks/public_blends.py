"""What blends gain on public trees: ``python -m benchmarks.public_blends [GAME...]``, as Markdown.

Each game is solved to targets without blends and with them, in turn, REPEATS times; then with blends for given numbers
of iterations, and without blends for as many engine CPU seconds. A row per run is kept in
benchmarks/results/public-blends.csv. Games that are there are not run again.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import rlccfr
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.files import write_atomically
from rlccfr.limits import uniform_exploitability

FILE = Path(__file__).parent / "results" / "public-blends.csv"
RULES = ("dcfr", "dcfr_plus")
REPEATS = 3
TARGETS = ("1e-2x", "1e-3x", "3e-4x", "1e-4x", "1e-5x")
"""Shares of the uniform policy's exploitability."""

BUDGETS = (100, 300, 1000, 3000)
"""Numbers of iterations."""

GAMES = {
    "holdem(ranks=4,suits=2,private=1,flop=1)": math.inf,
    "holdem(ranks=6,suits=2)": math.inf,
    "bluff": math.inf,
    "holdem(ranks=7)": 60.0,
}
"""Games, and the engine CPU seconds after which a target counts as out of reach and finer ones are left out."""


def run(game: rlccfr.PublicGame, rule: str, blend: bool, **limit: Any) -> dict[str, Any]:
    """Return what a run has reached, and its times: of the engine, of blends, and of the process with measuring."""
    solver = rlccfr.Solver(game, rule, blend=blend)
    begin = time.process_time()
    result = solver.run(**limit, curve=False)
    return {
        "blend": blend,
        "iterations": result.iterations,
        "exploitability": result.exploitability,
        "reached": result.reached,
        "engine_seconds": result.cpu_seconds,
        "blending_seconds": solver.blending_seconds,
        "process_seconds": time.process_time() - begin,
    }


def to_targets(game: rlccfr.PublicGame, most_seconds: float) -> Iterator[dict[str, Any]]:
    """Yield a row for each run to a target."""
    for rule in RULES:
        for target in TARGETS:
            longest = 0.0
            for repeat in range(REPEATS):
                for blend in (False, True) if repeat % 2 == 0 else (True, False):
                    found = run(game, rule, blend, until=target, **_limit(most_seconds))
                    longest = max(longest, found["engine_seconds"])
                    yield {"rule": rule, "kind": "target", "limit": target, "repeat": repeat, **found}
            if longest >= most_seconds:
                break


def _limit(most_seconds: float) -> dict[str, float]:
    """Return the budget of a run to a target."""
    return {} if math.isinf(most_seconds) else {"seconds": most_seconds}


def within_budgets(game: rlccfr.PublicGame, most_seconds: float) -> Iterator[dict[str, Any]]:
    """Yield two rows for each budget: a run with blends, and one without them that takes as long."""
    for rule in RULES:
        for iterations in BUDGETS:
            blended = run(game, rule, True, iterations=iterations)
            plain = run(game, rule, False, seconds=blended["engine_seconds"])
            for found in (blended, plain):
                yield {"rule": rule, "kind": "budget", "limit": str(iterations), "repeat": 0, **found}
            if blended["engine_seconds"] >= most_seconds / 3:
                break


def measured(names: list[str]) -> pd.DataFrame:
    """Measure the games that are not in the file yet; return all of its rows."""
    for name in names:
        rows = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=["game"])
        if name in set(rows["game"]):
            continue
        game = rlccfr.load_game(name)
        run(game, RULES[0], True, iterations=20)  # loads the kernels
        about = {
            "game": name,
            "entries": game.num_sequences,
            "uniform": uniform_exploitability(game),
            "processor": processor_model(),
        }
        own = []
        for row in (*to_targets(game, GAMES.get(name, math.inf)), *within_budgets(game, GAMES.get(name, math.inf))):
            own.append(about | row)
            print(row, file=sys.stderr, flush=True)
        rows = pd.concat([rows, pd.DataFrame(own)], ignore_index=True) if len(rows) else pd.DataFrame(own)
        write_atomically(FILE, rows.to_csv(index=False, float_format="%.5g").encode())
    return pd.read_csv(FILE)


def beside(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the medians of runs without and with blends, side by side, by game, rule and limit."""
    columns = ["iterations", "engine_seconds", "blending_seconds", "process_seconds", "exploitability", "reached"]
    medians = rows.groupby(["game", "rule", "limit", "blend"], sort=False)[columns].median().reset_index()
    plain = medians[~medians["blend"]].set_index(["game", "rule", "limit"]).add_suffix("_plain")
    blended = medians[medians["blend"]].set_index(["game", "rule", "limit"]).add_suffix("_blended")
    return plain.join(blended).reset_index()


def report(rows: pd.DataFrame) -> Iterator[str]:
    """Yield two tables: times to targets, and exploitabilities at equal times."""
    targets = beside(rows[rows["kind"] == "target"])
    yield "| game | rule | target | seconds | with blends | ratio | iterations | with blends | time of blends |"
    yield "|" + "---|" * 9
    for row in targets.to_dict("records"):
        ratio = row["process_seconds_plain"] / row["process_seconds_blended"]
        share = row["blending_seconds_blended"] / row["engine_seconds_blended"]
        missed = "" if row["reached_plain"] and row["reached_blended"] else " (missed)"
        yield (
            f"| {row['game']} | {row['rule']} | {row['limit']}{missed} | {row['process_seconds_plain']:.3g} | "
            f"{row['process_seconds_blended']:.3g} | {ratio:.2f} | {row['iterations_plain']:.0f} | "
            f"{row['iterations_blended']:.0f} | {share:.0%} |"
        )
    yield ""
    yield "| game | rule | iterations with blends | of uniform | without, in that time | ratio | time of blends |"
    yield "|" + "---|" * 7
    uniform = rows.groupby("game")["uniform"].first()
    for row in beside(rows[rows["kind"] == "budget"]).to_dict("records"):
        plain = row["exploitability_plain"] / uniform[row["game"]]
        blended = row["exploitability_blended"] / uniform[row["game"]]
        share = row["blending_seconds_blended"] / row["engine_seconds_blended"]
        yield (
            f"| {row['game']} | {row['rule']} | {row['limit']} | {blended:.2e} | {plain:.2e} | {plain / blended:.2f} | "
            f"{share:.0%} |"
        )


def main() -> None:
    """Measure what is not measured yet, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("games", nargs="*", default=list(GAMES))
    given = parser.parse_args()
    print("\n".join(report(measured(given.games))))


if __name__ == "__main__":
    main()
