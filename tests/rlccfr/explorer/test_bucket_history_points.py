"""What pages of hold'em in buckets show at each point is consistent with the policy's values."""

from __future__ import annotations

import numpy as np
import pytest

import rlccfr
from rlccfr.explorer.bucket_history_points import bucket_history_page
from rlccfr.explorer.pages import predicted_size, write_page
from rlccfr.explorer.points import ENDS
from rlccfr.games.public.records import CHANCE
from rlccfr.policies.bucket_history_policy import BucketHistoryPolicy

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

NAME = "holdem(rounds=3,ranks=3,suits=2,private=1,flop=1,buckets=2)"


@pytest.fixture(scope="module")
def policy():
    game = rlccfr.load_game(NAME)
    return BucketHistoryPolicy(game, np.random.default_rng(1).random(game.num_sequences))


def points_of(policy, start="", most=1_000_000):
    return list(bucket_history_page(policy, start, most).points)


def test_values_and_shares_agree_from_point_to_point(policy):
    points = points_of(policy)
    assert points[0].value == pytest.approx(policy.values().game[0], abs=1e-12)
    below = {}
    for point in points[1:]:
        below.setdefault(point.parent, []).append(point)
    for number, point in enumerate(points):
        assert (number in below) == (point.actor != ENDS)
        if point.actor == ENDS:
            continue
        assert sum(child.share for child in below[number]) == pytest.approx(1)
        mean = sum(child.share * child.value for child in below[number])
        assert mean == pytest.approx(point.value, abs=1e-10)
        if point.actor == CHANCE:
            continue
        assert [child.move for child in below[number]] == [name for name, _, _ in point.states[0].actions]
        for states in (point.states, point.opponent_states):
            assert sum(state.share for state in states) == pytest.approx(1)
        sign = 1 if point.actor == 0 else -1
        assert sum(state.share * state.value for state in point.states) == pytest.approx(sign * point.value, abs=1e-10)
        for state in point.states:
            assert sum(probability * gain for _, probability, gain in state.actions) == pytest.approx(0, abs=1e-10)


def test_states_are_those_of_the_policy(policy):
    whole = points_of(policy)
    third = points_of(policy, "cc/rc/c")[0]
    labels = policy.game.bucketing.labels(2)
    assert [state.text for state in third.states] == labels
    for history, state in enumerate(third.states):
        expected = policy.action_probabilities("cc/rc/c", history)
        assert [probability for _, probability, _ in state.actions] == pytest.approx(list(expected.values()))
    same = next(point for point in whole if point.states == third.states)
    assert same.value == pytest.approx(third.value)
    assert third.move == "cc/rc/c"


def test_the_least_gain_of_a_best_response_shows_where_play_never_leads():
    """Where the opponent always folds before, values are unknown rather than wrong."""
    game = rlccfr.load_game(NAME)
    table = np.zeros(game.num_sequences)
    for decision in game.decisions:
        decision.of(table)[:, 0] = 1.0  # the first action: fold, or check
    folding = BucketHistoryPolicy(game, table)
    points = points_of(folding, "r")  # player 0 checks, so player 1 is never asked
    assert points[0].states[0].share == 0
    assert np.isnan(points[0].states[0].value)


@pytest.mark.parametrize(("start", "whole"), [("", True), ("cc/", True), ("", False)])
def test_pages_are_written_whole_or_within_the_limit(policy, tmp_path, start, whole):
    most = 100_000 if whole else 30
    size = write_page(policy, tmp_path / "page.html", start=start, most=most)
    assert size.whole == whole
    predicted = predicted_size(policy, start=start, most=most)
    assert size.states == predicted.states if whole else size.states <= most
    if whole and not start:
        assert size.states == 2 * policy.game.num_infosets


def test_a_start_where_nobody_acts_is_refused(policy):
    for ask in (points_of, lambda policy, start: predicted_size(policy, start=start)):
        with pytest.raises(rlccfr.GameError, match="nobody acts after 'rf'"):
            ask(policy, "rf")
