"""What walks share: the structs that they take, and their Numba types."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import from_dtype, types

from rlccfr.games.flat_tree import HISTORY, GameTree
from rlccfr.kernels.layout import F8M, F8S, U4S

ALL = 0
ONE = 1
SUBSET = 2

UNVISITED = -1.0
"""The mass of an infoset that this iteration's walks have not met; that of one they have may round to 0."""


class WalkPlan(NamedTuple):
    """A sampler as the walk kernel sees it."""

    chance_all: bool
    opponent_all: bool
    traverser: int  # ALL, ONE (by exploration) or SUBSET (by an inclusion function or of a size)
    exploration: float  # share of the uniform policy where ONE own action is drawn
    probe: bool  # value the own actions not taken by one on-policy roll-out each
    baseline_rate: float  # 0: no baseline
    subset_size: int  # 0: by the inclusion function
    mixes: bool  # walks ALL own actions, not ONE, with the mixture's probability
    one_draw: bool  # the same random number decides so for the whole walk
    counts: bool  # uniform_count and visits are wanted


class WalkTables(NamedTuple):
    """What walks read and add to; (m,) over sequences unless said otherwise."""

    policy: np.ndarray  # current, of both players
    response: np.ndarray  # what the opponent plays: the same array, or best responses
    policy_sum: np.ndarray
    gain: np.ndarray  # instantaneous regrets of this iteration
    baseline: np.ndarray  # expected utility of player 0 after the sequence
    uniform_count: np.ndarray  # average increments at uniform weight, for inclusion and mixture functions
    visits: np.ndarray  # (n,): walks of the traverser through the infoset so far
    mass: np.ndarray  # (n,): sum of weights over this iteration's visits, or UNVISITED
    visited: np.ndarray  # (n,): infosets visited as traverser; player 1's from the first of its own on
    num_visited: np.ndarray  # (2,)


class Frames(NamedTuple):
    """The stack: an entry for each node on the path that waits for its children."""

    node: np.ndarray  # (depth,)
    action: np.ndarray  # (depth,): the child being walked, -1 before the first
    weight: np.ndarray  # (depth,)
    value: np.ndarray  # (depth, actions): what the children's walks returned
    taken: np.ndarray  # (depth, actions): the probability with which each child is taken; 0: left out


HISTORIES = from_dtype(HISTORY)[::1]
_B, _I, _F = types.boolean, types.int64, types.float64
PLAN = types.NamedTuple((_B, _B, _I, _F, _B, _F, _I, _B, _B, _B), WalkPlan)
WALK_TABLES = types.NamedTuple((F8S,) * 8 + (U4S, types.int64[::1]), WalkTables)
FRAMES = types.NamedTuple((types.int64[::1], types.int64[::1], F8S, F8M, F8M), Frames)


def frames_for(game: GameTree) -> Frames:
    """An empty stack, as deep as one game is."""
    rows, columns = game.depth + 1, game.max_actions
    return Frames(
        node=np.zeros(rows, np.int64),
        action=np.zeros(rows, np.int64),
        weight=np.zeros(rows),
        value=np.zeros((rows, columns)),
        taken=np.zeros((rows, columns)),
    )
