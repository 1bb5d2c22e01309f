"""Runs to a target, and predictions of the time that is left."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr import solver
from rlccfr.errors import BudgetError
from rlccfr.limits import LITTLE, LOOK, Limit, ProgramWatch, has_stalled, seconds_left, target_of
from rlccfr.result import CurvePoint


def curve(*errors, step=10):
    """Return a curve whose iterations, nodes and CPU seconds grow by a factor from point to point."""
    return [CurvePoint(step**k, step**k, float(step) ** k, error, error) for k, error in enumerate(errors)]


@pytest.mark.parametrize("budget", [{}, {"iterations": 10**6}, {"seconds": 60.0}, {"nodes": 10**10}])
def test_a_run_stops_at_the_first_point_that_reaches_its_target(budget):
    result = rlccfr.Solver(game("leduc"), "dcfr").run(until=1e-3, **budget)
    assert result.reached
    assert result.exploitability == result.points[-1].exploitability <= 1e-3
    assert all(point.exploitability > 1e-3 for point in result.points[:-1])
    assert result.target == 1e-3


def test_a_run_that_is_there_already_does_nothing():
    solver = rlccfr.Solver(game("kuhn"))
    first = solver.run(until=1e-2)
    assert solver.run(until=1e-2).iterations == first.iterations


def test_a_target_without_a_curve_is_still_met():
    assert rlccfr.Solver(game("kuhn")).run(until=1e-3, curve=False).reached


@pytest.mark.parametrize(("rule", "share"), [("dcfr", 1e-2), ("cfr", 1e-2), ("pcfr_plus", 1e-5)])
def test_a_target_without_a_curve_is_met_with_few_looks_and_hardly_later(rule, share):
    target = share * 2.3736
    whole = rlccfr.Solver(game("leduc"), rule).run(until=target)
    brief = rlccfr.Solver(game("leduc"), rule).run(until=target, curve=False)
    assert brief.reached
    assert brief.iterations <= 1.3 * whole.iterations
    looks = len(brief.points)
    assert looks <= len(whole.points) / 2 or looks * LOOK <= 2 * LITTLE * brief.iterations


def test_looks_are_where_the_target_is_likely_to_be_reached():
    limit = Limit("iterations", math.inf, 1e-4, 1.0, 1)
    assert limit.iterations_to_look(0, []) == math.ceil(10 ** (4 / 2.5))
    points = [CurvePoint(100, 100, 1.0, 1e-2, math.nan), CurvePoint(200, 200, 2.0, 2.5e-3, math.nan)]  # a slope of 2
    assert limit.iterations_to_look(200, points) == math.ceil(LOOK / LITTLE)  # the target is at 1,000: too far
    near = [*points, CurvePoint(900, 900, 9.0, 1.23e-4, math.nan)]
    assert limit.iterations_to_look(900, near) == pytest.approx(100, abs=5)
    rising = [*points, CurvePoint(900, 900, 9.0, 1e-2, math.nan)]
    assert 0 < limit.iterations_to_look(900, rising) < 900
    assert limit.iterations_to_look(150, [points[0]]) == limit.iterations_to_look(120, [points[0]]) - 30
    brief = Limit("iterations", math.inf, 1e-4, 1.0, 1000)  # an iteration touches a thousandth of the histories
    assert brief.iterations_to_look(200, points) == 300  # a look takes long, so the step is the longest


def test_one_look_is_where_a_target_is_expected_and_then_the_end_is_open():
    limit = Limit("iterations", math.inf, 1e-4, 1.0, 1, expected=500)
    assert [limit.horizon(done, 0.0, {}) for done in (0, 499, 500, 800)] == [500, 500, 0, 0]
    far = [CurvePoint(250, 250, 1.0, 0.5, math.nan), CurvePoint(490, 490, 2.0, 0.4, math.nan)]
    assert limit.iterations_to_look(490, far) == 10
    assert limit.iterations_to_look(500, far) > 10
    assert Limit("iterations", math.inf, 1e-4, 1.0, 1, expected=2**60).horizon(0, 0.0, {}) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iterations": 10, "horizon": 10}, "horizon= is only for a run to a target: give until="),
        ({"until": 0.1, "horizon": 0}, "horizon must be a positive integer, not 0"),
        ({"until": 0.1, "horizon": 1.5}, "horizon must be a positive integer, not 1.5"),
    ],
)
def test_what_is_expected_belongs_to_a_target(arguments, message):
    with pytest.raises(BudgetError, match=re.escape(message)):
        rlccfr.Solver(game("kuhn")).run(**arguments)


def test_a_target_is_met_where_calls_of_the_engine_are_shorter_than_steps(monkeypatch):
    monkeypatch.setattr(solver, "SLICE", 1e-9)  # one iteration in each call
    result = rlccfr.Solver(game("leduc"), "dcfr").run(until="1e-2x", curve=False)
    assert result.reached
    assert result.iterations < 100


def test_walks_are_not_slowed_down_by_looks():
    result = rlccfr.Solver(game("leduc"), "lcfr", "outcome", seed=1).run(20_000, until="1e-3x", curve=False)
    assert len(result.points) < 60


def test_a_budget_ends_a_run_before_its_target():
    result = rlccfr.Solver(game("leduc")).run(iterations=10, until=1e-9)
    assert result.iterations == 10
    assert not result.reached


def test_without_a_target_every_run_has_reached_it():
    result = rlccfr.Solver(game("kuhn")).run(iterations=3)
    assert result.target is None
    assert result.reached


def test_a_run_that_has_stalled_ends():
    """Nothing is learned with regrets that are forgotten at once."""
    forgetful = rlccfr.components.UpdateRule(
        positive_discount=rlccfr.components.always(0.0), negative_discount=rlccfr.components.always(0.0)
    )
    solver = rlccfr.Solver(game("kuhn"), forgetful)
    result = solver.run(until=1e-6)
    assert not result.reached
    assert result.iterations >= 1000
    solver.switch(update_rule="cfr_plus")
    assert solver.run(until=1e-3).reached
    assert solver.run(until=1e-3).iterations > result.iterations


@pytest.mark.parametrize("sampler", ["outcome", "external"])
def test_walks_are_no_iterations_of_the_whole_game(sampler):
    """A thousand walks touch less than a pass, and their noise does not mean that a run has stalled."""
    assert rlccfr.Solver(game("leduc"), "cfr", sampler).run(until="0.1x").reached


def test_a_share_is_of_the_uniform_policys_exploitability():
    uniform = rlccfr.Policy.uniform(game("leduc")).exploitability()
    assert target_of(game("leduc"), "1e-3x") == pytest.approx(1e-3 * uniform)
    assert target_of(game("leduc"), "1e-3") == target_of(game("leduc"), 1e-3) == 1e-3


@pytest.mark.parametrize("payoffs", [[[2, 2], [2, 2]], [[1, -1], [-1, 1]]])
def test_where_the_uniform_policy_is_an_equilibrium_a_share_of_its_exploitability_is_reached(payoffs):
    tree = rlccfr.matrix_game(payoffs)
    assert rlccfr.Policy.uniform(tree).exploitability() == 0
    result = rlccfr.Solver(tree, "dcfr_plus").run(until="1e-4x")
    assert result.reached
    assert result.exploitability == 0


@pytest.mark.parametrize(
    "target", ["", "x", "1e-6y", 0, -1.0, "-1x", float("nan"), float("inf"), 10**400, True, None, [1e-3]]
)
def test_what_is_no_target_is_refused(target):
    with pytest.raises(BudgetError, match="a target must be a positive exploitability such as"):
        target_of(game("kuhn"), target)


def test_a_target_below_rounding_is_refused():
    with pytest.raises(BudgetError, match=r"1e-16 is below rounding errors in 'kuhn': give a target of at least 4e"):
        rlccfr.Solver(game("kuhn")).run(until=1e-16)


def test_neither_budget_nor_target_is_refused():
    with pytest.raises(BudgetError, match=r"give one budget \(.*\), a target \(until=\), or both"):
        rlccfr.Solver(game("kuhn")).run()


def test_the_share_done_counts_decades_where_there_is_only_a_target():
    limit = Limit("iterations", math.inf, 1e-4, 1.0, 100)
    assert limit.share(7, []) == 0.0
    assert limit.share(7, curve(2.0)) == 0.0
    assert limit.share(7, curve(1.0, 1e-2)) == pytest.approx(0.5)
    assert limit.share(7, curve(1.0, 1e-5)) == 1.0
    assert Limit("iterations", 10, 1e-4, 1.0, 100).share(7, curve(1.0)) == 0.7


def test_progress_reaches_one_at_the_target():
    shares = []
    rlccfr.Solver(game("kuhn")).run(until=1e-3, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_run_has_stalled_if_tenfold_work_hardly_helps():
    assert not has_stalled([], 1000)
    assert not has_stalled(curve(1.0, 0.1, 0.1), 1000)  # 100 histories are too few to tell
    assert not has_stalled(curve(1.0, 0.1, 0.01, 0.005), 1000)
    assert has_stalled(curve(1.0, 0.1, 0.01, 0.0095), 1000)


def test_what_came_before_a_call_does_not_count_as_stalled():
    limit, points = Limit("iterations", math.inf, 1e-4, 1.0, 0), curve(1.0, 0.1, 0.01, 0.0095)
    assert limit.ends(points, 0)
    assert not limit.ends(points, 3)


def test_the_time_left_follows_a_power_of_time():
    falling = curve(1.0, 0.5, 0.25, 0.125, step=2)  # 1 / time
    assert seconds_left(falling, 0.125 / 4) == pytest.approx(3 * 8)
    assert seconds_left(falling, 0.125) == pytest.approx(0.0, abs=1e-9)


def test_what_does_not_fall_never_arrives():
    assert seconds_left(curve(1.0, 1.0, 1.0, 1.0, step=2), 1e-3) == math.inf


@pytest.mark.parametrize("points", [[], curve(1.0, 0.5, step=2), curve(1.0, 0.5, 0.25, 0.1, step=1)])
def test_too_few_times_say_nothing(points):
    assert seconds_left(points, 1e-3) is None


@pytest.mark.parametrize(("target", "by_program", "exactly"), [(1e-2, 100.0, False), (1e-12, 1e-3, True)])
def test_the_sooner_way_is_taken(target, by_program, exactly):
    solver = rlccfr.Solver(game("leduc"), "dcfr")
    watch = ProgramWatch(solver, target, by_program)
    found = solver.run(until=target, stop=watch)
    assert (found.reached, watch.says_sooner) == (not exactly, exactly)
    assert watch.seconds_left > 0


def test_a_run_is_not_judged_before_the_time_that_it_was_predicted_to_take():
    solver = rlccfr.Solver(game("leduc"), "dcfr")
    watch = ProgramWatch(solver, 1e-12, 1e-3, run_seconds=1e3)
    solver.run(iterations=3000, stop=watch)
    assert not watch.says_sooner


def test_targets_do_not_depend_on_the_unit_of_payoffs():
    payoffs = np.random.default_rng(0).normal(size=(5, 5))
    runs = [
        rlccfr.Solver(rlccfr.matrix_game(unit * payoffs), "cfr_plus").run(until="1e-2x", iterations=10_000)
        for unit in (1.0, 1e-16, 1e16)
    ]
    assert all(run.reached for run in runs)
    assert len({run.iterations for run in runs}) == 1
    assert runs[1].target == pytest.approx(1e-16 * runs[0].target)
