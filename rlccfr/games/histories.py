"""All histories of a game as arrays, from which the game is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Traversal(NamedTuple):
    """All histories of a game, and its raw infosets: those in order of discovery, before the compiler renumbers them.

    The first eight arrays have one entry per history, the other fields one per raw infoset. Histories are ordered level
    by level, and within a level by their parents, so siblings are neighbours.
    """

    parent: np.ndarray  # int32, -1 at the root
    depth: np.ndarray  # int32
    action: np.ndarray  # int64: OpenSpiel's action that leads here, -1 at the root
    actor: np.ndarray  # int8
    infoset: np.ndarray  # int32: raw id, -1 where no player moves
    probability: np.ndarray  # float64: probability of the chance outcome that leads here, 1 elsewhere
    utility: np.ndarray  # float64: player 0's utility at terminals, 0 elsewhere
    opponent_utility: np.ndarray  # float64: player 1's utility, likewise
    infoset_player: np.ndarray  # int8
    infoset_level: np.ndarray  # int32: number of earlier moves of its player
    infoset_keys: list[str]

    @property
    def num_children(self) -> np.ndarray:
        """Number of children of each history, (histories,)."""
        return np.bincount(self.parent[1:], minlength=len(self.parent))


def actions_to(history: int, parent: Sequence[int] | np.ndarray, action: Sequence[int] | np.ndarray) -> list[int]:
    """Return the actions and chance outcomes that lead to a history, from the root on.

    Args:
        history: index of the history; a negative number stands for the root.
        parent: (histories,) index of each history's parent; negative at the root.
        action: (histories,) the action or chance outcome that leads to each history.
    """
    actions = []
    while history >= 0 and parent[history] >= 0:
        actions.append(int(action[history]))
        history = int(parent[history])
    return actions[::-1]
