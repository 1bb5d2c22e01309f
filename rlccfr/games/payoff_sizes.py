"""The sizes of a game's payoffs: which are usual, and what counts as rounding beside them (decision 56, docs/adr)."""

from __future__ import annotations

import numpy as np

WIDE_GAP = 1e4
"""Ratio of neighbouring sizes of payoffs above which the larger ones are penalties that forbid moves, or the like."""

LEAST_FACTOR = 1e-100
"""Least factor on tolerances. Payoffs are divided by a tolerance, and the quotients must stay finite."""


def usual_size(utility: np.ndarray) -> float:
    """Return the largest size of payoffs below the lowest wide gap between their sizes; 0 if all payoffs are 0."""
    sizes = np.abs(utility[utility != 0.0])
    largest = sizes.max(initial=0.0)
    if largest / WIDE_GAP <= sizes.min(initial=largest):  # there can be no wide gap, so sizes need not be sorted
        return float(largest)
    distinct = np.unique(sizes)
    gaps = np.flatnonzero(distinct[1:] / WIDE_GAP > distinct[:-1])
    return float(distinct[gaps[0]] if len(gaps) else largest)


def tolerance_factor(utility: np.ndarray) -> float:
    """Return the factor on tolerances that are shares of the largest payoff: 1, or less beside huge payoffs.

    If the largest payoff is a penalty of 1e14, which forbids a move, such tolerances exceed the payoffs for which the
    players play. With the factor, they are shares of :func:`usual_size`. Fewer payoffs then count as equal, which costs
    only time and memory.

    Args:
        utility: player 0's utilities at terminals.

    Examples:
        >>> tolerance_factor(np.array([-1.0, 0.0, 1.0, 2.0]))
        1.0
        >>> tolerance_factor(np.array([-1e14, 0.0, 1.0, 2.0, -1e14]))
        2e-14
    """
    largest = np.abs(utility).max(initial=0.0)
    return float(max(usual_size(utility) / largest, LEAST_FACTOR)) if largest else 1.0
