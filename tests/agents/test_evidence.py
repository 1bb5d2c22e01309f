from __future__ import annotations

import pandas as pd
import pytest

from rlccfr.agents.evidence import ChoosingRuns, Evidence, reporting, selecting
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measurement import Budget, Request
from rlccfr.envs.reward import PRESETS
from rlccfr.envs.store import MissingCellError
from rlccfr.envs.table import TableEvaluator

BUDGET = Budget("iterations", 100)
CATALOG = Catalog(("cfr", "dcfr"), ("none", "external"), ("none",))


def row(cell, seed, exploitability, **more):
    return {
        "game": "kuhn", **cell._asdict(), "budget_unit": "iterations", "budget_amount": 100.0, "seed": seed,
        "deterministic": cell.sampler == "none", "exploitability": exploitability, "uniform_exploitability": 0.4583,
        "throughput": 1e3, "reference_throughput": 1e3, "cpu_seconds": 0.5, **more,
    }  # fmt: skip


@pytest.fixture
def table():
    """cfr x external looks best on the seeds to choose by, dcfr x external on the others."""
    rows = [row(Cell(rule, "none", "none"), 0, 0.02) for rule in ("cfr", "dcfr")]
    for seed in range(5):
        rows.append(row(Cell("cfr", "external", "none"), seed, 0.001 if seed < 2 else 0.01))
        rows.append(row(Cell("dcfr", "external", "none"), seed, 0.005))
    return TableEvaluator(pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("seeds", "chosen", "judged"),
    [
        (range(5), (0, 1), (2, 3, 4)),
        (range(3), (0,), (1, 2)),
        ((0, 1), (0,), (1,)),
        ((7,), (7,), (7,)),
    ],
)
def test_seeds_to_choose_by_and_to_judge_by(seeds, chosen, judged):
    assert (selecting(tuple(seeds)), reporting(tuple(seeds))) == (chosen, judged)


def test_each_cell_of_a_table_has_the_seeds_that_it_has(table):
    evidence = Evidence.measured(table, CATALOG, "kuhn", BUDGET)
    assert {cell.sampler: (len(evidence.selecting[cell]), len(evidence.reporting[cell])) for cell in CATALOG} == {
        "none": (1, 1),
        "external": (2, 3),
    }
    assert evidence.cpu_seconds == 0.5 * (1 + 1 + 2 + 2)
    best = [run.exploitability for run in evidence.reporting[Cell("cfr", "external", "none")]]
    assert best == [0.01] * 3
    assert evidence.tied(PRESETS["accuracy"]) == {("dcfr", "external", "none")}


def test_a_team_never_sees_the_runs_that_judge_it(table):
    runs = ChoosingRuns(table)
    for seed in range(6):
        request = Request("kuhn", (Cell("cfr", "external", "none"),), BUDGET, seed=seed)
        assert runs.known(request)
        assert runs.measure(request).exploitability == 0.001
    with pytest.raises(MissingCellError):
        runs.measure(Request("kuhn", (Cell("lcfr", "none", "none"),), BUDGET))


def test_what_failed_has_failed_under_any_budget():
    failed = row(Cell("cfr", "none", "none"), 0, float("nan"), status="out_of_memory", throughput=float("nan"))
    table = TableEvaluator(pd.DataFrame([failed]))
    found = table.measure(Request("kuhn", (Cell("cfr", "none", "none"),), Budget("seconds", 1.0)))
    assert found.status == "out_of_memory"
    assert not found.ok
