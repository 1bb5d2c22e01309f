from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from holding import other_process_holding

import rlccfr.envs
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Limits, Store, SweepPlan, TableEvaluator, sweep
from rlccfr.envs.sweeping.plan import jobs
from rlccfr.envs.sweeping.sweep import close_calls
from rlccfr.envs.sweeping.worker import measure
from rlccfr.errors import BudgetError, RLCCFRError

SMALL = Catalog(("cfr", "dcfr"), ("external", "none"), ("none",))
PLAN = SweepPlan(["kuhn"], SMALL, seeds=2, limits=Limits(iterations=20, seconds=0.0))


@pytest.mark.slow
def test_a_notebook_sweeps_with_a_pool_of_its_own(tmp_path):
    told = []
    with ThreadPoolExecutor(2) as executor:
        counts = sweep(PLAN, tmp_path, executor=executor, report=lambda job, record: told.append(job.id))
        assert executor.submit(int, "7").result() == 7  # the executor outlives the sweep
    assert counts == {"kuhn": {"ok": 6}}  # two deterministic algorithms have one run each, the two others two
    assert sorted(told) == Store(tmp_path).ids()
    assert TableEvaluator(tmp_path).games == ["kuhn"]


@pytest.mark.slow
def test_a_sweep_goes_on_from_what_its_store_has(tmp_path):
    with ThreadPoolExecutor(1) as executor:
        sweep(SweepPlan(["kuhn"], SMALL, seeds=1, limits=PLAN.limits), tmp_path, executor=executor)
        told = []
        sweep(PLAN, tmp_path, executor=executor, report=lambda job, record: told.append((job.cell.sampler, job.seed)))
    assert told == [("external", 1)] * 2


@pytest.mark.slow
def test_a_sweep_beside_another_warns_and_measures_what_is_left(tmp_path, caplog):
    store = Store(tmp_path)
    with ThreadPoolExecutor(1) as executor, other_process_holding(tmp_path) as process:
        assert sweep(PLAN, store, executor=executor) == {"kuhn": {"ok": 6}}
    (warning,) = caplog.messages
    assert f"another sweep, process {process.pid} on " in warning


@pytest.mark.slow
def test_a_sweep_runs_in_processes_by_itself(tmp_path):
    assert sweep(SweepPlan(["kuhn"], SMALL, seeds=1, limits=PLAN.limits), tmp_path) == {"kuhn": {"ok": 4}}


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: SweepPlan("kuhn"), RLCCFRError, "a list of at least one name"),
        (lambda: SweepPlan([]), RLCCFRError, "a list of at least one name"),
        (lambda: SweepPlan(["kuhn"], seeds=0), BudgetError, "seeds must be a positive integer"),
        (lambda: sweep(PLAN, "unused", executor=3), RLCCFRError, "executor must be a concurrent.futures.Executor"),
    ],
)
def test_what_makes_no_sense_is_one_line(make, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        make()


def test_the_function_is_public():
    assert rlccfr.envs.sweep is sweep


RULES = ("cfr", "deep_cfr(preset='sweep')")


@pytest.fixture(scope="module")
def measured_runs(tmp_path_factory):
    planned = jobs({"kuhn": range(3)}, Catalog(RULES, ("none",), ("none",)), (0,), Limits(iterations=10, seconds=0))
    store = Store(tmp_path_factory.mktemp("close"))
    for job in planned:
        store.put(measure(job))
    return planned, store


def test_algorithms_close_to_the_best_get_the_seeds_that_they_lack(measured_runs):
    planned, store = measured_runs
    assert close_calls(planned, store, range(3), within=0.0) == []  # exact plain CFR is better under every preset
    more = close_calls(planned, store, range(3), within=2.0)  # rewards lie in [-1, 1], so all are close
    assert [(job.cell, job.seed) for job in more] == [(Cell(RULES[1], "none", "none"), seed) for seed in (1, 2)]
    assert not set(more) & set(planned)


def test_close_is_close_to_the_best_that_has_converged(tmp_path):
    """Plain CFR has not converged and has the highest reward, for its speed; nothing that has converged is close."""
    catalog = Catalog(("cfr",), ("none", "external", "outcome"), ("none",))
    planned = jobs({"kuhn": range(1)}, catalog, limits=Limits(iterations=10, seconds=0))
    errors, speeds = (0.4, 1e-6, 0.09), (100.0, 1.0, 1.0)  # multiples of the uniform policy's, and of plain CFR's
    store = Store(tmp_path)
    for job, error, speed in zip(planned, errors, speeds, strict=True):
        record = measure(job)
        exploitability = error * record["uniform_exploitability"]
        curve = {**record["curve"], "exploitability": [exploitability] * len(record["curve"]["exploitability"])}
        store.put(
            {
                **record,
                "exploitability": exploitability,
                "curve": curve,
                "throughput": speed * record["reference_throughput"],
            }
        )
    more = close_calls(planned, store, range(2), within=0.1)
    assert [job.cell.sampler for job in more] == ["external", "outcome"]


def test_runs_without_a_record_are_passed_over(measured_runs, tmp_path):
    planned, _ = measured_runs
    assert close_calls(planned, Store(tmp_path), range(3), within=2.0) == []


def test_more_seeds_do_not_change_who_is_close(measured_runs, tmp_path):
    """If the further runs are stopped, the same command asks for the same runs again."""
    planned, store = measured_runs
    kept = Store(tmp_path)
    for record in store.records():
        kept.put(record)
    more = close_calls(planned, kept, range(3), within=2.0)
    kept.put({**measure(more[0]), "exploitability": 99.0})
    assert close_calls(planned, kept, range(3), within=2.0) == more


def test_other_runs_in_the_store_are_let_be(measured_runs, tmp_path):
    planned, store = measured_runs
    kept = Store(tmp_path)
    for record in store.records():
        kept.put(record)
    kept.put(measure(replace(planned[-1], seed=2, limits=Limits(iterations=2, seconds=0))))
    assert close_calls(planned, kept, range(2), within=0.0) == []


def test_tabular_algorithms_that_draw_get_more_seeds_too(tmp_path):
    catalog = Catalog(("cfr",), ("none", "external", "outcome"), ("none",))
    planned = jobs({"kuhn": range(1)}, catalog, limits=Limits(iterations=1000, seconds=0))
    store = Store(tmp_path)
    for job in planned:
        store.put(measure(job))
    more = close_calls(planned, store, range(3), within=2.0)
    assert [(job.cell.sampler, job.seed) for job in more] == [
        (sampler, seed) for sampler in ("external", "outcome") for seed in (1, 2)
    ]


def test_a_single_iteration_tells_nothing(tmp_path):
    planned = jobs({"kuhn": range(1)}, Catalog(("cfr",), ("external",), ("none",)), limits=Limits(1, seconds=0))
    store = Store(tmp_path)
    store.put(measure(planned[0]))
    assert close_calls(planned, store, range(3), within=2.0) == []


@pytest.mark.slow
def test_a_sweep_gives_close_algorithms_as_many_seeds_as_it_is_told(tmp_path):
    catalog = Catalog(("cfr",), ("external",), ("none",))
    plan = SweepPlan(["kuhn"], catalog, seeds=1, close=2.0, close_seeds=3, limits=Limits(iterations=10, seconds=0))
    assert sweep(plan, tmp_path) == {"kuhn": {"ok": 3}}
    assert TableEvaluator(Store(tmp_path)).seeds("kuhn", next(iter(catalog))) == (0, 1, 2)
    with pytest.raises(BudgetError, match="close_seeds"):
        replace(plan, close_seeds=-1)


@pytest.mark.parametrize("settings", [{"close": 0.0}, {"close_seeds": 1}])
def test_further_seeds_without_an_effect_are_refused(settings):
    with pytest.raises(BudgetError, match="close_seeds needs close"):
        SweepPlan(["kuhn"], **{"seeds": 1, "close": 2.0, "close_seeds": 3, **settings})
