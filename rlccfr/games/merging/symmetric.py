"""Buckets of infosets that a game's symmetries, such as permutations of suits, make equal."""

from __future__ import annotations

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.game import Game
from rlccfr.games.centring import centred_game
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.quotient import quotient_of


def symmetric_buckets(game: Game) -> np.ndarray:
    """Return the class of each infoset, (n,); see :mod:`rlccfr.games.symmetry`.

    Raises:
        ComponentError: a symmetry exchanges actions, so that the policies of a class's infosets are permutations of
            each other; or the game is a public-tree game.
    """
    if not isinstance(game, GameTree):
        raise ComponentError(f"{game.name!r} has its suits merged already: use abstraction='none'")
    quotient = quotient_of(game)
    if quotient is None:
        return np.arange(game.num_infosets)
    classes = centred_game(game).classes.infoset
    first_sequence = game.view.first_sequence.astype(np.int64)
    # The k-th action of an infoset must be in the class of the k-th action of its class's first infoset.
    representative = np.unique(classes, return_index=True)[1][classes]
    action_index = np.arange(game.num_sequences) - first_sequence[game.owner]
    counterpart = first_sequence[representative[game.owner]] + action_index
    aligned = np.array_equal(quotient.place, quotient.place[counterpart])
    if len(quotient.view.twin) or not aligned:
        raise ComponentError(
            f"the symmetries of {game.name!r} exchange actions, which buckets can't do: use abstraction='none', since "
            "exact passes use all symmetries anyway"
        )
    return classes
