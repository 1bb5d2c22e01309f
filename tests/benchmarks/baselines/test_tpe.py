from __future__ import annotations

import sys

import pytest

import rlccfr
from benchmarks.baselines.tpe import tpe_search
from rlccfr.agents.baselines.task import Task
from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import preset

BUDGET = Budget("iterations", 1000)


def search(evaluator, catalog, evaluations, seed=0):
    return tpe_search(Task(evaluator, catalog, "kuhn", BUDGET, preset("accuracy")), evaluations=evaluations, seed=seed)


def test_it_measures_distinct_cells_and_recommends_the_best_of_them(make_evaluator):
    pytest.importorskip("optuna")
    runs = [search(make_evaluator(), Catalog.paper(), 30, seed) for seed in (0, 0, 1)]
    assert [run.evaluations for run in runs] == [30, 30, 30]
    assert list(runs[0].measurements) == list(runs[1].measurements) != list(runs[2].measurements)
    best = min(runs[0].measurements, key=lambda cell: runs[0].measurements[cell][0].exploitability)
    assert runs[0].cell == best


def test_few_cells_are_all_measured(evaluator, small):
    pytest.importorskip("optuna")
    assert search(evaluator, small, 1000).cell == ("dcfr", "external", "none")


def test_without_optuna_it_says_what_to_install(evaluator, small, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(rlccfr.RLCCFRError, match="pip install optuna"):
        search(evaluator, small, 3)
