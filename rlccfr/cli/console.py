"""Shared parts of the commands: options, budgets, progress, and output for people or programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from rlccfr.cli.progress import progress
from rlccfr.errors import RLCCFRError

Iterations = Annotated[int | None, typer.Option(help="Budget in iterations.")]
Seconds = Annotated[float | None, typer.Option(help="Budget in engine CPU seconds.")]
Nodes = Annotated[int | None, typer.Option(help="Budget in histories touched.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
StorePath = Annotated[Path, typer.Option("--store", help="Directory that keeps every measurement for later runs.")]
CatalogName = Annotated[
    str,
    typer.Option(
        "--catalog",
        help="Algorithms to choose from: paper, tabular, extended, extended-tabular, schedules, or public for hold'em "
        'and Bluff; add your own rules as in "tabular + my_rule".',
    ),
]
PresetNames = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        help="Weights of the reward: accuracy, paper-kuhn ..., or your own alpha and beta as 0.7,0.3; may be "
        "repeated. [accuracy]",
    ),
]
SeveralIterations = Annotated[
    list[int] | None,
    typer.Option("--iterations", help="Budget in iterations; may be repeated."),
]
SeveralSeconds = Annotated[
    list[float] | None, typer.Option("--seconds", help="Budget in engine CPU seconds; may be repeated.")
]
SeveralNodes = Annotated[
    list[int] | None, typer.Option("--nodes", help="Budget in histories touched; may be repeated.")
]
ScaleName = Annotated[
    str | None,
    typer.Option(
        "--scale",
        help="Scale of the reward's error cost e: log, linear or units. [units for the paper's presets, else log]",
    ),
]
Evaluations = Annotated[int, typer.Option(help="Distinct algorithms that may be measured.")]
MaxHistories = Annotated[int | None, typer.Option(help="Most histories that a game may have.")]
GameOfFile = Annotated[
    str | None, typer.Option("--game", help="The game that the policy is for. [the one that its file names]")
]
Seed = Annotated[int, typer.Option(help="Seed of everything random: the same seed gives the same run.")]

RUNS = Path("runs")
"""Default directory of teams and measurements, below the current directory."""


class Interrupted(RLCCFRError):
    """An interruption by Ctrl-C; the message says what was kept."""


def budget(iterations: int | None, seconds: float | None, nodes: int | None) -> dict[str, Any]:
    """Return the given budget as ``{"unit": ..., "amount": ...}``; 1,000 iterations if none was given.

    Raises:
        RLCCFRError: several budgets were given, or one is not positive.
    """
    (only_budget,) = budgets(
        None if iterations is None else [iterations],
        None if seconds is None else [seconds],
        None if nodes is None else [nodes],
    )
    return only_budget


def budgets(
    iterations: Sequence[float] | None, seconds: Sequence[float] | None, nodes: Sequence[float] | None
) -> list[dict[str, Any]]:
    """Return the given budgets, all in one unit; 1,000 iterations if none was given.

    Raises:
        RLCCFRError: several units were given, or an amount is not positive.
    """
    options = {"iterations": iterations, "seconds": seconds, "nodes": nodes}
    amounts_by_unit = {unit: amounts for unit, amounts in options.items() if amounts} or {"iterations": [1000]}
    if len(amounts_by_unit) > 1:
        names = [f"--{unit}" for unit in amounts_by_unit]
        raise RLCCFRError(f"give one budget, not {' and '.join(names)}")
    ((unit, amounts),) = amounts_by_unit.items()
    for amount in amounts:
        if not amount > 0:
            raise RLCCFRError(f"--{unit} must be a positive number, not {amount}")
    return [{"unit": unit, "amount": amount} for amount in amounts]


def load(game: str, max_histories: int | None = None) -> Any:
    """Return the game, with a progress bar; a process compiles it once, unless ``max_histories`` is given."""
    with progress(f"compiling {game}") as report:
        from rlccfr.envs.measuring.compiled_games import compiled
        from rlccfr.games.names import load_game
        from rlccfr.games.public.names import is_public

        if max_histories is None and not is_public(game):
            return compiled(game, report)
        return load_game(game, max_histories=max_histories, progress=report)


def check_only(context: typer.Context, option: str, allowed: Collection[str], takes: str) -> None:
    """Refuse options that have no use beside another.

    Args:
        context: the command's context.
        option: the option that was given.
        allowed: parameters of the command that may be given beside it.
        takes: what the option does, such as "solves a linear program", for the error.

    Raises:
        RLCCFRError: another one was given.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in allowed and source is not None and source.name == "COMMANDLINE":
            raise RLCCFRError(f"{option} {takes}, which takes no {parameter.opts[0]}: leave out one of them")


def called() -> list[str]:
    """Return the first words of a command to print: the program, and the options that load the same components."""
    from rlccfr.plugins import loaded

    words = ["rlccfr"]
    if loaded.plugins:
        words.append("--plugins")
    directory = Path.cwd()
    for file in dict.fromkeys(loaded.files):
        path = Path(file)
        if path.is_relative_to(directory):
            path = path.relative_to(directory)
        words += ["--load", quoted(str(path))]
    return words


def quoted(text: str) -> str:
    """Quote a text for a shell, with double quotes if they suffice."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN, which JSON lacks, must have been replaced by None."""
    print(json.dumps(value, indent=1, allow_nan=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """Print a table for people, as wide as the terminal or, in a pipe, as needed; numbers are aligned to the right."""
    table = Table(show_header=any(columns), header_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        has_numbers = rows and all(isinstance(row[index], (int, float)) or row[index] == "-" for row in rows)
        table.add_column(column, justify="right" if has_numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(number(value) if isinstance(value, (int, float)) else str(value) for value in row))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=500)
    if title is not None:  # rich would fold it to the table's width
        console.print(title)
    console.print(table)


def number(value: float) -> str:
    """Return a number with four significant digits; a dash for NaN, yes or no for a bool.

    A whole number, or one of at least 10,000, has no decimals, and commas between thousands.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value != value:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1e4 or value == int(value) else f"{value:.4g}"


def on_one_line(text: str) -> str:
    """Return a text without line breaks and other control characters, which could act on a terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in text).rstrip()
