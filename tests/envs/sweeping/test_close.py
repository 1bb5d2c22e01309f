from __future__ import annotations

from dataclasses import replace

import pytest

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Store, TableEvaluator
from rlccfr.envs.sweeping.close import close_calls
from rlccfr.envs.sweeping.plan import Limits, jobs
from rlccfr.envs.sweeping.sweep import SweepPlan, sweep
from rlccfr.envs.sweeping.worker import measure
from rlccfr.errors import BudgetError

RULES = ("cfr", "deep_cfr(preset='sweep')")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    planned = jobs({"kuhn": range(3)}, Catalog(RULES, ("none",), ("none",)), (0,), Limits(iterations=10, seconds=0))
    store = Store(tmp_path_factory.mktemp("close"))
    for job in planned:
        store.put(measure(job))
    return planned, store


def test_algorithms_close_to_the_best_get_the_seeds_that_they_lack(measured):
    planned, store = measured
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


def test_runs_without_a_record_are_passed_over(measured, tmp_path):
    planned, _ = measured
    assert close_calls(planned, Store(tmp_path), range(3), within=2.0) == []


def test_more_seeds_do_not_change_who_is_close(measured, tmp_path):
    """If the further runs are stopped, the same command asks for the same runs again."""
    planned, store = measured
    kept = Store(tmp_path)
    for record in store.records():
        kept.put(record)
    more = close_calls(planned, kept, range(3), within=2.0)
    kept.put({**measure(more[0]), "exploitability": 99.0})
    assert close_calls(planned, kept, range(3), within=2.0) == more


def test_other_runs_in_the_store_are_let_be(measured, tmp_path):
    planned, store = measured
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
