"""The experiments of Keshavarzi, Navidi and Tefagh: Table 4, Figures 2 to 5, and what the paper says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.judging.reproduction import ITERATIONS, PANELS, draw, final, throughputs
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.experiments.experiment import Case, Experiment, Row
from rlccfr.experiments.pages import table
from rlccfr.games.names import load_game
from rlccfr.solver import Solver

PUBLISHED = {
    "CFR": (161.51, 153.66),
    "DCFR": (110.12, 114.94),
    "LCFR": (118.46, 124.16),
    "ES-MCCFR": (208.34, 212.74),
    "DeepCFR": (90.31, 95.64),
    "ECFR": (127.91, 133.64),
    "RLCCFR": (212.32, 215.54),
}
"""Table 4: iterations per second on Kuhn over 1,000 and 10,000 iterations (Python 3.9, AMD R7, GTX 1060)."""

PRESET = "paper-speed"
"""Name of the reward weights in the caption of Table 4."""

LONGER = 100_000
"""Number of iterations with which 10,000 are compared."""

LITTLE = 2.0
"""A factor on exploitability below which the gain of ten times as many iterations counts as little."""


def picked() -> Cell:
    """Return what the shipped team picks under the weights of Table 4."""
    return shipped.team("kuhn").pick("kuhn", Budget("iterations", ITERATIONS[0]), PRESET)


def speed(name: str, cell: Cell) -> list[Row]:
    """Return the iterations per CPU second of an algorithm, as a row of Table 4."""
    (row,) = throughputs(LiveEvaluator(), {name: cell}).to_dict("records")
    return [{str(column): value for column, value in row.items()}]


def published_ecfr(game: str, iterations: int) -> list[Row]:
    """Return the curve of ECFR in its published form."""
    points = Solver(load_game(game), "ecfr(mode='published')").run(iterations=iterations).points
    return [{"iteration": one.iteration, "exploitability": one.exploitability} for one in points if one.iteration]


def longer(game: str, rule: str, iterations: int) -> list[Row]:
    """Return the exploitability after 10,000 iterations, and after more."""
    solver, found = Solver(load_game(game), rule), []
    for count in (ITERATIONS[-1], iterations - ITERATIONS[-1]):
        result = solver.run(iterations=count, curve=False)
        found.append({"iteration": result.iterations, "exploitability": result.exploitability})
    return found


def cases(quick: bool) -> list[Case]:
    """Return all cases."""
    algorithms = {**fixed_cells(shipped.catalog()), "RLCCFR": picked()}
    games = ("kuhn", "goofspiel") if quick else shipped.GAMES
    found = [
        Case(f"speed/{name}", partial(speed, name, cell))
        for name, cell in algorithms.items()
        if not (quick and name == "DeepCFR")
    ]
    found += [Case(f"ecfr/{game}", partial(published_ecfr, game, 1_000 if quick else ITERATIONS[-1])) for game in games]
    found += [
        Case(f"longer/{game}/{rule}", partial(longer, game, rule, LONGER))
        for game in games
        if game != "royal"
        for rule in ("cfr", "dcfr")
    ]
    return found


class Ends(NamedTuple):
    """What a figure's algorithms have reached at their ends, by name; the team's pick is named RLCCFR."""

    pick: Cell
    exploitability: Mapping[str, float]
    converged: bool


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    rows["part"] = rows["case"].str.split("/").str[0]
    speeds = rows[rows["part"] == "speed"].set_index("algorithm")
    yield from table_4(speeds)
    yield from ("", "## Figures 2 to 5: exploitability against iterations", "")
    yield (
        "The curves are runs of the shipped measurement, one of a judging seed for each algorithm; an algorithm that "
        "draws nothing has one run. The published form of ECFR is drawn beside the catalog's. Captions name the reward "
        "weights, which count speed too, so that a pick need not be the lowest line."
    )
    ends = {}
    for panel in PANELS:
        own = rows[rows["case"] == f"ecfr/{panel.game}"]
        beside = {"ECFR as published": (own["iteration"].tolist(), own["exploitability"].tolist())} if len(own) else {}
        team, measured, name = shipped.team(panel.game), shipped.results(), f"rlccfr-figure-{panel.number}.svg"
        pick = draw(panel, measured, shipped.catalog(), team, folder / name, beside)
        reached = {name: final(measured, panel.game, cell) for name, cell in fixed_cells(shipped.catalog()).items()}
        last, started = final(measured, panel.game, pick), load_game(panel.game)
        uniform = Solver(started).exploitability()
        ends[panel.game] = Ends(pick, {**reached, "RLCCFR": last}, last < uniform / 10)
        yield from (
            "",
            f"### Figure {panel.number}: {panel.game}, weights {panel.preset}",
            "",
            f"![Figure]({name})",
            "",
        )
        yield f"The team's pick is `{pick}`{'' if ends[panel.game].converged else ', which has not converged'}."
    yield from claims(speeds, ends, rows[rows["part"] == "longer"])


def table_4(speeds: pd.DataFrame) -> Iterator[str]:
    """Yield the section on Table 4."""
    yield from (
        "## Table 4: iterations per second on Kuhn poker",
        "",
        "Over 1,000 and 10,000 iterations. Machines differ, so that multiples of CFR are to be compared. RLCCFR is "
        f"what the shipped team picks under the caption's weights: `{picked()}`.",
        "",
    )
    columns = [f"{count:,} iterations" for count in ITERATIONS]
    shown = []
    for name, published in PUBLISHED.items():
        if name not in speeds.index:
            continue
        here, plain = (speeds.loc[one, columns].to_numpy(float) for one in (name, "CFR"))
        times = here / plain
        theirs = [published[k] / PUBLISHED["CFR"][k] for k in range(2)]
        shown.append((
            name, *(f"{one:,.0f}" for one in here), *(f"{one:.3g}" for one in times),
            *(f"{one:.2f}" for one in published), *(f"{one:.3g}" for one in theirs),
        ))  # fmt: skip
    counts = [f"{count:,}" for count in ITERATIONS]
    groups = ("here", "times CFR, here", "published", "times CFR, published")
    yield from table(("", *(f"{group}, {count}" for group in groups for count in counts)), shown)


def claims(speeds: pd.DataFrame, ends: Mapping[str, Ends], later: pd.DataFrame) -> Iterator[str]:
    """Yield the section that judges what the paper says."""
    yield from ("", "## What the paper says, and what is found here", "")
    rows = []
    for game, name, said in (
        ("kuhn", "RLCCFR", "On Kuhn, RLCCFR is best"),
        ("leduc", "DCFR", "On Leduc, DCFR is best"),
        ("goofspiel", "ECFR", "On Goofspiel, ECFR is best"),
    ):
        reached = ends[game].exploitability
        best = min(reached, key=reached.__getitem__)
        found = f"{best} has {reached[best]:.2g}" + ("" if best == name else f", {name} {reached[name]:.2g}")
        rows.append((said, "holds" if best == name else "does not hold", found))
    column = f"{ITERATIONS[-1]:,} iterations"
    fastest = speeds[column].astype(float).idxmax()
    rows.append(("RLCCFR is fastest", "holds" if fastest == "RLCCFR" else "does not hold", f"{fastest} is fastest"))
    gains = later.groupby("case", sort=False)["exploitability"].apply(lambda of: of.iloc[0] / of.iloc[1])
    told = ", ".join(f"{' '.join(str(case).split('/')[1:])} {gain:.3g}" for case, gain in gains.items())
    rows.append((
        "After 10,000 iterations, little is gained", "holds" if gains.max() < LITTLE else "does not hold",
        f"times lower after {LONGER:,} iterations: {told}",
    ))  # fmt: skip
    rows.append(("On Royal, a smaller exploitability is better", "not a claim about algorithms", ""))
    yield from table(("said", "here", "figures at the ends of the runs"), rows)
    yield ""
    yield 'The paper speaks of "eight" methods and lists seven, and of "three" games and lists four.'


EXPERIMENT = Experiment("rlccfr", "RLCCFR: the paper's table and figures", cases, page)
