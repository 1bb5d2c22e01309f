"""Learned schedules: DDCFR's published figures, and what rules and the shipped controller reach on its games."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from rlccfr.experiments import libratus
from rlccfr.experiments.curves import curve_of
from rlccfr.experiments.experiment import Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import draw, ends_of, grouped, table, verdict_of, with_fields
from rlccfr.games.names import load_game
from rlccfr.solver import Solver

ITERATIONS = 1_000
MAX_HISTORIES = 10_000_000


class Published(NamedTuple):
    """A game of DDCFR's paper, with the published figures after 1,000 iterations.

    Attributes:
        game: the game's name in this library; for a river subgame of no-limit hold'em, its title.
        dcfr: published exploitability of DCFR; NaN if none is published.
        ddcfr: published exploitability of DDCFR; NaN if none is published.
        differs: whether DCFR's exploitability on this library's game differs from the published one, so that the two
            can't be the same game.
    """

    game: str
    dcfr: float
    ddcfr: float
    differs: bool = False


_BATTLESHIP = (
    "battleship(board_width=2,board_height={},ship_sizes=[2],ship_values=[2],num_shots=3,allow_repeated_shots=False)"
)
_BIG_LEDUC = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=6 6,"
    "numSuits=2,numRanks=12,numHoleCards=1,numBoardCards=0 1)"
)
_GOOFSPIEL = "goofspiel(num_cards=4,imp_info=True,points_order=descending,returns_type=win_loss)"
PUBLISHED = {
    "Kuhn": Published("kuhn", 1.47e-4, 4.02e-5),
    "Leduc": Published("leduc", 1.53e-4, 1.20e-4),
    "Goofspiel-4": Published(_GOOFSPIEL, 4.10e-4, 3.8e-5),
    "Liar's dice-4": Published("liars_dice(numdice=1,dice_sides=4)", 2.62e-5, 1.73e-5),
    "Battleship-2": Published(_BATTLESHIP.format(2), 2.12e-3, 1.40e-3, differs=True),
    "Battleship-3": Published(_BATTLESHIP.format(3), 1.58e-3, 7.6e-4),
    "Big Leduc": Published(_BIG_LEDUC, 1.65e-4, 7.9e-5),
}
"""The games of DDCFR's paper, except for river subgames, with the figures that come with its code (Xu et al., Dynamic
discounted counterfactual regret minimization, ICLR 2024)."""

ON_RIVERS = {
    "HUNL-3 as published": Published("HUNL-3 as published", 2.70e-3, 1.96e-3),
    "HUNL-4 as published": Published("HUNL-4 as published", 2.54e-3, 2.00e-3),
    **{title: Published(title, math.nan, math.nan) for title in libratus.CORRECTED},
}
"""The river subgames of DDCFR's paper, called rivers below, with their published figures.

Each river is here with the paper's tables of ranges and cards, which have errors, and with right tables, for which no
figures are published; see :mod:`~rlccfr.experiments.libratus`.
"""

FIGURES = {**PUBLISHED, **ON_RIVERS}
"""All games with their published figures, keyed by the games' titles."""

RULES = ("dcfr", "ddcfr_schedule", "pcfr_plus", "pdcfr_plus", "sapcfr_plus")
CONTROLLER = "controller"


def curve(game: str, rule: str) -> list[Row]:
    """Return the curve of an update rule, or of the shipped controller, by exact passes."""
    tree = load_game(game, max_histories=MAX_HISTORIES)
    solver = Solver(tree, control="shipped") if rule == CONTROLLER else Solver(tree, rule)
    return curve_of(solver, ITERATIONS)


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one; controllers do not run on rivers."""
    games = ("Kuhn", "Leduc", "Goofspiel-4") if quick else PUBLISHED
    of_games = [
        Case(f"{title}/{rule}", partial(curve, PUBLISHED[title].game, rule))
        for title in games
        for rule in (*RULES, CONTROLLER)
    ]
    if quick:
        return of_games
    of_rivers = [
        libratus.curve_case(title, rule, ITERATIONS, f"{title}/{rule}") for title in ON_RIVERS for rule in RULES
    ]
    return [*of_games, *of_rivers, *libratus.evidence_cases()]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of curves with columns for the fields of their cases' keys: ``game`` and ``rule``.

    Nothing is drawn at random, so the column ``seed`` is 0.
    """
    return with_fields(rows[~libratus.is_evidence(rows)], "game", "rule").assign(seed=0)


def ends(rows: pd.DataFrame) -> dict[tuple[str, ...], float]:
    """Return the exploitability at the end of each run, by game and rule."""
    return {key: value for key, (value,) in grouped(ends_of(rows, "game", "rule"), "game", "rule").items()}


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the sources' claims, and the library's claim about its controller."""
    reached = ends(parsed(rows))
    # Rivers with right tables are not games of the sources.
    games = [game for game in dict.fromkeys(game for game, _ in reached) if game not in libratus.CORRECTED]
    same_games = [title for title in games if (title, CONTROLLER) in reached and not PUBLISHED[title].differs]
    # Whether the first of a pair ends below the second, game by game.
    schedule = {title: reached[title, "ddcfr_schedule"] < reached[title, "dcfr"] for title in games}
    asymmetric = {title: reached[title, "sapcfr_plus"] < reached[title, "pcfr_plus"] for title in games}
    controller = {title: reached[title, CONTROLLER] < PUBLISHED[title].ddcfr for title in same_games}
    return [
        Claim(
            "DDCFR's schedule is better than DCFR's",
            {title: Finding(verdict_of(better), 0) for title, better in schedule.items()},
            f"on {sum(schedule.values())} of {len(games)} games",
            "the mean of DDCFR's schedules, as a fixed rule, for its learned controller",
        ),
        Claim(
            "SAPCFR+ is better than PCFR+ on most games (AAAI 2026)",
            {", ".join(games): Finding(verdict_of(2 * sum(asymmetric.values()) > len(games)), 0)},
            f"on {sum(asymmetric.values())} of {len(games)} games: "
            + ", ".join(title for title in games if asymmetric[title]),
            "DDCFR's games for those of the source",
        ),
        Claim(
            "(not said there) The library's controller beats DDCFR",
            {title: Finding(verdict_of(better), 0) for title, better in controller.items()},
            f"on {sum(controller.values())} of {len(same_games)} games",
            "DDCFR's published figures for runs of it; no rivers, where controllers do not run",
        ),
    ]


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    evidence = rows[libratus.is_evidence(rows)]
    rows = parsed(rows)
    yield from (
        f"Exploitability after {ITERATIONS:,} iterations by exact passes. DDCFR is a learned controller of DCFR's "
        "schedule; it asks for the exploitability at each decision, and does not count that cost. The controller here "
        "is the one that the library ships. `ddcfr_schedule` is DDCFR's mean schedule as a fixed rule. Published "
        "figures are those that come with DDCFR's code. The tables of its river subgames of no-limit hold'em, HUNL-3 "
        "and HUNL-4, have errors, which are described below; each is here with its tables and with right ones. There, "
        f"the exploitability is {libratus.MEASURE}, and controllers do not run.",
        "",
    )
    reached = ends(rows)
    lines = []
    for title in map(str, dict.fromkeys(rows["game"])):
        published = FIGURES[title]
        controlled = reached.get((title, CONTROLLER), math.nan)
        gain = math.nan if published.differs else published.ddcfr / controlled
        figures = [published.dcfr, published.ddcfr, *(reached[title, rule] for rule in RULES), controlled, gain]
        lines.append((title, *("-" if math.isnan(figure) else f"{figure:.3g}" for figure in figures)))
    columns = ("game", "DCFR, published", "DDCFR, published", *RULES, CONTROLLER, "DDCFR / controller")
    yield from table(columns, lines)
    played = set(rows["game"])
    different = ", ".join(title for title, game in PUBLISHED.items() if game.differs and title in played)
    if different:
        yield from ("", f"On {different}, DCFR's published figure is not that of the game here: no ratio is given.")
    if len(evidence):
        yield from libratus.section(evidence)
    for number, (game, runs) in enumerate(rows.groupby("game", sort=False)):
        name = f"ddcfr-{number}.svg"
        draw(runs, "iterations", "rule", folder / name, str(game))
        yield from ("", f"## {game!s}", "", f"![Exploitability against iterations]({name})")


EXPERIMENT = Experiment(
    "ddcfr", "Learned schedules",
    "Xu et al., Dynamic discounted counterfactual regret minimization, ICLR 2024", cases, page, claims,
)  # fmt: skip
