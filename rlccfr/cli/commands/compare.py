"""``rlccfr compare``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from rlccfr.cli.command import option, rare
from rlccfr.cli.console import RUNS, load, print_table
from rlccfr.cli.options import Json, OneBudget, Seed, StorePath, TrainingOptions, Weights
from rlccfr.cli.progress import progress

if TYPE_CHECKING:
    import pandas as pd

SHOWN = (
    "method", "update_rule", "sampler", "abstraction",
    "exploitability", "throughput", "reference", "speed", "reward", "regret",
)  # fmt: skip
"""Columns that are printed.

The columns that describe an algorithm are written out here, not taken from the catalog's AXES, because importing the
catalog takes time.
"""

LEGEND = "reference: plain CFR's throughput, measured beside the row's runs; speed: throughput divided by reference."


@dataclass(frozen=True)
class JudgingOptions:
    """What the picks are compared with."""

    TITLE: ClassVar[str] = ""
    other_games: list[str] | None = option(None, "Further game, which only the SBS uses; may be repeated.", "--other")
    exhaustive: bool = rare(True, "no: measure few algorithms, without VBS, SBS, regret. [yes]")


def compare(
    budget: OneBudget,
    weights: Weights,
    training: TrainingOptions,
    judging: JudgingOptions,
    games: Annotated[list[str] | None, typer.Argument(help="Games' names or OpenSpiel strings. [kuhn]")] = None,
    seed: Seed = 0,
    store: StorePath = RUNS / "store",
    out: Annotated[Path | None, typer.Option(help="File for the table: .md, .csv, .html or .json.")] = None,
    json: Json = False,
) -> None:
    """Train teams and compare their picks with the baselines.

    Every algorithm is measured here once for each game. VBS, the virtual best solver, is the best of the algorithms
    that have converged on the game. SBS, the single best solver, is the best on average over the other games. Regret is
    the VBS's reward minus the pick's. Speed is throughput as a multiple of plain CFR's, which is measured beside the
    same runs.
    """
    from rlccfr.agents.judging.bench import TeamPlan, build_table
    from rlccfr.agents.judging.recommendation_table import checked_path
    from rlccfr.envs.episode import EpisodeSpec

    out = checked_path(out) if out is not None else None
    games = games or ["kuhn"]
    other_games = judging.other_games or []
    catalog = training.catalog_for([*games, *other_games])
    # A misspelt name must be an error now, not after all other games have been measured.
    for game in (*games, *other_games):
        load(game)
    spec = EpisodeSpec.parse(
        games,
        budget=budget.amount(),
        preset=weights.names,
        scale=weights.scale,
        catalog=catalog,
        engine_seeds=training.engine_seeds or (0,),
        evaluator=store,
    )
    plan = TeamPlan(training.evaluations, seed)
    with progress(f"measuring and training on {', '.join(games)}") as report:
        table = build_table(
            spec, others=other_games, evidence=None if judging.exhaustive else {}, plan=plan, progress=report
        )
    if out is not None:
        table.write(out)
    if json:
        print(table.to_json())
    else:
        print_comparisons(table.frame, solve=True)


def print_comparisons(frame: pd.DataFrame, *, solve: bool) -> None:
    """Print the rows of all games, budgets and presets, with what a linear program would achieve on each game.

    Args:
        frame: the rows.
        solve: whether to solve linear programs that are quick; otherwise, their times are predicted.
    """
    from rlccfr.agents.judging.exact_reference import exact_line
    from rlccfr.envs.episode import parse_preset
    from rlccfr.envs.reward import SCALE_WORDS

    for (game, limit, preset, scale), rows in frame.groupby(["game", "budget", "preset", "scale"], sort=False):
        title = f"{game}, {limit}, preset {preset} ({SCALE_WORDS[str(scale)]})"
        print_comparison(title, rows, speed_alone=parse_preset(str(preset)).speed_alone)
    print(LEGEND)
    for game in frame["game"].unique():
        print(exact_line(game, solve=solve))


def print_comparison(title: str, rows: pd.DataFrame, *, speed_alone: bool = False) -> None:
    """Print the rows of one game, the best first; among equal rewards, the least exploitable, then the fastest.

    Args:
        title: title of the table.
        rows: the rows.
        speed_alone: whether the weights ask for speed alone; otherwise, algorithms that have not converged come last.
    """
    # An algorithm that has not converged can't be recommended, whatever its reward, unless speed alone counts.
    columns = ["reward"] if speed_alone else ["converged", "reward"]
    falling = rows.sort_values("speed", ascending=False, kind="stable").sort_values("exploitability", kind="stable")
    ordered = falling.sort_values(columns, ascending=False, kind="stable")
    ordered = ordered.assign(reference=ordered["throughput"] / ordered["speed"])  # so that the three agree
    lines = [
        ["" if row["converged"] else "not converged", *(row[name] for name in SHOWN)] for _, row in ordered.iterrows()
    ]
    print_table(("", *SHOWN), lines, title=title)
    print()
