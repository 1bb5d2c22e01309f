"""The best measured algorithm is chosen by some runs and judged by others."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

import rlccfr
from rlccfr import load_game
from rlccfr.agents import shipped
from rlccfr.agents.shipped.advice import recommend
from rlccfr.agents.shipped.measured_best import best_measured, catalogs_of
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS
from rlccfr.errors import BudgetError, GameError

BUDGET = Budget("iterations", 100)
PAPER = Catalog(("cfr", "dcfr"), ("none", "external"), ("none",))
MORE = Catalog(("cfr", "pcfr_plus"), ("none",), ("none",))
ACCURACY = PRESETS["accuracy"]


def row(cell, seed, exploitability):
    return {
        "game": "kuhn", **cell._asdict(), "budget_unit": "iterations", "budget_amount": 100.0, "seed": seed,
        "deterministic": cell.sampler == "none", "exploitability": exploitability, "uniform_exploitability": 0.4583,
        "throughput": 1e3, "reference_throughput": 1e3, "cpu_seconds": 0.5,
    }  # fmt: skip


def table(**exact):
    """Return a table where cfr x external looks best on the choosing seeds, dcfr x external on the judging seeds."""
    values = {"cfr": 0.02, "dcfr": 0.02, "pcfr_plus": 0.03, **exact}
    rows = [row(Cell(rule, "none", "none"), 0, value) for rule, value in values.items()]
    for seed in range(5):
        rows.append(row(Cell("cfr", "external", "none"), seed, 0.001 if seed < 2 else 0.01))
        rows.append(row(Cell("dcfr", "external", "none"), seed, 0.005))
    return TableEvaluator(pd.DataFrame(rows))


@pytest.fixture(autouse=True)
def paper(monkeypatch):
    monkeypatch.setattr(shipped, "catalog", lambda: PAPER)


def test_what_looked_best_is_judged_by_other_runs():
    found = best_measured(table(), "kuhn", [PAPER, MORE], BUDGET, ACCURACY)
    assert found.cell == Cell("cfr", "external", "none")
    assert found.figures["exploitability"] == pytest.approx(0.01)
    assert math.isnan(found.figures["regret"])
    reward = math.log10(0.4583 / 0.01) / 8  # the uniform policy's exploitability is 11/24
    gain = math.log10(0.01 / 0.005) / 8
    assert found.why == (
        "the best of 5 algorithms measured for 100 iterations, chosen by some engine seeds, judged by others: "
        f"exploitability 0.01, 1,000 iterations/s, reward {reward:.3g}; "
        f"by the judging runs dcfr x external x none has {gain:.3g} more reward"
    )


def test_a_single_run_chooses_and_judges_and_says_so():
    found = best_measured(table(pcfr_plus=1e-4), "kuhn", [PAPER, MORE], BUDGET, ACCURACY)
    assert found.cell == Cell("pcfr_plus", "none", "none")
    assert "chosen by one run, which also gives the figures: exploitability 0.0001, 1,000 iterations/s" in found.why
    assert best_measured(table(pcfr_plus=1e-4), "kuhn", [PAPER], BUDGET, ACCURACY).cell.update_rule == "cfr"


def test_of_equal_rewards_the_lower_exploitability_is_taken():
    found = best_measured(table(cfr=1e-11, pcfr_plus=1e-12), "kuhn", [PAPER, MORE], BUDGET, ACCURACY)
    assert found.cell.update_rule == "pcfr_plus"
    assert ", tied with 1 other" in found.why


def test_only_whole_catalogs_are_taken_unless_one_is_named():
    assert catalogs_of(table(), "kuhn", None) == [PAPER]
    assert catalogs_of(table(), "kuhn", MORE) == [MORE]


def test_a_budget_that_nothing_can_be_read_off_is_refused():
    with pytest.raises(BudgetError, match="'kuhn' was not measured in nodes; ask for a budget in seconds"):
        best_measured(table(), "kuhn", [PAPER], Budget("nodes", 5), ACCURACY)


@pytest.mark.slow
def test_the_package_names_the_best_of_both_catalogs(monkeypatch):
    monkeypatch.undo()
    best, paper = recommend("leduc"), recommend("leduc", catalog="paper")
    assert paper.cell in set(Catalog.paper())
    assert best.cell in set(Catalog.extended_tabular()) - set(Catalog.paper())
    assert best.why.endswith("; `--catalog paper` picks only among the paper's 336")
    assert best.figures["exploitability"] < 1e-3 * paper.figures["exploitability"]


@pytest.mark.slow
def test_a_deterministic_algorithm_is_judged_by_the_second_timing_of_its_only_run():
    """The shipped measurement has one run of such an algorithm, which was chosen by the speed of that run."""
    found = recommend("kuhn", Budget("seconds", 0.1))
    assert recommend(load_game("kuhn"), Budget("seconds", 0.1)) == found
    record = shipped.results("kuhn").run("kuhn", found.cell, 0)
    assert record["deterministic"]
    assert "chosen by its only run, judged by a second timing of it" in found.why
    assert found.figures["throughput"] == pytest.approx(record["throughput_again"])


@pytest.mark.slow
def test_a_game_stands_for_itself(tmp_path, monkeypatch):
    other = replace(load_game("leduc(ranks=2,suits=2,raises=1)"), name="kuhn")  # as if registered anew
    with pytest.raises(GameError, match=r"the game is not the one that load_game\('kuhn'\) returns"):
        recommend(other)
    path = tmp_path / "kuhn.efg"
    rlccfr.Policy.uniform(load_game("kuhn")).save(path)
    monkeypatch.chdir(tmp_path)
    game = load_game("kuhn.efg")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert recommend(game).game == game.openspiel_name
