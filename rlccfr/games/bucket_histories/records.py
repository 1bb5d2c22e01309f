"""The records of a round of betting, as kernels read them.

Kernels are compiled for these records, so this module contains nothing else.
"""

from __future__ import annotations

import numpy as np

LINE_NODE = np.dtype(
    [
        # A decision's first table entry among those of its player for one bucket history; later entries are ordered by
        # action, then by betting line.
        ("column", np.int64),
        ("first_child", np.int32),  # a node's children are neighbours, and come after it
        ("leaf", np.int32),  # a leaf's index among the leaves of its kind
        ("num_children", np.int16),
        ("kind", np.int8),  # the player who acts, or FOLD, or CHANCE where the round's betting ends without a fold
    ],
    align=True,
)
