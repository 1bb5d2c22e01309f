from __future__ import annotations

import pytest

import rlccfr
from benchmarks.baselines.no_network import search_without_networks
from rlccfr.agents.baselines.task import Task
from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import preset

BUDGET = Budget("iterations", 1000)


def search(evaluator, catalog, evaluations, seed=0):
    return search_without_networks(
        Task(evaluator, catalog, "kuhn", BUDGET, preset("accuracy")), evaluations=evaluations, seed=seed
    )


def test_each_component_is_tried_and_then_one_agent_at_a_time_leaves_the_best(make_evaluator):
    catalog = Catalog.tabular()
    found = search(make_evaluator(), catalog, 24)
    cells = list(found.measurements)
    assert len(set(cells)) == 24
    covering = cells[: max(catalog.shape)]  # a cell tries one of each axis, so the longest axis says how many it takes
    assert [{cell[axis] for cell in covering} for axis in range(3)] == [set(ids) for ids in catalog.axes]
    exploitability = {cell: runs[0].exploitability for cell, runs in found.measurements.items()}
    for number in range(len(covering), 24):
        best = min(cells[:number], key=exploitability.__getitem__)
        assert sum(a != b for a, b in zip(cells[number], best, strict=True)) == 1
    assert found.cell == min(cells, key=exploitability.__getitem__)


def test_the_best_of_separable_cells_is_found_by_leaving_one_axis_at_a_time(make_evaluator):
    for seed in range(5):
        assert search(make_evaluator(), Catalog.tabular(), 40, seed).cell == ("dcfr", "external", "none")


def test_the_same_seed_gives_the_same(make_evaluator):
    runs = [search(make_evaluator(), Catalog.paper(), 30, seed) for seed in (0, 0, 1)]
    assert list(runs[0].measurements) == list(runs[1].measurements) != list(runs[2].measurements)


def test_few_cells_are_all_measured(evaluator, small):
    found = search(evaluator, small, 1000)
    assert found.cell == ("dcfr", "external", "none")
    assert found.evaluations == len(evaluator.records) == len(small)


def test_what_can_not_run_is_left_out(make_evaluator):
    catalog = Catalog(("cfr", "ecfr(mode='published')"), ("none", "external"), ("none",))
    found = search(make_evaluator(lambda game, cell: 0.1), catalog, 10)
    assert len(found.measurements) == 3
    assert ("ecfr(mode='published')", "external", "none") not in found.measurements


def test_none_is_refused(evaluator, small):
    with pytest.raises(rlccfr.RLCCFRError, match="evaluations"):
        search(evaluator, small, 0)
