"""``rlccfr aslib``: measurements for the selectors of others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlccfr.cli.console import SeveralIterations, SeveralNodes, SeveralSeconds
from rlccfr.cli.measured_games import Results, SweptCatalog, SweptNetworks, measured
from rlccfr.errors import RLCCFRError


def aslib(
    directory: Annotated[Path, typer.Argument(help="Directory to write; its name is the scenario's.")],
    games: Annotated[list[str] | None, typer.Option("--game", help="Measured game; may be repeated. [all]")] = None,
    iterations: SeveralIterations = None,
    seconds: SeveralSeconds = None,
    nodes: SeveralNodes = None,
    results: Results = None,
    catalog: SweptCatalog = None,
    networks: SweptNetworks = None,
    folds: Annotated[int, typer.Option(help="Parts of the cross-validation.")] = 10,
) -> None:
    """Write measurements as a scenario of ASlib, the format that algorithm selectors such as AutoFolio read.

    Its instances are games. A scenario has one budget, by default the longest that `rlccfr table` shows.
    """
    source = measured(games, (iterations, seconds, nodes), results, catalog, networks)
    from rlccfr.envs.measuring.aslib import write_aslib

    has_budget = any((iterations, seconds, nodes))
    if has_budget and len(source.budgets) > 1:
        raise RLCCFRError("a scenario has one budget; name one amount")
    written = write_aslib(source.table, directory, source.budgets[-1], source.catalog, games=source.games, folds=folds)
    print(f"written to {written}: {len(source.games)} games, {len(source.catalog):,} algorithms, {source.budgets[-1]}")
