from __future__ import annotations

import numpy as np
import pytest

import rlccfr
from rlccfr.catalog import Cell
from rlccfr.envs import Budget, LiveEvaluator, MissingCellError, Request, Store, TableEvaluator
from rlccfr.envs.measuring.record import to_frame
from rlccfr.envs.sweeping.plan import Job, Limits
from rlccfr.envs.sweeping.worker import measure

CELL = Cell("cfr_plus", "none", "none")


@pytest.fixture(scope="module")
def record():
    return measure(Job("leduc", CELL, 0, Limits(iterations=1_000, seconds=0.1)))


@pytest.fixture
def table(record):
    return TableEvaluator(to_frame([record], curves=True))


@pytest.mark.slow
@pytest.mark.parametrize("iterations", [1, 10, 100, 1000])
def test_on_the_curves_grid_it_is_what_a_shorter_run_measures(table, iterations):
    request = Request("leduc", (CELL,), Budget("iterations", iterations))
    found, live = table.measure(request), LiveEvaluator().measure(request)
    assert found.exploitability == live.exploitability
    assert found.nash_conv == pytest.approx(live.nash_conv, rel=1e-12)
    assert (found.iterations, found.nodes_touched) == (live.iterations, live.nodes_touched)


def test_between_points_it_lies_between_them(record, table):
    seconds = np.array(record["curve"]["cpu_seconds"])
    later = int(np.searchsorted(seconds, 0.02))
    found = table.measure(Request("leduc", (CELL,), Budget("seconds", 0.02)))
    assert found.cpu_seconds == pytest.approx(0.02)
    for name, value in (("iteration", found.iterations), ("exploitability", found.exploitability)):
        low, high = sorted(record["curve"][name][later - 1 : later + 1])
        assert low <= value <= high
    assert table.result(found.cell_id)["budget_amount"] == 0.02
    assert len(table) == len(table.frame()) == 1


def test_before_the_first_point_it_is_the_first_and_after_the_last_nothing(record, table):
    first = table.measure(Request("leduc", (CELL,), Budget("seconds", 1e-9)))
    assert first.exploitability == pytest.approx(record["curve"]["exploitability"][0])
    with pytest.raises(MissingCellError):
        table.measure(Request("leduc", (CELL,), Budget("seconds", 1.0)))
    with pytest.raises(MissingCellError):
        table.measure(Request("leduc", (CELL,), Budget("iterations", 100), segments=2))


def test_an_exploitability_of_nothing_has_no_logarithm():
    tree = "turn_based_simultaneous_game(game=matrix_rps())"  # solved by the uniform policy
    record = measure(Job(tree, CELL, 0, Limits(iterations=20, seconds=0)))
    found = TableEvaluator(to_frame([record], curves=True)).measure(Request(tree, (CELL,), Budget("iterations", 7)))
    assert abs(found.exploitability) < 1e-12
    assert rlccfr.load_game(tree).num_infosets == 2


def at_one_speed(record):
    """Return a record as of a machine without pauses, on which the last point takes 0.11 seconds."""
    iterations = np.array(record["curve"]["iteration"])
    return record | {"curve": record["curve"] | {"cpu_seconds": (0.11 * iterations / iterations[-1]).tolist()}}


@pytest.fixture(scope="module")
def counted_record():
    """Record of a run whose length is counted, so that its curve is the same on every machine."""
    return at_one_speed(measure(Job("leduc", CELL, 0, Limits(iterations=3_000, seconds=0))))


def test_a_small_table_tells_nearly_the_same(counted_record, tmp_path):
    record = counted_record
    table = TableEvaluator(to_frame([record], curves=True))
    store = Store(tmp_path / "store")
    store.put(record)
    whole, small = store.compact(tmp_path / "whole.parquet"), store.compact(tmp_path / "small.parquet", small=True)
    thin = TableEvaluator(small)
    points = [len(one.result(record["cell_id"])["curve"]) for one in (TableEvaluator(whole), thin)]
    assert points[1] < 0.6 * points[0]
    for iterations in (10, 100, 1000):
        request = Request("leduc", (CELL,), Budget("iterations", iterations))
        assert thin.measure(request).exploitability == pytest.approx(table.measure(request).exploitability, rel=1e-6)
    last = Request("leduc", (CELL,), Budget("iterations", record["iterations"]))
    assert thin.measure(last).exploitability == record["exploitability"]
    halfway = Request("leduc", (CELL,), Budget("seconds", 0.03))
    assert thin.measure(halfway).exploitability == pytest.approx(table.measure(halfway).exploitability, rel=0.1)
    for seconds in (0.01, 0.1):  # the main budgets of a table, to single precision
        request = Request("leduc", (CELL,), Budget("seconds", seconds))
        assert thin.measure(request).exploitability == pytest.approx(table.measure(request).exploitability, rel=1e-5)


def test_a_table_cut_to_budgets_tells_nearly_the_same_of_them_at_the_second_timing_too(record, tmp_path):
    twice = {**record, "throughput_again": 0.8 * record["throughput"]}
    store = Store(tmp_path / "store")
    store.put(twice)
    budgets = (Budget("seconds", 0.007), Budget("seconds", 0.05), Budget("iterations", 300), Budget("nodes", 1e6))
    cut = TableEvaluator(store.compact(tmp_path / "cut.parquet", small=True, budgets=budgets))
    whole = TableEvaluator(to_frame([twice], curves=True))
    assert len(cut.result(record["cell_id"])["curve"]) <= 2 * (len(budgets) + 2) + 1
    for budget in budgets:
        request = Request("leduc", (CELL,), budget)
        for found, expected in (
            (cut.measure(request), whole.measure(request)),
            (cut.timed_again("leduc", CELL, budget), whole.timed_again("leduc", CELL, budget)),
        ):
            assert found.exploitability == pytest.approx(expected.exploitability, rel=1e-5)
            assert found.iterations == expected.iterations


def test_a_second_timing_moves_the_times_of_the_curve(record):
    slower = {**record, "throughput_again": record["throughput"] / 2}
    table = TableEvaluator(to_frame([slower], curves=True))
    seconds, half = (table.measure(Request("leduc", (CELL,), Budget("seconds", each))) for each in (0.02, 0.01))
    again = table.timed_again("leduc", CELL, Budget("seconds", 0.02))
    assert again.throughput == seconds.throughput / 2
    assert again.exploitability == pytest.approx(half.exploitability, rel=1e-9)
    counted = Budget("iterations", 100)
    assert (
        table.timed_again("leduc", CELL, counted).exploitability
        == table.measure(Request("leduc", (CELL,), counted)).exploitability
    )
    untimed = TableEvaluator(to_frame([{**record, "throughput_again": None}], curves=True))
    assert untimed.timed_again("leduc", CELL, counted) is None


def test_a_longer_run_makes_up_for_one_that_failed(record):
    failed = {**record, "status": "timeout", "cell_id": "failed", "budget_amount": 100.0, "measured_at": "2001-01-01"}
    table = TableEvaluator(to_frame([failed, record], curves=True))
    assert table.measure(Request("leduc", (CELL,), Budget("iterations", 100))).ok


def test_of_runs_by_two_engines_the_newests_curve_counts(record):
    old = {**record, "cell_id": "old", "engine_version": "0/0", "iterations": 10**9, "measured_at": "2001-01-01"}
    table = TableEvaluator(to_frame([record, old], curves=True))
    assert table.run("leduc", CELL, 0)["cell_id"] == record["cell_id"]
