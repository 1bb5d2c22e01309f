"""``rlccfr report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlccfr.cli.console import PresetNames, SeveralIterations, SeveralNodes, SeveralSeconds, budgets, progress


def report(
    out: Annotated[Path, typer.Argument(help="The HTML file to write.")] = Path("report.html"),
    iterations: SeveralIterations = None,
    seconds: SeveralSeconds = None,
    nodes: SeveralNodes = None,
    presets: PresetNames = None,
) -> None:
    """Write all measurements that come with the package as one page for a browser.

    A heatmap of all algorithms for each game, their Pareto front of error against speed, convergence curves, and the
    recommended-algorithm table. Budgets are 0.01, 0.1 and 1 CPU seconds and presets all unless others are given.
    """
    with progress("reading the measurements"):
        from rlccfr.agents import shipped
        from rlccfr.agents.report import write_report
        from rlccfr.envs.options import Options
        from rlccfr.envs.reward import PRESETS

        given = budgets(iterations, seconds, nodes) if (iterations or seconds or nodes) else shipped.BUDGETS
        options = Options.parse(
            shipped.GAMES, given, 1, presets or list(PRESETS), "log", shipped.catalog(), (0,), shipped.results()
        )
        found = shipped.table(options.games, options.budget, options.preset)
        write_report(out, shipped.results(), options.catalog, options.games, options.budget, found)
    print(f"written to {out}")
