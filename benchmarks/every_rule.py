"""Every update rule on every benchmark game: ``python -m benchmarks.every_rule`` writes docs/every-rule.md.

All tabular update rules of the catalog run on the games of :data:`GAMES` by exact passes, once for each budget of
:data:`BUDGETS`, without blends and with them. Runs that benchmarks/results/every-rule.parquet has are not made again. A
rule with a horizon is given the number of iterations of its run. A run is left out if it would take longer than
:data:`LONGEST`.

``python -m benchmarks.every_rule --rule "my_rule(alpha=2)" --load my_rule.py`` also runs a rule of your own, and
prints its tables instead. ``--game`` chooses games, by any part of their titles.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import rlccfr
from benchmarks.markdown import table
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.experiments.curves import with_horizon
from rlccfr.files import write_atomically
from rlccfr.game import policy_class
from rlccfr.kernels.layout import LEAST_ERROR
from rlccfr.pictures import save
from rlccfr.plugins import load_file
from rlccfr.registry import update_rules

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "every-rule.parquet"
CURVES = RESULTS / "every-rule-curves.parquet"
PAGE = Path(__file__).parents[1] / "docs" / "every-rule.md"
PICTURE = PAGE.with_suffix(".svg")

GAMES = {
    "Kuhn": "kuhn",
    "Leduc": "leduc",
    "Leduc, 5 ranks": "leduc(ranks=5,suits=2,raises=2)",
    "Leduc, 9 ranks": "leduc(ranks=9,suits=2,raises=2)",
    "Leduc, 13 ranks": "leduc(ranks=13,suits=2,raises=2)",
    "Royal": "royal",
    "Flop hold'em, 12 cards": "holdem(ranks=6,suits=2)",
    "Liar's dice, 4 faces": "liars_dice(numdice=1,dice_sides=4)",
    "Liar's dice, 5 faces": "liars_dice(numdice=1,dice_sides=5)",
    "Liar's dice, 6 faces": "liars_dice(numdice=1,dice_sides=6)",
    "Liar's dice, 2 x 3 faces": "liars_dice(numdice=2,dice_sides=3)",
    "Goofspiel, 4 cards": "goofspiel",
    "Goofspiel, 4 cards, random": "goofspiel(num_cards=4,imp_info=True,points_order=random,returns_type=win_loss)",
    "Goofspiel, 5 cards, who wins": (
        "goofspiel(num_cards=5,imp_info=True,points_order=descending,returns_type=win_loss)"
    ),
    "Goofspiel, 5 cards, by points": (
        "goofspiel(num_cards=5,imp_info=True,points_order=ascending,returns_type=point_difference)"
    ),
    "Battleship": "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2],num_shots=3)",
    "Oshi-Zumo": "oshi_zumo(coins=5,size=1,horizon=5)",
    "Blotto": "blotto(coins=8,fields=3)",
    "Random poker": "random_poker(seed=60001,hands=24,boards=4,raises=2)",
    "Random moves": "random_moves(seed=60002,types=8,moves=6,actions=3)",
}  # fmt: skip


class Budget(NamedTuple):
    """A budget in iterations or in CPU seconds of the engine."""

    unit: str
    amount: float

    def __str__(self) -> str:
        return f"{self.amount:,g} {'its.' if self.unit == 'iterations' else 's'}"


ITERATIONS = tuple(Budget("iterations", amount) for amount in (100, 1000, 10_000))
BUDGETS = (*ITERATIONS, Budget("seconds", 0.1), Budget("seconds", 1.0))

TRIAL = 0.05
"""CPU seconds of the run that measures how long an iteration takes."""

LONGEST = 5.0
"""Largest expected number of CPU seconds of a run."""

ROUNDING = 1e-13
"""Exploitability below which numbers are not distinguished, since rounding dominates there."""

LEAST_SHARE = 1e-9
"""Least exploitability that counts in means, as a share of the uniform policy's; below it, rounding dominates."""

STEERED = "controlled(controller='schedule')"
"""The rule under the package's schedule, as :func:`rlccfr.solve` uses it; ``controlled`` alone has the networks."""

SHOWN = ("cfr", "cfr_plus", "dcfr", "pcfr_plus", "pdcfr_plus", "momentum_dcfr", STEERED)
"""Rules that have their own colours in the picture."""

KEYS = ["game", "rule"]


def rules() -> list[str]:
    """Return all tabular update rules except ``scheduled``, which has most of them as points; and the schedule."""
    ids = [entry.id for entry in update_rules if entry.id != "scheduled" and not entry.make().learns]
    return [*ids, STEERED]


def runs(title: str, rule: str) -> Iterator[tuple[dict[str, Any], rlccfr.RunResult]]:
    """Yield a row and a result for each budget, without blends and with them; nothing where the rule does not run.

    Args:
        title: key of :data:`GAMES`.
        rule: a rule's id, perhaps with hyperparameters.
    """
    game = rlccfr.load_game(GAMES[title])
    uniform = policy_class(game).uniform(game).exploitability()
    try:
        per_iteration = seconds_per_iteration(game, rule)
    except rlccfr.ComponentError as error:
        print(f"{title}: {error}", file=sys.stderr)
        return
    about = {"game": title, "rule": rule, "uniform": uniform, "processor": processor_model()}
    has_blends = game.form.has_histories and update_rules.resolve(rule).output == "average"
    for budget in BUDGETS:
        iterations = int(budget.amount)
        if budget.unit == "seconds":
            iterations = max(round(budget.amount / per_iteration), 1)
        if iterations * per_iteration > LONGEST:
            continue
        for blend in (False, True) if has_blends else (False,):
            solver = rlccfr.Solver(game, with_horizon(rule, iterations), blend=blend)
            result = solver.run(**{budget.unit: budget.amount}, curve=False)
            row = {"unit": budget.unit, "amount": budget.amount, "blend": blend, "iterations": result.iterations}
            measures = {
                "seconds": result.cpu_seconds,
                "exploitability": result.exploitability,
                "current": result.points[-1].exploitability_current,
            }
            yield about | row | measures, result


def seconds_per_iteration(game: Any, rule: str) -> float:
    """Return the CPU seconds of an iteration, from a run that is long compared with the start of a call."""
    rlccfr.Solver(game, rule).run(iterations=2, curve=False)  # so that nothing is done for the first time
    result = rlccfr.Solver(game, rule).run(seconds=TRIAL, curve=False)
    return result.cpu_seconds / result.iterations


def curve(title: str, rule: str) -> pd.DataFrame:
    """Return the exploitability of the average policy by iterations, for the picture."""
    game = rlccfr.load_game(GAMES[title])
    solver = rlccfr.Solver(game, with_horizon(rule, 1000))
    points = solver.run(iterations=1000).points
    rows = [(title, rule, point.iteration, point.exploitability) for point in points if point.iteration]
    return pd.DataFrame(rows, columns=[*KEYS, "iteration", "exploitability"])


def measure() -> pd.DataFrame:
    """Make the runs that the file does not have yet; return all rows."""
    for title in GAMES:
        for rule in rules():
            if FILE.exists() and ((recorded()[KEYS] == [title, rule]).all(axis=1)).any():
                continue
            rows = [row for row, _ in runs(title, rule)]
            if rows:
                _append(CURVES, curve(title, rule))
                _append(FILE, pd.DataFrame(rows))
        print(title, file=sys.stderr, flush=True)
    return recorded()


def recorded() -> pd.DataFrame:
    """Return the file's rows."""
    return pd.read_parquet(FILE)


def _append(path: Path, rows: pd.DataFrame) -> None:
    """Add rows to a file, with numbers in single precision."""
    if path.exists():
        before = pd.read_parquet(path)
        # An interruption may have left the pair's curve without its runs.
        before = before[(before[KEYS] != rows[KEYS].iloc[0]).any(axis=1)]
        rows = pd.concat([before, rows], ignore_index=True)
    small = dict.fromkeys(rows.select_dtypes(np.float64), np.float32)
    write_atomically(path, rows.astype(small).to_parquet(index=False))


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a column ``budget``, in words."""
    words = [str(Budget(unit, amount)) for unit, amount in zip(rows["unit"], rows["amount"], strict=True)]
    return rows.assign(budget=words)


def of_game(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a game's table: a row for each rule, with its exploitability under each budget, the best first.

    Args:
        rows: rows of one game.
    """
    columns = {}
    plain = rows[~rows["blend"]].set_index(["rule", "budget"])
    blended = rows[rows["blend"]].set_index(["rule", "budget"])
    names = list(dict.fromkeys(rows["rule"]))
    for budget in map(str, BUDGETS):
        columns[budget] = _column(plain, budget, "exploitability", names)
        if len(blended):
            columns[f"{budget} blended"] = _column(blended, budget, "exploitability", names)
    columns["last, 1,000 its."] = _column(plain, str(ITERATIONS[1]), "current", names)
    frame = pd.DataFrame(columns, index=pd.Index(names, name="rule"))
    return frame.loc[frame[str(ITERATIONS[1])].sort_values(kind="stable").index].dropna(axis=1, how="all")


def _column(rows: pd.DataFrame, budget: str, value: str, names: Sequence[str]) -> pd.Series:
    """Return each rule's value in a column under a budget; NaN where there is no run."""
    under = rows[rows.index.get_level_values("budget") == budget].droplevel("budget")[value]
    return under[~under.index.duplicated(keep="last")].reindex(names)


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of exploitabilities as strings: with two digits, and the best of each column in bold."""
    texts = {}
    for name, column in frame.items():
        best = max(column.min(), ROUNDING)
        found = ["" if math.isnan(value) else _in_words(value) for value in column]
        texts[name] = [f"**{text}**" if value <= best else text for text, value in zip(found, column, strict=True)]
    return pd.DataFrame(texts, index=frame.index).reset_index()


def _in_words(exploitability: float) -> str:
    """Return an exploitability with two digits."""
    return f"{exploitability:.1e}" if exploitability > ROUNDING else f"< {ROUNDING:.0e}"


def summary(rows: pd.DataFrame, blend: bool) -> pd.DataFrame:
    """Return, for each rule and budget, the geometric mean over games of its exploitability over the best rule's.

    An exploitability counts as at least :data:`LEAST_SHARE` of the uniform policy's. Means are over the games on which
    all rules have a run.

    Args:
        blend: whether to compare runs with blends.
    """
    compared = rows[rows["blend"] == blend]
    floored = np.maximum(compared["exploitability"], LEAST_SHARE * compared["uniform"])
    logs = compared.assign(log=np.log(floored)).pivot_table(index=["budget", "game"], columns="rule", values="log")
    logs = logs.dropna()
    ratios = logs.sub(logs.min(axis=1), axis=0)
    means = np.exp(ratios.groupby("budget").mean()).T
    means = means[[str(budget) for budget in BUDGETS if str(budget) in means]]
    means.columns = [f"{name} ({len(ratios.loc[name])} games)" for name in means]
    return means.loc[means.prod(axis=1).sort_values().index].map(_ratio_in_words).reset_index()


def _ratio_in_words(ratio: float) -> str:
    """Return a ratio with two or three digits."""
    if ratio < 10:
        return f"{ratio:.1f}"
    return f"{ratio:.0f}" if ratio < 1000 else f"{ratio:.1e}"


def draw(curves: pd.DataFrame) -> None:
    """Draw the exploitability by iterations: a panel for each game, with the range of all rules and those of SHOWN."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(5, 4, figsize=(12, 14), layout="constrained")
    for axis, title in zip(axes.flat, GAMES, strict=True):
        points_of_all = curves[curves["game"] == title]
        floored = points_of_all.assign(exploitability=np.maximum(points_of_all["exploitability"], LEAST_ERROR))
        extremes = floored.groupby("iteration")["exploitability"].agg(["min", "max"])
        axis.fill_between(extremes.index, extremes["min"], extremes["max"], color="0.92", label="all rules")
        for number, rule in enumerate(SHOWN):
            points = floored[floored["rule"] == rule]
            axis.loglog(points["iteration"], points["exploitability"], color=f"C{number}", label=rule)
        axis.set_title(title, fontsize=10)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(SHOWN) + 1, frameon=False
    )
    figure.supxlabel("iterations")
    figure.supylabel("exploitability")
    save(figure.axes[0], PICTURE)


def page(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's lines."""
    names = list(dict.fromkeys(rows["rule"]))
    hours = rows["seconds"].sum() / 3600
    yield "# Every rule on every benchmark game"
    yield ""
    yield "Written by `python -m benchmarks.every_rule`; not edited by hand."
    yield ""
    yield (
        f"All {len(names)} tabular update rules ran on {rows['game'].nunique()} games by exact passes, which draw "
        f"nothing, so there are no seeds: {len(rows):,} runs, {hours:.1f} CPU hours, on "
        f"{' and '.join(sorted(set(rows['processor'])))}. Each number is the exploitability, NashConv / 2, in the "
        "game's units, at the end of a run with that budget. For example, a cell of Leduc is what this prints:"
    )
    yield ""
    yield from ("```text", "rlccfr solve leduc --update-rule dcfr_plus --iterations 1000", "```", "")
    yield (
        "*Blended* runs end with each player's least exploitable mixture of its average policies (`--option "
        "blend=yes`), whose time, at most a fifth, comes on top of a budget in seconds. *Last* is the last policy "
        "instead of the average. A "
        f"run that would have taken more than {LONGEST:g} seconds was left out. Rules that know their horizon were "
        'told about the number of iterations that they would get (`--update-rule "hs_dcfr(horizon=1000)"`). The '
        "numbers at "
        "1 and 0.1 seconds depend on the machine; all others do not."
    )
    yield ""
    yield (
        "To see a rule of your own ([how to write one](../notebooks/04_add_your_own_variant.ipynb)) beside these, run "
        '`python -m benchmarks.every_rule --rule "my_rule(alpha=2)" --load my_rule.py`.'
    )
    yield ""
    yield f"![Exploitability by iterations]({PICTURE.name})"
    for blend, title in ((False, "All games in one table"), (True, "The same with blends")):
        yield from ("", f"## {title}", "")
        yield (
            "How many times as large as the best rule's the exploitability is: geometric means over the games where "
            f"all rules ran. An exploitability counts as at least {LEAST_SHARE:g} of the uniform policy's."
        )
        yield from ("", *table(summary(rows, blend)))
    for name in GAMES:
        of_this = rows[rows["game"] == name]
        if len(of_this):
            yield from (
                "",
                f"## {name}",
                "",
                f"`{GAMES[name]}`; the uniform policy has {of_this['uniform'].iloc[0]:.4g}.",
            )
            yield from ("", *table(in_words(of_game(of_this))))


def own_rule(rule: str, titles: Sequence[str]) -> Iterator[str]:
    """Yield a table for each game: a rule beside the recorded ones."""
    for title in titles:
        rows = labelled(pd.DataFrame([row for row, _ in runs(title, rule)], columns=recorded().columns))
        if rows.empty:  # the rule does not run there; the reason has been printed
            continue
        known = labelled(recorded())
        both = pd.concat([known[known["game"] == title], rows], ignore_index=True)
        yield from ("", f"## {title}", "", *table(in_words(of_game(both))))


def main() -> None:
    """Make the runs and write the page, or print the tables of one rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", help="a rule of your own, to print beside the others")
    parser.add_argument("--load", action="append", default=[], help="a Python file that registers it")
    parser.add_argument("--game", default="", help="with --rule: only games whose titles contain this")
    given = parser.parse_args()
    for path in given.load:
        load_file(path)
    if given.rule:
        print("\n".join(own_rule(given.rule, [title for title in GAMES if given.game.lower() in title.lower()])))
        return
    rows = labelled(measure())
    draw(pd.read_parquet(CURVES))
    write_atomically(PAGE, ("\n".join(page(rows)) + "\n").encode())


if __name__ == "__main__":
    main()
