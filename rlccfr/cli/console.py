"""What the commands share: budgets, progress, and output for people or programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.games.flat_tree import GameTree

Iterations = Annotated[int | None, typer.Option(help="Budget in iterations.")]
Seconds = Annotated[float | None, typer.Option(help="Budget in engine CPU seconds.")]
Nodes = Annotated[int | None, typer.Option(help="Budget in histories touched.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
StorePath = Annotated[Path, typer.Option("--store", help="Directory that keeps every measurement, to be met again.")]
CatalogName = Annotated[
    str,
    typer.Option(
        "--catalog",
        help="What there is to choose from: paper, tabular, extended or extended-tabular; with others beside, as in "
        '"tabular + my_rule".',
    ),
]
PresetNames = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        help="Weights of the reward: accuracy, paper-kuhn ..., or alpha and beta of your own, as 0.7,0.3; may be "
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
ScaleName = Annotated[str, typer.Option("--scale", help="Scale of the reward's error cost: log or linear.")]
Evaluations = Annotated[int, typer.Option(help="Distinct algorithms that may be measured.")]
MaxHistories = Annotated[int | None, typer.Option(help="Load games of up to so many histories.")]
Seed = Annotated[int, typer.Option(help="Of everything random: the same seed gives the same run.")]

RUNS = Path("runs")
"""Where teams and measurements go unless told otherwise, beneath the current directory."""


class Interrupted(RLCCFRError):
    """Ctrl-C, with a word on what was kept."""


stderr = Console(stderr=True)


def budget(iterations: int | None, seconds: float | None, nodes: int | None) -> dict[str, Any]:
    """The one budget that was given, as ``{"unit": ..., "amount": ...}``; 1,000 iterations if none was.

    Raises:
        RLCCFRError: several were given, or one that is not positive.
    """
    options = {"iterations": iterations, "seconds": seconds, "nodes": nodes}
    (found,) = budgets(**{unit: None if amount is None else [amount] for unit, amount in options.items()})
    return found


def budgets(
    iterations: Sequence[float] | None, seconds: Sequence[float] | None, nodes: Sequence[float] | None
) -> list[dict[str, Any]]:
    """The budgets that were given, all of one unit; 1,000 iterations if none was.

    Raises:
        RLCCFRError: several units were given, or an amount that is not positive.
    """
    options = {"iterations": iterations, "seconds": seconds, "nodes": nodes}
    given = {unit: amounts for unit, amounts in options.items() if amounts} or {"iterations": [1000]}
    if len(given) > 1:
        raise RLCCFRError(f"give one budget, not {' and '.join(f'--{unit}' for unit in given)}")
    ((unit, amounts),) = given.items()
    for amount in amounts:
        if not amount > 0:
            raise RLCCFRError(f"--{unit} must be a positive number, not {amount}")
    return [{"unit": unit, "amount": amount} for amount in amounts]


@contextmanager
def progress(description: str, below: Callable[[], RenderableType] | None = None) -> Iterator[Callable[[float], None]]:
    """A bar on a terminal's stderr, gone when done; yields what to call with the share done.

    It pulses until the first share is known. Elsewhere there is none.

    Args:
        below: what else is to be seen, asked for several times a second.
    """
    if not stderr.is_terminal:
        yield lambda share: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    left = (TextColumn("left:"), TimeRemainingColumn())
    bar, encoding = Progress(*columns, *left), sys.stderr.encoding
    plain = below is None or "utf" not in encoding.lower()

    def picture() -> RenderableType:
        if below is None or plain:
            return bar.get_renderable()
        try:
            return Group(bar.get_renderable(), below())
        except Exception:  # what is only to be looked at must not end what it shows
            return bar.get_renderable()

    # On a stream of its own: it draws from a thread, also while stderr is hidden from OpenSpiel.
    with (
        open(os.dup(sys.stderr.fileno()), "w", encoding=encoding, errors="replace") as stream,
        Live(get_renderable=picture, console=Console(file=stream), transient=True, refresh_per_second=4),
    ):
        task = bar.add_task(description, total=None)
        yield lambda share: bar.update(task, total=1.0, completed=share)


def load(game: str, max_histories: int | None = None) -> GameTree:
    """The compiled game with a progress bar; once a process, unless the size limit is another than the usual."""
    with progress(f"compiling {game}") as report:
        from rlccfr.envs.measuring.compiled_games import compiled
        from rlccfr.games.names import load_game

        if max_histories is None:
            return compiled(game, report)
        return load_game(game, max_histories=max_histories, progress=report)


def print_json(value: Any) -> None:
    """For programs; NaN, which JSON does not have, must be None already."""
    print(json.dumps(value, indent=1, allow_nan=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """For people, as wide as the terminal or, in a pipe, as it needs; numbers and their heads to the right."""
    table = Table(show_header=any(columns), header_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        right = rows and all(isinstance(row[index], (int, float)) or row[index] == "-" for row in rows)
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(number(value) if isinstance(value, (int, float)) else str(value) for value in row))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=500)
    if title is not None:  # rich would fold it to the table's width
        console.print(title)
    console.print(table)


def number(value: float) -> str:
    """Four digits, with thousands separated; a dash for NaN."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value != value:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1e4 or value == int(value) else f"{value:.4g}"
