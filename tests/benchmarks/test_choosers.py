"""A chooser that asks a team and runs algorithms, on measurements whose best algorithm is known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from known_costs import ACCURACY, BUDGETS, NEW, ORDER, known_table, ranking_team

from benchmarks.choosers import RUNGS, ByHalving
from rlccfr.agents.judging.unseen_games import judged
from rlccfr.agents.predicting.choosers import ByTeam
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.table import TableEvaluator


@pytest.fixture(scope="module")
def table() -> TableEvaluator:
    return known_table()


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


def test_halving_changes_the_choice_only_where_runs_surprise(table):
    assert ByHalving(ranking_team(), table).pick(NEW, BUDGETS[2], ACCURACY) == ORDER[0]
    better = Cell("lcfr", "none", "none")
    surprising = Surprising(table, better)
    assert ByHalving(ranking_team(), surprising).pick(NEW, BUDGETS[2], ACCURACY) == better != ORDER[0]
    amounts = [request.budget.amount for request in surprising.asked]
    assert amounts == [1_250] * RUNGS[0] + [3_750] * RUNGS[1]  # a tenth of the budget in all, as runs go on


def test_what_the_other_runs_take_is_charged(table):
    halving = ByHalving(ranking_team(), table)
    assert halving.left(BUDGETS[2]).amount == pytest.approx(93_750)
    plain, halved = (
        judged(one, table, [NEW], [BUDGETS[2]], [ACCURACY]).loc[0, "pick"] for one in (ByTeam(ranking_team()), halving)
    )
    assert halved > plain  # it picks the same, and has less of the budget left for it
