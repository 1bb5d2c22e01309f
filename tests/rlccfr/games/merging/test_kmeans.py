"""Buckets of hand strengths by k-means."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr.errors import ComponentError
from rlccfr.games.merging.kmeans import clusters, cumulative_histogram, kmeans_buckets
from rlccfr.games.merging.percentiles import equity_buckets

WIDE = "leduc(ranks=13,suits=2,raises=1)"


def test_clusters_are_those_that_lie_together():
    points, mass = np.array([[0.0], [0.1], [0.9], [1.0], [0.1]]), np.ones(5)
    found = clusters(points, mass, 2)
    assert found[0] == found[1] == found[4] != found[2] == found[3]
    assert len(set(clusters(points, mass, 4).tolist())) == 4
    assert len(set(clusters(points, mass, 100).tolist())) == 4
    assert np.array_equal(clusters(points, np.zeros(5), 2), found)


def test_heavy_points_draw_clusters_to_them():
    points = np.array([[0.0], [0.4], [0.6], [1.0]])
    heavy = clusters(points, np.array([1.0, 1000.0, 1000.0, 1.0]), 3)
    assert len({heavy[1], heavy[2]}) == 2


def test_histograms_rise_and_tell_distances():
    rows = cumulative_histogram(np.array([0.0, 0.5, 1.0]))
    assert (np.diff(rows, axis=1) >= 0).all()
    near, far = np.abs(rows[0] - rows[1]).sum(), np.abs(rows[0] - rows[2]).sum()
    assert far == pytest.approx(2 * near)


@pytest.mark.slow
@pytest.mark.parametrize("features", ["histogram", "moments"])
def test_more_buckets_are_less_exploitable(features):
    found = [
        rlccfr.Solver(game(WIDE), "cfr_plus", abstraction=f"kmeans(buckets={buckets},features='{features}')")
        .run(iterations=500, curve=False)
        .exploitability
        for buckets in (2, 5)
    ]
    assert found[1] < found[0]


def test_one_bucket_is_that_of_percentiles():
    tree = game("leduc")
    one, other = kmeans_buckets(tree, 1, "histogram"), equity_buckets(tree, 1)
    assert len(np.unique(np.stack([one, other]), axis=1).T) == len(np.unique(one)) == len(np.unique(other))


@pytest.mark.slow
def test_buckets_are_the_same_each_time():
    tree = game(WIDE)
    assert np.array_equal(kmeans_buckets(tree, 3, "histogram"), kmeans_buckets(tree, 3, "histogram"))


def test_what_is_missing_or_wrong_is_said_in_one_line(monkeypatch):
    with pytest.raises(ComponentError, match="features must be 'histogram' or 'moments', not 'colour'"):
        rlccfr.Solver(game("leduc"), "cfr", abstraction="kmeans(features='colour')")
    with pytest.raises(ComponentError, match="'kmeans' needs a public tree"):
        kmeans_buckets(game("goofspiel"), 3, "histogram")
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(ComponentError, match="pip install scikit-learn"):
        clusters(np.arange(5.0)[:, None], np.ones(5), 2)
