"""Buckets of private states by percentiles of their expected hand strength squared."""

from __future__ import annotations

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.merging.rounds import expected_over_boards, hand_strengths, rounds_of

TIE = 1e-9
"""Largest difference between expected hand strengths that count as equal."""


def equity_buckets(game: GameTree, buckets: int) -> np.ndarray:
    """Return the bucket of each infoset, (n,); see :func:`rlccfr.catalog.merging.equity`.

    Raises:
        ComponentError: the game has no public tree, or no hands that are shown down.
    """
    rounds = rounds_of(game, "equity")
    last = hand_strengths(rounds, "equity")
    squared = [[own**2 for own in pair] for pair in last]
    features = expected_over_boards(rounds, squared, "equity")
    return rounds.split(features, lambda feature, mass: percentiles(feature[:, 0], mass, buckets))


def percentiles(values: np.ndarray, mass: np.ndarray, buckets: int) -> np.ndarray:
    """Return buckets, (k,), of equal mass up to ties: equal values share the bucket of their middle.

    Args:
        values: (k,) numbers.
        mass: (k,) mass of each; if all are 0, they count alike.
        buckets: number of buckets.
    """
    order = np.argsort(values, kind="stable")
    group = np.empty(len(values), np.int64)
    group[order] = np.concatenate([[0], np.cumsum(np.diff(values[order]) > TIE)])
    share = np.bincount(group, mass if mass.sum() > 0 else None)
    middle = (np.cumsum(share) - share / 2) / share.sum()
    bucket: np.ndarray = np.minimum((middle * buckets).astype(np.int64), buckets - 1)[group]
    return bucket
