"""Pictures of several algorithms' curves."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from rlccfr.agents import shipped
from rlccfr.agents.judging.curves import PLAIN, _on_one_grid, best_cells, draw_curves
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Budget, LiveEvaluator, Request, TableEvaluator
from rlccfr.errors import RLCCFRError

mpl.use("agg")
SECOND = Budget("seconds", 1)


@pytest.fixture(scope="module")
def table():
    return shipped.results()


def test_the_best_are_drawn_and_plain_cfr(table):
    cells = best_cells(table, Catalog.tabular(), "kuhn", SECOND, 2)
    assert [str(cell) for cell in cells] == ["lcfr_plus x none x none", "lcfr x none x none", str(PLAIN)]
    rules_alone = Catalog(("cfr", "cfr_plus"), ("none",), ("none",))
    assert len(best_cells(table, rules_alone, "kuhn", SECOND, 8)) == 2


def test_a_line_is_the_median_and_its_band_holds_all_runs(table):
    cell = Cell("cfr", "outcome", "none")
    axes = draw_curves(table, "kuhn", [PLAIN, cell], over="iterations")
    assert [line.get_label() for line in axes.lines] == ["cfr", "cfr x outcome"]
    assert (axes.get_title(), axes.get_xlabel()) == ("kuhn", "iterations")
    curve = table.run("kuhn", PLAIN, 0)["curve"]
    np.testing.assert_allclose(axes.lines[0].get_xdata(), curve["iteration"])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), curve["exploitability"])
    # At the end of the shortest run, all runs are interpolated.
    curves = [table.run("kuhn", cell, seed)["curve"] for seed in table.seeds("kuhn", cell)]
    end = min(curve["iteration"][-1] for curve in curves)
    values = [
        np.exp(np.interp(np.log(end), np.log(curve["iteration"]), np.log(curve["exploitability"]))) for curve in curves
    ]
    assert len(values) > 2
    assert axes.lines[1].get_xdata()[-1] == end
    assert axes.lines[1].get_ydata()[-1] == pytest.approx(np.median(values))
    (band,) = axes.collections
    at_end = [y for x, y in band.get_paths()[0].vertices if x == end]
    assert (min(at_end), max(at_end)) == pytest.approx((min(values), max(values)))


def test_current_policies_are_drawn_beside_their_averages(table):
    axes = draw_curves(table, "kuhn", [PLAIN, Cell("dcfr", "none", "none")], over="iterations", current=True)
    average, line, other, _ = axes.lines
    assert line.get_color() == average.get_color() != other.get_color()
    curve = table.run("kuhn", PLAIN, 0)["curve"]
    np.testing.assert_allclose(line.get_xdata(), curve["iteration"])
    np.testing.assert_allclose(line.get_ydata(), curve["exploitability_current"])
    assert line.get_label() == "cfr, current policy"


@pytest.fixture
def store(tmp_path):
    """A sweep of two update rules on Kuhn poker, one of which has failed."""
    evaluator = LiveEvaluator(tmp_path / "store")
    for rule in ("dcfr", "cfr_plus"):
        run = evaluator.measure(Request("kuhn", (Cell(rule, "none", "none"),), Budget("iterations", 40)))
    evaluator.store.put({**evaluator.store.get(run.cell_id), "status": "failed", "error": "a planted error"})
    return evaluator.store


def test_algorithms_with_a_failed_run_are_left_out(store, run):
    table = TableEvaluator(store)
    both = Catalog(("dcfr", "cfr_plus"), ("none",), ("none",))
    budget = Budget("iterations", 40)
    assert [str(cell) for cell in best_cells(table, both, "kuhn", budget, 8)] == ["dcfr x none x none"]
    with pytest.raises(RLCCFRError, match="there is no complete run of cfr_plus x none x none on 'kuhn'"):
        draw_curves(table, "kuhn", [Cell("cfr_plus", "none", "none")])
    words = ("--results", str(store.path), "--catalog", "cfr_plus", "--iterations", "40")
    assert run("results", "curves", "kuhn", "curves.svg", *words)[::2] == (
        1,
        "error: there are no complete runs on 'kuhn' to draw; measure some with `rlccfr sweep`\n",
    )


def test_algorithms_recorded_without_a_curve_are_left_out(store):
    table = TableEvaluator(TableEvaluator(store).frame())
    alone = Catalog(("dcfr",), ("none",), ("none",))
    assert best_cells(table, alone, "kuhn", Budget("iterations", 40), 8) == []
    with pytest.raises(RLCCFRError, match="there is no complete run of dcfr x none x none on 'kuhn'"):
        draw_curves(table, "kuhn", [Cell("dcfr", "none", "none")])


def test_no_line_runs_past_the_shortest_run():
    first = {"iteration": [1, 10], "exploitability": [1.0, 0.1]}
    second = {"iteration": [100, 1000], "exploitability": [0.5, 0.2]}
    x, values = _on_one_grid([second, first], "iteration")
    assert x.tolist() == [10]
    np.testing.assert_allclose(values, [[0.5], [0.1]])


def test_a_first_time_of_zero_is_drawn():
    curve = {"cpu_seconds": [0.0, 0.1], "exploitability": [1.0, 0.1]}
    x, values = _on_one_grid([curve], "cpu_seconds")
    np.testing.assert_allclose(x, [0, 0.1])
    np.testing.assert_allclose(values, [[1.0, 0.1]])


def test_what_can_not_be_drawn_is_refused(table):
    with pytest.raises(RLCCFRError, match="over iterations, nodes, seconds, not over 'hours'"):
        draw_curves(table, "kuhn", [PLAIN], over="hours")
    with pytest.raises(RLCCFRError, match="there is no complete run of deep_cfr x robust_k x none on 'kuhn'"):
        draw_curves(table, "kuhn", [Cell("deep_cfr", "robust_k", "none")])


def test_the_command_draws_what_is_named(run, tmp_path):
    algorithms = ("--algorithm", "CFR+ x none x none", "--algorithm", "cfr x external x none")
    code, out, _ = run("results", "curves", "kuhn", "curves.svg", *algorithms, "--over", "nodes")
    assert (code, out) == (0, "written to curves.svg: cfr_plus x none x none, cfr x external x none\n")
    picture = (tmp_path / "curves.svg").read_text()
    assert all(text in picture for text in ("cfr x external", "histories touched"))
    assert run("results", "curves", "kuhn", "curves.svg", "--algorithm", "cfr")[::2] == (
        1,
        "error: --algorithm: an algorithm is written \"UPDATE_RULE x SAMPLER x ABSTRACTION\", not 'cfr'\n",
    )


@pytest.mark.slow
def test_the_best_are_those_under_the_largest_budget(run):
    lines = [
        run("results", "curves", "leduc", "curves.svg", "--top", "2", *budgets)[1]
        for budgets in (
            ("--seconds", "1", "--seconds", "0.01"),
            ("--seconds", "1"),
            ("--seconds", "0.01"),
        )
    ]
    assert lines[0] == lines[1] != lines[2]


def test_what_is_named_may_be_all_that_a_sweep_has(store, run):
    words = (
        "results",
        "curves",
        "kuhn",
        "curves.svg",
        "--algorithm",
        "dcfr x none x none",
        "--results",
        str(store.path),
    )
    assert run(*words)[:2] == (0, "written to curves.svg: dcfr x none x none\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--top", "3", "--algorithm", "cfr x none x none"),
            "--algorithm draws only the algorithms that it names, so --top can't be given",
        ),
        (
            ("--over", "hours", "--results", "nowhere"),
            "curves are drawn over iterations, nodes, seconds, not over 'hours'",
        ),
    ],
)
def test_contradictions_are_refused_before_measurements_are_read(run, options, message):
    code, out, err = run("results", "curves", "kuhn", "curves.svg", *options)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")
