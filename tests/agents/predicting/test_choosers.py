"""The chooser that asks a team."""

from __future__ import annotations

from known_costs import ACCURACY, BUDGETS, CATALOG, LEARNED, NEW, ORDER, ranking_team

from rlccfr.agents.predicting.choosers import ByTeam


def test_the_largest_q_value_is_picked_and_costs_nothing():
    chooser = ByTeam(ranking_team())
    assert chooser.pick(NEW, BUDGETS[2], ACCURACY) == ORDER[0]
    assert chooser.left(BUDGETS[0]) == BUDGETS[0]
    assert (chooser.games, chooser.budgets, chooser.catalog) == (LEARNED, BUDGETS, CATALOG)
