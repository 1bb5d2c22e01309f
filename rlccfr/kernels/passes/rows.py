"""Parts of passes: the order in which a pass visits a player's infosets, and what it does at one of them.

Infosets are numbered parents before children, player 0's first. So a pass from the root down goes through a player's
infosets in order, and a pass from the leaves up goes through them backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlccfr.kernels.jit import inlined


@inlined
def infosets_from_last(view, player):
    """Return the infosets of ``player``, children before parents, as a range."""
    return range(np.int64(view.infoset_begin[player + 1]) - 1, np.int64(view.infoset_begin[player]) - 1, -1)


@inlined
def sequences_of(view, player):
    """Return the first sequence of ``player`` and the one after its last."""
    return view.first_sequence[view.infoset_begin[player]], view.first_sequence[view.infoset_begin[player + 1]]


@inlined
def settle_twins(view, first, end, gain):
    """Give an infoset's twin actions the value of the first of them; see :class:`rlccfr.games.quotient.Quotient`.

    Args:
        gain: (m + 2,) values, complete for the infoset; changed in place.
    """
    if len(view.twin):
        for k in range(first, end):
            gain[k] = gain[view.twin[k]]


@inlined
def pass_up(view, infoset, value, gain):
    """Add an infoset's value to its parent sequence; in a quotient, once for each infoset that it stands for.

    Args:
        gain: (m + 2,) values, changed in place.
    """
    if len(view.multiplicity):
        value *= view.multiplicity[infoset]
    gain[view.parent[infoset]] += value


def unrolled(row: Callable[..., None]) -> Callable[..., Any]:
    """Turn ``row(view, infoset, first, actions, *arguments)`` into ``row(view, infoset, *arguments)``, for passes.

    ``row`` does a pass's work at one infoset. The result looks up the infoset's first sequence and number of actions
    and calls ``row``. A number of actions up to three is passed as a constant, because loops whose length the compiler
    knows take half the time.
    """
    row = inlined(row)

    @inlined
    def unrolled_row(view, infoset, *arguments):
        first = np.int64(view.first_sequence[infoset])
        actions = np.int64(view.first_sequence[infoset + 1]) - first
        if actions == 2:  # the most frequent number comes first
            row(view, infoset, first, 2, *arguments)
        elif actions == 1:
            row(view, infoset, first, 1, *arguments)
        elif actions == 3:
            row(view, infoset, first, 3, *arguments)
        else:
            row(view, infoset, first, actions, *arguments)

    return unrolled_row
