"""The forms in which a game is solved."""

from __future__ import annotations

from typing import Any

from rlccfr.errors import GameError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.view import PublicGame

Game = GameTree | PublicGame
"""A game ready to be solved: compiled history by history, or by its public tree."""


def checked_game(game: Any) -> Game:
    """Return a game as it is.

    Raises:
        TypeError: it is none, for example a game's name.
    """
    if not isinstance(game, Game):
        raise TypeError(f"game must come from rlccfr.load_game(...), not {game!r}")
    return game


def checked_tree(game: Any, use: str) -> GameTree:
    """Return a game as it is, for a use that needs its histories.

    Args:
        use: what needs them, for the error.

    Raises:
        TypeError: it is no game.
        GameError: it is held by its public tree.
    """
    checked = checked_game(game)
    if isinstance(checked, PublicGame):
        raise GameError(
            f"{use} needs a game's histories, and {checked.name!r} is held by its public tree: take another game"
        )
    return checked
