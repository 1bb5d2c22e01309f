"""What the commands read that run nothing: measurements that came with the package, or a sweep of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rlccfr.cli.console import budgets, load, progress
from rlccfr.errors import BudgetError, RLCCFRError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlccfr.catalog import Catalog
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.envs.measuring.table import TableEvaluator

Games = Annotated[list[str] | None, typer.Argument(help="Of those measured. [all]")]
Results = Annotated[
    Path | None, typer.Option(help="A sweep of your own: its store, or a file of `rlccfr sweep --compact`.")
]
SweptCatalog = Annotated[
    str | None,
    typer.Option("--catalog", help="What to choose from: paper, tabular, extended-tabular ..., as measured. [paper]"),
]
SweptNetworks = Annotated[
    str | None, typer.Option("--networks", help="Preset of the deep rules' networks in that sweep. [sweep]")
]
Limits = tuple[list[int] | None, list[float] | None, list[int] | None]
"""Iterations, seconds, nodes: several of one of them."""


class Measured(NamedTuple):
    """Measurements, what of them was asked for, and whether they are the package's."""

    table: TableEvaluator
    catalog: Catalog
    games: list[str]
    budgets: Sequence[Budget]
    shipped: bool


def measured(
    games: list[str] | None, limits: Limits, results: Path | None, catalog: str | None, networks: str | None
) -> Measured:
    """All games and the headline budgets unless some are given.

    Raises:
        RLCCFRError: there is nothing to read, or a game that was not measured.
        BudgetError: a budget that not all algorithms ran for.
    """
    with progress("reading the measurements"):
        from rlccfr.agents import shipped
        from rlccfr.envs.episode import parse_budget, parse_catalog
        from rlccfr.envs.measuring.table import TableEvaluator

        asked = [parse_budget(one) for one in budgets(*limits)] if any(limits) else shipped.BUDGETS
        table = TableEvaluator(results) if results is not None else shipped.results()
        if not table.games:
            raise RLCCFRError(f"{results} holds no measurements; name a store of `rlccfr sweep`")
        named = [_shipped(game) for game in games or shipped.GAMES] if results is None else games or table.games
        whole = results is None and catalog is None and networks is None
        cells = shipped.catalog() if whole else parse_catalog(catalog or "paper").with_networks(networks or "sweep")
        for game in named:
            lacking = next((cell for cell in cells if not table.seeds(game, cell)), None)
            if lacking and results is None:
                raise RLCCFRError(
                    f"the package has no run of {lacking}; it has the catalogs paper, tabular and extended-tabular, "
                    "networks of the preset sweep"
                )
            if lacking:
                raise RLCCFRError(
                    f"{results} has no run of {lacking} on {game!r}; it has {', '.join(table.games)}: name one of "
                    "these, and say by --catalog and --networks what was swept"
                )
        _long_enough(table, named, cells, asked)
        return Measured(table, cells, named, asked, shipped=whole)


def _long_enough(table: TableEvaluator, games: Sequence[str], cells: Catalog, asked: Sequence[Budget]) -> None:
    """For who asks by a command: the table's own error names one run and what Python can do about it."""
    from rlccfr.envs.measuring.curve import COLUMN
    from rlccfr.envs.measuring.request import Request

    for budget in asked:
        ends = [
            max(table.run(game, cell, seed)["curve"][COLUMN[budget.unit]], default=0)
            for game in games
            for cell in cells
            for seed in table.seeds(game, cell)
            if not table.known(Request(game, (cell,), budget, seed=seed))
        ]
        if ends and min(ends) > 0:  # else there are no curves to read off, as the table will say
            least = f"{min(ends):.3g}" if budget.unit == "seconds" else f"{min(ends):.0f}"
            raise BudgetError(
                f"not all algorithms ran for {budget}, the shortest for {least}: ask for less by --{budget.unit}, or "
                "measure for longer by `rlccfr sweep` and name its store by --results"
            )


def _shipped(game: str) -> str:
    from rlccfr.agents import shipped

    name = shipped.name_of(game)
    if name is None:
        load(game)  # it may be misspelt
        raise RLCCFRError(
            f"{game!r} is not among the measured games, {', '.join(shipped.GAMES)}; measure and compare it with "
            f"`rlccfr compare '{game}'`, or let a team pick unmeasured with `rlccfr recommend '{game}'`"
        )
    return name
