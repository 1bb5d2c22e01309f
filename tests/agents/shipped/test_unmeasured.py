"""Picks for games that were not measured, by the files that come with the package."""

from __future__ import annotations

import pytest

import rlccfr
from rlccfr.agents.shipped import unmeasured
from rlccfr.games.compiled_games import compiled


def test_games_smaller_than_any_training_game_are_no_question_for_the_team(monkeypatch):
    assert min(compiled(game).num_histories for game in unmeasured.prior().games) == unmeasured.LEAST_HISTORIES
    monkeypatch.setattr(unmeasured, "prior", lambda: pytest.fail("the team is asked"))
    choice = unmeasured.choice("matrix_rps", unmeasured.costs().budgets[-1], rlccfr.envs.PRESETS["accuracy"])
    assert choice.basis == "single best"
    assert choice.cell == ("dcfr_plus", "none", "none")
    assert "this one, of 13 histories, is smaller than any that the DQN team has learned from" in choice.why


@pytest.mark.parametrize("payoffs", [[[3, -1], [-2, 4]], [[2, -3, 1], [0, 1, -2], [-1, 4, 0]]])
def test_a_pick_for_a_payoff_matrix_is_nearly_as_good_as_cfr_plus(payoffs):
    game = rlccfr.matrix_game(payoffs)
    pick = rlccfr.recommend(game, {"unit": "iterations", "amount": 1000}).cell
    reached = rlccfr.Solver(game, *pick).run(iterations=1000).exploitability
    assert reached < 10 * rlccfr.Solver(game, "cfr_plus").run(iterations=1000).exploitability
