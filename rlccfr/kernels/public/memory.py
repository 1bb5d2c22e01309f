"""The arrays that passes over a public tree work with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.public.records import CARDS
from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.public.drawing import NO_DRAWING, Drawing

# Entries of a frame.
AT = 0  # the node
CHILD = 1  # number of children that were met
REACH = 2  # first entry of the opponent's reach
VALUE = 3  # first entry of the player's value, to be set
FREE = 4  # first entry that the frame may use
FIRST = 5  # for each player, the first private state of the window that the pass goes through
COUNT = 7  # for each player, the number of private states in the window
FRAME = 9


class PublicTables(NamedTuple):
    """Tables of a run; each is (m,) over the game's table entries."""

    regret: np.ndarray
    policy_sum: np.ndarray
    policy: np.ndarray  # values that the current policy is proportional to, if these are not the regrets; else (0,)
    response: np.ndarray  # (infosets,) action of a best response, if the opponent plays one; else (0,)
    response_place: np.ndarray  # (nodes,) first entry of ``response`` at each decision; else (0,)

    @classmethod
    def read_only(cls, table: np.ndarray) -> PublicTables:
        """Return tables for passes that change none."""
        return cls(table, table, table[:0], np.zeros(0, np.uint8), np.zeros(0, np.int64))


class Outcomes(NamedTuple):
    """What passes below the first public chance leave behind, for each of the view's ``outcomes``."""

    reach: np.ndarray  # (outcomes, rows): the opponent's reach before it, at the first outcome of each chance node
    value: np.ndarray  # (outcomes, rows): the player's value of it, for the rows before it

    @classmethod
    def of(cls, game: PublicGame, dtype: np.dtype) -> Outcomes:
        """Return the memory for a game."""
        chances = game.view.nodes["deal"][game.view.outcomes[:, 0]]
        shape = len(chances), int(game.view.deals["rows"][chances].max(initial=0))
        return cls(np.zeros(shape, dtype), np.zeros(shape, dtype))


class PublicMemory(NamedTuple):
    """Working memory of a thread's passes, in the tables' type."""

    vectors: np.ndarray  # one vector after another
    frames: np.ndarray  # (depth + 2, FRAME)
    shares: np.ndarray  # 1 / A for each number of actions A, and 0 first
    factors: np.ndarray  # (depth + 2,): 1 / (probability of the player's draws so far)
    met: np.ndarray  # (1,) number of private states met
    drawing: Drawing

    @classmethod
    def of(cls, game: PublicGame, dtype: np.dtype, drawing: Drawing | None = None) -> PublicMemory:
        """Return working memory for a game; without a drawing, for exact passes."""
        rows, most = int(game.view.deals["rows"].max()), int(game.actions.max(initial=1))
        size = (game.depth + 2) * (2 * most + 4) * rows + 2 * rows + CARDS
        shares = np.append(0.0, 1.0 / np.arange(1, most + 1))
        frames, factors = np.zeros((game.depth + 2, FRAME), np.int64), np.ones(game.depth + 2, dtype)
        return cls(
            np.zeros(size, dtype), frames, shares.astype(dtype), factors, np.zeros(1, np.int64), drawing or NO_DRAWING
        )
