"""``python -m benchmarks.selection > docs/selection.md``: selection judged against the best of all that was measured.

Draws docs/selection.svg, too. What methods chose is kept in benchmarks/results; without it this takes hours.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import methods
from benchmarks.methods import METHODS, Trial, at_a_hundred, choices, judged
from rlccfr.agents import shipped
from rlccfr.agents.judging.effects import performance_profile
from rlccfr.agents.judging.recommendation_table import TEAM, VBS, RecommendationTable
from rlccfr.agents.judging.regret_picture import MARKS
from rlccfr.agents.judging.reproduction import COLOURS
from rlccfr.agents.judging.scores import bootstrap_interval, interquartile_mean
from rlccfr.agents.judging.sweep_table import recommended_table
from rlccfr.agents.judging.unseen_games import ALL, LARGER, MEMBER, summary
from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.reward import PRESETS

PICTURE = Path(__file__).parent.parent / "docs" / "selection.svg"
LADDER = (14, 28, 56, 100, 200, 336)
"""Evaluations; with the fewest hardly every component was tried, with the most every algorithm."""

LADDER_SEEDS = 5
LEAST = 0.02
"""Regret that counts as none."""

GOOD = 0.9
"""Normalised score; 1 is the best of all, 0 what a draw gives on average."""


def main() -> None:
    """Print the document."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        hundred, ladder = (judged(choices(trials, executor)) for trials in (at_a_hundred(), rungs()))
    report(hundred, ladder)


def report(hundred: pd.DataFrame, ladder: pd.DataFrame) -> None:
    """Print the document on judged choices, and draw."""
    draw(hundred, ladder)
    for section in (head(), picks(), at_hundred(hundred), along(ladder), never_met()):
        print("\n".join([*section, ""]), flush=True)


def rungs() -> list[Trial]:
    """Each method on each game under ``accuracy``, with few evaluations and with many."""
    return [
        Trial(game, "accuracy", method, evaluations, seed)
        for game in shipped.GAMES
        for method in METHODS
        for evaluations in LADDER
        for seed in range(LADDER_SEEDS)
    ]


def head() -> Iterator[str]:
    """What was measured."""
    frame = shipped.results().frame()
    yield from ("# Selection", "", "Written by `python -m benchmarks.selection`; not edited by hand.", "")
    yield (
        f"{len(frame):,} runs of engine {', '.join(sorted(frame['engine_version'].unique()))} on "
        f"{', '.join(sorted(frame['processor'].unique()))}: each of the paper's 336 algorithms and of the extended "
        "catalog's tabular ones on four games, for the longer of 1,000 iterations and an engine CPU second. Shorter "
        "budgets are read off the runs' curves. Of an algorithm's runs the first two fifths are chosen by, the others "
        "judge. A deterministic algorithm has one run: after as many iterations its exploitability is the same by "
        "definition. It is chosen by one timing of that run and judged by a second, brief one, at which the run may "
        "reach more or less within a budget in seconds."
    )
    yield ""
    statuses = frame.groupby(["game", "status"]).size().unstack(fill_value=0)
    yield from table(statuses.reset_index().rename_axis(columns=None))
    yield ""
    yield (
        "How fast an algorithm is beside plain CFR depends on the processor and on what else that did meanwhile: of "
        f"two runs of a tabular algorithm that differ in their seeds alone, {alike(frame):.0%} have speeds within 25 % "
        "of each other. [The verification](verification.md) makes ten of all these runs again."
    )


def alike(frame: pd.DataFrame) -> float:
    """The share of pairs of a tabular algorithm's seeds of which the faster's speed is at most 1.25 of the other's."""
    tabular = frame[frame["throughput_again"].notna()]
    speed = tabular["throughput"] / tabular["reference_throughput"]
    pairs = [
        max(pair) / min(pair) <= 1.25
        for _, seeds in speed.groupby([tabular[name] for name in ("game", *AXES)])
        for pair in combinations(seeds, 2)
    ]
    return float(np.mean(pairs))


def picks() -> Iterator[str]:
    """What the shipped teams pick."""
    teams = {game: shipped.team(game) for game in shipped.GAMES}
    presets = list(PRESETS)
    found = recommended_table(
        shipped.results(), shipped.catalog(), shipped.GAMES, shipped.BUDGETS, presets, "log", teams
    ).frame
    own, best = (found[found["method"] == method] for method in (TEAM, VBS))
    yield from ("## What to take", "", "What the teams pick that come with the package, under `accuracy`.", "")
    shown = own[own["preset"] == "accuracy"]
    columns = ["game", "budget", *AXES, "exploitability", "speed", "regret",
               "in_tied_set", "converged"]  # fmt: skip
    yield from table(shown[columns])
    yield ""
    good = (own["regret"] <= LEAST) | own["in_tied_set"].astype(bool)
    fixed = sum(
        is_deterministic((Cell(*cell),), compiled(game))
        for game, *cell in own[["game", *AXES]].itertuples(index=False, name=None)
    )
    same = (own[list(AXES)].to_numpy() == best[list(AXES)].to_numpy()).all(axis=1)
    yield (
        f"Over all {len(own)} games, budgets and presets their regret is at most {own['regret'].max():.3g}, on "
        f"average {own['regret'].mean():.3g}; {good.sum()} are within {LEAST} of the best or tied with it, "
        f"{same.sum()} the very algorithm that is best by the runs to choose by. {fixed} of the picks draw nothing at "
        "random."
    )


def at_hundred(rows: pd.DataFrame) -> Iterator[str]:
    """Methods at equal evaluations."""
    yield from (f"## {methods.HUNDRED} evaluations of 336", "")
    yield (
        "One CPU second, ten seeds. An evaluation is an algorithm measured; successive halving, which begins with all "
        "of them and draws nothing at random, counts parts of the budget as the parts of an evaluation that they are; "
        "TPE proposes some again, which costs nothing. Scores are 1 for the best of all and 0 for the mean of a "
        "draw; interquartile means over games, presets and seeds, with a stratified bootstrap's 95 % interval."
    )
    yield ""
    regrets = rows.pivot_table(index=["game", "preset"], columns="method", values="regret", sort=False)
    yield "Mean regret:"
    yield ""
    yield from table(regrets.reset_index().rename_axis(columns=None))
    yield ""
    lines = []
    for method, group in rows.groupby("method", sort=False):
        strata = [one["normalised_score"].to_numpy() for _, one in group.groupby(["game", "preset"])]
        low, high = bootstrap_interval(strata)
        lines.append(
            {"method": method, "mean regret": group["regret"].mean(),
             "IQM of scores": interquartile_mean(group["normalised_score"]), "from": low, "to": high,
             "tied with the best": f"{group['in_tied_set'].astype(bool).mean():.0%}",
             "evaluations": group["spent"].mean(), "engine CPU s": group["cpu_seconds"].mean()}
        )  # fmt: skip
    yield from table(pd.DataFrame(lines))


def along(rows: pd.DataFrame) -> Iterator[str]:
    """Mean scores by evaluations, and when they are good."""
    yield from ("## With fewer and with more", "", "![scores](selection.svg)", "")
    yield f"Mean normalised score over games and {LADDER_SEEDS} seeds, preset `accuracy`."
    yield ""
    scores = rows.pivot_table(index="method", columns="evaluations", values="normalised_score", sort=False)
    yield from table(scores.reset_index().rename_axis(columns=None))
    yield from (
        "",
        f"Fewest of these evaluations, and their engine CPU seconds, from which on mean scores are at least {GOOD:g}:",
        "",
    )
    lines = []
    for (game, method), group in rows.groupby(["game", "method"], sort=False):
        means = group.groupby("evaluations")[["normalised_score", "cpu_seconds"]].mean()
        there = means[(means["normalised_score"] >= GOOD)[::-1].cummin()[::-1]]
        text = "never" if there.empty else f"{there.index[0]} ({there['cpu_seconds'].iloc[0]:.3g} s)"
        lines.append({"game": game, "method": method, "text": text})
    frame = pd.DataFrame(lines).pivot_table(index="game", columns="method", values="text", aggfunc="first", sort=False)
    yield from table(frame.reset_index().rename_axis(columns=None))


def never_met() -> Iterator[str]:
    """The team for games that were not measured."""
    rows = pd.read_csv(shipped.path(shipped.GENERALISATION), keep_default_na=False)
    known = {str(budget) for budget in shipped.BUDGETS}
    yield from ("## Games never met", "")
    yield (
        f"Regret of what a team picks by the game's features alone, of {len(shipped.tabular())} algorithms; beside, of "
        "the single best on the games that the team was trained on (SBS), and the engine CPU seconds of measuring all "
        "algorithms instead. Means over budgets and presets. The team that comes with the package:"
    )
    yield ""
    own = rows[(rows["without"] == "") & rows["budget"].isin(known)]
    columns = ["kind", "member", "game", "histories"]
    yield from table(own.groupby(columns, sort=False)[["team", "SBS", "measuring"]].mean().reset_index())
    yield from ("", "By kind of game, the team's gain on SBS with a bootstrap's 95 % interval over games:", "")
    yield from table(_summarised(own))
    together = summary(own[own["kind"].isin([MEMBER, LARGER])].assign(kind=ALL))[ALL]
    interval = (together.get("gain from", -np.inf), together.get("gain to", np.inf))
    verdict = "holds" if interval[0] > 0 else "is missed"
    yield (
        f"\nOn members of families that it knows and on hundredfold larger games together its regret is "
        f"{together['team']:.4f} and the SBS's {together['SBS']:.4f}; the gain, {together['gain']:.4f}, has the "
        f"interval {interval[0]:.4f} to {interval[1]:.4f}: the aim, to be surely better, {verdict}."
    )
    yield from (
        "",
        "The same of members for test alone: those for validation were looked at while it was decided how to learn, "
        "these were named before any of them was measured, and measured after that "
        "([decision 16](adr/0016-learning-for-unseen-games.md)):",
        "",
    )
    yield from table(_summarised(own[own["member"] == "test"]))
    yield from ("", "Under budgets that no team has met:", "")
    yield from table(_summarised(rows[(rows["without"] == "") & ~rows["budget"].isin(known)]))
    yield from ("", "Teams trained without one family, on those of its members that none learns on:", "")
    left_out = rows[(rows["without"] != "") & rows["budget"].isin(known)]
    yield from table(
        pd.concat(
            {name: _summarised(group) for name, group in left_out.groupby("without", sort=False)},
            names=["without", None],
        ).reset_index("without")
    )


def _summarised(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame([{"kind": kind, **found} for kind, found in summary(rows).items()])


def draw(hundred: pd.DataFrame, ladder: pd.DataFrame) -> None:
    """Scores by evaluations, and the share of choices above each score."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    thresholds = np.linspace(0.5, 1.0, 101)
    for method, colour, mark in zip(METHODS, COLOURS, MARKS, strict=False):
        scores = ladder[ladder["method"] == method].groupby("evaluations")["normalised_score"].mean()
        left.plot(scores.index, scores, f"{mark}-", markersize=5, color=colour, label=method)
        own = hundred[hundred["method"] == method]["normalised_score"]
        right.plot(thresholds, performance_profile(own, thresholds), f"{mark}-", markevery=10, color=colour)
    left.set(xscale="log", xlabel="evaluations", ylabel="mean normalised score", ylim=(0, 1.02))
    left.set_xticks(LADDER, labels=map(str, LADDER))
    left.minorticks_off()
    right.set(xlabel="normalised score", ylabel=f"share of choices above it, {methods.HUNDRED} evaluations")
    left.legend(frameon=False)
    with matplotlib.rc_context({"svg.hashsalt": "rlccfr"}):  # the same bytes each time
        figure.savefig(PICTURE, metadata={"Date": None})


def table(frame: pd.DataFrame) -> list[str]:
    """As Markdown."""
    return RecommendationTable(frame).to_markdown().splitlines()


if __name__ == "__main__":
    main()
