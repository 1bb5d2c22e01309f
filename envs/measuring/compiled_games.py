"""Games that this process has compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.names import load_game
from rlccfr.policy import Policy

_compiled: dict[str, GameTree] = {}


def compiled(game: str, progress: Callable[[float], None] | None = None) -> GameTree:
    """The compiled game, once a process.

    Raises:
        GameError: as :func:`rlccfr.load_game`.
    """
    if game not in _compiled:
        _compiled[game] = load_game(game, progress=progress)
    return _compiled[game]


@cache
def uniform_exploitability(game: str) -> float:
    """Exploitability of the uniform policy, in the game's units."""
    return Policy.uniform(compiled(game)).exploitability()
