"""Buckets of private states by percentiles of the expected square of their hand strength."""

from __future__ import annotations

import numpy as np

from rlccfr.game import Game
from rlccfr.games.merging.hands import hand_buckets

TIE = 1e-9
"""Largest difference between numbers that count as equal, so that results do not depend on rounding."""


def equity_buckets(game: Game, buckets: int) -> np.ndarray:
    """Return buckets of hands by percentiles; see :func:`rlccfr.catalog.merging.equity`.

    Args:
        game: a compiled game or a public-tree game.
        buckets: largest number of buckets into which each bucket of the previous round is split.

    Returns:
        See :func:`rlccfr.games.merging.hands.hand_buckets`.

    Raises:
        ComponentError: as for :func:`rlccfr.games.merging.hands.hand_buckets`.
    """

    def split(features: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return percentiles(features[:, 0], mass, buckets)

    return hand_buckets(game, "equity", lambda strengths: strengths[:, None] ** 2, split)


def percentiles(values: np.ndarray, mass: np.ndarray, buckets: int) -> np.ndarray:
    """Return the bucket of each number, (k,); buckets have equal masses, except for the effect of ties.

    Equal values share one bucket: the one in which the middle of their total mass lies.

    Args:
        values: (k,) numbers.
        mass: (k,) mass of each number; if all masses are 0, all numbers count equally.
        buckets: number of buckets.
    """
    order = np.argsort(values, kind="stable")
    group = np.empty(len(values), np.int64)  # of equal values
    group[order] = np.concatenate([[0], np.cumsum(np.diff(values[order]) > TIE)])
    group_mass = np.bincount(group, mass if mass.sum() > 0 else None)
    middle = (np.cumsum(group_mass) - group_mass / 2) / group_mass.sum()
    bucket: np.ndarray = np.minimum((middle * buckets + TIE).astype(np.int64), buckets - 1)[group]
    return bucket
