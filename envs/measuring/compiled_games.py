"""Games that this process has compiled, or built by their public trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.gambit.files import is_file
from rlccfr.games.names import load_game, openspiel_name
from rlccfr.games.public.kinds import Game, checked_tree
from rlccfr.games.public.view import PublicGame
from rlccfr.policies.public_policy import policy_kind

_compiled: dict[str, tuple[Game, tuple[type, ...] | None]] = {}
"""Game by name, with the game's classes at that time if this process registered them."""


def compiled(game: str, progress: Callable[[float], None] | None = None) -> Game:
    """Return a game ready to be solved, made once per process.

    A game that this process registered is compiled again when its name is registered for another class, for example
    by running a notebook's cell again. If a class is changed in place, this goes unnoticed here;
    :func:`rlccfr.load_game` always compiles such a game. A file is read again when its content has changed.

    Args:
        progress: function called with the share of the compilation that is done.

    Raises:
        GameError: as :func:`rlccfr.load_game`.
    """
    from rlccfr.games.openspiel import registered_here

    if game in _compiled:
        tree, classes = _compiled[game]
        if is_file(game):  # its full name depends on its content
            is_current = openspiel_name(game) == full_name(tree)
        else:
            is_current = not classes or classes == registered_here(full_name(tree))
        if is_current:
            return tree
    loaded: Game = load_game(game, progress=progress)
    _compiled[game] = loaded, None if isinstance(loaded, PublicGame) else registered_here(loaded.openspiel_name)
    return loaded


def compiled_tree(game: str, use: str) -> GameTree:
    """Return a compiled game for a use that needs its histories.

    Args:
        use: what needs them, for the error.

    Raises:
        GameError: as :func:`rlccfr.load_game`, or the game is held by its public tree.
    """
    return checked_tree(compiled(game), use)


def full_name(game: Game) -> str:
    """Return a game's name with all parameters: OpenSpiel's, or that of a public-tree game."""
    return game.name if isinstance(game, PublicGame) else game.openspiel_name


def uniform_exploitability(game: str) -> float:
    """Return the exploitability of the uniform policy, in the game's units."""
    return _uniform_exploitability(compiled(game))


def unit_of(game: str) -> float:
    """Return what a game's exploitability is divided by where a reward counts it in units: its big blind, or else 1."""
    return compiled(game).big_blind or 1.0


def uniform_in_units(game: str) -> float:
    """Return the exploitability of the uniform policy as a reward counts it: in units, or in big blinds."""
    return uniform_exploitability(game) / unit_of(game)


@lru_cache(maxsize=256)
def _uniform_exploitability(game: Game) -> float:
    return policy_kind(game).uniform(game).exploitability()  # type: ignore[arg-type]
