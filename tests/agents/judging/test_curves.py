"""Pictures of several algorithms' curves."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from rlccfr.agents import shipped
from rlccfr.agents.judging.curves import PLAIN, best_cells, draw_curves
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Budget
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


def test_what_can_not_be_drawn_is_refused(table):
    with pytest.raises(RLCCFRError, match="over iterations, nodes, seconds, not over 'hours'"):
        draw_curves(table, "kuhn", [PLAIN], over="hours")
    with pytest.raises(RLCCFRError, match="there is no whole run of deep_cfr x robust_k x none on 'kuhn'"):
        draw_curves(table, "kuhn", [Cell("deep_cfr", "robust_k", "none")])


def test_the_command_draws_what_is_named(run, tmp_path):
    algorithms = ("--algorithm", "CFR+ x none x none", "--algorithm", "cfr x external x none")
    code, out, _ = run("results", "curves", "kuhn", "curves.svg", *algorithms, "--over", "nodes")
    assert (code, out) == (0, "written to curves.svg: cfr_plus x none x none, cfr x external x none\n")
    picture = (tmp_path / "curves.svg").read_text()
    assert all(text in picture for text in ("cfr x external", "histories touched"))
    assert run("results", "curves", "kuhn", "curves.svg", "--algorithm", "cfr")[::2] == (
        1,
        "error: --algorithm takes \"UPDATE_RULE x SAMPLER x ABSTRACTION\", not 'cfr'\n",
    )
