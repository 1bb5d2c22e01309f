"""The experiments of Keshavarzi, Navidi and Tefagh: Table 4, Figures 2 to 5, and the paper's claims about them.

In the paper's reward, the error e is the exploitability itself. The best algorithm under given reward weights depends
on the scale of e, so the picks and the verdicts are shown for all three scales (:data:`rlccfr.envs.reward.SCALES`). The
picks are shown for two kinds of teams: in one, all agents learn the mean of the agents' rewards; in the other, each
agent learns its own reward, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import TEAM
from rlccfr.agents.judging.reproduction import ITERATIONS, PANELS, Line, draw, final, throughputs
from rlccfr.agents.team.hyperparameters import Rewards
from rlccfr.catalog import AXES, Cell
from rlccfr.envs.episode import EpisodeSpec
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.measuring.record import fingerprint
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.reward import PRESETS, SCALES, Preset, Scale, costs
from rlccfr.experiments.experiment import NO_STAND_IN, OPEN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import table, verdict_of
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

SPEED_PRESET = "paper-speed"
"""Name of the reward weights in the caption of Table 4."""

BUDGET = Budget("iterations", ITERATIONS[0])
"""Budget for which the teams pick."""

PRINTED: Scale = "units"
"""Scale of e on which the paper prints its reward: the exploitability itself."""

REWARDS: tuple[Rewards, ...] = ("mean", "own")
"""Rewards from which a team's agents learn: for every agent the mean of all agents', or for each agent its own."""

ECFR_MODES = {"rlccfr": "ECFR as in the paper", "published": "ECFR as in Li et al."}
"""Modes of ECFR that are plotted beside the catalog's, with their curves' names; the first has the paper's formula."""

LONGER = 100_000
"""Number of iterations with which the paper's 10,000 are compared."""

LITTLE = 2.0
"""Factor below which the fall of the exploitability over ten times as many iterations counts as little."""


def speed(name: str, cell: Cell) -> list[Row]:
    """Return the iterations per CPU second of an algorithm on Kuhn, as a row of Table 4."""
    (row,) = throughputs(LiveEvaluator(), {name: cell}).to_dict("records")
    return [{str(column): value for column, value in row.items()}]


def ecfr(game: str, mode: str, iterations: int) -> list[Row]:
    """Return the curve of ECFR in one of its modes."""
    curve = Solver(load_game(game), {"id": "ecfr", "mode": mode}).run(iterations=iterations).points
    return [{"iteration": at.iteration, "exploitability": at.exploitability} for at in curve if at.iteration]


def longer(game: str, rule: str, iterations: int) -> list[Row]:
    """Return the exploitability after 10,000 iterations, and after the given number of iterations."""
    solver = Solver(load_game(game), rule)
    rows: list[Row] = []
    for count in (ITERATIONS[-1], iterations - ITERATIONS[-1]):
        result = solver.run(iterations=count, curve=False)
        rows.append({"iteration": result.iterations, "exploitability": result.exploitability})
    return rows


def captions(game: str) -> list[str]:
    """Return the names of the reward weights in a game's captions: of its figure and, for Kuhn, of Table 4."""
    of_figures = [panel.preset for panel in PANELS if panel.game == game]
    return [*of_figures, SPEED_PRESET] if game == "kuhn" else of_figures


def on_all_scales(preset: str) -> list[Preset]:
    """Return the reward weights of a caption on each scale of e."""
    return [replace(PRESETS[preset], scale=scale) for scale in SCALES]


@cache
def runs_digest(game: str) -> str:
    """Return a digest of the shipped runs on a game, from which teams for the game learn."""
    runs = load_results(shipped.path(shipped.MEASURED))
    return fingerprint(runs[runs["game"] == game].sort_values("cell_id", ignore_index=True))[:16]


@cache
def evidence_of(game: str) -> Evidence:
    """Return the shipped runs of all 336 algorithms on a game, after :data:`BUDGET`."""
    return Evidence.measured(shipped.results(game), shipped.catalog(), game, BUDGET)


def picks(game: str, rewards: Rewards, measurements: str) -> list[Row]:
    """Train a team on the shipped runs, with each caption's reward weights on each scale of e; return its picks.

    Args:
        game: name of the game.
        rewards: one of :data:`REWARDS`.
        measurements: digest of the shipped runs, so that the case is measured again if they change.

    Returns:
        A row per caption and scale. It has the pick, its mean reward and the agents' rewards in the judging runs; and
        the algorithm with the highest mean reward of all, even if it has not converged.
    """
    from rlccfr.agents.team.pretraining import SETTINGS, train_on_table

    # One team learns with all weights and scales, so that only these make its picks differ.
    weights = [preset for caption in captions(game) for preset in on_all_scales(caption)]
    spec = EpisodeSpec.parse(game, BUDGET, catalog=shipped.catalog(), evaluator=shipped.results())
    team = train_on_table(spec, settings=replace(SETTINGS, rewards=rewards), presets=weights)
    rows = []
    for preset in weights:
        candidates = evidence_of(game).recommendable(preset)
        rows.append(picked(team.pick(game, BUDGET, preset, candidates), game, preset))
    return rows


def picked(cell: Cell, game: str, preset: Preset) -> Row:
    """Return a pick as a row of :func:`picks`."""
    evidence = evidence_of(game)
    task = Task(shipped.results(game), shipped.catalog(), game, BUDGET, preset)
    bench = Bench(task, {game: evidence})
    figures = bench.row(TEAM, cell, 0, 0.0)

    # The agents' rewards: a row per judging run, a column per agent.
    agents_rewards = [preset.rewards(costs(run)) for run in evidence.judging[cell]]
    by_agent = dict(zip(AXES, zip(*agents_rewards, strict=True), strict=True))

    # The choosing runs say which algorithm has the highest mean reward; the judging runs give its figures.
    mean_rewards = task.rewards(evidence.choosing)
    highest = bench.row(TEAM, max(mean_rewards, key=mean_rewards.__getitem__), 0, 0.0)
    return {
        "preset": preset.name,
        "scale": preset.scale,
        **cell._asdict(),
        "exploitability": figures["exploitability"],
        "speed": figures["speed"],
        "converged": figures["converged"],
        "reward": figures["reward"],
        "regret": figures["regret"],
        **{f"reward_{axis}": fmean(rewards) for axis, rewards in by_agent.items()},
        "highest": str(Cell.of(highest)),
        "highest_exploitability": highest["exploitability"],
        "highest_converged": highest["converged"],
    }


def fastest_pick() -> Cell:
    """Return the shipped team's pick with the weights of Table 4; the pick's speed is measured in this experiment."""
    candidates = evidence_of("kuhn").recommendable(PRESETS[SPEED_PRESET])
    return shipped.team("kuhn").pick("kuhn", BUDGET, SPEED_PRESET, candidates)


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one, which trains no teams."""
    algorithms = {**fixed_cells(shipped.catalog()), "RLCCFR": fastest_pick()}
    games = ("kuhn", "goofspiel") if quick else shipped.GAMES
    # Table 4.
    all_cases = [
        Case(f"speed/{name}", partial(speed, name, cell))
        for name, cell in algorithms.items()
        if not (quick and name == "DeepCFR")
    ]
    # The lines of Figures 2 to 5 that the shipped measurement lacks.
    all_cases += [
        Case(f"ecfr/{game}/{mode}", partial(ecfr, game, mode, 1_000 if quick else ITERATIONS[-1]))
        for game in games
        for mode in ECFR_MODES
    ]
    # How much is gained after 10,000 iterations.
    all_cases += [
        Case(f"longer/{game}/{rule}", partial(longer, game, rule, LONGER))
        for game in games
        if game != "royal"
        for rule in ("cfr", "dcfr")
    ]
    if not quick:
        # A digest of the shipped runs is an argument, so that a team is trained again if they change.
        all_cases += [
            Case(f"team/{game}/{rewards}", partial(picks, game, rewards, runs_digest(game)))
            for game in games
            for rewards in REWARDS
        ]
    return all_cases


class Parts(NamedTuple):
    """The rows of the experiment, by kind of case.

    Attributes:
        speeds: rows of :func:`speed`, indexed by algorithm.
        ecfr: rows of :func:`ecfr`.
        longer: rows of :func:`longer`.
        teams: rows of :func:`picks`; empty in a quick run.
    """

    speeds: pd.DataFrame
    ecfr: pd.DataFrame
    longer: pd.DataFrame
    teams: pd.DataFrame


def parsed(rows: pd.DataFrame) -> Parts:
    """Return the rows, split by the kind of their cases."""
    kind = rows["case"].str.split("/").str[0]
    return Parts(
        rows[kind == "speed"].set_index("algorithm"),
        rows[kind == "ecfr"],
        rows[kind == "longer"],
        rows[kind == "team"],
    )


def pick_of(teams: pd.DataFrame, game: str, preset: str, scale: Scale) -> Cell:
    """Return RLCCFR's pick: that of the team that learned mean rewards, or of the shipped team if none was trained."""
    picks_on_game = teams[teams["case"] == f"team/{game}/mean"] if len(teams) else teams
    if not len(picks_on_game):
        weights = replace(PRESETS[preset], scale=scale)
        return shipped.team(game).pick(game, BUDGET, weights, evidence_of(game).recommendable(weights))
    same_weights = (picks_on_game["preset"] == preset) & (picks_on_game["scale"] == scale)
    (row,) = picks_on_game[same_weights].to_dict("records")
    return Cell.of({str(name): value for name, value in row.items()})


class Method(NamedTuple):
    """One of the paper's methods on a game.

    Attributes:
        exploitability: exploitability after 10,000 iterations.
        speed: iterations per second over 1,000 iterations, as a multiple of plain CFR's.
    """

    exploitability: float
    speed: float


def methods(parts: Parts, game: str, preset: str, scale: Scale) -> dict[str, Method]:
    """Return the paper's methods on a game, by name; RLCCFR is a team's pick, and ECFR has the paper's formula."""
    evidence = evidence_of(game)
    cells = {**fixed_cells(shipped.catalog()), "RLCCFR": pick_of(parts.teams, game, preset, scale)}
    by_name = {}
    for name, cell in cells.items():
        mean_speed = fmean(run.speed for run in evidence.judging[cell])
        by_name[name] = Method(final(shipped.results(game), game, cell), mean_speed)
    # ECFR's exploitability is measured with the paper's formula, which differs from the catalog's. Its speed is that of
    # the catalog's ECFR.
    curve = parts.ecfr.loc[parts.ecfr["case"] == f"ecfr/{game}/rlccfr", "exploitability"]
    if len(curve):
        by_name["ECFR"] = by_name["ECFR"]._replace(exploitability=float(curve.iloc[-1]))
    return by_name


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    parts = parsed(rows)
    yield from table_4(parts)
    yield from figures(parts, folder)
    yield 'The paper speaks of "eight" methods and lists seven, and of "three" games and lists four.'
    if len(parts.teams):
        yield from scales(parts.teams)
        yield from claims_by_scale(parts)


def figures(parts: Parts, folder: Path) -> Iterator[str]:
    """Yield the page's section on Figures 2 to 5, and draw them."""
    yield from ("", "## Figures 2 to 5: exploitability against iterations", "")
    yield (
        "The curves are runs of the shipped measurement: for each algorithm, one with a judging seed, or the only run "
        "if it draws nothing. ECFR with the paper's formula (theorem 3), and with that of Li et al., which sets "
        "negative regrets to W beta, is drawn beside the catalog's. Captions name the reward weights, which count "
        "speed too, so that a pick need not be the lowest line. The reward is the printed one: e is the "
        "exploitability itself."
    )
    for panel in PANELS:
        # ECFR in the modes that were run; a quick run lacks some games.
        beside: dict[str, Line] = {}
        for mode, title in ECFR_MODES.items():
            curve = parts.ecfr[parts.ecfr["case"] == f"ecfr/{panel.game}/{mode}"]
            if len(curve):
                beside[title] = (curve["iteration"].tolist(), curve["exploitability"].tolist())
        name = f"rlccfr-figure-{panel.number}.svg"
        pick = pick_of(parts.teams, panel.game, panel.preset, PRINTED)
        draw(panel, shipped.results(), shipped.catalog(), pick, folder / name, beside)
        converged = all(run.converged for run in evidence_of(panel.game).judging[pick])
        caveat = "" if converged else ", which has not converged after 1,000 iterations"
        yield from (
            "",
            f"### Figure {panel.number}: {panel.game}, weights {panel.preset}",
            "",
            f"![Figure]({name})",
            "",
        )
        yield f"The team's pick is `{pick}`{caveat}."
    yield ""


def table_4(parts: Parts) -> Iterator[str]:
    """Yield the page's section on Table 4."""
    yield from (
        "## Table 4: iterations per second on Kuhn poker",
        "",
        "Over 1,000 and 10,000 iterations. Speeds depend on the machine, so compare the multiples of CFR's. RLCCFR is "
        f"what the shipped team picks under the caption's weights: `{fastest_pick()}`. Where that is one of the "
        "other rows' algorithms, the two rows are two timings of one algorithm, and their difference is noise.",
        "",
    )
    columns = [f"{count:,} iterations" for count in ITERATIONS]
    lines = []
    for name, published in PUBLISHED.items():
        if name not in parts.speeds.index:
            continue
        speeds = parts.speeds.loc[name, columns].to_numpy(float)
        multiples = speeds / parts.speeds.loc["CFR", columns].to_numpy(float)
        published_multiples = [published[k] / PUBLISHED["CFR"][k] for k in range(2)]
        lines.append((
            name, *(f"{number:,.0f}" for number in speeds), *(f"{number:.3g}" for number in multiples),
            *(f"{number:.2f}" for number in published), *(f"{number:.3g}" for number in published_multiples),
        ))  # fmt: skip
    counts = [f"{count:,}" for count in ITERATIONS]
    groups = ("here", "times CFR, here", "published", "times CFR, published")
    yield from table(("", *(f"{group}, {count}" for group in groups for count in counts)), lines)


def scales(teams: pd.DataFrame) -> Iterator[str]:
    """Yield the page's section on the picks under the three scales of e."""
    yield from ("", "## The reward on three scales", "")
    yield (
        "The paper's reward is R = 1 - (alpha e + beta s), and its e is the exploitability itself (*units*). Earlier "
        "versions of this page had e on a log scale: 1 for the uniform policy, and 1/8 less for each decade below it. "
        "On that scale a run that has not converged costs little more than one that has, so the weights chose speed. "
        "*Linear* is the exploitability as a multiple of the uniform policy's. For each caption and scale, the table "
        "has the algorithm with the highest mean reward after 1,000 iterations, whether it has converged or not; and "
        "the picks of two teams trained on the shipped measurements under the caption's weights on all scales: agents "
        "that learn the mean of their rewards, and agents that learn their own. Teams pick only what has converged in "
        "the choosing runs. A pick may still not converge in the judging runs, from which its figures are. R_A, R_B "
        "and R_C are the agents' own rewards for the pick."
    )
    yield ""
    columns = (
        "game", "weights", "scale", "highest mean reward", "its exploitability", "agents learn", "pick",
        "its exploitability", "mean reward", "regret", "R_A", "R_B", "R_C",
    )  # fmt: skip
    lines = []
    for row in teams.to_dict("records"):
        _, game, rewards = row["case"].split("/")
        highest_state, state = ("" if row[name] else " (not converged)" for name in ("highest_converged", "converged"))
        numbers = [row[name] for name in ("reward", "regret", *(f"reward_{axis}" for axis in AXES))]
        lines.append((
            game, row["preset"], row["scale"], f"`{row['highest']}`",
            f"{row['highest_exploitability']:.2g}{highest_state}", rewards, f"`{Cell.of(row)}`",
            f"{row['exploitability']:.3g}{state}", *(f"{number:.3g}" for number in numbers),
        ))  # fmt: skip
    yield from table(columns, sorted(lines, key=_by_game_weights_and_scale))


def _by_game_weights_and_scale(line: Sequence[Any]) -> tuple[int, str, bool, str]:
    """Return the key by which lines in the table of scales are sorted; the printed scale comes first."""
    game, weights, scale = line[:3]
    return shipped.GAMES.index(game), weights, scale != PRINTED, scale


class Judged(NamedTuple):
    """A claim of the paper's (``said``), with its verdict on one game with one scale of e, and the figures for it."""

    said: str
    game: str
    verdict: str
    figures: str


LOWEST = {"kuhn": "RLCCFR", "leduc": "DCFR", "goofspiel": "ECFR"}
"""For each game, the method that has the least exploitability according to the paper, which names none on Royal."""


def judged(parts: Parts, scale: Scale) -> list[Judged]:
    """Return the paper's claims about Figures 2 to 5 and Table 4, judged with a scale of e."""
    by_game = {panel.game: methods(parts, panel.game, panel.preset, scale) for panel in PANELS}
    judgements = [_lowest(reached, game) for game, reached in by_game.items()]
    judgements += [_beaten_but_slower(by_game[panel.game], panel.game) for panel in PANELS[1:]]
    table_4_methods = methods(parts, "kuhn", SPEED_PRESET, scale)
    fastest = max(table_4_methods, key=lambda name: table_4_methods[name].speed)
    speeds = f"{fastest} makes {table_4_methods[fastest].speed:.3g} times CFR's iterations per second"
    # Two timings of one algorithm differ by noise alone.
    pick = pick_of(parts.teams, "kuhn", SPEED_PRESET, scale)
    is_ours = fastest == "RLCCFR" or fixed_cells(shipped.catalog())[fastest] == pick
    if fastest != "RLCCFR":
        speeds += ", and is RLCCFR's pick" if is_ours else f", RLCCFR {table_4_methods['RLCCFR'].speed:.3g}"
    judgements.append(Judged("RLCCFR is fastest (Table 4)", "kuhn", verdict_of(is_ours), speeds))
    return judgements


def _lowest(reached: Mapping[str, Method], game: str) -> Judged:
    """Judge which method has the least exploitability on a game."""
    least = min(reached, key=lambda name: reached[name].exploitability)
    named = LOWEST.get(game, "RLCCFR")
    figures = f"{least} ends at {reached[least].exploitability:.2g}"
    if least != named:
        figures += f", {named} at {reached[named].exploitability:.2g}"
    if game not in LOWEST:
        return Judged("On Royal, a smaller exploitability is better", game, OPEN, f"it names no method; {figures}")
    return Judged(f"On {game}, {named} is best", game, verdict_of(least == named), figures)


def _beaten_but_slower(reached: Mapping[str, Method], game: str) -> Judged:
    """Judge whether there are methods that beat RLCCFR in exploitability, but not in speed."""
    ours = reached["RLCCFR"]
    better = {name: method for name, method in reached.items() if method.exploitability < ours.exploitability}
    faster = [name for name, method in better.items() if method.speed > ours.speed]
    said = "Some algorithms beat RLCCFR in exploitability, but not in speed (Figures 3 to 5)"
    if not better:
        return Judged(said, game, verdict_of(False), "none beats it in exploitability")
    groups = {"lower and slower": [name for name in better if name not in faster], "lower and faster": faster}
    figures = "; ".join(f"{group}: {', '.join(names)}" for group, names in groups.items() if names)
    return Judged(said, game, verdict_of(len(faster) < len(better)), figures)


def claims_by_scale(parts: Parts) -> Iterator[str]:
    """Yield the page's section on the paper's claims: a line per claim and game, with a verdict for each scale of e."""
    yield from ("", "## What the paper says, under each scale", "")
    yield (
        "RLCCFR is the pick of the team that learned mean rewards, under the weights of the caption. Exploitabilities "
        "are those after 10,000 iterations, of one run of a judging seed; speeds are means over the judging runs."
    )
    yield ""
    by_scale = {scale: judged(parts, scale) for scale in sorted(SCALES, key=lambda scale: scale != PRINTED)}
    heads = [f"{scale} (as printed)" if scale == PRINTED else scale for scale in by_scale]
    lines = []
    for same_claim in zip(*by_scale.values(), strict=True):
        cells = [f"{judgement.verdict}: {judgement.figures}" for judgement in same_claim]
        lines.append((same_claim[0].said, same_claim[0].game, *cells))
    yield from table(("said", "game", *heads), lines)


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the paper's claims, with e as printed."""
    parts = parsed(rows)
    by_claim: dict[str, list[Judged]] = {}
    for judgement in judged(parts, PRINTED):
        by_claim.setdefault(judgement.said, []).append(judgement)
    gains = {}
    for case, runs in parts.longer.groupby("case", sort=False):
        before, after = runs["exploitability"]
        _, game, rule = str(case).split("/")
        gains[f"{game} {rule}"] = before / after
    return [
        *(_claim(said, judgements) for said, judgements in by_claim.items()),
        Claim(
            "After 10,000 iterations, little is gained",
            {name: Finding(verdict_of(gain < LITTLE), 0) for name, gain in gains.items()},
            f"ratio to the exploitability after {LONGER:,}: "
            + ", ".join(f"{name} {gain:.3g}" for name, gain in gains.items()),
            "CFR and DCFR alone",
        ),
    ]


def _claim(said: str, judgements: Sequence[Judged]) -> Claim:
    """Return a claim with its verdicts on several games."""
    findings = {}
    for judgement in judgements:
        # A figure rests on one run of each algorithm.
        findings[judgement.game] = Finding(judgement.verdict, 0 if judgement.verdict == OPEN else 1)
    if len(judgements) == 1:
        figures = judgements[0].figures
    else:
        figures = "; ".join(f"{judgement.game}: {judgement.figures}" for judgement in judgements)
    return Claim(said, findings, figures, NO_STAND_IN)


EXPERIMENT = Experiment(
    "rlccfr", "RLCCFR: the paper's table and figures",
    "Keshavarzi, Navidi and Tefagh, Combining CFR-based algorithms with deep reinforcement learning techniques",
    cases, page, claims,
)  # fmt: skip
