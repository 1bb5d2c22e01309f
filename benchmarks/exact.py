"""Exact solutions compared with iterations: CPU seconds to an exploitability, as games grow.

Writes benchmarks/results/exact.csv and docs/exact.svg. ``python -m benchmarks.exact --fit`` prints the law that
:func:`rlccfr.engine.linear_program.predicted_time` uses, fitted to the times of the linear programs in the file.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

import rlccfr
from rlccfr.agents.control.games import control_games
from rlccfr.catalog.families import TRAIN, VALIDATION
from rlccfr.engine.linear_program import predicted_time, program_size

GAMES = (
    "kuhn",
    "goofspiel",
    "liars_dice(numdice=1,dice_sides=3)",
    "leduc",
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=2 2,"
    "numSuits=2,numRanks=4,numHoleCards=1,numBoardCards=0 1)",
    "liars_dice(numdice=1,dice_sides=4)",
    "leduc(ranks=13,suits=2,raises=1)",
    "liars_dice(numdice=1,dice_sides=5)",
    "royal",
    "liars_dice(numdice=1,dice_sides=6)",
)
MORE = (
    "leduc(ranks=5,suits=2,raises=2)",
    "leduc(ranks=8,suits=2,raises=2)",
    "leduc(ranks=12,suits=2,raises=2)",
    "leduc(ranks=4,suits=2,raises=4)",
    "leduc(ranks=6,suits=1,raises=4)",
    "leduc(ranks=10,suits=2,raises=1)",
    "goofspiel(imp_info=True,num_cards=5,points_order=descending)",
    "liars_dice(numdice=2,dice_sides=3)",
    "random_poker(seed=31001,hands=20,boards=3,raises=2)",
    "random_poker(seed=31002,hands=33,boards=2,raises=1)",
    "random_poker(seed=31003,hands=12,boards=4,raises=3)",
    "random_poker(seed=31004,hands=60,boards=1,raises=3)",
    "random_moves(seed=31012,types=8,moves=6,actions=3)",
    "random_moves(seed=31013,types=16,moves=8,actions=2)",
    "random_moves(seed=31014,types=6,moves=7,actions=3)",
    "random_moves(seed=31015,types=10,moves=5,actions=4)",
)
"""Further games, larger than most of the families', to fit the law to."""

RULES = ("cfr_plus", "dcfr", "pcfr_plus", "pdcfr_plus")
SIZES = ("payoffs", "sequences", "chance nodes")
"""Columns of the sizes that :func:`rlccfr.engine.linear_program.program_size` returns."""

TARGETS = (1e-3, 1e-6, 1e-9)
CAP = 10.0
"""Most CPU seconds of a run."""

FILE = Path(__file__).parent / "results" / "exact.csv"
PICTURE = Path(__file__).parent.parent / "docs" / "exact.svg"


def measure(name: str, race: bool) -> dict[str, object]:
    """Solve a game by a linear program and, if ``race``, by iterations."""
    game = rlccfr.load_game(name)
    first = rlccfr.solve_exactly(game)
    times = [first.cpu_seconds]
    while len(times) < 5 and sum(times) < 1:
        times.append(rlccfr.solve_exactly(game).cpu_seconds)
    row: dict[str, object] = {
        "game": name, "histories": game.num_histories, **dict(zip(SIZES, program_size(game), strict=True)),
        "program": min(times), "exploitability": first.exploitability,
    }  # fmt: skip
    if race:
        runs = {rule: rlccfr.Solver(game, rule).run(until=TARGETS[-1], seconds=CAP) for rule in RULES}
        for target in TARGETS:
            seconds = {rule: _seconds_to(result, target) for rule, result in runs.items()}
            best = min(seconds, key=seconds.__getitem__)
            row |= {
                f"to {target:g}": seconds[best],
                f"rule to {target:g}": best if math.isfinite(seconds[best]) else "",
            }
    return row


def _seconds_to(result: rlccfr.RunResult, target: float) -> float:
    return next((point.cpu_seconds for point in result.points if point.exploitability <= target), math.inf)


def measured() -> pd.DataFrame:
    """Measure all games, and save the table."""
    rlccfr.solve_exactly(rlccfr.load_game("kuhn"))  # so that imports do not count
    rows = []
    for name in dict.fromkeys((*GAMES, *MORE, *TRAIN, *VALIDATION, *control_games("validation"))):
        rows.append(measure(name, name in GAMES))
        print(rows[-1], file=sys.stderr, flush=True)
    table = pd.DataFrame(rows)
    table.to_csv(FILE, index=False, float_format="%.4g")
    return table


def fit(table: pd.DataFrame) -> tuple[np.ndarray, float]:
    """Return the logarithm of the overhead and the law's constants, and the spread of its residuals as a factor.

    A few games take ten times as long as others of their size, so large residuals count less. The spread is the
    standard deviation for programs of at least 10 ms.
    """
    sizes = np.log(table[list(SIZES)].to_numpy(float))
    logs = np.log(table["program"].to_numpy())

    def residuals(law: np.ndarray) -> np.ndarray:
        return np.logaddexp(law[0], law[1] + sizes @ law[2:]) - logs

    found = least_squares(residuals, [-6.5, -15.0, 0.5, 0.5, 0.3], loss="soft_l1").x
    return found, float(np.exp(np.std(residuals(found)[logs > math.log(0.01)])))


def report() -> list[str]:
    """Measure; return the table as Markdown, and draw the picture."""
    table = measured()
    raced = table[table["game"].isin(GAMES)].sort_values("payoffs")
    draw(raced)
    heads = ["game", "payoffs", "linear program, CPU s", "its exploitability", "predicted, CPU s"]
    heads += [f"best CFR to {target:g}, CPU s" for target in TARGETS]
    lines = ["![CPU seconds by size](exact.svg)", "", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row in raced.to_dict("records"):
        predicted = predicted_time(rlccfr.load_game(row["game"])).seconds
        found = [_cell(row[f"to {target:g}"], row[f"rule to {target:g}"]) for target in TARGETS]
        figures = [f"{row['payoffs']:,}", f"{row['program']:.2g}", f"{max(row['exploitability'], 0):.0e}"]
        short = row["game"].partition("(betting")[0]
        lines.append(f"| {' | '.join([short, *figures, f'{predicted:.2g}', *found])} |")
    sooner = {target: raced["program"] < raced[f"to {target:g}"] for target in TARGETS}
    won = ", ".join(f"on {found.sum()} of {len(raced)} games to {target:g}" for target, found in sooner.items())
    factor = fit(table)[1]
    return [
        *lines,
        "",
        f"Payoffs are those of the game's quotient. The best of {', '.join(RULES)} is shown; a dash means more than "
        f"{CAP:g} CPU seconds. Each rule runs once and is read at ten points per decade of its iterations; the "
        f"program is the fastest of up to five. The program is sooner than the best rule {won}. Its time is predicted "
        f"from its size, fitted to {len(table)} games: those of 10 ms and more have residuals with a "
        f"standard deviation of a factor {factor:.2g}.",
    ]


def _cell(seconds: float, rule: str) -> str:
    return f"{seconds:.2g} ({rule})" if math.isfinite(seconds) else "-"


def _size_of(game: str) -> str:
    """Return what distinguishes a game from others of its family in the picture: its faces or its ranks."""
    found = re.search(r"(?:dice_sides|ranks)=(\d+)", game)
    return f" {found[1]}" if found else ""


def draw(table: pd.DataFrame) -> None:
    """Draw CPU seconds over the number of payoffs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    axes.loglog(table["payoffs"], table["program"], "ks-", label="linear program")
    for k, target in enumerate(TARGETS):
        found = table[np.isfinite(table[f"to {target:g}"])]
        axes.loglog(found["payoffs"], found[f"to {target:g}"], "o--", color=f"C{k}", label=f"best CFR to {target:g}")
    axes.set_ylim(bottom=axes.get_ylim()[0] / 10)  # room for the names
    for row in table.to_dict("records"):
        name = row["game"].partition("(")[0] + _size_of(row["game"])
        at = (row["payoffs"], axes.get_ylim()[0])
        axes.annotate(name, at, (0, 4), textcoords="offset points", rotation=90, fontsize=7, ha="center", color="0.4")
    axes.set_xlabel("payoffs of the quotient")
    axes.set_ylabel("CPU seconds")
    axes.legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__)
    parser.add_argument("--fit", action="store_true", help="only fit the law to the times in the file, and draw them")
    if parser.parse_args().fit:
        kept = pd.read_csv(FILE)
        draw(kept[kept["game"].isin(GAMES)].sort_values("payoffs"))
        constants, factor = fit(kept)
        law = ", ".join(f"{constant:.4g}" for constant in constants[1:])
        print(f"TIME_OVERHEAD, TIME_LAW = {math.exp(constants[0]):.2g}, ({law}); TIME_FACTOR = {factor:.2g}")
    else:
        print("\n".join(report()))
