"""What a game must offer to walks that move in step.

Many walks start together, and all of them make their first move before any of them makes its second. So one call of a
network returns the policies at all decisions of a level. No table over the game's infosets is needed.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

TERMINAL = -1
"""Takes the place of the acting player at a terminal history."""


class WalkedGame(Protocol):
    """A game for walks that move in step.

    *States* are an object that holds the n histories that walks have reached; only the game reads it. A *row* is a
    record of what a player knows at a decision, small enough to be stored millions of times.
    """

    @property
    def row_type(self) -> np.dtype:
        """Type of a row."""

    @property
    def num_actions(self) -> int:
        """Number of different actions in the game; arrays over actions have a column for each."""

    def begin(self, count: int, rng: np.random.Generator) -> Any:
        """Return the states of ``count`` new walks; the game may draw all chance moves now, or each as it comes."""

    def actors(self, states: Any) -> np.ndarray:
        """Return the player who acts at each state, (n,); :data:`TERMINAL` where nobody does."""

    def legal(self, rows: np.ndarray) -> np.ndarray:
        """Return whether each action is legal at each row, (rows, actions)."""

    def rows(self, states: Any, chosen: np.ndarray) -> np.ndarray:
        """Return what the player who acts knows at some states.

        Args:
            chosen: (rows,) indices of states at which somebody acts.
        """

    def children(self, states: Any, chosen: np.ndarray, action: np.ndarray, rng: np.random.Generator) -> Any:
        """Return the states that follow some states, after chance has moved.

        Args:
            chosen: (children,) index of each child's parent.
            action: (children,) column of the action that leads to each child.
            rng: generator of chance's draws; not used by games that draw all of them at the beginning.
        """

    def payoffs(self, states: Any, chosen: np.ndarray) -> np.ndarray:
        """Return player 0's payoff at some terminal states, (chosen,), in the game's units."""
