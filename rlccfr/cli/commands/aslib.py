"""``rlccfr results aslib``: measurements in ASlib's format, for other algorithm selectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlccfr.cli.checks import at_least
from rlccfr.cli.measured_games import MeasurementOptions, SeveralGames, measured
from rlccfr.cli.options import SeveralBudgets
from rlccfr.errors import RLCCFRError


def aslib(
    directory: Annotated[Path, typer.Argument(help="Directory to write; its name is the scenario's.")],
    budgets: SeveralBudgets,
    measurements: MeasurementOptions,
    games: SeveralGames = None,
    folds: Annotated[int, typer.Option(help="Number of parts of the cross-validation.", callback=at_least(2))] = 10,
) -> None:
    """Write measurements as an ASlib scenario.

    Algorithm selectors such as AutoFolio read this format. The instances are games. A scenario has one budget, by
    default the longest that `rlccfr results table` shows.
    """
    from rlccfr.envs.measuring.aslib import write_aslib

    source = measured(games, budgets, measurements, game_option="--game")
    if budgets.are_given and len(source.budgets) > 1:
        raise RLCCFRError("a scenario has one budget: give one amount")
    written = write_aslib(source.table, directory, source.budgets[-1], source.catalog, games=source.games, folds=folds)
    print(f"written to {written}: {len(source.games)} games, {len(source.catalog):,} algorithms, {source.budgets[-1]}")
