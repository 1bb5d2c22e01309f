"""``rlccfr results table`` and ``rlccfr results report``: measurements, as a table or a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlccfr.cli.checks import file_to_write
from rlccfr.cli.commands.compare import print_comparisons
from rlccfr.cli.console import load, print_table
from rlccfr.cli.measured_games import Games, Measured, MeasurementOptions, SeveralGames, measured
from rlccfr.cli.options import BUDGET_AND_WEIGHTS, Json, SeveralBudgets, Weights
from rlccfr.cli.progress import progress
from rlccfr.errors import RLCCFRError
from rlccfr.files import require_writable

if TYPE_CHECKING:
    from rlccfr.agents.judging.recommendation_table import RecommendationTable
    from rlccfr.policies.public_policy import PublicPolicy

SHOWN = (
    "game", "budget", "preset", "scale", "update_rule", "sampler", "abstraction",
    "exploitability", "throughput", "reward", "regret",
)  # fmt: skip
"""Columns that are printed. Those of an algorithm repeat AXES of the catalog, whose import takes time."""


def table(
    budgets: SeveralBudgets,
    weights: Weights,
    measurements: MeasurementOptions,
    games: Games = None,
    methods: Annotated[
        bool, typer.Option("--methods", help="Also show the baselines: VBS, SBS, the paper's ...")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(callback=file_to_write(), help="Write all methods to a file: .md, .csv, .html, .json, .tex."),
    ] = None,
    json: Json = False,
) -> None:
    """Print the package's picks, or the best of your own measurements.

    Nothing is run. Measurements and teams come with the package. The budgets are 0.01, 0.1 and 1 CPU seconds unless
    others are given; for hold'em (`--catalog public`), 1, 10 and 60. For another catalog (`--catalog extended-tabular`
    was measured, too) or a sweep of your own, the best measured algorithms are printed, and below them the best with
    each component of your own. To measure another game: `rlccfr compare`.
    """
    from rlccfr.agents.judging.recommendation_table import checked_path

    if out is not None:  # before teams are trained
        require_writable(checked_path(out))
    source = measured(games, budgets, measurements)
    recommendations = _recommendations(source, weights.names, weights.scale)
    if out is not None:
        recommendations.write(out)
    source.say()
    if json:
        print(recommendations.to_json())
    elif methods:
        print_comparisons(recommendations.frame, solve=False)
    else:
        _print_picks(recommendations)


def report(
    budgets: SeveralBudgets,
    measurements: MeasurementOptions,
    out: Annotated[
        Path, typer.Argument(callback=file_to_write(".html", ".htm"), help="The HTML file to write.")
    ] = Path("report.html"),
    games: SeveralGames = None,
    presets: Annotated[
        list[str] | None,
        typer.Option("--preset", help="Weights; may be repeated. [all presets]", rich_help_panel=BUDGET_AND_WEIGHTS),
    ] = None,
    policies: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            help='Draw the first decision of a policy of hold\'em or Bluff, given as GAME=FILE: "holdem=policy.npz", '
            "which `rlccfr solve holdem --policy policy.npz` wrote; may be repeated.",
        ),
    ] = None,
) -> None:
    """Write measurements as one page for a browser.

    The page has a heatmap of all algorithms for each game, their Pareto front of error against speed, convergence
    curves, and the recommended-algorithm table. The options are those of `rlccfr results table`.
    """
    from rlccfr.agents.judging.report import check_report, write_report
    from rlccfr.envs.reward import PRESETS

    check_report(out)  # before teams are trained
    policies_to_draw = [_policy(text) for text in policies or []]
    source = measured(games, budgets, measurements, game_option="--game")
    recommendations = _recommendations(source, presets or list(PRESETS), None)
    write_report(out, source.table, source.catalog, recommendations, source.budgets, policies_to_draw)
    source.say()
    print(f"written to {out}")


def write_shipped_report(game: str, out: Path) -> None:
    """Write the report of the package's measurements on one game, weighed by accuracy alone.

    Raises:
        RLCCFRError: the extra for reports is not installed, or the file can't be written.
    """
    from rlccfr.agents.judging.report import check_report, write_report

    check_report(out)
    source = measured([game], SeveralBudgets(), MeasurementOptions())
    recommendations = _recommendations(source, ["accuracy"], None)
    write_report(out, source.table, source.catalog, recommendations, source.budgets, [])


def _policy(text: str) -> PublicPolicy:
    """Return the policy that an option names, as in ``holdem=policy.npz``."""
    from rlccfr.game import policy_class

    match = re.fullmatch(r"([^=(]+(?:\([^)]*\))?)=(.+)", text)
    if match is None:
        raise RLCCFRError(f'--policy takes a game and a file, as in "holdem=policy.npz", not {text!r}')
    name, path = match.groups()
    game = load(name)
    if not policy_class(game).draws_ranges:
        raise RLCCFRError(f"--policy draws hands of hold'em and rolls of Bluff, and {name!r} has neither: leave it out")
    game.require_names()
    policy: PublicPolicy = policy_class(game).load(path, game)
    return policy


def _recommendations(source: Measured, presets: list[str], scale: str | None) -> RecommendationTable:
    """Return what the package's teams recommend, or the best algorithms of other measurements."""
    with progress("asking the teams" if source.shipped else "looking up the best") as report:
        from rlccfr.agents import shipped
        from rlccfr.agents.judging.sweep_table import recommended_table

        teams = {game: shipped.team(game) for game in source.games} if source.shipped else {}
        return recommended_table(
            source.table, source.catalog, source.games, source.budgets, presets, scale, teams, report
        )


def _print_picks(table: RecommendationTable) -> None:
    """Print the picks, and below them the best algorithm with each component of the user's own."""
    import pandas as pd

    from rlccfr.agents.judging.recommendation_table import TEAM, VBS

    lines = []
    rows = pd.concat([table.picks, table.own])
    for _, row in rows.iterrows():
        state = "" if row["converged"] else "not converged"
        remarks = []
        if row["method"] not in (TEAM, VBS):
            remarks.append(row["method"])
        if row["in_tied_set"]:
            remarks.append(_tie(int(row["tied_set_size"])))
        lines.append([state, *(row[name] for name in SHOWN), ", ".join(remarks)])
    if rows["converged"].all():
        print_table((*SHOWN, ""), [line[1:] for line in lines])
    else:
        print_table(("", *SHOWN, ""), lines)


def _tie(size: int) -> str:
    """Return a remark that an algorithm is the best, or one of ``size`` algorithms that are tied for the best.

    The size is given because being one of very many says little.
    """
    return "the best" if size == 1 else f"one of {size} tied for the best"
