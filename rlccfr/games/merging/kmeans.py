"""Buckets of private states by k-means on the distributions of their hand strengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.game import Game
from rlccfr.games.merging.hands import hand_buckets

BINS = 10
"""Number of bins of a histogram."""

DIGITS = 9
"""Number of decimals to which features are rounded, so that equal hands have equal features."""


def cumulative_histogram(strengths: np.ndarray) -> np.ndarray:
    """Return a cumulative histogram of each hand strength, (states, BINS - 1).

    Each histogram rises from 0 to 1 linearly, over the width of one bin. A hand's histograms are averaged over boards.
    The distance between two averages then grows with how far strength has to be moved, as the earth mover's distance
    does.
    """
    edges = np.arange(1, BINS) / BINS
    histogram: np.ndarray = np.clip(BINS * (edges - strengths[:, None]) + 0.5, 0.0, 1.0)
    return histogram


def moments(strengths: np.ndarray) -> np.ndarray:
    """Return each hand strength and its square, (states, 2)."""
    return np.stack([strengths, strengths**2], axis=1)


FEATURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"histogram": cumulative_histogram, "moments": moments}


def kmeans_buckets(game: Game, buckets: int, features: str) -> np.ndarray:
    """Return buckets of hands by k-means; see :func:`rlccfr.catalog.merging.kmeans`.

    Args:
        game: a compiled game or a public-tree game.
        buckets: largest number of buckets into which each bucket of the previous round is split.
        features: a key of :data:`FEATURES`.

    Returns:
        See :func:`rlccfr.games.merging.hands.hand_buckets`.

    Raises:
        ComponentError: as for :func:`rlccfr.games.merging.hands.hand_buckets`, or scikit-learn is not installed.
    """
    return hand_buckets(game, "kmeans", FEATURES[features], partial(clusters, buckets=buckets))


def clusters(points: np.ndarray, mass: np.ndarray, buckets: int) -> np.ndarray:
    """Return the cluster of each point, (k,); equal points share a cluster.

    Args:
        points: (k, features) the points to cluster.
        mass: (k,) weight of each point; if all weights are 0, all points count equally.
        buckets: number of clusters; there are fewer if fewer points are distinct.

    Raises:
        ComponentError: scikit-learn is not installed.
    """
    # Equal hands become one point, so that they share a cluster.
    distinct, point_index = np.unique(np.round(points, DIGITS), axis=0, return_inverse=True)
    point_index = point_index.reshape(-1)
    if len(distinct) <= buckets:
        return point_index
    try:
        from sklearn.cluster import KMeans
    except ImportError as error:
        raise ComponentError("'kmeans' needs scikit-learn: pip install scikit-learn") from error
    weights = np.bincount(point_index, mass if mass.sum() > 0 else None)
    fitted = KMeans(buckets, n_init=10, random_state=0).fit(distinct, sample_weight=weights)
    cluster: np.ndarray = fitted.labels_[point_index]
    return cluster
