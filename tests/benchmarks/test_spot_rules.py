"""Times of rules to targets on no-limit spots."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from benchmarks import spot_rules
from rlccfr.result import CurvePoint


def curve(*points):
    """Return points of a curve from pairs of CPU seconds and exploitability."""
    return [CurvePoint(k, k, seconds, error, math.nan) for k, (seconds, error) in enumerate(points)]


def test_times_are_read_between_points_in_logarithms():
    # From 4 % of a pot of 100 at 1 s to 0.25 % at 16 s: exploitability falls as 1 / time.
    found = list(spot_rules.seconds_to_targets(curve((0.0, 30.0), (1.0, 4.0), (16.0, 0.25)), 100.0))
    assert found == pytest.approx([4.0, 8.0, math.inf, math.inf])


def test_a_target_reached_by_the_first_iterations_has_their_time():
    assert list(spot_rules.seconds_to_targets(curve((0.0, 30.0), (0.5, 0.01)), 100.0)) == [0.5] * 4


def test_rules_are_ranked_by_means_over_spots_and_a_miss_counts_as_the_longest():
    seconds = {("a", 1): 1.0, ("b", 1): 1.5, ("a", 2): 1.0, ("b", 2): math.inf, ("a", 3): math.inf, ("b", 3): math.inf}
    rows = pd.DataFrame(
        {"street": "river", "seed": seed, "target": 1.0, "rule": rule, "seconds": found}
        for (rule, seed), found in seconds.items()
    )
    summary = spot_rules.summary(rows)
    assert summary["rule"].tolist() == ["a", "b"]
    # No rule reached the target on the third spot, which tells nothing.
    assert summary["all"].tolist() == pytest.approx([1.0, round(math.sqrt(1.5 * spot_rules.LONGEST), 2)])
    assert summary["worst"].tolist() == [1.0, spot_rules.LONGEST]
