"""The chooser that asks a team."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from known_costs import ACCURACY, BUDGETS, CATALOG, LEARNED, NEW

from rlccfr.agents.predicting.choosers import ByTeam
from rlccfr.catalog import Cell

ORDER = [
    Cell("dcfr", "none", "none"),
    Cell("cfr", "none", "none"),
    *(cell for cell in CATALOG if cell.update_rule == "lcfr"),
]


@pytest.fixture
def team():
    """Stand for a team that has learned from other games and ranks the algorithms in ORDER."""
    env = SimpleNamespace(games=LEARNED, budgets=BUDGETS)
    return SimpleNamespace(catalog=CATALOG, env=env, ranked=lambda *_: list(ORDER))


def test_the_largest_q_value_is_picked_and_costs_nothing(team):
    chooser = ByTeam(team)
    assert chooser.pick(NEW, BUDGETS[2], ACCURACY) == ORDER[0]
    assert chooser.left(BUDGETS[0]) == BUDGETS[0]
    assert (chooser.games, chooser.budgets, chooser.catalog) == (LEARNED, BUDGETS, CATALOG)
