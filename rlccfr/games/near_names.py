"""Hints for names that stand for no game."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

import open_spiel.python

IN_PYTHON = "python_"
"""How OpenSpiel's names of its games in Python begin."""


def hint_for(short_name: str, names: Iterable[str]) -> str:
    """Return a hint for an unknown name: the nearest of the names, or how to load what it may stand for.

    OpenSpiel's games in Python have no names until their modules are imported. A game of its C++ side may have a name
    near to such a name, but is another game.

    Args:
        short_name: the name, without parameters.
        names: the names of games.
    """
    in_python = short_name.startswith(IN_PYTHON)
    comparable = [name for name in names if name.startswith(IN_PYTHON) or not in_python]
    near = difflib.get_close_matches(short_name, comparable, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    if in_python:
        file = Path(open_spiel.python.__path__[0], "games", f"{short_name.removeprefix(IN_PYTHON)}.py")
        return (
            "OpenSpiel registers its games in Python when they are imported: in Python by `import "
            f"open_spiel.python.games`, in a shell by `rlccfr --load {file if file.exists() else 'FILE'}` before the "
            "command"
        )
    return "`rlccfr games` lists the names (your own are loaded by `rlccfr --load FILE`, before the command)"
