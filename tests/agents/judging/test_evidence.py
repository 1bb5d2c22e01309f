from __future__ import annotations

import math

import pandas as pd
import pytest

from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import ChoosingRuns, Evidence, choosing_part, judging_part
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.store import MissingCellError
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS

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
    """Table where cfr x external looks best on the choosing seeds, and dcfr x external on the judging seeds."""
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
    assert (choosing_part(tuple(seeds)), judging_part(tuple(seeds))) == (chosen, judged)


def test_each_cell_of_a_table_has_the_seeds_that_it_has(table):
    evidence = Evidence.measured(table, CATALOG, "kuhn", BUDGET)
    assert {cell.sampler: (len(evidence.choosing[cell]), len(evidence.judging[cell])) for cell in CATALOG} == {
        "none": (1, 1),
        "external": (2, 3),
    }
    assert evidence.cpu_seconds == 0.5 * (1 + 1 + 2 + 2)
    best = [run.exploitability for run in evidence.judging[Cell("cfr", "external", "none")]]
    assert best == [0.01] * 3
    assert evidence.tied(PRESETS["accuracy"]) == {("dcfr", "external", "none")}


def timed(cell, speed, again):
    """Return a run timed twice, in thousands of iterations per second, whose exploitability falls as 1 / t."""
    iterations = [1, 10, 100]
    return row(
        cell, 0, 1e-3, throughput=1e3 * speed, throughput_again=1e3 * again, iterations=100, nodes_touched=100,
        cpu_seconds=0.1 / speed, curve_iteration=iterations, curve_nodes=iterations,
        curve_cpu_seconds=[1e-3 * one / speed for one in iterations],
        curve_exploitability=[0.1 / one for one in iterations],
        curve_exploitability_current=[0.1 / one for one in iterations],
    )  # fmt: skip


def test_what_two_timings_of_a_run_differ_by_tells_nothing_apart():
    catalog, tenth = Catalog(("cfr", "dcfr", "lcfr"), ("none",), ("none",)), Budget("seconds", 0.01)
    cells = list(catalog)
    speeds = ((1.0, 1.1), (0.95, 0.95 * 1.1), (0.3, 0.33))  # the two timings of each run differ by a tenth
    table = TableEvaluator(pd.DataFrame([timed(cell, *pair) for cell, pair in zip(cells, speeds, strict=True)]))
    evidence = Evidence.measured(table, catalog, "kuhn", tenth)
    accuracy = PRESETS["accuracy"]
    difference = math.log10(1.1) / 8  # difference in e, since exploitability is inversely proportional to speed
    assert evidence.timing_error(accuracy) == pytest.approx(difference / 0.6745 / math.sqrt(2), rel=1e-6)
    assert evidence.standard_error(cells[0], cells[1], accuracy) == pytest.approx(difference / 0.6745, rel=1e-6)
    assert evidence.tied(accuracy) == set(cells[:2])
    counted = Evidence.measured(table, catalog, "kuhn", BUDGET)  # a budget in iterations does not depend on timings
    assert counted.timing_error(accuracy) == 0


def test_the_speed_of_what_draws_nothing_is_judged_by_its_second_timing():
    """The first timing favours cfr, the second dcfr. A sampled run's second timing is not used."""
    first, second, walks = Cell("cfr", "none", "none"), Cell("dcfr", "none", "none"), Cell("cfr", "external", "none")
    rows = [timed(first, 1.0, 0.5), timed(second, 0.8, 1.25)]
    rows += [{**timed(walks, 0.4, 9.9), "seed": seed} for seed in (0, 1)]
    table, catalog = TableEvaluator(pd.DataFrame(rows)), Catalog(("cfr", "dcfr"), ("none",), ("none",))
    tenth, accuracy = Budget("seconds", 0.01), PRESETS["accuracy"]
    evidence = Evidence.measured(table, catalog, "kuhn", tenth)
    assert [evidence.choosing[cell][0].throughput for cell in (first, second)] == [1e3, 0.8e3]
    assert [evidence.judging[cell][0].throughput for cell in (first, second)] == [0.5e3, 1.25e3]
    bench = Bench(Task(table, catalog, "kuhn", tenth, accuracy), {"kuhn": evidence})
    (best,) = bench.exhaustive_rows()
    assert (best["update_rule"], best["throughput"], best["regret"]) == ("cfr", 0.5e3, 0.0)
    other = bench.row("x", second, 0, 0.0)  # exploitability is inversely proportional to speed; a decade costs 1/8
    assert other["regret"] == pytest.approx(-math.log10(1.25 / 0.5) / 8)
    assert other["speed"] == pytest.approx(1.25)
    sampled = Evidence.measured(table, Catalog(("cfr",), ("external",), ("none",)), "kuhn", tenth)
    assert [run.throughput for run in sampled.judging[walks]] == [0.4e3]
    counted = Evidence.measured(table, catalog, "kuhn", BUDGET)  # such a budget ignores timings
    assert counted.judging[first][0].exploitability == counted.choosing[first][0].exploitability


def test_single_runs_of_what_draws_at_random_tell_nothing(table):
    first = TableEvaluator(table.frame().query("seed == 0"))
    assert Evidence.measured(first, CATALOG, "kuhn", BUDGET).tied(PRESETS["accuracy"]) is None


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
