"""Rules that were found by a search over programs, and rules with damped predictions, on the games of their papers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from rlccfr.experiments import ddcfr, libratus
from rlccfr.experiments.curves import curve_of, with_horizon
from rlccfr.experiments.ddcfr import MAX_HISTORIES
from rlccfr.experiments.experiment import ALIKE, NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, draw, ends_of, grouped, table, verdict_of, with_fields
from rlccfr.games.names import load_game
from rlccfr.registry import update_rules
from rlccfr.solver import Solver

SHORT = 1_000
"""Number of iterations of DDCFR's figures, and of the runs in the search that found VAD-CFR."""

LONG = 5_000
"""Number of iterations of APCFR+'s figures."""

GAMES = {
    "Kuhn": ddcfr.PUBLISHED["Kuhn"].game,
    "Leduc": ddcfr.PUBLISHED["Leduc"].game,
    "Leduc-5": "leduc(ranks=5,suits=2,raises=2)",
    "Leduc-9": "leduc(ranks=9,suits=2,raises=2)",
    "Leduc-13": "leduc(ranks=13,suits=2,raises=2)",
    "Big Leduc": ddcfr.PUBLISHED["Big Leduc"].game,
    "Liar's dice-4": ddcfr.PUBLISHED["Liar's dice-4"].game,
    "Liar's dice-5": "liars_dice(numdice=1,dice_sides=5)",
    "Liar's dice-6": "liars_dice(numdice=1,dice_sides=6)",
    "Goofspiel-4": ddcfr.PUBLISHED["Goofspiel-4"].game,
    "Goofspiel-5": "goofspiel(num_cards=5,imp_info=True,points_order=descending,returns_type=win_loss)",
    "Battleship-2": ddcfr.PUBLISHED["Battleship-2"].game,
    "Battleship-3": ddcfr.PUBLISHED["Battleship-3"].game,
}
"""Names of the games, keyed by their titles. The number in a title counts ranks, sides of a die, cards, or rows of a
board."""

LEDUC_VARIANTS = ("Leduc-5", "Leduc-9", "Leduc-13")
OF_APCFR = (
    "Kuhn", "Leduc", *LEDUC_VARIANTS, "Liar's dice-4", "Liar's dice-5", "Goofspiel-4", "Goofspiel-5", "Battleship-3"
)  # fmt: skip
"""Games of APCFR+'s paper, on which rules also run for :data:`LONG` iterations."""

EXCEPTIONS = ("Goofspiel-4", "Battleship-3")
"""Games on which PCFR+ is no worse than APCFR+, according to APCFR+'s paper: Goofspiel (4) and Battleship (3, 2, 3)."""

AS_IN_DDCFR = "Goofspiel and Battleship as DDCFR has them; no Battleship (4, 3, 2); HUNL also with right tables"
"""Text of :attr:`Claim.stand_in` for claims about the games of APCFR+'s paper."""

QUICK = ("Kuhn", "Leduc", "Leduc-5", "Goofspiel-4")
PICTURED = (
    "Leduc", "Leduc-13", "Big Leduc", "Liar's dice-5", "Liar's dice-6", "Goofspiel-5", "Battleship-3",
    *libratus.CORRECTED,
)  # fmt: skip
"""Games whose curves are on the page: the larger ones, since on small games many rules reach rounding errors."""

FOUND = ("vad_cfr", "aod_cfr")
DAMPED = ("apcfr_plus", "apdcfr_plus", "sapcfr_plus")
BASELINES = ("dcfr", "pcfr_plus", "pdcfr_plus")
OURS = "momentum_dcfr"
LAST_ITERATE = "rtcfr_plus"
"""The rule whose result is its last policy."""

RULES = (*FOUND, *DAMPED, LAST_ITERATE, "ddcfr_schedule", "dcfr", "dcfr_plus", "pcfr_plus", "pdcfr_plus", OURS)
"""Ids of all rules."""

RIVER_RULES = ("sapcfr_plus", "ddcfr_schedule", "dcfr", "dcfr_plus", "pcfr_plus", "pdcfr_plus", OURS)
"""Ids of the rules that run on public trees, and so on rivers: those that are given by schedules."""

ROUNDING = 1e-13
"""Exploitability below which differences are due to rounding."""

CLOSE = 2.0
"""Ratio of two exploitabilities below which the first counts as comparable with the second, or better."""


class Measure(NamedTuple):
    """A measure of how far a policy is from an equilibrium, as a multiple of this library's exploitability.

    Attributes:
        title: name of the measure.
        factor: the measure divided by the exploitability, which is NashConv / 2.
    """

    title: str
    factor: float


HALF = Measure("NashConv / 2", 1.0)
NASH_CONV = Measure("NashConv", 2.0)
IN_BIG_BLINDS = Measure(libratus.MEASURE, 1.0)
"""The measure on rivers; the rows of runs on rivers are already in this measure."""


class Published(NamedTuple):
    """A figure that a paper prints.

    Attributes:
        source: the paper.
        game: title of the game.
        name: the rule's name in the paper.
        rule: id of the rule that runs here.
        iterations: number of iterations.
        measure: the figure's measure.
        value: the figure.
        differs: whether this library's game differs from the paper's, so that no ratio is given.
    """

    source: str
    game: str
    name: str
    rule: str
    iterations: int
    measure: Measure
    value: float
    differs: bool = False


TABLE_2 = {
    "dcfr": ("DCFR", (2.79e-5, 1.27e-5, 1.09e-5)),
    "dcfr_plus": ("DCFR+", (1.15e-5, 6.41e-6, 8.56e-6)),
    "pcfr_plus": ("PCFR+", (2.69e-5, 5.21e-5, 3.15e-5)),
    "apcfr_plus": ("APCFR+", (4.80e-6, 4.03e-5, 1.45e-5)),
    "sapcfr_plus": ("SAPCFR+", (3.49e-6, 4.07e-5, 1.42e-5)),
    "apdcfr_plus": ("APDCFR+", (3.69e-6, 3.42e-6, 3.02e-6)),
}
"""For each rule: its name, and the figures on :data:`LEDUC_VARIANTS` that Meng et al. print in Table 2."""

PRINTED_ON_RIVERS = {"APCFR+": (1.02e-3, 7.53e-4), "SAPCFR+": (9.44e-4, 7.83e-4)}
"""Figures on HUNL-3 and HUNL-4 that Meng et al. print, keyed by the rule's name."""

FAR_BELOW = 0.25
"""Ratio of two exploitabilities below which the first counts as far below the second."""

DERIVED = ("apdcfr_plus",)
"""Rules of Table 2 whose definition was not available."""


def published() -> list[Published]:
    """Return all figures that the papers print."""
    figures = []
    for title, game in ddcfr.FIGURES.items():
        # Rivers with right tables have no published figures.
        if title in libratus.CORRECTED:
            continue
        measure = measure_on(title, HALF)
        for name, rule, value in (("DCFR", "dcfr", game.dcfr), ("DDCFR", "ddcfr_schedule", game.ddcfr)):
            figures.append(Published("Xu et al.", title, name, rule, SHORT, measure, value, game.differs))
    for rule, (name, values) in TABLE_2.items():
        for title, value in zip(LEDUC_VARIANTS, values, strict=True):
            figures.append(Published("Meng et al.", title, name, rule, LONG, NASH_CONV, value))
    for title, value in zip(libratus.AS_PUBLISHED, PRINTED_ON_RIVERS["SAPCFR+"], strict=True):
        figures.append(Published("Meng et al.", title, "SAPCFR+", "sapcfr_plus", LONG, IN_BIG_BLINDS, value))
    return figures


def measure_on(game: str, measure: Measure) -> Measure:
    """Return the measure of a game's figures in a table: that of rivers, or for other games the table's ``measure``."""
    return IN_BIG_BLINDS if game in libratus.RIVERS else measure


def curve(game: str, rule: str, iterations: int) -> list[Row]:
    """Return the curve of an update rule by exact passes; for a long run, only its end."""
    solver = Solver(load_game(game, max_histories=MAX_HISTORIES), with_horizon(rule, iterations))
    return curve_of(solver, iterations, only_end=iterations > SHORT)


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one; nothing is drawn at random."""
    runs = [(title, SHORT) for title in GAMES] + [(title, LONG) for title in OF_APCFR]
    of_games = [
        Case(f"{title}/{iterations}/{rule}", partial(curve, GAMES[title], rule, iterations))
        for title, iterations in runs
        if title in QUICK or not quick
        for rule in RULES
    ]
    if quick:
        return of_games
    of_rivers = [
        libratus.curve_case(title, rule, iterations, f"{title}/{iterations}/{rule}", only_end=iterations > SHORT)
        for iterations in (SHORT, LONG)
        for title in libratus.RIVERS
        for rule in RIVER_RULES
    ]
    return [*of_games, *of_rivers]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys: ``game``, ``budget`` and ``rule``.

    Nothing is drawn at random, so the column ``seed`` is 0.
    """
    return with_fields(rows, "game", "budget", "rule").assign(seed=0)


class Ends(dict[tuple[str, int, str], float]):
    """Exploitabilities at the ends of all runs, keyed by game, number of iterations and rule; at least ROUNDING."""

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Ends:
        """Return the ends of the runs in the rows of an experiment."""
        keys = ("game", "budget", "rule")
        found = grouped(ends_of(parsed(rows), *keys), *keys)
        return cls({
            (game, int(budget), rule): max(value, ROUNDING) for (game, budget, rule), (value,) in found.items()
        })  # fmt: skip

    def games(self, iterations: int, rule: str = "dcfr") -> list[str]:
        """Return the titles of the games on which a rule ran for a number of iterations; ``dcfr`` ran on all."""
        return [game for game, budget, id in self if (budget, id) == (iterations, rule)]

    def ratio(self, game: str, iterations: int, rule: str, rivals: Sequence[str]) -> float:
        """Return a rule's exploitability divided by that of the best of its rivals that ran on the game."""
        reached = [self.get((game, iterations, rival), math.inf) for rival in rivals]
        return self[game, iterations, rule] / min(reached)


def judged(ratios: dict[str, float], bound: float = 1.0) -> dict[str, Finding]:
    """Return for each game the verdict on the claim that a ratio of exploitabilities is below a bound.

    If both the bound and the ratio are exactly 1, both exploitabilities are 0 up to rounding: no difference is seen.
    """
    return {
        game: Finding(ALIKE if ratio == bound == 1.0 else verdict_of(ratio < bound), 0)
        for game, ratio in ratios.items()
    }


def listed(ratios: dict[str, float]) -> str:
    """Return ratios as a string."""
    return ", ".join(f"{game}: {ratio:.3g}" for game, ratio in ratios.items())


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the papers' claims, and how the library's own rule compares."""
    ends = Ends.of(rows)
    return [
        *_claims_on_search(ends),
        *_claims_on_damping(ends),
        _claim_on_the_measure(ends),
        *_claims_on_rivers(ends),
        _claim_on_ours(ends),
    ]


def _claims_on_search(ends: Ends) -> Iterator[Claim]:
    """Judge the claims of Li et al. about the rules that they found."""
    games = "the games of this page, for two players, for the source's 11; three of its seven baselines"
    said = {
        "vad_cfr": (
            "VAD-CFR matches or surpasses the state of the art, on 10 of 11 games (Li et al.;",
            f"{games}; a running mean at each infoset, for one that all infosets share",
        ),
        "aod_cfr": ("AOD-CFR maintains competitive performance (Li et al.;", games),
    }
    for rule, (what, stand_in) in said.items():
        ratios = {game: ends.ratio(game, SHORT, rule, BASELINES) for game in ends.games(SHORT, rule)}
        yield Claim(
            f"{what} here: it stays below {CLOSE:g} times the best of DCFR, PCFR+ and PDCFR+)",
            judged(ratios, CLOSE),
            f"ratio to the best of the three: {listed(ratios)}; below 1 on "
            f"{sum(ratio < 1.0 for ratio in ratios.values())} of {len(ratios)} games",
            stand_in,
        )


def _claims_on_damping(ends: Ends) -> Iterator[Claim]:
    """Judge the claims of Meng et al. about APCFR+, SAPCFR+ and APDCFR+."""
    variants = [game for game in ends.games(LONG) if game in LEDUC_VARIANTS]
    for rule, name in (("apcfr_plus", "APCFR+"), ("sapcfr_plus", "SAPCFR+")):
        ratios = {game: ends.ratio(game, LONG, rule, ("pcfr_plus",)) for game in ends.games(LONG, rule)}
        yield Claim(
            f"{name} outperforms PCFR+, except on Goofspiel (4) and Battleship (3, 2, 3) (Meng et al.)",
            judged({game: ratio for game, ratio in ratios.items() if game not in EXCEPTIONS}),
            f"ratio to PCFR+, with the exceptions: {listed(ratios)}",
            AS_IN_DDCFR,
        )
    both = ends.games(LONG, "apcfr_plus")
    between = {game: ends.ratio(game, LONG, "sapcfr_plus", ("apcfr_plus",)) for game in both}
    yield Claim(
        f"SAPCFR+ is comparable with APCFR+ (Meng et al.; here: within a factor of {CLOSE:g})",
        # Of the ratio and its inverse, the larger: comparable means neither far above nor far below.
        judged({game: max(ratio, 1.0 / ratio) for game, ratio in between.items()}, CLOSE),
        f"ratio of SAPCFR+ to APCFR+: {listed(between)}",
        AS_IN_DDCFR,
    )
    lowest = {}
    for game in variants:
        # The source makes an exception for SAPCFR+ with 5 ranks, so it is no rival there.
        besides = ("apdcfr_plus", "sapcfr_plus") if game == "Leduc-5" else ("apdcfr_plus",)
        rivals = [rule for rule in TABLE_2 if rule not in besides]
        lowest[game] = ends.ratio(game, LONG, "apdcfr_plus", rivals)
    yield Claim(
        "APDCFR+ outperforms all others of Table 2, except for SAPCFR+ with 5 ranks (Meng et al.)",
        judged(lowest),
        f"ratio to the best of these: {listed(lowest)}",
        "the source's appendix, which defines the rule, was not available: the rule is derived here",
    )


def _claim_on_the_measure(ends: Ends) -> Claim:
    """Judge which measure the figures of Table 2 have, by the rules whose definitions are not in doubt."""
    rules = [rule for rule in TABLE_2 if rule not in DERIVED]
    factors = {}
    for place, game in enumerate(LEDUC_VARIANTS):
        if game in ends.games(LONG):
            printed = [TABLE_2[rule][1][place] for rule in rules]
            factors[game] = Ratio.of(printed, [ends[game, LONG, rule] for rule in rules])
    # The ratio is 1 if the figures are NashConv / 2, and 2 if they are NashConv. On a logarithmic scale, the middle
    # between these is the square root of 2.
    return Claim(
        "(not said there, where the text defines NashConv / 2) The figures in Table 2 of Meng et al. are NashConv",
        {game: Finding(verdict_of(factor.mean**2 > 2.0), 0) for game, factor in factors.items()},
        "printed figure divided by NashConv / 2 here, as the geometric mean over "
        f"{', '.join(TABLE_2[rule][0] for rule in rules)}: "
        + ", ".join(f"{game}: {factor}" for game, factor in factors.items()),
        NO_STAND_IN,
    )


def _claims_on_rivers(ends: Ends) -> Iterator[Claim]:
    """Compare DCFR, on the rivers as published, with the printed figures of APCFR+ and SAPCFR+.

    A quick run has no rivers, and so no claim.
    """
    printed = {title: min(values) for title, values in zip(libratus.AS_PUBLISHED, zip(*PRINTED_ON_RIVERS.values()))}
    ratios = {title: ends[title, LONG, "dcfr"] / printed[title] for title in ends.games(LONG) if title in printed}
    if not ratios:
        return
    yield Claim(
        f"(not said there) On the rivers as published, after {LONG:,} iterations, DCFR is below {FAR_BELOW:g} times "
        "the best figure that Meng et al. print for APCFR+ and SAPCFR+",
        judged(ratios, FAR_BELOW),
        f"ratio to the printed figure: {listed(ratios)}",
        "printed figures for runs of APCFR+",
    )


def _claim_on_ours(ends: Ends) -> Claim:
    """Compare the library's own rule with all rules of the papers."""
    rivals = [rule for rule in RULES if rule != OURS]
    ratios = {game: ends.ratio(game, SHORT, OURS, rivals) for game in ends.games(SHORT)}
    return Claim(
        f"(not said there) After {SHORT:,} iterations, this library's {OURS} is below all rules of the papers",
        judged(ratios),
        f"on {sum(ratio < 1.0 for ratio in ratios.values())} of {len(ratios)} games; "
        f"ratio to the best of the others: {listed(ratios)}",
        NO_STAND_IN,
    )


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    ends = Ends.of(rows)
    yield from _introduction()
    yield from _results(ends, SHORT, HALF, "as in the papers on VAD-CFR and DDCFR")
    yield from _results(ends, LONG, NASH_CONV, "as in the paper on APCFR+")
    yield from _beside_published(ends)
    yield from ("", f"## Curves over {SHORT:,} iterations")
    short = parsed(rows)
    short = short[(short["budget"] == str(SHORT)) & short["game"].isin(PICTURED)]
    for number, (game, runs) in enumerate(short.groupby("game", sort=False)):
        name = f"discovered-{number}.svg"
        draw(runs, "iterations", "rule", folder / name, str(game))
        yield from ("", f"### {game!s}", "", f"![Exploitability against iterations]({name})")


def _introduction() -> Iterator[str]:
    """Yield the description of what was run, and the table of rules."""
    told = [f"`{rule}`" for rule in RULES if "horizon" in update_rules[rule].hyperparameters]
    yield from (
        "Update rules of recent papers run by exact passes, on the games of these papers, beside older rules and this "
        f"library's own `{OURS}`. Nothing is drawn at random. The rules with a horizon, {', '.join(told)}, are told "
        "the number of iterations; the others need not know it. "
        f"The result of `{LAST_ITERATE}` is its last policy, that of all others is the average policy. "
        "Each row of a table names its measure: NashConv is the sum of what the two players can gain by best "
        "responses, and NashConv / 2 is its half, which this library and "
        "the texts of Li et al. and Meng et al. call exploitability. Both are in the game's units. The number in a "
        "game's title counts Leduc's ranks, the sides of the one die that each player has, Goofspiel's cards, or the "
        "rows of a board that is two columns wide. `Leduc` has 3 ranks, and `Big Leduc` 12 ranks and up to six raises "
        "a round.",
        "",
        "HUNL-3 and HUNL-4 are the river subgames of no-limit hold'em in DDCFR's and APCFR+'s papers. Their tables "
        "have errors, which [Learned schedules](ddcfr.md) describes; so each is here as published and with right "
        "tables. Rules that are not schedules do not run on them. "
        "Li et al. print curves but no figures; their exploitability is NashConv / 2 for two players. "
        "[Learned schedules](ddcfr.md) judges what DDCFR's paper says.",
        "",
        "## The rules",
        "",
    )
    yield from table(("rule", "source"), [(f"`{rule}`", update_rules[rule].source) for rule in RULES])


def _results(ends: Ends, iterations: int, measure: Measure, like: str) -> Iterator[str]:
    """Yield a table of all rules on all games that ran for a number of iterations.

    Args:
        ends: exploitabilities at the ends of the runs.
        iterations: number of iterations.
        measure: measure of the table's figures, except on rivers.
        like: words that name the papers whose runs have this number of iterations.
    """
    games = ends.games(iterations)
    lines: list[tuple[object, ...]] = []
    lowest = dict.fromkeys(RULES, 0)
    ran = dict.fromkeys(RULES, 0)  # number of games on which each rule ran
    for game in games:
        values = {rule: ends[game, iterations, rule] for rule in RULES if (game, iterations, rule) in ends}
        best = min(values.values())
        for rule, value in values.items():
            lowest[rule] += value == best
            ran[rule] += 1
        of_row = measure_on(game, measure)
        lines.append(
            (game, of_row.title, *(cell(values[rule], best, of_row) if rule in values else "-" for rule in RULES))
        )
    lines.append(("games on which it is lowest", "", *(f"{lowest[rule]} of {ran[rule]}" for rule in RULES)))
    yield from (
        "",
        f"## After {iterations:,} iterations",
        "",
        f"{measure.title} after {iterations:,} iterations, {like}. The lowest of a row is bold. Rounding decides below "
        f"{ROUNDING * measure.factor:.0e}.",
        "",
    )
    yield from table(("game", "measure", *(f"`{rule}`" for rule in RULES)), lines)


def cell(exploitability: float, best: float, measure: Measure) -> str:
    """Return a cell of a table of results; the best of a row is bold."""
    value = exploitability * measure.factor
    text = f"{value:.2e}" if exploitability > ROUNDING else f"< {value:.0e}"
    return f"**{text}**" if exploitability == best else text


def _beside_published(ends: Ends) -> Iterator[str]:
    """Yield a table of the figures that the papers print, with those reached here."""
    lines = []
    played = ends.games(SHORT)
    for figure in published():
        key = (figure.game, figure.iterations, figure.rule)
        if key not in ends:
            continue
        reached = ends[key] * figure.measure.factor
        ratio = "-" if figure.differs else f"{reached / figure.value:.3g}"
        about = (figure.source, figure.name, f"`{figure.rule}`", f"{figure.iterations:,}", figure.measure.title)
        lines.append((figure.game, *about, f"{figure.value:.3g}", f"{reached:.3g}", ratio))
    different = dict.fromkeys(figure.game for figure in published() if figure.differs and figure.game in played)
    yield from (
        "",
        "## Beside the printed figures",
        "",
        "The figures of Xu et al. come with their code; `ddcfr_schedule` is the mean of the schedules that their "
        "networks choose, not a run of the networks. The figures of Meng et al. on Leduc are those of Table 2. Their "
        "text defines exploitability as NashConv / 2, but the table is read as NashConv here: a verdict below tests "
        "that. The appendix that defines APDCFR+ was not available, and `apdcfr_plus` is derived here from PDCFR+ and "
        "APCFR+, so its ratios also show how near that comes to the source's rule. That Meng et al. solve the rivers "
        "as published is inferred, since their code was not available: `sapcfr_plus` is nearer to their figures on "
        "these than on the rivers with right tables.",
    )
    if different:
        yield f"On {', '.join(different)}, DCFR's published figure is not that of the game here: no ratio is given."
    yield ""
    columns = ("game", "source", "there", "here", "iterations", "measure", "printed", "reached here", "here / printed")
    yield from table(columns, lines)


EXPERIMENT = Experiment(
    "discovered", "Discovered rules and damped predictions",
    "Li et al., Discovering multiagent learning algorithms with large language models, arXiv 2602.16928v1, 2026; Meng "
    "et al., Faster game solving via asymmetry of step sizes, AAAI 2026; Xu et al., Dynamic discounted counterfactual "
    "regret minimization, ICLR 2024",
    cases, page, claims,
)  # fmt: skip
