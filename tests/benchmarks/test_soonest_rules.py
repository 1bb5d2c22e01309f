"""Times of rules to targets."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import rlccfr
from benchmarks import soonest_rules
from rlccfr.result import CurvePoint


def curve(*points):
    """Return points of a curve from pairs of CPU seconds and exploitability."""
    return [CurvePoint(k, k, seconds, error, math.nan) for k, (seconds, error) in enumerate(points)]


def test_times_are_read_between_points_in_logarithms():
    # From 4 at 1 s to 0.25 at 16 s: exploitability falls as 1 / time.
    points = curve((0.0, 30.0), (1.0, 4.0), (16.0, 0.25))
    assert list(soonest_rules.seconds_to_targets(points, [1.0, 0.5, 0.1])) == pytest.approx([4.0, 8.0, math.inf])


def test_a_target_reached_by_the_first_iterations_has_their_time():
    assert list(soonest_rules.seconds_to_targets(curve((0.0, 30.0), (0.5, 0.01)), [1.0, 0.1])) == [0.5] * 2


def test_rules_are_ranked_by_means_over_spots_and_a_miss_counts_as_the_longest():
    seconds = {("a", 1): 1.0, ("b", 1): 1.5, ("a", 2): 1.0, ("b", 2): math.inf, ("a", 3): math.inf, ("b", 3): math.inf}
    rows = pd.DataFrame(
        {"group": "river", "game": seed, "target": 1.0, "rule": rule, "seconds": found}
        for (rule, seed), found in seconds.items()
    )
    summary = soonest_rules.summary(rows)
    assert summary["rule"].tolist() == ["a", "b"]
    # No rule reached the target on the third spot, which tells nothing.
    assert summary["all"].tolist() == pytest.approx([1.0, round(math.sqrt(1.5 * soonest_rules.LONGEST), 2)])
    assert summary["worst"].tolist() == [1.0, soonest_rules.LONGEST]


def test_rules_are_timed_on_a_game_to_each_of_its_targets():
    game = rlccfr.load_game("goofspiel(num_cards=3,imp_info=True,points_order=descending)")
    rows = pd.DataFrame(soonest_rules.measured(game, soonest_rules.targets_of(game, "without-chance"), ("dcfr", "cfr")))
    assert set(rows["target"]) == set(soonest_rules.SHARES)
    dcfr = rows[rows["rule"] == "dcfr"]["seconds"]
    assert dcfr.is_monotonic_increasing
    assert dcfr.iloc[0] < math.inf
