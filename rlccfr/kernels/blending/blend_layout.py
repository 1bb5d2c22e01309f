"""The state and the working memory of a search for the weights of blends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.layout import F8M, F8S

# Entries of a player's row of ``progress``.
LEAST_VALUE = 0  # least value of the opponent's best response so far: that against ``best``
LOWER_BOUND = 1  # no blend has a value below this
NUM_CUTS = 2  # number of cuts
PROGRESS_SIZE = 3  # number of entries

# Rows of ``steps``. The last two also serve as working memory.
NEGATIVE_GRADIENT = 0
CONSTRAINT = 1
STEP = 2
CONSTRAINT_STEP = 3


class BlendSearch(NamedTuple):
    """The state of a search for each player's least exploitable blend of K policies.

    Attributes:
        weights: (2, K) for each player, the blend to try next.
        best: (2, K) for each player, the best blend tried.
        progress: (2, PROGRESS_SIZE) see the names of its columns above.
        cuts: (2, largest number of cuts, K) for each player, the values of the opponent's best responses so far: one
            value against each of the K policies.
        levels, moves: (largest number of cuts,) working memory.
        hessian: (K + 1, K + 1) working memory.
        steps: (4, K + 1) working memory; see the names of its rows above.
    """

    weights: np.ndarray
    best: np.ndarray
    progress: np.ndarray
    cuts: np.ndarray
    levels: np.ndarray
    moves: np.ndarray
    hessian: np.ndarray
    steps: np.ndarray


BLEND_SEARCH = types.NamedTuple((F8M, F8M, F8M, types.float64[:, :, ::1], F8S, F8S, F8M, F8M), BlendSearch)
