"""``python -m benchmarks.selection > docs/selection.md``: judge selection against the best of all algorithms.

This also draws docs/selection.svg and writes benchmarks/results/selection.json. The methods' choices are kept in
benchmarks/results; without these choices, the command takes hours.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import informed, methods, never_met, outsiders, simpler
from benchmarks.choosers import BY_HALVING
from benchmarks.markdown import table
from benchmarks.methods import METHODS, Trial, at_a_hundred, choices, judged
from rlccfr.agents import shipped
from rlccfr.agents.judging.effects import performance_profile
from rlccfr.agents.judging.recommendation_table import MARKS, TEAM, VBS
from rlccfr.agents.judging.reproduction import COLOURS
from rlccfr.agents.judging.scores import bootstrap_interval, interquartile_mean
from rlccfr.agents.judging.sweep_table import recommended_table
from rlccfr.agents.shipped import unmeasured
from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.reward import PRESETS
from rlccfr.games.compiled_games import compiled
from rlccfr.pictures import save

PICTURE = Path(__file__).parent.parent / "docs" / "selection.svg"
LADDER = (14, 28, 56, 100, 200, 336)
"""Numbers of evaluations: the smallest is too small to try every component, the largest tries every algorithm."""

LADDER_SEEDS = 5
LEAST = 0.02
"""Regret up to which a choice counts as without regret."""

GOOD = 0.9
"""Normalised score that counts as good; 1 is the best algorithm's, 0 a random pick's on average."""


def main() -> None:
    """Print the document."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        trials = (at_a_hundred(), rungs(), methods.as_the_demo())
        hundred, ladder, demo = (judged(choices(one, executor)) for one in trials)
    report(hundred, ladder, demo)


def report(hundred: pd.DataFrame, ladder: pd.DataFrame, demo: pd.DataFrame) -> None:
    """Print the document on judged choices, draw its picture, and keep the figures that the README shows."""
    draw(hundred, ladder)
    simpler.keep(simpler.figures(hundred, ladder, demo, unmeasured.rows_of(BY_HALVING)))
    few = simpler.as_the_demo(demo)
    compared = (at_hundred(hundred), along(ladder), informed.section(), few)
    for section in (head(), picks(), *compared, never_met.section(), outsiders.section()):
        print("\n".join([*section, ""]), flush=True)


def rungs() -> list[Trial]:
    """Return the trials of each method on each game under ``accuracy``, for each number of :data:`LADDER`."""
    return [
        Trial(game, "accuracy", method, evaluations, seed)
        for game in shipped.GAMES
        for method in METHODS
        for evaluations in LADDER
        for seed in range(LADDER_SEEDS)
    ]


def head() -> Iterator[str]:
    """Yield the lines on what was measured."""
    frame = shipped.results().frame()
    yield from ("# Selection", "", "Written by `python -m benchmarks.selection`; not edited by hand.", "")
    yield (
        f"The figures rest on {len(frame):,} runs of engine {', '.join(sorted(frame['engine_version'].unique()))} on "
        f"{', '.join(sorted(frame['processor'].unique()))}. Each of the paper's 336 algorithms, and each tabular "
        "algorithm of the extended catalog, ran on four games for the longer of 1,000 iterations and an engine CPU "
        "second. Shorter budgets are read off the runs' curves. The first two fifths of an algorithm's seeds are its "
        "choosing seeds, the others its judging seeds. A deterministic algorithm has one run: after as many iterations "
        "its exploitability is the same by definition. It is chosen by one timing of that run and judged by a second, "
        "brief one, at which the run may reach more or less within a budget in seconds."
    )
    yield ""
    statuses = frame.groupby(["game", "status"]).size().unstack(fill_value=0)
    yield from table(statuses.reset_index().rename_axis(columns=None))
    yield ""
    yield (
        "An algorithm's speed depends on the processor, and on what else the processor did meanwhile. Of the pairs of "
        f"runs of a tabular algorithm that differ in their seed alone, {alike(frame):.0%} have speeds within 25 % of "
        "each other. [The verification](verification.md) repeats ten of all these runs."
    )


def alike(frame: pd.DataFrame) -> float:
    """Return the share of pairs of runs of one tabular algorithm whose speeds differ by at most a factor of 1.25."""
    tabular = frame[frame["throughput_again"].notna()]
    speed = tabular["throughput"] / tabular["reference_throughput"]
    pairs = [
        max(pair) / min(pair) <= 1.25
        for _, seeds in speed.groupby([tabular[name] for name in ("game", *AXES)])
        for pair in combinations(seeds, 2)
    ]
    return float(np.mean(pairs))


def picks() -> Iterator[str]:
    """Yield the lines on what the shipped teams pick."""
    teams = {game: shipped.team(game) for game in shipped.GAMES}
    presets = list(PRESETS)
    found = recommended_table(
        shipped.results(), shipped.catalog(), shipped.GAMES, shipped.BUDGETS, presets, teams=teams
    ).frame
    own, best = (found[found["method"] == method] for method in (TEAM, VBS))
    yield from ("## What to take", "", "The picks of the teams that come with the package, under `accuracy`:", "")
    shown = own[own["preset"] == "accuracy"]
    columns = ["game", "budget", *AXES, "exploitability", "speed", "regret", "in_tied_set", "tied_set_size",
               "converged"]  # fmt: skip
    yield from table(shown[columns])
    yield ""
    good = (own["regret"] <= LEAST) | own["in_tied_set"].astype(bool)
    fixed = sum(
        is_deterministic((Cell(*cell),), compiled(game))
        for game, *cell in own[["game", *AXES]].itertuples(index=False, name=None)
    )
    same = (own[list(AXES)].to_numpy() == best[list(AXES)].to_numpy()).all(axis=1)
    yield (
        f"There are {len(own)} combinations of game, budget and reward weights. Over all of them the picks' regret is "
        f"at most {own['regret'].max():.3g} and on average {own['regret'].mean():.3g}. Of the picks, {good.sum()} are "
        f"within {LEAST} of the best or tied with it; {same.sum()} are the very algorithm that is best by the choosing "
        f"seeds. {fixed} of the picks draw nothing at random."
    )
    yield from (
        "",
        "The number of algorithms that can't be told from the best, as a range over the budgets. Where it is large, "
        "neither a tie nor a low regret says much:",
        "",
    )
    sizes = best.groupby(["game", "preset"], sort=False)["tied_set_size"].agg(["min", "max"])
    spans = sizes.apply(lambda one: str(one["min"]) if one["min"] == one["max"] else f"{one['min']} to {one['max']}", 1)
    yield from table(spans.unstack("preset")[presets].reset_index().rename_axis(columns=None))


def at_hundred(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines on methods at equal numbers of evaluations."""
    yield from (f"## {methods.HUNDRED} evaluations of 336", "")
    yield (
        "The budget is one CPU second; each method has ten seeds. An evaluation is one algorithm, measured once. "
        "Successive halving begins with all algorithms and draws nothing at random; a part of the budget counts as "
        "that part of an evaluation. TPE proposes some algorithms again, which costs nothing. *no network* is the "
        "team's exploration with the best measured algorithm in place of Q-values. The normalised score is 1 for the "
        "best algorithm and 0 for a random pick on average. The table has its interquartile mean (IQM) over games, "
        "reward weights and seeds, with a stratified bootstrap's 95 % interval."
    )
    yield ""
    sizes = rows.groupby(["game", "preset"], sort=False)["tied_set_size"].first().rename("tied set")
    regrets = rows.pivot_table(index=["game", "preset"], columns="method", values="regret", sort=False).join(sizes)
    yield "Mean regret, and how many algorithms can't be told from the best:"
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
    """Yield the lines on mean scores by number of evaluations, and on when they are good."""
    yield from ("## With fewer and with more evaluations", "", "![scores](selection.svg)", "")
    yield f"Mean normalised score over games and {LADDER_SEEDS} seeds, under `accuracy`, by number of evaluations:"
    yield ""
    scores = rows.pivot_table(index="method", columns="evaluations", values="normalised_score", sort=False)
    yield from table(scores.reset_index().rename_axis(columns=None))
    yield from (
        "",
        f"Fewest of these evaluations from which on mean scores are at least {GOOD:g}, and their engine CPU seconds:",
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


def draw(hundred: pd.DataFrame, ladder: pd.DataFrame) -> None:
    """Draw scores by number of evaluations, and the share of choices above each score."""
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
    save(left, PICTURE)


if __name__ == "__main__":
    main()
