"""Checks of options' values while the command line is parsed, before a command imports or computes anything.

Each function returns a ``callback`` of ``typer.Option`` or ``typer.Argument``. The library's own checks of the same
values have messages of the same form.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from rlccfr.cli.command import shown_name
from rlccfr.errors import BudgetError, RLCCFRError, whole_number

Check = Callable[[typer.Context, typer.CallbackParam, Any], Any]


def at_least(least: int, most: int | None = None) -> Check:
    """Return a check that rejects whole numbers below ``least``, beyond 64 bits, or above ``most`` if given.

    If the option may be repeated, each of its numbers is checked.
    """

    def checked(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
        if value is None or context.resilient_parsing:
            return value
        for number in value if isinstance(value, (list, tuple)) else (value,):
            whole_number(number, shown_name(parameter), least, BudgetError)
            if most is not None and number > most:
                wanted = f"{least} or {most}" if most == least + 1 else f"from {least} to {most}"
                raise BudgetError(f"{shown_name(parameter)} must be {wanted}, not {number}")
        return value

    return checked


def file_to_write(*suffixes: str) -> Check:
    """Return a check that rejects a file whose folder does not exist, or whose suffix is not one of those given.

    Commands make the directories that they fill, such as a sweep's store, but not the folder of a single file:
    otherwise, a misspelt folder would be made silently. A device or a pipe may have any suffix.
    """

    def checked(context: typer.Context, parameter: typer.CallbackParam, value: Path | None) -> Path | None:
        if value is None or context.resilient_parsing:
            return value
        if value.is_dir():
            raise RLCCFRError(f"can't write {value}: it is a directory; name a file in it")
        is_special = value.exists() and not value.is_file()
        if suffixes and value.suffix not in suffixes and not is_special:
            # The user may have given a game in place of the file; these commands take games by an option.
            takes_game = any("--game" in other.opts for other in context.command.params)
            advice = "; name a game with --game" if takes_game and not value.suffix else ""
            wanted = " or ".join(suffixes)
            given = value.suffix or value.name
            raise RLCCFRError(f"{shown_name(parameter)} is written as {wanted}, not as {given!r}{advice}")
        require_folder(value)
        return value

    return checked


def require_folder(file: Path) -> None:
    """Check that the folder of a file to write exists.

    Raises:
        RLCCFRError: it does not exist.
    """
    if not file.parent.exists():
        raise RLCCFRError(f"can't write {file}: there is no folder {file.parent}; make it, or name another")
