"""Games that this process has compiled, or built as public trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rlccfr.game import Game, policy_class
from rlccfr.games.flat_tree import GameTree, checked_tree
from rlccfr.games.gambit.files import is_file, without_path
from rlccfr.games.names import identity_of, load_game, openspiel_name
from rlccfr.games.public.spots import is_spot_file

_compiled: dict[str, tuple[Game, tuple[type, ...] | None]] = {}
"""Loaded games by name, each with what :func:`rlccfr.games.openspiel.registered_here` returned when it was loaded.

That is None for a game that OpenSpiel ships, and for a game that is not compiled to a tree of histories.
"""


def compiled(game: str, progress: Callable[[float], None] | None = None) -> Game:
    """Return a game ready to be solved; a process loads each game only once, unless the game's definition changes.

    A game that this process registered is compiled again when its name is registered for another class, for example
    because a notebook's cell is run again. A class that is changed in place goes unnoticed here, but
    :func:`rlccfr.load_game` compiles such a game each time. A file is read again when its content has changed.

    Args:
        progress: function called with the share of the compilation that is done.

    Raises:
        GameError: as :func:`rlccfr.load_game`.
    """
    from rlccfr.games.openspiel import registered_here

    if game in _compiled:
        tree, classes = _compiled[game]
        if is_file(game) or is_spot_file(game):  # its full name depends on its content
            is_current = identity_of(game) == tree.full_name
        else:
            is_current = not classes or classes == registered_here(tree.full_name)
        if is_current:
            return tree
    loaded: Game = load_game(game, progress=progress)
    _compiled[game] = loaded, registered_here(loaded.full_name) if loaded.form.has_histories else None
    return loaded


def compiled_tree(game: str, use: str) -> GameTree:
    """Return a game ready to be solved, after checking that it is stored as a tree of histories.

    Args:
        game: the game's name.
        use: what needs the game's histories, for the error.

    Raises:
        GameError: as :func:`rlccfr.load_game`, or the game is not stored as a tree of histories.
    """
    return checked_tree(compiled(game), use)


def uniform_exploitability(game: str) -> float:
    """Return the exploitability of the uniform policy, in the game's units."""
    return _uniform_exploitability(compiled(game))


def unit_of(game: str) -> float:
    """Return the unit in which rewards measure a game's exploitability: its big blind, or 1 if it has none."""
    return compiled(game).big_blind or 1.0


def uniform_in_units(game: str) -> float:
    """Return the exploitability of the uniform policy as rewards measure it: in big blinds, or in the game's units."""
    return uniform_exploitability(game) / unit_of(game)


@lru_cache(maxsize=256)
def _uniform_exploitability(game: Game) -> float:
    return float(policy_class(game).uniform(game).exploitability())


def measured_name(name: str) -> str:
    """Return the name under which measurements of a game are found: its OpenSpiel string, or a subgame's full name.

    For a game from a Gambit file, it has a digest of the file's content, but not its path. So measurements are found if
    the file has moved, and not if it has changed. A game's full name and its short names give the same result.

    Raises:
        GameError: a parameter is unknown, or a value is out of range; or a file can't be read.
    """
    if is_spot_file(name):
        return str(identity_of(name))
    return without_path(openspiel_name(name))
