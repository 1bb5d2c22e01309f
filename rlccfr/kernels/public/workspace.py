"""The arrays on which passes over a public tree work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.public.records import CARDS, SHORT, SINGLE
from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.public.drawing import NO_DRAWING, Drawing
from rlccfr.kernels.public.steps import STEP_COLUMNS, turns_for

# Entries of a frame. A vector is given by the index of its first entry in the workspace's ``vectors``.
NODE_INDEX = 0
NEXT_CHILD = 1  # the child to visit next, which is also the number of children visited
REACH = 2  # the opponent's reach
VALUE = 3  # the player's value, to be set
FREE = 4  # first entry that the frame may use
WINDOW_START = 5  # for each player, the first row of the window that the pass goes through
WINDOW_SIZE = 7  # for each player, the number of rows in the window
FRAME_SIZE = 9


class PublicTables(NamedTuple):
    """Tables of a run; each is (m,) over the game's table entries unless stated otherwise."""

    regret: np.ndarray
    policy_sum: np.ndarray
    policy: np.ndarray  # what the current policy is proportional to, if not the regrets; else (0,)
    movement: np.ndarray  # running sum M of the changes of regrets, if the rule has a momentum; else (0,)
    response: np.ndarray  # (infosets,) a best response's action, if the opponent plays one; else (0,)
    response_start: np.ndarray  # (nodes,) first entry of ``response`` at each decision; else (0,)
    # (nodes, STEP_COLUMNS) step of each decision's regrets and policy sums, if these are 16-bit numbers; else (0, ...).
    regret_steps: np.ndarray = np.zeros((0, STEP_COLUMNS), SINGLE)
    policy_sum_steps: np.ndarray = np.zeros((0, STEP_COLUMNS), SINGLE)

    @classmethod
    def of_one(cls, table: np.ndarray) -> PublicTables:
        """Return tables that share one array, (m,), for passes that read or write only one table."""
        return cls(table, table, table[:0], table[:0], np.zeros(0, np.uint8), np.zeros(0, np.int64))


def arithmetic_type(dtype: np.dtype) -> np.dtype:
    """Return the type in which passes compute, given the type of the tables' numbers."""
    return SINGLE if dtype == SHORT else dtype


class Outcomes(NamedTuple):
    """Vectors for each of the view's ``outcomes``; passes below the first public chance nodes read and write them."""

    reach: np.ndarray  # (outcomes, rows): the opponent's reach at the chance node, stored at its first outcome
    value: np.ndarray  # (outcomes, rows): what the outcome adds to the player's value at the chance node

    @classmethod
    def of(cls, game: PublicGame, dtype: np.dtype) -> Outcomes:
        """Return arrays of zeros for a game."""
        chance_deals = game.view.nodes["deal"][game.view.outcomes[:, 0]]
        shape = len(chance_deals), int(game.view.deals["rows"][chance_deals].max(initial=0))
        return cls(np.zeros(shape, dtype), np.zeros(shape, dtype))


class PublicWorkspace(NamedTuple):
    """Working arrays of one thread's passes, in the type in which passes compute."""

    vectors: np.ndarray  # one vector over private states after another
    frames: np.ndarray  # (depth + 2, FRAME_SIZE): the stack
    reciprocals: np.ndarray  # [0] is 0, and [A] is 1 / A for each number of actions A
    own_draw_weights: np.ndarray  # (depth + 2,): 1 / (probability of the player's drawn states) at each frame
    states_met: np.ndarray  # (1,) number of private states that the pass has visited
    turns: np.ndarray  # offsets between -1/2 and 1/2 that are added before numbers are rounded to 16 bits
    drawing: Drawing

    @classmethod
    def of(cls, game: PublicGame, dtype: np.dtype, drawing: Drawing | None = None) -> PublicWorkspace:
        """Return a workspace for a game; without a ``drawing``, it serves exact passes."""
        rows = int(game.view.deals["rows"].max())
        max_actions = int(game.actions.max(initial=1))
        # For each frame a policy, the values of its actions, and a child's reach and value; further, the root's reach
        # and value, and the sums by card.
        size = (game.depth + 2) * (2 * max_actions + 4) * rows + 2 * rows + CARDS
        return cls(
            vectors=np.zeros(size, dtype),
            frames=np.zeros((game.depth + 2, FRAME_SIZE), np.int64),
            reciprocals=np.append(0.0, 1.0 / np.arange(1, max_actions + 1)).astype(dtype),
            own_draw_weights=np.ones(game.depth + 2, dtype),
            states_met=np.zeros(1, np.int64),
            turns=turns_for(max_actions * rows).astype(dtype),
            drawing=drawing or NO_DRAWING,
        )
