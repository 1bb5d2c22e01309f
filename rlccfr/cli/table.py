"""``rlccfr table``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from rlccfr.agents.table import RecommendationTable

SHOWN = ("game", "budget", "preset", "update_rule", "sampler", "abstraction", "exploitability", "throughput", "reward",
    "regret")  # fmt: skip


def table(
    games: Annotated[list[str] | None, typer.Argument(help="Of those measured. [all]")] = None,
    iterations: SeveralIterations = None,
    seconds: SeveralSeconds = None,
    nodes: SeveralNodes = None,
    presets: PresetNames = None,
    scale: ScaleName = "log",
    methods: Annotated[bool, typer.Option("--methods", help="Beside the pick: VBS, SBS, the paper's ...")] = False,
    out: Annotated[Path | None, typer.Option(help="Write it to a file: .md, .csv, .html or .json.")] = None,
    json: Json = False,
) -> None:
    """Print the recommended-algorithm table.

    It rests on the measurements and the teams that come with the package; nothing is run. Budgets are 0.01, 0.1 and 1
    CPU seconds unless others are given. For other games: `rlccfr compare`.
    """
    with progress("reading the measurements"):
        from rlccfr.agents import shipped
        from rlccfr.agents.table import checked_path

        out = checked_path(out) if out is not None else None
        given = budgets(iterations, seconds, nodes) if (iterations or seconds or nodes) else None
        found = shipped.table(games, given, presets or ["accuracy"], scale)
    if out is not None:
        found.write(out)
    if json:
        print(found.to_json())
    elif methods:
        for key, rows in found.frame.groupby(["game", "budget", "preset"], sort=False):
            print_comparison("{}, {}, preset {}".format(*key), rows)
    else:
        _print_picks(found)


def _print_picks(table: RecommendationTable) -> None:
    lines = []
    for _, row in table.picks.iterrows():
        remarks = ["tied with the best"] * bool(row["in_tied_set"]) + ["not converged"] * (not row["converged"])
        lines.append([row[name] for name in SHOWN] + [", ".join(remarks)])
    print_table((*SHOWN, ""), lines)
