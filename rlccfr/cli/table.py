"""``rlccfr table`` and ``rlccfr report``: what a sweep says, for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rlccfr.cli.compare import print_comparison
from rlccfr.cli.console import (
    Json,
    PresetNames,
    ScaleName,
    SeveralIterations,
    SeveralNodes,
    SeveralSeconds,
    budgets,
    print_table,
    progress,
)
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlccfr.agents.table import RecommendationTable
    from rlccfr.catalog import Catalog
    from rlccfr.envs.measurement import Budget
    from rlccfr.envs.table import TableEvaluator

SHOWN = ("game", "budget", "preset", "update_rule", "sampler", "abstraction", "exploitability", "throughput", "reward",
    "regret")  # fmt: skip

Games = Annotated[list[str] | None, typer.Argument(help="Of those measured. [all]")]
Results = Annotated[
    Path | None, typer.Option(help="A sweep of your own: its store, or a file of `rlccfr sweep --compact`.")
]


class _Asked(NamedTuple):
    """What a table or report is of."""

    results: TableEvaluator
    catalog: Catalog
    budgets: Sequence[Budget]
    found: RecommendationTable


def table(
    games: Games = None,
    iterations: SeveralIterations = None,
    seconds: SeveralSeconds = None,
    nodes: SeveralNodes = None,
    presets: PresetNames = None,
    scale: ScaleName = "log",
    results: Results = None,
    catalog: Annotated[str | None, typer.Option(help="Of the sweep of your own: paper, tabular ... [paper]")] = None,
    methods: Annotated[bool, typer.Option("--methods", help="Beside the pick: VBS, SBS, the paper's ...")] = False,
    out: Annotated[Path | None, typer.Option(help="Write it to a file: .md, .csv, .html or .json.")] = None,
    json: Json = False,
) -> None:
    """Print the recommended-algorithm table: what three trained agents pick, read off measurements; nothing is run.

    Measurements and teams come with the package, for 0.01, 0.1 and 1 CPU seconds unless other budgets are given. On a
    sweep of your own, teams are trained first. To measure another game: `rlccfr compare`.
    """
    from rlccfr.agents.table import checked_path

    out = checked_path(out) if out is not None else None
    limits = (iterations, seconds, nodes)
    found = _ask(games, limits, presets or ["accuracy"], scale, results, catalog).found
    if out is not None:
        found.write(out)
    if json:
        print(found.to_json())
    elif methods:
        for key, rows in found.frame.groupby(["game", "budget", "preset"], sort=False):
            print_comparison("{}, {}, preset {}".format(*key), rows)
    else:
        _print_picks(found)


def report(
    out: Annotated[Path, typer.Argument(help="The HTML file to write.")] = Path("report.html"),
    games: Annotated[list[str] | None, typer.Option("--game", help="Of those measured. [all]")] = None,
    iterations: SeveralIterations = None,
    seconds: SeveralSeconds = None,
    nodes: SeveralNodes = None,
    presets: PresetNames = None,
    results: Results = None,
    catalog: Annotated[str | None, typer.Option(help="Of the sweep of your own: paper, tabular ... [paper]")] = None,
) -> None:
    """Write measurements as one page for a browser.

    A heatmap of all algorithms for each game, their Pareto front of error against speed, convergence curves, and the
    recommended-algorithm table. As for `rlccfr table`, but for all presets unless some are given.
    """
    from rlccfr.agents.report import check_report, write_report
    from rlccfr.envs.reward import PRESETS

    check_report(out)  # before teams are trained
    asked = _ask(games, (iterations, seconds, nodes), presets or list(PRESETS), "log", results, catalog)
    write_report(out, asked.results, asked.catalog, asked.found, asked.budgets)
    print(f"written to {out}")


def _ask(
    games: list[str] | None,
    limits: tuple[list[int] | None, list[float] | None, list[int] | None],
    presets: list[str],
    scale: str,
    results: Path | None,
    catalog: str | None,
) -> _Asked:
    with progress("reading the measurements" if results is None else "training teams on the measurements") as told:
        from rlccfr.agents import shipped
        from rlccfr.agents.recommended import recommended_table
        from rlccfr.envs.options import parse_budget, parse_catalog
        from rlccfr.envs.table import TableEvaluator

        asked = [parse_budget(one) for one in budgets(*limits)] if any(limits) else shipped.BUDGETS
        if results is not None:
            table, teams = TableEvaluator(results), None
            cells = parse_catalog(catalog or "paper").with_networks("sweep")
            named = games or table.games
        else:
            if catalog is not None:
                raise RLCCFRError("--catalog says what a sweep of your own has: name that with --results")
            table, cells = shipped.results(), shipped.catalog()
            named = [_shipped(game) for game in games or shipped.GAMES]
            teams = {game: shipped.team(game) for game in named}
        found = recommended_table(table, cells, named, asked, presets, scale, teams, told)
    return _Asked(table, cells, asked, found)


def _shipped(game: str) -> str:
    from rlccfr.agents import shipped

    name = shipped.name_of(game)
    if name is None:
        raise RLCCFRError(
            f"{game!r} is not among the measured games, {', '.join(shipped.GAMES)}; measure and compare it with "
            f"`rlccfr compare '{game}'`, or let a team pick unmeasured with `rlccfr recommend '{game}'`"
        )
    return name


def _print_picks(table: RecommendationTable) -> None:
    lines = []
    for _, row in table.picks.iterrows():
        remarks = ["tied with the best"] * bool(row["in_tied_set"]) + ["not converged"] * (not row["converged"])
        lines.append([row[name] for name in SHOWN] + [", ".join(remarks)])
    print_table((*SHOWN, ""), lines)
