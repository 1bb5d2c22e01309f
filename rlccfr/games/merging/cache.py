"""Cache of the merged games of each game."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.errors import BrokenComponentError, RLCCFRError, brief, what_failed_in
from rlccfr.game import Game
from rlccfr.interrupts import raise_if_interrupt

if TYPE_CHECKING:
    from rlccfr.games.merging.bucketed import BucketedGame
    from rlccfr.games.merging.merged import MergedGame

Buckets = Callable[[Any], np.ndarray]
"""Function of a game that returns buckets as numbers; equal numbers mean one bucket.

For a compiled game, there is one number per infoset, (n,). For a public-tree game, there is one per private state in
its round, in the order of the public view's ``above``.
"""

_merged_games: WeakKeyDictionary[Game, dict[Hashable, Any]] = WeakKeyDictionary()


def merged_game(game: Game, buckets: Buckets, key: Hashable) -> MergedGame | BucketedGame:
    """Return a game with its infosets merged; it is made at first use and kept with the game.

    Args:
        buckets: function that returns the buckets.
        key: key under which the merged game is kept; different functions ``buckets`` need different keys.

    Raises:
        ComponentError: some infosets can't share a bucket, or the function does not support the game.
    """
    of_this_game = _merged_games.setdefault(game, {})
    if key not in of_this_game:
        new: Any = game.form.part("merge")(game, _buckets_of(game, buckets))
        # References to the game are left out, since they would keep it from ever being freed.
        of_this_game[key] = replace(new, whole=None, tree=None if new.tree is game else new.tree)
    cached = of_this_game[key]
    merged: MergedGame | BucketedGame = replace(cached, whole=game, tree=cached.tree or game)
    return merged


def _buckets_of(game: Game, buckets: Buckets) -> np.ndarray:
    """Return the buckets of a game.

    Raises:
        ComponentError: the function fails, or returns no array.
    """
    try:
        bucket_of_infoset = buckets(game)
    except (RLCCFRError, MemoryError):
        raise
    except Exception as error:  # functions of other authors raise errors of any class
        raise_if_interrupt(error)
        failure = what_failed_in(buckets, error)
        raise BrokenComponentError(f"the function buckets fails on {game.name!r}: {failure}") from error
    if bucket_of_infoset is None:
        raise BrokenComponentError(f"the function buckets returns None for {game.name!r}: return an array of buckets")
    try:
        array = np.asarray(bucket_of_infoset)
    except ValueError:  # lists of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "biufU":
        raise BrokenComponentError(
            f"the buckets of {game.name!r} must be an array of numbers, one for each infoset, not "
            f"{brief(bucket_of_infoset)}"
        )
    return array
