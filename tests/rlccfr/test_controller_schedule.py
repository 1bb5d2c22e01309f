"""Controllers that follow a schedule, and picks for one observation."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from support import game, without_bundles

import rlccfr
from rlccfr.catalog.scheduled import controller_named
from rlccfr.components.controller import CHOICES, OBSERVATION, Controller
from rlccfr.controller_file import load_controller, save_controller
from rlccfr.controller_schedule import follow_schedule, follow_schedules, picks_of
from rlccfr.envs.control.run import ControlRun, marks_of
from rlccfr.errors import RLCCFRError


def random_picks(decisions: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(len(choices), size=decisions) for choices in CHOICES], axis=1)


def test_a_schedule_is_followed_pick_by_pick_also_from_a_file(tmp_path):
    tree = game("kuhn")
    for horizon in (1, 4, 5, 17, 64, 1000, 10_007, 200_000):
        marks = marks_of(horizon)
        picks = random_picks(len(marks), seed=horizon)
        save_controller(follow_schedule(np.array(marks) / horizon, picks), tmp_path / "schedule.npz")
        followed = ControlRun(tree, load_controller(tmp_path / "schedule.npz"), horizon).episode()
        forced = ControlRun(tree, Controller.untrained(CHOICES, ()), horizon).episode(forced=picks)
        assert np.array_equal(followed.picks, picks), horizon
        assert np.array_equal(followed.errors, forced.errors), horizon


def test_in_a_run_of_another_length_a_schedule_is_stretched():
    marks = marks_of(1024)
    picks = random_picks(len(marks), seed=1)
    controller = follow_schedule(np.array(marks) / 1024, picks)
    for horizon in (64, 999, 1023, 1025):
        run = ControlRun(game("kuhn"), controller, horizon)
        nearest = [np.argmin(np.abs(np.array(marks) / 1024 - mark / horizon)) for mark in run.marks]
        assert np.array_equal(run.episode().picks, picks[nearest]), horizon


def test_a_solver_that_follows_a_schedule_does_not_observe_and_does_the_same(monkeypatch):
    without_bundles(monkeypatch)  # as in episodes
    marks = marks_of(200)
    controller = follow_schedule(np.array(marks) / 200, random_picks(len(marks), seed=3))
    assert not controller.observes_run
    assert Controller.untrained(CHOICES, ()).observes_run
    solver = rlccfr.Solver(game("leduc"), control=controller)
    solver.run(iterations=200, curve=False)
    recorded = ControlRun(game("leduc"), controller, 200, keep=True)
    episode = recorded.episode()
    assert np.isfinite(episode.observations).all()
    uniform = rlccfr.Policy.uniform(game("leduc")).exploitability()
    assert np.log10(solver.exploitability() / uniform) == pytest.approx(episode.errors[-1], abs=1e-12)


def test_one_row_of_picks_is_a_point_of_the_rule_scheduled(monkeypatch):
    without_bundles(monkeypatch)  # the fixed rule's passes go over infosets, as those of the controlled run
    controller = follow_schedule([0.0], [(2, 3, 4)])
    alpha, _, floor = CHOICES[0][2]
    point = {"alpha": alpha, "gamma": CHOICES[1][3, 0], "optimism": CHOICES[2][4, 0], "floor": bool(floor)}
    steered = ControlRun(game("leduc"), controller, 200)
    steered.episode()
    fixed = rlccfr.Solver(game("leduc"), {"id": "scheduled", **point}).run(iterations=200)
    assert steered.exploitability == pytest.approx(fixed.exploitability)


def test_picks_outside_of_a_run_are_those_of_the_kernels():
    several = Controller.together([Controller.untrained(CHOICES, (16,), seed) for seed in range(3)])
    for controller in (controller_named("shipped"), several, Controller.untrained(CHOICES, ())):
        episode = ControlRun(game("leduc"), controller, 300).episode()
        assert [list(picks_of(controller, one)) for one in episode.observations] == episode.picks.tolist()


def test_q_values_are_summed_as_the_kernels_sum_them():
    zeros = []
    num_inputs = len(OBSERVATION)
    for count in map(len, CHOICES):
        zeros.append([(np.zeros((num_inputs, count)), np.zeros(count))])
        num_inputs += count
    members = [copy.deepcopy(zeros) for _ in range(2)]
    members[0][0][0][1][:2] = 1
    members[1][0][0][1][1] = 2**-25  # lost beside 1 in single precision
    controller = Controller(CHOICES, tuple(tuple(map(tuple, networks)) for networks in members))
    episode = ControlRun(game("kuhn"), controller, 16).episode()
    assert picks_of(controller, episode.observations[0]).tolist() == episode.picks[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("shares", "picks", "message"),
    [
        ([0.5], [(0, 0, 0)], "ascend from 0"),
        ([0.0, 0.0], [(0, 0, 0)] * 2, "ascend from 0"),
        ([0.0, 2.0], [(0, 0, 0)] * 2, "ascend from 0"),
        ([], [], "ascend from 0"),
        (["a"], [(0, 0, 0)], "ascend from 0"),
        ([0.0, float("nan")], [(0, 0, 0)] * 2, "ascend from 0"),
        ([0.0], [(12, 0, 0)], "discounting below 12"),
        ([0.0], [(-1, 0, 0)], "discounting below 12"),
        ([0.0], [(0.5, 0, 0)], "three indices"),
        ([0.0], [(0, 0)], "three indices"),
        ([0.0, 0.5], [(0, 0, 0)], "2 shares"),
        ([0.0, 0.5], [(0, 0, 0), (0,)], "2 shares"),
    ],
)
def test_what_is_no_schedule_is_refused(shares, picks, message):
    with pytest.raises(RLCCFRError, match=message):
        follow_schedule(shares, picks)


def test_an_observation_of_another_shape_is_refused():
    with pytest.raises(RLCCFRError, match=f"must have the shape .{len(OBSERVATION)},."):
        picks_of(controller_named("shipped"), np.zeros(3))


def test_each_length_of_runs_has_a_schedule_of_its_own():
    lengths = (30, 100, 1000)
    schedules = {}
    for length in lengths:
        marks = marks_of(length)
        schedules[length] = (np.array(marks) / length, random_picks(len(marks), seed=length))
    controller = follow_schedules(schedules)
    # The borders lie at the geometric means, 54.8 and 316.2.
    nearest = {8: 30, 54: 30, 55: 100, 100: 100, 316: 100, 317: 1000, 1000: 1000, 50_000: 1000}
    for horizon, length in nearest.items():
        alone = follow_schedule(*schedules[length])
        found = ControlRun(game("kuhn"), controller, horizon).episode().picks
        assert np.array_equal(found, ControlRun(game("kuhn"), alone, horizon).episode().picks), horizon


def test_a_run_at_the_border_of_two_lengths_follows_one_schedule():
    schedules = {100: ([0.0], [(0, 7, 3)]), 10_000: ([0.0], [(5, 2, 8)])}
    picks = ControlRun(game("kuhn"), follow_schedules(schedules), 1000).episode().picks
    assert (picks == (0, 7, 3)).all()


def test_no_schedules_and_lengths_that_are_none_are_refused():
    with pytest.raises(RLCCFRError, match="at least one schedule"):
        follow_schedules({})
    with pytest.raises(RLCCFRError, match="the length of a schedule must be a positive integer, not 0"):
        follow_schedules({0: ([0.0], [(0, 0, 0)])})
