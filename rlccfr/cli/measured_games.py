"""Measurements for the commands that run nothing: from the package, or from a sweep of the user's."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import typer

from rlccfr.cli.command import option
from rlccfr.cli.console import called, load, on_one_line, quoted
from rlccfr.cli.options import SeveralBudgets
from rlccfr.cli.progress import progress
from rlccfr.errors import BudgetError, RLCCFRError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rlccfr.catalog import Catalog
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.envs.measuring.table import TableEvaluator
    from rlccfr.envs.sweeping.unfinished import Missing

Games = Annotated[list[str] | None, typer.Argument(help="Measured games. [the paper's four]")]
SeveralGames = Annotated[list[str] | None, typer.Option("--game", help="Measured game; may be repeated. [all]")]

ENDS_IN_WORDS = {
    "failed": "failed",
    "timeout": "took too long",
    "out_of_memory": "had too little memory",
    "unavailable": "can't run",
}
"""Words for how a run ended, keyed by its status."""

MOST_LISTED = 12
"""Largest number of components of a catalog that a message writes out."""

REASONS = 5
"""Largest number of reasons for failed runs that are printed."""


@dataclass(frozen=True)
class MeasurementOptions:
    """Which measurements to read."""

    TITLE: ClassVar[str] = "Measurements"
    results: Path | None = option(None, "A sweep of your own: its store, or a file of `rlccfr sweep --compact`.")
    catalog: str | None = option(
        None, "The measured catalog to choose from: paper, tabular, public ... [what fits the games]"
    )
    networks: str | None = option(None, "Use the runs whose deep rules had this preset of networks. [sweep]")


class Measured(NamedTuple):
    """Measurements, and which of them a command is to show.

    Attributes:
        table: all measurements.
        catalog: the algorithms to choose from.
        games: names of the games to show.
        budgets: the budgets to show.
        description: a line to print that says which algorithms there are to choose from, and where they were measured;
            the tables do not say this.
        shipped: whether the package has teams that learned from the measurements of exactly this catalog.
    """

    table: TableEvaluator
    catalog: Catalog
    games: list[str]
    budgets: Sequence[Budget]
    description: str
    shipped: bool

    def say(self) -> None:
        """Print on stderr which measurements are read, and why runs have failed."""
        print(self.description, file=sys.stderr)
        say_failures(
            self.table.run(game, algorithm, seed)
            for game in self.games
            for algorithm in self.catalog
            for seed in self.table.seeds(game, algorithm)
        )


def measured(
    games: list[str] | None, budgets: SeveralBudgets, options: MeasurementOptions, *, game_option: str = ""
) -> Measured:
    """Return the measurements to read; by default those of the paper's games under the package's budgets.

    Args:
        games: names of the games. The default is all games of the sweep; for the package's measurements, it is the
            paper's games or, with the catalog ``public``, the games with public trees.
        budgets: the budgets to show, by default those of the package that all runs of a sweep cover.
        options: which measurements to read, by default the package's. The catalog is by default the one with which
            `rlccfr sweep` measures such games, ``paper`` or another; if a sweep lacks some of its runs, it is the
            largest that the sweep has in full.
        game_option: the option by which the command takes games, for errors; empty if they are arguments.

    Raises:
        RLCCFRError: there is nothing to read, a game or algorithm was not measured, the games have no measured catalog
            in common, or budgets of several units are given.
        BudgetError: some algorithm's run is shorter than a budget.
    """
    with progress("reading the measurements"):
        from rlccfr.envs.catalog_text import default_catalog
        from rlccfr.envs.episode import parse_budget

        wanted_budgets = [parse_budget(budget) for budget in budgets.amounts()] if budgets.are_given else []
        if options.results is None:
            return _of_the_package(games, wanted_budgets, options.catalog, options.networks)
        from rlccfr.agents import shipped

        table = _own_table(options.results)
        names = games or table.games
        catalog_name, algorithms = _catalog_to_show(table, names, options)
        # A sweep that was stopped lacks runs: say how to complete it.
        unfinished_games = [game for game in names if table.lacking(game, algorithms)]
        if unfinished_games:
            message = _unfinished_message(
                table, unfinished_games, algorithms, options.results, catalog_name, options.networks
            )
            complete_games = [game for game in names if game not in unfinished_games]
            if complete_games:
                words = [f"{game_option} {quoted(game)}".lstrip() for game in complete_games]
                message += f"; or show only the complete games: {' '.join(words)}"
            raise RLCCFRError(message)
        _require_long_runs(table, names, algorithms, wanted_budgets)
        budgets_to_show = wanted_budgets or _budgets_covered(table, names, algorithms, shipped.BUDGETS)
        source = str(options.results)
        if options.catalog is None and catalog_name != default_catalog(names):
            source += f"; runs of the catalog {default_catalog(names)!r} are missing"
        description = _described(algorithms, catalog_name, source)
        return Measured(table, algorithms, names, budgets_to_show, description, shipped=False)


def _catalog_to_show(table: TableEvaluator, games: Sequence[str], options: MeasurementOptions) -> tuple[str, Catalog]:
    """Return the catalog to show of a sweep, as text and with the networks that were asked for.

    It is the one that the user names. By default, it is the one with which `rlccfr sweep` measures such games, unless
    the sweep has all runs of another one, and no others: then it was made with that one.
    """
    from rlccfr.envs.catalog_text import default_catalog
    from rlccfr.envs.episode import parse_catalog

    text = options.catalog or default_catalog(games)
    algorithms = parse_catalog(text).with_networks(options.networks or "sweep")
    if options.catalog is None and any(table.lacking(game, algorithms) for game in games):
        swept = _swept_catalog(table, games, options.networks)
        if swept is not None and _has_no_others(table, games, parse_catalog(swept)):
            text = swept
            algorithms = parse_catalog(swept).with_networks(options.networks or "sweep")
    return text, algorithms


def table_of(game: str, results: Path | None) -> tuple[TableEvaluator, str]:
    """Return the measurements of a game, by default the package's, and the game's name in them.

    Args:
        game: the game.
        results: a sweep of the user's, which may lack algorithms.

    Raises:
        GameError: there is no such game.
        RLCCFRError: the package has not measured it, or the sweep holds no measurements.
    """
    with progress("reading the measurements"):
        from rlccfr.agents import shipped

        if results is None:
            name = _shipped_name(game)
            is_public = shipped.part_of(name) == shipped.public_part()
            return (shipped.public_results() if is_public else shipped.results()), name
        return _own_table(results), game


def _own_table(results: Path) -> TableEvaluator:
    """Return the measurements of a sweep of the user's.

    Raises:
        RLCCFRError: the sweep holds none.
    """
    from rlccfr.envs.measuring.table import TableEvaluator

    table = TableEvaluator(results)
    if not table.games:
        raise RLCCFRError(f"{results} holds no measurements; name a store that `rlccfr sweep` wrote")
    return table


def _of_the_package(
    games: list[str] | None, wanted_budgets: list[Budget], catalog: str | None, networks: str | None
) -> Measured:
    """Return the package's measurements of games; see :func:`measured`."""
    from rlccfr.agents import shipped
    from rlccfr.envs.episode import parse_catalog

    default_games = shipped.PUBLIC_GAMES if catalog == "public" else shipped.GAMES
    names = [_shipped_name(game) for game in games or default_games]
    # Games with a public tree were measured apart from the compiled ones.
    measured_part = shipped.part_of(names[0])
    outsider = next((game for game in names if game not in measured_part.games), None)
    if outsider is not None:
        raise RLCCFRError(
            f"{names[0]!r} and {outsider!r} were measured with different algorithms and budgets: name one at a time"
        )
    if measured_part == shipped.public_part():
        table = shipped.public_results()
        catalog_name = catalog or "public"
    else:
        table = shipped.results()
        catalog_name = catalog or "paper"
    algorithms = measured_part.catalogs[0]
    if catalog is not None or networks is not None:
        algorithms = parse_catalog(catalog_name).with_networks(networks or "sweep")
    for game in names:
        if lacking := table.lacking(game, algorithms):
            raise RLCCFRError(f"the package has no run of {lacking}; it has {measured_part.described}")
    budgets_to_show = wanted_budgets or list(measured_part.budgets)
    _require_long_runs(table, names, algorithms, budgets_to_show)
    description = _described(algorithms, catalog_name, "the package's measurements")
    return Measured(
        table, algorithms, names, budgets_to_show, description, shipped=algorithms == measured_part.catalogs[0]
    )


def _described(algorithms: Catalog, catalog: str, source: str) -> str:
    return f"{len(algorithms):,} algorithms, --catalog {quoted(catalog)}, from {source}"


def say_failures(records: Iterable[Mapping[str, Any]]) -> None:
    """Print on stderr why runs have failed, the most frequent reasons first.

    Errors that differ only in their numbers count as one reason.
    """
    from rlccfr.catalog import Cell

    records_by_reason: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        if record["status"] != "ok":
            # Runs that fail for one reason differ in the numbers that the error names.
            reason = (record["status"], re.sub(r"\d+", "#", str(record["error"])))
            records_by_reason.setdefault(reason, []).append(record)
    most_frequent_first = sorted(records_by_reason.values(), key=len, reverse=True)
    for failed in most_frequent_first[:REASONS]:
        first = failed[0]
        end = ENDS_IN_WORDS[first["status"]]
        example = f"{Cell.of(first)} on {first['game']}"
        runs = f"1 run {end}: {example}" if len(failed) == 1 else f"{len(failed):,} runs {end}, such as {example}"
        print(f"{runs}: {on_one_line(str(first['error']))}", file=sys.stderr)
    reasons_left = len(most_frequent_first) - REASONS
    if reasons_left > 0:
        print(f"{reasons_left:,} more reasons; see `error` in the sweep's records for all of them", file=sys.stderr)


def _unfinished_message(
    table: TableEvaluator, games: Sequence[str], algorithms: Catalog, results: Path, catalog: str, networks: str | None
) -> str:
    """Return an error message that says how many of a catalog's runs are missing on some games, and what to do."""
    from rlccfr.envs.sweeping.unfinished import missing_runs

    # A game without any run is misspelt rather than unfinished.
    for game in games:
        if game not in table.games and not any(table.seeds(game, algorithm) for algorithm in algorithms):
            return f"{results} has no runs on {game!r}; it has {', '.join(table.games)}: name one of these"
    missing = missing_runs(table, games, algorithms)
    settings = "" if networks is None else f" with networks {networks!r}"
    lacks = (
        f"{results} lacks {missing.runs:,} of {missing.total:,} runs of the catalog {catalog!r}{settings} on "
        f"{', '.join(games)}"
    )
    command = f"`{' '.join(_resuming_command(missing, games, results, catalog, networks))}`"
    if missing.limits is None:  # the runs so far do not say which
        command += ", with the --iterations, --seconds and --further that it was started with"
    if swept := _swept_catalog(table, games, networks):
        option = swept if swept.isidentifier() else quoted(swept)
        return f"{lacks}, but has all runs of {swept!r}: give --catalog {option}, or complete the sweep with {command}"
    return f"{lacks}: continue with {command}; if another catalog was swept, name it with --catalog and --networks"


def _swept_catalog(table: TableEvaluator, games: Sequence[str], networks: str | None) -> str | None:
    """Return the largest catalog that was measured in full on the given games, as text; None if there is none.

    Named catalogs come first. Of others, only those of at most :data:`MOST_LISTED` components are written out.
    """
    from rlccfr.catalog import Cell
    from rlccfr.envs.catalog_text import text_of
    from rlccfr.envs.episode import parse_catalog

    # The largest catalogs come first.
    for name in ("extended", "paper", "extended-tabular", "tabular", "public", "schedules", "buckets"):
        algorithms = parse_catalog(name).with_networks(networks or "sweep")
        if all(table.seeds(game, algorithm) for game in games for algorithm in algorithms):
            return name
    rows = table.frame()
    measured = {Cell.of(row) for row in rows[rows["game"].isin(games)].to_dict("records")}
    listed = text_of(measured) if measured else None
    if listed is None or listed.count(" + ") >= MOST_LISTED:
        return None
    is_complete = all(table.seeds(game, algorithm) for game in games for algorithm in parse_catalog(listed))
    return listed if is_complete else None


def _has_no_others(table: TableEvaluator, games: Sequence[str], algorithms: Catalog) -> bool:
    """Return whether a table has runs of no algorithms on some games but those of a catalog."""
    from rlccfr.catalog import Cell

    rows = table.frame()
    return {Cell.of(row) for row in rows[rows["game"].isin(games)].to_dict("records")} <= set(algorithms)


def _resuming_command(
    missing: Missing, games: Sequence[str], results: Path, catalog: str, networks: str | None
) -> Sequence[str]:
    """Return the words of the command that completes a sweep: games, store, and options other than the defaults."""
    from rlccfr.envs.sweeping.plan import Limits
    from rlccfr.envs.sweeping.sweep import SweepPlan

    limits = missing.limits or Limits()
    # A sweep leaves out model seeds beyond its seeds, so this is what its default comes to.
    model_seeds = min(SweepPlan.model_seeds, missing.seeds)
    options = {
        "--catalog": quoted(catalog) if catalog != _default_or_none(games) else None,
        "--networks": quoted(networks) if networks not in (None, "sweep") else None,
        "--seeds": missing.seeds if missing.seeds != SweepPlan.seeds else None,
        "--model-seeds": missing.model_seeds if missing.model_seeds != model_seeds else None,
        "--iterations": limits.iterations if limits.iterations != Limits.iterations else None,
        "--seconds": f"{limits.seconds:g}" if limits.seconds != Limits.seconds else None,
        "--further": limits.further if limits.further else None,
    }
    options |= {"--store": quoted(str(results))} if results.is_dir() else {"--option": f"import={quoted(str(results))}"}
    words = [f"{name} {value}" for name, value in options.items() if value is not None]
    return [*called(), "sweep", *map(quoted, games), *words]


def _default_or_none(games: Sequence[str]) -> str | None:
    """Return the catalog with which `rlccfr sweep` measures games; None if it must be named."""
    from rlccfr.envs.catalog_text import default_catalog

    try:
        return default_catalog(games)
    except RLCCFRError:
        return None


def _require_long_runs(
    table: TableEvaluator, games: Sequence[str], algorithms: Catalog, budgets: Sequence[Budget]
) -> None:
    """Check that all algorithms ran long enough for the budgets.

    The table's own error names a single run and a remedy in Python; this one names options of the command.

    Raises:
        BudgetError: some algorithm's run is shorter than a budget.
    """
    for budget in budgets:
        end = _shortest_end(table, games, algorithms, budget)
        if end is not None and end > 0:  # without curves to read, the table raises its own error
            least = f"{end:.3g}" if budget.unit == "seconds" else f"{end:.0f}"
            raise BudgetError(
                f"not all algorithms ran for {budget}; the shortest run reached only {least}: give a smaller "
                f"--{budget.unit}, or measure for longer with `rlccfr sweep` and name its store with --results"
            )


def _shipped_name(game: str) -> str:
    """Return the name by which the package has measured a game.

    Raises:
        GameError: there is no such game.
        RLCCFRError: the package has not measured it.
    """
    from rlccfr.agents import shipped

    name = shipped.name_of(game)
    if name is None:
        load(game)  # it may be misspelt
        measured = ", ".join(shipped.part_of(game).games)
        raise RLCCFRError(
            f"{game!r} is not among the measured games, {measured}; `rlccfr recommend '{game}' --measure 10s` runs the "
            f"best few algorithms on it, and `rlccfr compare '{game}'` runs all of them"
        )
    return name


def _budgets_covered(
    table: TableEvaluator, games: Sequence[str], algorithms: Catalog, budgets: Sequence[Budget]
) -> list[Budget]:
    """Return those of some budgets that all runs cover; if there are none, the longest one in their unit."""
    from rlccfr.envs.measuring.request import Budget

    ends = {budget: _shortest_end(table, games, algorithms, budget) for budget in budgets}
    covered = [budget for budget, end in ends.items() if end is None]
    if covered:
        return covered
    shortest = min(budgets, key=lambda budget: budget.amount)
    end = ends[shortest]
    if not end:  # without curves to read, the table raises its own error
        return [shortest]
    digit = 10.0 ** (math.floor(math.log10(end)) - 1)  # of two digits, so that curves reach the budget
    return [Budget(shortest.unit, float(f"{math.floor(end / digit) * digit:.2g}"))]


def _shortest_end(table: TableEvaluator, games: Sequence[str], algorithms: Catalog, budget: Budget) -> float | None:
    """Return the end of the shortest run that does not cover a budget, in the budget's unit; None if all cover it.

    It is 0 if a run has no curve.
    """
    return min((end for game in games for end in table.ends_before(game, algorithms, budget)), default=None)
