from __future__ import annotations

import pytest

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Store
from rlccfr.envs.sweep.close import close_calls
from rlccfr.envs.sweep.plan import Limits, jobs
from rlccfr.envs.sweep.worker import measure

RULES = ("cfr", "deep_cfr(preset='sweep')")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    planned = jobs({"kuhn": range(3)}, Catalog(RULES, ("none",), ("none",)), (0,), Limits(iterations=10, seconds=0))
    store = Store(tmp_path_factory.mktemp("close"))
    for job in planned:
        store.put(measure(job))
    return planned, store


def test_models_close_to_the_best_get_the_seeds_that_they_lack(measured):
    planned, store = measured
    assert close_calls(planned, store, range(3), within=0.0) == []  # exact plain CFR is better under any preset
    more = close_calls(planned, store, range(3), within=2.0)  # rewards lie in [-1, 1]: all are close
    assert [(job.cell, job.seed) for job in more] == [(Cell(RULES[1], "none", "none"), seed) for seed in (1, 2)]
    assert not set(more) & set(planned)


def test_runs_without_a_record_are_passed_over(measured, tmp_path):
    planned, _ = measured
    assert close_calls(planned, Store(tmp_path), range(3), within=2.0) == []
