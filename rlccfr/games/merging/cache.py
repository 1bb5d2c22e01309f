"""Cache of the merged games of each game."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.game import Game

if TYPE_CHECKING:
    from rlccfr.games.merging.bucketed import BucketedGame
    from rlccfr.games.merging.merged import MergedGame

Buckets = Callable[[Any], np.ndarray]
"""Function of a game that returns buckets: any numbers, equal ones for one bucket.

For a compiled game they are those of its infosets, (n,). For a public-tree game they are those of each private state in
its round, in the layout of the public view's ``above``.
"""

_merged_games: WeakKeyDictionary[Game, dict[Hashable, Any]] = WeakKeyDictionary()


def merged_game(game: Game, buckets: Buckets, key: Hashable) -> MergedGame | BucketedGame:
    """Return a game with its infosets merged; it is made at first use and kept with the game.

    Args:
        key: key under which the merged game is kept; it must differ between different functions ``buckets``.

    Raises:
        ComponentError: the buckets are not a sound map, or the function refuses the game.
    """
    of_this_game = _merged_games.setdefault(game, {})
    if key not in of_this_game:
        new: Any = game.form.part("merge")(game, buckets(game))
        # Without references to the game, which would then never be freed.
        of_this_game[key] = replace(new, whole=None, tree=None if new.tree is game else new.tree)
    cached = of_this_game[key]
    merged: MergedGame | BucketedGame = replace(cached, whole=game, tree=cached.tree or game)
    return merged
