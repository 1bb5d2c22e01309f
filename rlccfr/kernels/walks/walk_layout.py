"""Structs that walks take, and their Numba types. Letters in shapes are those of kernels/layout.py.

Own actions and draws are those of the walk's traverser.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.layout import F8M, F8S, HANDLE, U4S

# Own actions that a walk takes: values of WalkPlan.traverser.
ALL = 0
ONE = 1
SUBSET = 2

# Entries of WalkState.progress; both are 0 between iterations.
TRAVERSER = 0
DONE = 1

UNVISITED = -1.0
"""Mass of an infoset that this iteration's walks have not visited; not 0, because a real mass may round to 0."""


class WalkPlan(NamedTuple):
    """A sampler's settings as the walk kernel sees them; 0 and False mean that a setting is not used."""

    chance_all: bool  # walks take all chance outcomes
    chance_shared: bool  # walks take only the outcomes with the drawn label; see SharedDraws
    opponent_all: bool  # walks take all actions of the opponent
    traverser: int  # ALL, ONE (with exploration) or SUBSET (by an inclusion function or a size)
    internal_share: float  # share of walks that take ONE own action, all of the opponent's and all chance outcomes
    exploration: float  # share of exploration if ONE own action is drawn
    probe: bool  # each own action not taken is valued by one on-policy roll-out
    baseline_rate: float  # step size of learned baselines; 0: no baselines, except those of the oracle or a model
    subset_size: int  # 0: the inclusion function decides
    mixes: bool  # walks ALL own actions, not ONE, with the mixture's probability
    one_draw: bool  # one random number decides this (mixes) for the whole walk
    counts: bool  # uniform_count and visits are kept
    balanced: bool  # own draws explore by WalkTables.explore, not uniformly
    unweighted: bool  # regrets are not divided by the probability of the own draws
    by_history: bool  # values of histories correct or replace the walk's; see kernels/walks/history_values.py
    values_replace: bool  # they take the place of the walk's values; else they are baselines
    oracle: bool  # these values are computed exactly before each player's walks, which leave them as they are
    fitted: bool  # a model gives these values: walks leave them as they are, and count the visits


class Sampling(NamedTuple):
    """A sampler as the walk kernel sees it."""

    plan: WalkPlan
    inclusion: Any  # fills the probabilities of a subset
    mixture: Any  # probability of walking ALL own actions


class Weights(NamedTuple):
    """Weights of one walk among the walks of an iteration."""

    regret: float  # weight in the regret estimate: 1 / (number of walks)
    average: float  # weight in the opponent's policy sum; 0 leaves the sum unchanged


class WalkTables(NamedTuple):
    """Tables that walks read and add to; (m,) over sequences unless stated otherwise."""

    policy: np.ndarray  # current, of both players
    response: np.ndarray  # the opponent's policy: the same array, or best responses
    policy_sum: np.ndarray
    gain: np.ndarray  # instantaneous regrets of this iteration
    baseline: np.ndarray  # learned estimate of player 0's expected utility after the sequence
    uniform_count: np.ndarray  # policy sum with equal weights of iterations, for inclusion and mixture functions
    visits: np.ndarray  # (n,): number of the owner's walks through the infoset so far
    mass: np.ndarray  # (n,): sum of weights over this iteration's visits, or UNVISITED
    visited: np.ndarray  # (n,): infosets visited as traverser; player 1's part starts at its first infoset's index
    num_visited: np.ndarray  # (2,): end of each player's part of visited
    explore: np.ndarray  # policy that own draws explore by, if they are balanced
    history_value: np.ndarray  # (1 or 2, number of histories): values to player 0; empty if no sampler reads them
    history_visits: np.ndarray  # (number of histories,): number of walks through a history; empty if none are counted


class Frames(NamedTuple):
    """The stack: one entry per node on the path whose children are not all walked."""

    node: np.ndarray  # (depth,): number of the node's history
    action: np.ndarray  # (depth,): the child being walked, -1 before the first
    weight: np.ndarray  # (depth,): weight with which the walk reached the node
    value: np.ndarray  # (depth, actions): values that the children's walks returned
    sampling_probability: np.ndarray  # (depth, actions): with which the walk takes each child; 0: left out
    own_draws: np.ndarray  # (depth,): probability of the traverser's own draws above the node


class SharedDraws(NamedTuple):
    """Draws that a walk makes once for many chance nodes; arrays with two rows have one row per traverser.

    Chance nodes with the same draw number share a draw. A draw takes one of its labels, which are consecutive.
    """

    draw: np.ndarray  # (2, number of histories): draw number of a chance node; -1: it draws nothing
    label: np.ndarray  # (2, number of histories): label of the chance outcome that leads to a history
    first_label: np.ndarray  # (draws + 1,): the first label of each draw, and the end of the last one's
    probability: np.ndarray  # (labels,): of each label in its draw
    cumulative: np.ndarray  # (labels,): probability of the label or an earlier one of its draw


class WalkState(NamedTuple):
    """Tables, stack and shared draws of the walk kernel, and the progress of the present iteration."""

    tables: WalkTables
    frames: Frames
    draws: Any  # handle of SharedDraws, read only if the plan says chance_shared
    progress: np.ndarray  # (2,): the player whose walks are under way (TRAVERSER), and how many of them are DONE


class WalkPath(NamedTuple):
    """The traverser's histories on the way down, for kernels/walks/quick_iterations.py."""

    node: np.ndarray  # (depth,): number of the history
    action: np.ndarray  # (depth,): the child being walked
    sampling_probability: np.ndarray  # (depth,): with which this child was drawn
    weight: np.ndarray  # (depth,): 1 / (probability that the own draws reach the history)
    value: np.ndarray  # (depth x actions,): values that the children's walks returned


_BOOL = types.boolean
_INT = types.int64
_FLOAT = types.float64
_INTS = types.int64[::1]
_INT_ROWS = types.int32[:, ::1]
PLAN = types.NamedTuple((_BOOL, _BOOL, _BOOL, _INT, _FLOAT, _FLOAT, _BOOL, _FLOAT, _INT, *(_BOOL,) * 9), WalkPlan)
SAMPLING = types.NamedTuple((PLAN, HANDLE, HANDLE), Sampling)
"""Type of a sampler with handles in place of functions, as Python passes it; see kernels/handles.py."""
WALK_TABLES = types.NamedTuple((F8S,) * 8 + (U4S, _INTS, F8S, F8M, F8S), WalkTables)
FRAMES = types.NamedTuple((_INTS, _INTS, F8S, F8M, F8M, F8S), Frames)
DRAWS = types.NamedTuple((_INT_ROWS, _INT_ROWS, _INTS, F8S, F8S), SharedDraws)
WALK_STATE = types.NamedTuple((WALK_TABLES, FRAMES, HANDLE, _INTS), WalkState)
PATH = types.NamedTuple((_INTS, _INTS, F8S, F8S, F8S), WalkPath)


def frames_for(game: GameTree) -> Frames:
    """Return an empty stack that is deep enough for one game."""
    rows = game.depth + 1
    columns = game.max_actions
    return Frames(
        node=np.zeros(rows, np.int64),
        action=np.zeros(rows, np.int64),
        weight=np.zeros(rows),
        value=np.zeros((rows, columns)),
        sampling_probability=np.zeros((rows, columns)),
        own_draws=np.zeros(rows),
    )


def path_for(game: GameTree) -> WalkPath:
    """Return an empty path that is long enough for one game."""
    rows = game.depth + 1
    return WalkPath(
        node=np.zeros(rows, np.int64),
        action=np.zeros(rows, np.int64),
        sampling_probability=np.zeros(rows),
        weight=np.zeros(rows),
        value=np.zeros(rows * game.max_actions),
    )
