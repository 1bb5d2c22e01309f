"""The experiments of Keshavarzi, Navidi and Tefagh: Table 4, Figures 2 to 5, and what the paper says of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.judging.reproduction import ITERATIONS, PANELS, draw, final, throughputs
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.experiments.experiment import NO_STAND_IN, OPEN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import table, told
from rlccfr.games.names import load_game
from rlccfr.policy import Policy
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

ECFR_MODES = {"rlccfr": "ECFR as in the paper", "published": "ECFR as in Li et al."}
"""Modes of ECFR that are drawn beside the catalog's, by the names of their lines; the first is the paper's formula."""

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


def ecfr(game: str, mode: str, iterations: int) -> list[Row]:
    """Return the curve of ECFR in one of its modes."""
    points = Solver(load_game(game), {"id": "ecfr", "mode": mode}).run(iterations=iterations).points
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
    found += [
        Case(f"ecfr/{game}/{mode}", partial(ecfr, game, mode, 1_000 if quick else ITERATIONS[-1]))
        for game in games
        for mode in ECFR_MODES
    ]
    found += [
        Case(f"longer/{game}/{rule}", partial(longer, game, rule, LONGER))
        for game in games
        if game != "royal"
        for rule in ("cfr", "dcfr")
    ]
    return found


def parsed(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the rows on speeds, by algorithm; on ECFR's modes; and on longer runs."""
    parts = rows["case"].str.split("/").str[0]
    speeds, published, later = (rows[parts == part] for part in ("speed", "ecfr", "longer"))
    return speeds.set_index("algorithm"), published, later


def ends(game: str, preset: str) -> tuple[Cell, dict[str, float]]:
    """Return the team's pick for a figure, and what the figure's algorithms reach; the pick is named RLCCFR."""
    measured, pick = shipped.results(), shipped.team(game).pick(game, Budget("iterations", ITERATIONS[0]), preset)
    algorithms = {**fixed_cells(shipped.catalog()), "RLCCFR": pick}
    return pick, {name: final(measured, game, cell) for name, cell in algorithms.items()}


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    speeds, published, _ = parsed(rows)
    yield from table_4(speeds)
    yield from ("", "## Figures 2 to 5: exploitability against iterations", "")
    yield (
        "The curves are runs of the shipped measurement, one of a judging seed for each algorithm; an algorithm that "
        "draws nothing has one run. ECFR by the paper's formula (theorem 3), and by that of Li et al., which sets "
        "negative regrets to W beta, are drawn beside the catalog's. Captions name the reward weights, which count "
        "speed too, so that a pick need not be the lowest line."
    )
    for panel in PANELS:
        beside = {}
        for mode, title in ECFR_MODES.items():
            own = published[published["case"] == f"ecfr/{panel.game}/{mode}"]
            beside |= {title: (own["iteration"].tolist(), own["exploitability"].tolist())} if len(own) else {}
        name = f"rlccfr-figure-{panel.number}.svg"
        draw(panel, shipped.results(), shipped.catalog(), shipped.team(panel.game), folder / name, beside)
        pick, reached = ends(panel.game, panel.preset)
        uniform = Policy.uniform(load_game(panel.game)).exploitability()
        note = "" if reached["RLCCFR"] < uniform / 10 else ", which has not converged"
        yield from (
            "",
            f"### Figure {panel.number}: {panel.game}, weights {panel.preset}",
            "",
            f"![Figure]({name})",
            "",
        )
        yield f"The team's pick is `{pick}`{note}."
    yield from ("", 'The paper speaks of "eight" methods and lists seven, and of "three" games and lists four.')


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


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge what the paper says."""
    speeds, published, later = parsed(rows)
    presets = {panel.game: panel.preset for panel in PANELS}
    found = []
    for game, name in (("kuhn", "RLCCFR"), ("leduc", "DCFR"), ("goofspiel", "ECFR")):
        _, reached = ends(game, presets[game])
        own = published.loc[published["case"] == f"ecfr/{game}/rlccfr", "exploitability"]
        reached |= {"ECFR": own.iloc[-1]} if len(own) else {}
        best = min(reached, key=reached.__getitem__)
        figures = f"{best} ends at {reached[best]:.2g}" + ("" if best == name else f", {name} at {reached[name]:.2g}")
        finding = Finding(told(reached[name] <= reached[best]), 1)
        found.append(Claim(f"On {game}, {name} is best", {game: finding}, figures, NO_STAND_IN))
    fastest = speeds[f"{ITERATIONS[-1]:,} iterations"].astype(float).idxmax()
    gains = {}
    for case, of in later.groupby("case", sort=False):
        before, after = of["exploitability"]
        gains[" ".join(str(case).split("/")[1:])] = before / after
    return [
        *found,
        Claim("RLCCFR is fastest", {"kuhn": Finding(told(fastest == "RLCCFR"), 1)}, f"{fastest} is", NO_STAND_IN),
        Claim(
            "After 10,000 iterations, little is gained",
            {name: Finding(told(gain < LITTLE), 0) for name, gain in gains.items()},
            f"ratio to the exploitability after {LONGER:,}: "
            + ", ".join(f"{name} {gain:.3g}" for name, gain in gains.items()),
            "CFR and DCFR alone",
        ),
        Claim(
            "On Royal, a smaller exploitability is better",
            {"royal": Finding(OPEN, 0)},
            "this says nothing about algorithms",
            NO_STAND_IN,
        ),
    ]


EXPERIMENT = Experiment(
    "rlccfr", "RLCCFR: the paper's table and figures",
    "Keshavarzi, Navidi and Tefagh, Combining CFR-based algorithms with deep reinforcement learning techniques",
    cases, page, claims,
)  # fmt: skip
