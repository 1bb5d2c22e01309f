"""Hints for unknown names of games: common names, misspelt names, and OpenSpiel's games in Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import open_spiel.python

from rlccfr.errors import nearest

IN_PYTHON = "python_"
"""Prefix of OpenSpiel's names of its games in Python."""

IN_COMMON_USE = {
    "connect4": "connect_four",
    "dudo": "bluff",
    "flop_texas_holdem": "flop_holdem",
    "gops": "goofspiel",
    "heads_up_limit_holdem": "texas_holdem",
    "heads_up_limit_texas_holdem": "texas_holdem",
    "hulh": "texas_holdem",
    "leduc_hold_em": "leduc",
    "leduc_holdem": "leduc",
    "limit_holdem": "texas_holdem",
    "limit_texas_holdem": "texas_holdem",
    "matching_pennies": "matrix_mp",
    "noughts_and_crosses": "tic_tac_toe",
    "paper_scissors_stone": "matrix_rps",
    "perudo": "bluff",
    "rock_paper_scissors": "matrix_rps",
    "roshambo": "matrix_rps",
    "rps": "matrix_rps",
    "texas_hold_em": "holdem",
    "ttt": "tic_tac_toe",
}
"""Names of two-player games, as people write them, with their names in this library."""

NO_LIMIT = re.compile(r"(?<![a-z])no_?limit")
"""Pattern of names of no-limit games. ``holdem`` is not suggested for them, since it has limits on bets."""


def hint_for(unknown_name: str, names: Iterable[str]) -> str:
    """Return a hint for an unknown name: a known name, or how to load the game that the name may stand for.

    Case, hyphens, spaces and apostrophes do not count. OpenSpiel's games in Python have no names until their modules
    are imported. For a name that begins with ``python_``, no game in C++ is suggested: its name may be similar, but it
    is another game.

    Args:
        unknown_name: the unknown name, without parameters.
        names: the known names.

    Examples:
        >>> hint_for("rps", ["kuhn", "matrix_rps"])
        "did you mean 'matrix_rps'?"
    """
    plain_name = re.sub(r"[\s-]+", "_", unknown_name.strip().lower().replace("'", ""))
    in_python = plain_name.startswith(IN_PYTHON)
    comparable_names = [name for name in names if name.startswith(IN_PYTHON) or not in_python]
    names_in_use = [] if in_python else list(IN_COMMON_USE)
    if NO_LIMIT.search(plain_name):
        comparable_names = [name for name in comparable_names if NO_LIMIT.search(name)]
        names_in_use = []
    near = nearest(plain_name, [*comparable_names, *names_in_use])
    if near is not None:
        return f"did you mean {IN_COMMON_USE.get(near, near)!r}?"
    if in_python:
        file = Path(open_spiel.python.__path__[0], "games", f"{plain_name.removeprefix(IN_PYTHON)}.py")
        return (
            "OpenSpiel registers its games in Python when they are imported: in Python, run `import "
            f"open_spiel.python.games`; in a shell, write `rlccfr --load {file if file.exists() else 'FILE'}` before "
            "the command"
        )
    return "`rlccfr games` lists the names (to load your own, write `rlccfr --load FILE` before the command)"
