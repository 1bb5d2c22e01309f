from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rlccfr
from rlccfr.catalog import Cell
from rlccfr.envs import Store
from rlccfr.envs.measuring.record import to_measurement
from rlccfr.envs.measuring.timing import ReferenceClock
from rlccfr.envs.sweeping import worker
from rlccfr.envs.sweeping.plan import Job, Limits
from rlccfr.envs.sweeping.worker import measure
from rlccfr.games.compiled_games import compiled


def job(**changes) -> Job:
    limits = {"iterations": 50, "seconds": 0.02} | changes
    return Job("kuhn", Cell("cfr", "external", "none"), 3, Limits(**limits))


def test_a_run_lasts_as_long_as_it_must_and_its_curve_has_its_times():
    record = measure(job())
    found = to_measurement(record)
    assert found.ok
    assert found.cpu_seconds >= 0.02
    assert found.iterations >= 50
    assert record["budget_amount"] == found.iterations == record["curve"]["iteration"][-1]
    seconds = record["curve"]["cpu_seconds"]
    assert seconds == sorted(seconds)
    assert sum(0.001 <= second <= 0.021 for second in seconds) >= 13
    assert 0.3 < record["throughput_again"] / record["throughput"] < 3
    assert found.reference_throughput > 0


def test_a_run_goes_on_to_its_further_iterations():
    assert measure(job(seconds=0, further=120))["iterations"] == 120


@pytest.mark.slow
def test_plain_cfr_is_timed_along_the_run(monkeypatch):
    found = []

    class Counted(ReferenceClock):
        def slice(self, *args):
            found.append(args)
            return super().slice(*args)

    monkeypatch.setattr(worker, "_clock", lambda *_: Counted(compiled("kuhn")))
    record = measure(job(seconds=0.6))
    assert 4 <= len(found) <= 7  # before the run, up to five times during it, and after it
    assert record["cpu_seconds"] < 0.7  # without the slices' time


def test_without_seconds_it_is_the_same_each_time():
    first, second = (measure(job(seconds=0)) for _ in range(2))
    names = ("cell_id", "exploitability", "iterations", "nodes_touched")
    assert [first[name] for name in names] == [second[name] for name in names]
    assert first["iterations"] == 50
    for name in ("iteration", "nodes", "exploitability", "exploitability_current"):
        assert first["curve"][name] == second["curve"][name]
    plain = rlccfr.Solver(rlccfr.load_game("kuhn"), "cfr", "external", seed=3).run(iterations=50)
    assert first["exploitability"] == plain.exploitability


@pytest.mark.slow
@pytest.mark.parametrize("cell", [("deep_cfr(preset='sweep')", "external", "none"), ("cfr", "none", "rcfr")])
def test_a_run_with_models_lasts_its_iterations_and_is_kept(cell, tmp_path):
    learner = Job("kuhn", Cell(*cell), 1, Limits(iterations=20, seconds=0.0))
    record = measure(learner)
    assert (record["status"], record["iterations"], record["throughput_again"]) == ("ok", 20, None)
    Store(tmp_path).put(record)
    assert Store(tmp_path).get(learner.id) == record


@pytest.mark.slow
def test_a_run_with_models_that_is_over_in_a_moment_goes_on():
    record = measure(Job("kuhn", Cell("cfr", "none", "rcfr"), 1, Limits(iterations=2, seconds=0.2)))
    assert record["cpu_seconds"] >= 0.2
    assert record["iterations"] > 2


def test_a_run_that_takes_too_long_is_given_up_and_what_it_measured_kept():
    record = measure(job(seconds=60.0, timeout=0.2))
    assert record["status"] == "timeout"
    assert "CPU seconds" in record["error"]
    assert len(record["curve"]["exploitability"]) > 5
    assert record["exploitability"] is None


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_a_run_that_takes_too_much_memory_is_told_so(monkeypatch):
    def hungry(*_, **__):
        return np.ones(2**27)  # a gigabyte

    monkeypatch.setattr(worker, "measured_solver", hungry)
    assert measure(job(megabytes=256))["status"] == "out_of_memory"
    monkeypatch.undo()
    assert measure(job())["status"] == "ok"
    assert len(np.ones(2**26)) == 2**26  # the limit is gone


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_runs_in_threads_leave_no_limit_behind():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with ThreadPoolExecutor(4) as threads:
        assert {record["status"] for record in threads.map(measure, [job(seconds=0)] * 12)} == {"ok"}
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_whatever_else_goes_wrong_is_a_record(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("all wrong")

    monkeypatch.setattr(worker, "measured_solver", broken)
    record = measure(job())
    assert (record["status"], record["error"]) == ("failed", "ZeroDivisionError: all wrong")
    assert "broken" in record["traceback"]


def test_timings_of_a_deterministic_run_are_repeated_until_two_agree(monkeypatch):
    """Other work slows the first run and the first two timings of the second run; a third timing agrees with it."""
    exact = Job("kuhn", Cell("cfr", "none", "none"), 0, Limits(iterations=50, seconds=0.0))
    compare, time_again = worker.compare, worker.time_again
    runs, timings = [], []

    def compared(*arguments):
        runs.append(1)
        timing = compare(*arguments)
        factor = 10.0 if len(runs) == 1 else 1.0
        return timing._replace(throughput=1000.0 / factor)

    def timed_again(*arguments):
        timings.append(1)
        count, timed = time_again(*arguments)
        factor = 3.0 if len(timings) in (4, 5) else 1.0
        return count, timed._replace(iterations=1000.0, seconds=factor)

    monkeypatch.setattr(worker, "compare", compared)
    monkeypatch.setattr(worker, "time_again", timed_again)
    record = measure(exact)
    assert (len(runs), len(timings)) == (2, worker.MOST_TIMINGS + 3)
    assert (record["throughput"], record["throughput_again"]) == (1000.0, 1000.0)
    assert not worker.was_disturbed(record)
    assert worker.was_disturbed({**record, "throughput_again": 700.0})
    assert not worker.was_disturbed({**record, "throughput_again": 700.0, "deterministic": False})


@pytest.mark.slow
def test_a_run_whose_timings_never_agree_is_recorded_all_the_same(monkeypatch):
    exact = Job("kuhn", Cell("cfr", "none", "none"), 0, Limits(iterations=50, seconds=0.0))
    monkeypatch.setattr(worker, "_agree", lambda first, second: False)
    assert worker.was_disturbed(measure(exact))
