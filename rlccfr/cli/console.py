"""What commands share: loading a game, commands to print, and output for users and for programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rlccfr.cli.progress import progress
from rlccfr.errors import RLCCFRError

RUNS = Path("runs")
"""Default directory of teams and measurements, below the current directory."""


class Output(Console):
    """A console on stdout that raises an error if the reader has closed the pipe; the program then ends quietly."""

    def on_broken_pipe(self) -> None:
        """Raise the error again; Rich would exit with 1, and `rlccfr solve kuhn | head` would count as failed."""
        raise BrokenPipeError


class Interrupted(RLCCFRError):
    """An interruption by Ctrl-C; the message says what was kept."""


def load(game: str, max_histories: int | None = None) -> Any:
    """Load a game, with a progress bar. A process compiles a game only once unless ``max_histories`` is given."""
    with progress(f"compiling {game}") as report:
        from rlccfr.games.compiled_games import compiled
        from rlccfr.games.names import form_named, load_game

        if max_histories is None and form_named(game).has_histories:
            return compiled(game, report)
        return load_game(game, max_histories=max_histories, progress=report)


def called() -> list[str]:
    """Return the first words of a command to print: the program, and options that load what this process has loaded."""
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
    """Quote a string for a shell, with double quotes if they suffice."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN, which JSON lacks, must have been replaced by None."""
    print(json.dumps(value, indent=1, allow_nan=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """Print a table as wide as the terminal or, in a pipe, as wide as needed; numbers are aligned to the right."""
    table = Table(show_header=any(columns), header_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        has_numbers = rows and all(isinstance(row[index], (int, float)) or row[index] == "-" for row in rows)
        table.add_column(column, justify="right" if has_numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(number(value) if isinstance(value, (int, float)) else str(value) for value in row))
    console = Output(highlight=False, markup=False)
    if not console.is_terminal:
        console = Output(highlight=False, markup=False, width=500)
    if title is not None:  # rich would fold it to the table's width
        console.print(title)
    console.print(table)


def number(value: float) -> str:
    """Return a number with four significant digits; a dash for NaN, yes or no for a bool.

    A whole number, or one of at least 10,000, has no decimals, and commas between thousands. A float of 1e15 or more is
    written as 1e+15.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value != value:
        return "-"
    value += 0  # -0.0 becomes 0.0
    if isinstance(value, float) and abs(value) >= 1e15:
        return f"{value:.4g}"
    return f"{value:,.0f}" if abs(value) >= 1e4 or value == int(value) else f"{value:.4g}"


def on_one_line(text: str) -> str:
    """Return a string without line breaks and other control characters, which could act on a terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in text).rstrip()
