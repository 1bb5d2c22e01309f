"""A chooser that asks a team and runs algorithms, on measurements whose best algorithm is known."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from known_costs import ACCURACY, BUDGETS, CATALOG, LEARNED, NEW, known_table

from benchmarks.choosers import ByHalving
from rlccfr.agents.judging.unseen_games import judged
from rlccfr.agents.predicting.choosers import ByTeam
from rlccfr.agents.team.informed import RUNGS
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.table import TableEvaluator

ORDER = [
    Cell("dcfr", "none", "none"),
    Cell("cfr", "none", "none"),
    *(cell for cell in CATALOG if cell.update_rule == "lcfr"),
]


@pytest.fixture(scope="module")
def table() -> TableEvaluator:
    return known_table()


@pytest.fixture
def team():
    """Stand for a team that has learned from other games and ranks the algorithms in ORDER."""
    env = SimpleNamespace(games=LEARNED, budgets=BUDGETS)
    return SimpleNamespace(catalog=CATALOG, env=env, ranked=lambda *_: list(ORDER))


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


def test_halving_changes_the_choice_only_where_runs_surprise(team, table):
    assert ByHalving(team, table).pick(NEW, BUDGETS[2], ACCURACY) == ORDER[0]
    better = Cell("lcfr", "none", "none")
    surprising = Surprising(table, better)
    assert ByHalving(team, surprising).pick(NEW, BUDGETS[2], ACCURACY) == better != ORDER[0]
    amounts = [request.budget.amount for request in surprising.asked]
    assert amounts == [1_250] * RUNGS[0] + [3_750] * RUNGS[1]  # a tenth of the budget in all, as runs go on


def test_what_the_other_runs_take_is_charged(team, table):
    halving = ByHalving(team, table)
    assert halving.left(BUDGETS[2]).amount == pytest.approx(93_750)
    plain, halved = (
        judged(one, table, [NEW], [BUDGETS[2]], [ACCURACY]).loc[0, "pick"] for one in (ByTeam(team), halving)
    )
    assert halved > plain  # it picks the same, and has less of the budget left for it
