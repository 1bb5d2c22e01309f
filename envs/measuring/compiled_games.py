"""Games that this process has compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rlccfr.errors import GameError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.names import load_game
from rlccfr.policy import Policy

_compiled: dict[str, tuple[GameTree, tuple[type, ...] | None]] = {}
"""Compiled game by name, with the game's classes at that time if this process registered them."""


def compiled(game: str, progress: Callable[[float], None] | None = None) -> GameTree:
    """Return the compiled game, compiled once per process.

    A game that this process registered is compiled again when its name is registered for another class, for example
    by running a notebook's cell again. If a class is changed in place, this goes unnoticed here;
    :func:`rlccfr.load_game` always compiles such a game.

    Args:
        progress: function called with the share of the compilation that is done.

    Raises:
        GameError: as :func:`rlccfr.load_game`, or it is a public-tree game.
    """
    from rlccfr.games.openspiel import registered_here
    from rlccfr.games.public.names import is_public

    if is_public(game):
        raise GameError(
            f"{game!r} is solved by its public tree, which sweeps, environments and agents do not take: use `rlccfr "
            "solve` or rlccfr.Solver"
        )

    if game in _compiled:
        tree, code = _compiled[game]
        if not code or code == registered_here(tree.openspiel_name):
            return tree
    found: GameTree = load_game(game, progress=progress)
    _compiled[game] = found, registered_here(found.openspiel_name)
    return found


def uniform_exploitability(game: str) -> float:
    """Return the exploitability of the uniform policy, in the game's units."""
    return _uniform_exploitability(compiled(game))


@lru_cache(maxsize=256)
def _uniform_exploitability(tree: GameTree) -> float:
    return Policy.uniform(tree).exploitability()
