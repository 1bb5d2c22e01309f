"""Runs over public trees by the package's schedule, beside fixed rules: ``python -m benchmarks.public_steering``.

The schedule was found on compiled games (:mod:`benchmarks.steering`); nothing in it was fitted to public trees. On each
game, its run sets the CPU seconds at each of :data:`HORIZONS`, including those of blending. In the same time, every
fixed rule runs without blends, and some with them, as in :mod:`benchmarks.control`, which says how a run is judged.
Horizons at which the run is predicted to take more than :data:`MOST_SECONDS` are left out.

``python -m benchmarks.public_steering SPLIT`` measures the games of a split that are not in
benchmarks/results/public-steering.csv yet: ``validation``, on which the schedule was first tried, or ``test``. Without
a split, it prints docs/public-steering.md. The lists, and :data:`GATES`, were committed before any run on a test game.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import rlccfr
from benchmarks import control, spots
from benchmarks.control import (
    BLENDED_HINDSIGHT,
    FEW,
    HINDSIGHT,
    OURS,
    TIE,
    Comparison,
    gain_table,
    interval,
)
from benchmarks.every_rule import seconds_per_iteration
from benchmarks.markdown import table
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.files import write_atomically

FILE = Path(__file__).parent / "results" / "public-steering.csv"
HORIZONS = (100, 300, 1000, 3000)
MOST_SECONDS = 3.0
"""Largest predicted number of CPU seconds of a run at a horizon."""

TREES = {
    "validation": (
        "holdem(ranks=4,suits=2,private=1,flop=1)",
        "holdem(ranks=6,suits=2)",
        "bluff",
    ),
    "test": (
        "holdem(ranks=3,suits=2,private=1,flop=1,rounds=3)",
        "holdem(ranks=4,suits=4)",
        "holdem(ranks=5,suits=2)",
        "holdem(ranks=5,suits=2,private=2,flop=2)",
        "holdem(ranks=5,suits=3)",
        "holdem(ranks=6,suits=3,private=1,flop=2)",
        "holdem(ranks=8,suits=2,private=1,flop=1)",
        "holdem(ranks=12,suits=2,private=1,flop=1)",
    ),
}
"""Games other than spots."""

LARGER_TREES = ("holdem(ranks=9,suits=2)", "holdem(ranks=5,suits=4,raises=2)", "holdem(ranks=7,suits=3)")
"""Larger validation games, for :mod:`benchmarks.soonest_rules` and :mod:`benchmarks.default_laws`."""

LARGEST_TREES = (
    "holdem(ranks=8,suits=4,raises=2)",
    "holdem(ranks=10,suits=4)",
    "holdem(ranks=10,suits=3,raises=2)",
)
"""Validation games of 4 to 10 million sequences, for :mod:`benchmarks.soonest_rules`."""

SPOTS, OTHERS = "spots", "limit hold'em and Bluff"
"""The two kinds of games."""

BEFORE = "the default before"
"""Rival: DCFR+ on spots and DCFR elsewhere, with blends from 500 iterations on."""

BLENDED_FROM = 500

GATES = (
    (BEFORE, 100, 0.9),
    (BEFORE, 300, 1.0),
    (BEFORE, 1000, 2.0),
    (BEFORE, 3000, 4.0),
    (HINDSIGHT, 1000, 1.5),
    (BLENDED_HINDSIGHT, 1000, 1.0),
    (BLENDED_HINDSIGHT, 3000, 1.5),
)
"""Rival, iterations, and the least geometric mean of the rival's exploitability over that of the steered run.

Each gate holds for each kind of test games. Where it is above 1, so must be the lower end of the interval.
"""


def games_of(split: str) -> list[tuple[str, str]]:
    """Return the kind and the name of each game of a split."""
    listed = pd.read_csv(spots.FILE).query("split == @split").sort_values("entries")["game"]
    return [*((OTHERS, name) for name in TREES[split]), *((SPOTS, name) for name in listed)]


def recorded() -> pd.DataFrame:
    """Return the file's rows."""
    return pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=["split", "game"])


def measure(split: str) -> None:
    """Measure the games of a split that are not in the file yet."""
    for kind, name in games_of(split):
        before = recorded()
        if name in set(before["game"]):
            continue
        game = rlccfr.load_game(name)
        seconds = seconds_per_iteration(game, "controlled(controller='schedule')")
        horizons = [horizon for horizon in HORIZONS if horizon * seconds <= MOST_SECONDS]
        rows = pd.DataFrame(Comparison(game, horizons).rows()) if horizons else pd.DataFrame()
        if rows.empty:
            continue
        rows = rows.assign(split=split, kind=kind, game=name, processor=processor_model())
        rows = pd.concat([before, rows], ignore_index=True) if len(before) else rows
        write_atomically(FILE, rows.to_csv(index=False, float_format="%.5g").encode())
        print(f"{name[:60]}: {horizons}", file=sys.stderr, flush=True)


def gains_at(rows: pd.DataFrame, horizon: int) -> dict[str, pd.Series]:
    """Return, by rival, how many decades its error is above that of steered runs, for each game of one kind."""
    gains = control.gains_at(rows, horizon)
    errors = rows[rows["horizon"] == horizon].pivot_table(index="game", columns="contender", values="error")
    rule = "dcfr_plus" if rows["kind"].iloc[0] == SPOTS else "dcfr"
    default_before = errors[f"{rule}, blended" if horizon >= BLENDED_FROM else rule]
    return {
        BEFORE: (default_before - errors[OURS]).dropna(),
        HINDSIGHT: gains[HINDSIGHT],
        BLENDED_HINDSIGHT: gains[BLENDED_HINDSIGHT],
    }


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each gate and kind of test games."""
    lines = []
    for kind, of_kind in rows[rows["split"] == "test"].groupby("kind", sort=False):
        for rival, horizon, least in GATES:
            gain = gains_at(of_kind, horizon)[rival]
            found = 10 ** gain.mean()
            low = 10 ** interval(gain.to_numpy())[0]
            is_met = found >= least and (least <= 1.0 or low > 1.0)
            lines.append(
                {
                    "games": f"{kind}, {len(gain)}",
                    "iterations": f"{horizon:,}",
                    "rival": rival,
                    "gate": least,
                    "found": f"{found:.3g}",
                    "95 % from": f"{low:.3g}" if len(gain) >= FEW else "-",
                    "met": "yes" if is_met else "**no**",
                }
            )
    return pd.DataFrame(lines)


def page(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of docs/public-steering.md."""
    processors = ", ".join(rows["processor"].unique())
    yield from (
        "# Schedules on public trees",
        "",
        f"Written by `python -m benchmarks.public_steering`; not edited by hand. Measured on {processors}, one thread.",
        "",
        "On a public tree, `rlccfr.solve(game, seconds=...)` follows the package's schedule, which was found on "
        "compiled games. Here, its runs stand beside fixed rules at equal CPU seconds, including those of blends. A "
        "figure is a rival's exploitability divided by that of the steered run: the geometric mean over games and over "
        "three numbers of iterations near the one that is given.",
        "",
        "The best rule is chosen for each game after all rules have run, which no program could do. The default before "
        f"was DCFR+ on spots and DCFR elsewhere, with blends from {BLENDED_FROM} iterations on. Runs that take more "
        f"than {MOST_SECONDS:g} s are left out. A ratio within {10**TIE - 1:.0%} of 1 counts as a tie.",
        "",
        "## Gates on test games",
        "",
        *table(judged(rows)),
        "",
    )
    for split, of_split in rows.groupby("split", sort=False):
        for kind, of_kind in of_split.groupby("kind", sort=False):
            measured = of_kind["game"].nunique()
            listed = sum(one == kind for one, _ in games_of(str(split)))
            yield from (
                f"## {str(split).capitalize()}: {kind}",
                "",
                f"Measured so far: {measured} of {listed} games.",
                "",
            )
            for horizon in HORIZONS:
                if not (of_kind["horizon"] == horizon).any():
                    continue
                yield from (
                    f"{horizon:,} iterations:",
                    "",
                    *table(gain_table("against", gains_at(of_kind, horizon))),
                    "",
                )


def main() -> None:
    """Measure a split, or print the page."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        print("\n".join(page(recorded())))


if __name__ == "__main__":
    main()
