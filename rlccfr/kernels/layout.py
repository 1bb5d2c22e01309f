"""What the kernels share: the structs they take, the columns of a schedule, and their Numba types.

A kernel knows no algorithm. It sees tables over sequences (shape (m,), both players in one numbering, see
:mod:`rlccfr.games.flat_tree`), a schedule with one row an iteration, and up to two plain functions of one infoset.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import from_dtype, types

from rlccfr.components import SCHEDULE_COLUMNS
from rlccfr.games.flat_tree import BLOCK, GameTree, SequenceView

# Columns of a schedule; a rule's own parameters follow from PARAMETERS on.
POSITIVE_DISCOUNT = SCHEDULE_COLUMNS.index("positive_discount")
NEGATIVE_DISCOUNT = SCHEDULE_COLUMNS.index("negative_discount")
FLOOR = SCHEDULE_COLUMNS.index("floor")
AVERAGE_DECAY = SCHEDULE_COLUMNS.index("average_decay")
PREDICTION = SCHEDULE_COLUMNS.index("prediction")
PARAMETERS = len(SCHEDULE_COLUMNS)

# Columns of the running scales of a sampled run, see kernels/sampled.py.
POSITIVE = 0
NEGATIVE = 1
AVERAGE = 2


class Tables(NamedTuple):
    """What a solver accumulates; (m,) over sequences unless said otherwise."""

    regret: np.ndarray
    policy: np.ndarray  # current
    policy_sum: np.ndarray
    state: np.ndarray  # (m, k): the further arrays that the update rule declares


class Scratch(NamedTuple):
    """Working memory, overwritten by every pass."""

    reach: np.ndarray  # (m + 2,): own reach of each sequence, the empty ones last
    gradient: np.ndarray  # (m + 2,): counterfactual values, then instantaneous regrets
    mass: np.ndarray  # (n,): opponent and chance reach of each infoset
    response: np.ndarray  # (m,): a best response of each player
    response_reach: np.ndarray  # (m + 2,)
    line_reach: np.ndarray  # (most lines of a block,): the opponent's reach of each
    leaf: np.ndarray  # (widest block,): a block's columns, side by side


class RuleFlags(NamedTuple):
    """How a rule differs from plain (D, Phi) regret matching."""

    plain: bool  # none of the below but uses_mass and average_column
    predicts: bool  # plain, but for a prediction
    reweights: bool
    maps_policy: bool
    uses_mass: bool
    argmax_fallback: bool
    average_column: int  # of Tables.state: weighs each action's average increment; -1 for none


F8 = types.float64
F8S = types.float64[::1]
F8M = types.float64[:, ::1]
COUNTS = types.int64[::1]  # iterations and histories touched so far
U4S = types.uint32[::1]  # unsigned, which spares a test for negative indices at every access

# reweight(instant_regret, mass, state, parameters, utility_range) and
# policy_map(row, state, parameters, utility_range), both in place, on one infoset's rows.
REWEIGHT = types.void(F8S, F8, F8M, F8S, F8)
POLICY_MAP = types.void(F8S, F8M, F8S, F8)
# inclusion(policy, count, parameters, probability), of a subset sampler.
INCLUSION = types.void(F8S, F8S, F8S, F8S)
# mixture(policy, count, visits, parameters): the probability of walking all own actions.
MIXTURE = types.float64(F8S, F8S, F8, F8S)

BLOCKS = from_dtype(BLOCK)[::1]
VIEW = types.NamedTuple((U4S, U4S, U4S, F8S, U4S, U4S, F8S, U4S, U4S, BLOCKS, BLOCKS, F8S, F8S), SequenceView)
TABLES = types.NamedTuple((F8S, F8S, F8S, F8M), Tables)
SCRATCH = types.NamedUniTuple(F8S, 7, Scratch)
FLAGS = types.NamedTuple((types.boolean,) * 6 + (types.int64,), RuleFlags)


def scratch_for(game: GameTree) -> Scratch:
    """Working memory for one game."""
    size, view = game.num_sequences, game.view
    blocks = np.concatenate([view.blocks_0, view.blocks_1])
    widest = int(blocks["stride"].max(initial=0))
    most_lines = int((blocks["opponent_end"] - blocks["opponent"]).max(initial=0))
    return Scratch(*(np.zeros(n) for n in (size + 2, size + 2, game.num_infosets, size, size + 2, most_lines, widest)))
