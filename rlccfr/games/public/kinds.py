"""The forms in which a game is solved."""

from __future__ import annotations

from typing import Any

from rlccfr.errors import GameError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.view import PublicGame

Game = GameTree | PublicGame
"""A game ready to be solved: compiled history by history, or by its public tree."""


def checked_game(game: Any, kind: Any = Game) -> Any:
    """Return a compiled game of a kind.

    Raises:
        TypeError: it is none, for example a game's name.
        GameError: it has another form.
    """
    if not isinstance(game, Game):
        raise TypeError(f"game must come from rlccfr.load_game(...), not {game!r}")
    if not isinstance(game, kind):
        raise GameError(f"{game.name!r} is solved by its public tree, for which this is not offered")
    return game
