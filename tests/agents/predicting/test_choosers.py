"""Choosers by regression, on measurements whose best algorithm is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rlccfr.agents.judging.unseen_games import judged
from rlccfr.agents.predicting.choosers import RUNGS, ByHalving, ByPrediction, ranking
from rlccfr.agents.predicting.kernel_regression import KernelRegression
from rlccfr.agents.predicting.measured_costs import MeasuredCosts, features_of, interpolation
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.compiled_games import uniform_exploitability
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import DECADES, PRESETS, Preset, Weights
from rlccfr.errors import RLCCFRError

CATALOG = Catalog(("cfr", "dcfr", "lcfr"), ("none", "external"), ("none",))
LEARNED, NEW = tuple(f"kuhn(cards={cards})" for cards in (3, 4, 5, 6, 8, 10)), "kuhn(cards=7)"
BUDGETS = tuple(Budget("iterations", amount) for amount in (10, 1_000, 100_000))
UNIFORM, ACCURACY = 0.5, PRESETS["accuracy"]


def exploitability(game: str, cell: Cell, iterations: float) -> float:
    """Return what an algorithm reaches: cfr is best on small games, dcfr on large ones; sampling is worse."""
    cards = int(game.split("=")[1].rstrip(")"))
    steepness = {"cfr": 1.0 - 0.05 * cards, "dcfr": 0.4 + 0.05 * cards, "lcfr": 0.5}[cell.update_rule]
    return float(UNIFORM * iterations ** -(steepness - 0.3 * (cell.sampler != "none")))


def log_error(game: str, cell: Cell, iterations: float) -> float:
    """Return e on the log scale of what an algorithm reaches."""
    return 1 + float(np.log10(exploitability(game, cell, iterations) / UNIFORM)) / DECADES


def row(game: str, cell: Cell, budget: Budget) -> dict:
    return {
        "game": game, **cell._asdict(), "budget_unit": budget.unit, "budget_amount": float(budget.amount),
        "deterministic": True, "exploitability": exploitability(game, cell, budget.amount),
        "uniform_exploitability": UNIFORM, "throughput": 1e3, "reference_throughput": 1e3, "cpu_seconds": 1.0,
    }  # fmt: skip


@pytest.fixture(scope="module")
def table() -> TableEvaluator:
    halved = (Budget("iterations", amount) for amount in (1_250, 3_750, 93_750))  # the rungs, and what they leave
    budgets = (*BUDGETS, *halved)
    return TableEvaluator(
        pd.DataFrame([row(game, cell, one) for game in (*LEARNED, NEW) for cell in CATALOG for one in budgets])
    )


@pytest.fixture(scope="module")
def measured(table) -> MeasuredCosts:
    return MeasuredCosts.read(table, CATALOG, LEARNED, BUDGETS)


def test_measured_costs_are_in_the_order_of_budgets_games_and_algorithms(measured):
    assert measured.costs.shape == (3, 6, 6, 2)
    cell = Cell("lcfr", "external", "none")
    assert measured.costs[1, 2, CATALOG.flat(cell)] == pytest.approx([log_error(LEARNED[2], cell, 1_000), 0.5])
    assert measured.uniform == pytest.approx([uniform_exploitability(game) for game in LEARNED])


def test_predictions_tell_which_algorithm_is_best(measured):
    chooser = ByPrediction(KernelRegression(measured))
    assert chooser.left(BUDGETS[0]) == BUDGETS[0]
    assert chooser.pick(NEW, BUDGETS[2], ACCURACY).sampler == "none"
    assert chooser.pick("kuhn(cards=3)", BUDGETS[2], ACCURACY) == Cell("cfr", "none", "none")
    assert chooser.pick("kuhn(cards=10)", BUDGETS[2], ACCURACY) == Cell("dcfr", "none", "none")
    with pytest.raises(RLCCFRError, match="under a budget in seconds"):
        chooser.pick(NEW, Budget("seconds", 1.0), ACCURACY)


def test_choices_are_ranked_by_predicted_convergence_then_by_reward_on_the_scale_of_the_weights():
    predicted = np.array([[0.5, 0.9], [0.95, 0.01], [0.6, 0.1]])  # e on the log scale, and s
    for scale, best in (("log", [2, 0, 1]), ("units", [2, 0, 1])):
        assert ranking(predicted, Preset("mine", (Weights(0.1, 1),) * 3, scale), 1.0).tolist() == best
    assert ranking(predicted, Preset("mine", (Weights(1, 0.001),) * 3, "units"), 1e6).tolist() == [0, 2, 1]
    assert ranking(predicted, Preset("speed", (Weights(0, 1),) * 3), 1.0).tolist() == [1, 2, 0]


def test_between_budgets_the_regression_interpolates_in_their_logarithm(measured):
    predictor = KernelRegression(measured)
    low, middle, high = (predictor.costs(features_of(NEW), Budget("iterations", one)) for one in (10, 100, 1_000))
    np.testing.assert_allclose(middle, (low + high) / 2)
    beyond = predictor.costs(features_of(NEW), Budget("iterations", 10**9))
    np.testing.assert_array_equal(beyond, predictor.costs(features_of(NEW), BUDGETS[2]))
    assert interpolation(BUDGETS, Budget("iterations", 1_000)) == [(1, 1.0)]


class Surprising(Evaluator):
    """A table in which one algorithm is much better than any game suggests."""

    def __init__(self, table: TableEvaluator, better: Cell) -> None:
        self.table, self.better, self.asked = table, better, []

    def measure(self, request):
        self.asked.append(request)
        (cell,) = request.cells
        found = self.table.measure(request)
        return replace(found, exploitability=found.exploitability**3) if cell == self.better else found

    def known(self, request):
        return True

    def result(self, cell_id):
        return self.table.result(cell_id)

    def frame(self):
        return self.table.frame()


def test_halving_changes_the_choice_only_where_runs_surprise(measured, table):
    predicted = ByPrediction(KernelRegression(measured)).pick(NEW, BUDGETS[2], ACCURACY)
    assert ByHalving(KernelRegression(measured), table).pick(NEW, BUDGETS[2], ACCURACY) == predicted
    better = Cell("lcfr", "none", "none")
    surprising = Surprising(table, better)
    assert ByHalving(KernelRegression(measured), surprising).pick(NEW, BUDGETS[2], ACCURACY) == better != predicted
    amounts = [request.budget.amount for request in surprising.asked]
    assert amounts == [1_250] * RUNGS[0] + [3_750] * RUNGS[1]  # a tenth of the budget in all, as runs go on


def test_what_the_other_runs_take_is_charged(measured, table):
    halving = ByHalving(KernelRegression(measured), table)
    assert halving.left(BUDGETS[2]).amount == pytest.approx(93_750)
    plain, halved = (
        judged(one, table, [NEW], [BUDGETS[2]], [ACCURACY]).loc[0, "pick"]
        for one in (ByPrediction(KernelRegression(measured)), halving)
    )
    assert halved > plain  # it picks the same, and has less of the budget left for it
