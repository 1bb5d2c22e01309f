"""Measurements for the commands that run nothing: those of the package, or a sweep of the user's."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rlccfr.catalog import Cell
from rlccfr.cli.console import budgets, called, load, on_one_line, quoted
from rlccfr.cli.progress import progress
from rlccfr.errors import BudgetError, RLCCFRError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rlccfr.catalog import Catalog
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.envs.measuring.table import TableEvaluator
    from rlccfr.envs.sweeping.missing import Missing

Games = Annotated[list[str] | None, typer.Argument(help="Measured games. [the paper's four]")]
Results = Annotated[
    Path | None, typer.Option(help="A sweep of your own: its store, or a file of `rlccfr sweep --compact`.")
]
SweptCatalog = Annotated[
    str | None,
    typer.Option(
        "--catalog",
        help="What to choose from, as measured: paper, tabular, public ... [paper, or public on hold'em]",
    ),
]
SweptNetworks = Annotated[
    str | None, typer.Option("--networks", help="Preset of the deep rules' networks in that sweep. [sweep]")
]
ENDED = {
    "failed": "failed", "timeout": "took too long", "out_of_memory": "had too little memory", "unavailable": "can't run"
}  # fmt: skip
"""Words for the end of a run, by its status."""

REASONS = 5
"""Number of reasons for failed runs that are printed."""

Limits = tuple[list[int] | None, list[float] | None, list[int] | None]
"""Amounts of iterations, seconds and nodes; at most one of the three is given."""


class Measured(NamedTuple):
    """Measurements, and the part that was asked for.

    Attributes:
        told: what is read, for people: tables do not show what they choose from.
        shipped: whether the package has teams that learned from just these.
    """

    table: TableEvaluator
    catalog: Catalog
    games: list[str]
    budgets: Sequence[Budget]
    told: str
    shipped: bool

    def say(self) -> None:
        """Print on stderr what is read, and why runs have failed."""
        print(self.told, file=sys.stderr)
        say_failures(
            self.table.run(game, cell, seed)
            for game in self.games
            for cell in self.catalog
            for seed in self.table.seeds(game, cell)
        )


def measured(
    games: list[str] | None, limits: Limits, results: Path | None, catalog: str | None, networks: str | None
) -> Measured:
    """Return the measurements to read; by default those of the paper's games under the headline budgets.

    Args:
        results: store or file of a sweep; by default the package's measurements.
        catalog: name of a catalog. By default ``paper``, or ``public`` for the package's games of hold'em.
        networks: preset of the deep rules' networks, ``sweep`` by default.

    Raises:
        RLCCFRError: there is nothing to read, a game or algorithm was not measured, the games have no measured catalog
            in common, or budgets of several units are given.
        BudgetError: not all algorithms ran for as long as a budget.
    """
    with progress("reading the measurements"):
        from rlccfr.envs.episode import parse_budget, parse_catalog

        asked = [parse_budget(one) for one in budgets(*limits)] if any(limits) else []
        if results is None:
            return _of_the_package(games, asked, catalog, networks)
        from rlccfr.agents import shipped
        from rlccfr.envs.measuring.table import TableEvaluator

        table = TableEvaluator(results)
        if not table.games:
            raise RLCCFRError(f"{results} holds no measurements; name a store of `rlccfr sweep`")
        cells, named = parse_catalog(catalog or "paper").with_networks(networks or "sweep"), games or table.games
        if lacking := [game for game in named if table.lacking(game, cells)]:
            raise RLCCFRError(_unfinished(table, lacking, cells, results, catalog or "paper", networks))
        _long_enough(table, named, cells, asked or shipped.BUDGETS)
        told = _told(cells, catalog or "paper", str(results))
        return Measured(table, cells, named, asked or shipped.BUDGETS, told, shipped=False)


def _of_the_package(
    games: list[str] | None, asked: list[Budget], catalog: str | None, networks: str | None
) -> Measured:
    """Return what was asked for of the package's measurements."""
    from rlccfr.agents import shipped
    from rlccfr.envs.episode import parse_catalog

    named = [_shipped(game) for game in games or (shipped.PUBLIC_GAMES if catalog == "public" else shipped.GAMES)]
    part, public = shipped.part_of(named[0]), shipped.public_part()
    if other := next((game for game in named if game not in part.games), None):
        raise RLCCFRError(
            f"{named[0]!r} and {other!r} were measured with different algorithms and budgets: ask for one at a time"
        )
    table, default = (shipped.public_results(), "public") if part == public else (shipped.results(), "paper")
    cells = part.catalogs[0]
    if catalog is not None or networks is not None:
        cells = parse_catalog(catalog or default).with_networks(networks or "sweep")
    if lacking := next((absent for game in named if (absent := table.lacking(game, cells))), None):
        raise RLCCFRError(f"the package has no run of {lacking}; it has {part.described}")
    asked = asked or list(part.budgets)
    _long_enough(table, named, cells, asked)
    told = _told(cells, catalog or default, "the package's measurements")
    return Measured(table, cells, named, asked, told, shipped=cells == part.catalogs[0])


def _told(cells: Catalog, catalog: str, where: str) -> str:
    return f"{len(cells):,} algorithms, --catalog {quoted(catalog)}, from {where}"


def say_failures(records: Iterable[Mapping[str, Any]]) -> None:
    """Print on stderr why runs have failed, the most frequent reasons first; numbers in errors do not count."""
    alike: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        if record["status"] != "ok":
            alike.setdefault((record["status"], re.sub(r"\d+", "#", str(record["error"]))), []).append(record)
    ordered = sorted(alike.values(), key=len, reverse=True)
    for own in ordered[:REASONS]:
        ended, example = ENDED[own[0]["status"]], f"{Cell.of(own[0])} on {own[0]['game']}"
        what = f"1 run {ended}: {example}" if len(own) == 1 else f"{len(own):,} runs {ended}, such as {example}"
        print(f"{what}: {on_one_line(str(own[0]['error']))}", file=sys.stderr)
    if len(ordered) > REASONS:
        print(f"{len(ordered) - REASONS:,} more reasons; `error` in the sweep's records has them all", file=sys.stderr)


def _unfinished(
    table: TableEvaluator, games: Sequence[str], cells: Catalog, results: Path, catalog: str, networks: str | None
) -> str:
    """Return an error message: the runs of a catalog that are missing on some games, and what to do about it."""
    from rlccfr.envs.sweeping.missing import missing_runs

    for game in games:
        if game not in table.games and not any(table.seeds(game, cell) for cell in cells):
            return f"{results} has no runs on {game!r}; it has {', '.join(table.games)}: name one of these"
    missing = missing_runs(table, games, cells)
    settings = "" if networks is None else f" with networks {networks!r}"
    lacks = (
        f"{results} lacks {missing.runs:,} of {missing.total:,} runs of the catalog {catalog!r}{settings} on "
        f"{', '.join(games)}"
    )
    command = f"`{' '.join(_going_on(missing, games, results, catalog, networks))}`"
    command += ", with the --iterations, --seconds and --further of its beginning" if missing.limits is None else ""
    if swept := _swept(table, games, networks):
        return f"{lacks}, but none of {swept!r}: ask for that by --catalog {swept}, or go on with {command}"
    return f"{lacks}: go on with {command}; if another catalog was swept, say so by --catalog and --networks"


def _swept(table: TableEvaluator, games: Sequence[str], networks: str | None) -> str | None:
    """Return the largest named catalog that was measured in full on the given games; None if there is none."""
    from rlccfr.envs.episode import parse_catalog

    for name in ("extended", "paper", "extended-tabular", "tabular", "public"):
        cells = parse_catalog(name).with_networks(networks or "sweep")
        if all(table.seeds(game, cell) for game in games for cell in cells):
            return name
    return None


def _going_on(
    missing: Missing, games: Sequence[str], results: Path, catalog: str, networks: str | None
) -> Sequence[str]:
    """Return the words of the command that completes a sweep, without options that have their default values."""
    from rlccfr.envs.sweeping.plan import Limits
    from rlccfr.envs.sweeping.sweep import SweepPlan

    limits, model_seeds = missing.limits or Limits(), min(SweepPlan.model_seeds, missing.seeds)
    options = {
        "--catalog": quoted(catalog) if catalog != "paper" else None,
        "--networks": quoted(networks) if networks not in (None, "sweep") else None,
        "--seeds": missing.seeds if missing.seeds != SweepPlan.seeds else None,
        "--model-seeds": missing.model_seeds if missing.model_seeds != model_seeds else None,
        "--iterations": limits.iterations if limits.iterations != Limits.iterations else None,
        "--seconds": f"{limits.seconds:g}" if limits.seconds != Limits.seconds else None,
        "--further": limits.further if limits.further else None,
        "--store" if results.is_dir() else "--import": quoted(str(results)),
    }
    given = [f"{name} {value}" for name, value in options.items() if value is not None]
    return [*called(), "sweep", *map(quoted, games), *given]


def _long_enough(table: TableEvaluator, games: Sequence[str], cells: Catalog, asked: Sequence[Budget]) -> None:
    """Refuse budgets for which some algorithm did not run long enough.

    The table's own error names a single run and a remedy in Python; this one names options of the command.

    Raises:
        BudgetError: not all algorithms ran for as long as a budget.
    """
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
        if ends and min(ends) > 0:  # without curves to read, the table raises its own error
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
        measured = ", ".join(shipped.part_of(game).games)
        raise RLCCFRError(
            f"{game!r} is not among the measured games, {measured}; `rlccfr recommend '{game}' --measure 10s` runs the "
            f"best few algorithms on it, and `rlccfr compare '{game}'` runs all"
        )
    return name
