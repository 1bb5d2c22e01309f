from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from holding import other_process_holding

import rlccfr.envs
from rlccfr.catalog import Catalog
from rlccfr.envs import Limits, Store, SweepPlan, TableEvaluator, sweep
from rlccfr.errors import BudgetError, RLCCFRError

SMALL = Catalog(("cfr", "dcfr"), ("external", "none"), ("none",))
PLAN = SweepPlan(["kuhn"], SMALL, seeds=2, limits=Limits(iterations=20, seconds=0.0))


def test_a_notebook_sweeps_with_a_pool_of_its_own(tmp_path):
    told = []
    with ThreadPoolExecutor(2) as executor:
        counts = sweep(PLAN, tmp_path, executor=executor, report=lambda job, record: told.append(job.id))
        assert executor.submit(int, "7").result() == 7  # the executor outlives the sweep
    assert counts == {"kuhn": {"ok": 6}}  # two deterministic algorithms have one run each, the two others two
    assert sorted(told) == Store(tmp_path).ids()
    assert TableEvaluator(tmp_path).games == ["kuhn"]


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
    assert f"a sweep of process {process.pid} on " in warning


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
