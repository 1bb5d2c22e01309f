"""A team's recommendation comes with the reasons to doubt it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlccfr.agents import shipped
from rlccfr.agents.judging.caveats import caveats, situations
from rlccfr.agents.team import SelectorTeam
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.reward import PRESETS, Preset, Weights

LCFR, DCFR = (Cell(rule, "external", "none") for rule in ("lcfr", "dcfr"))
ACCURACY = PRESETS["accuracy"]


@pytest.fixture
def ask(small, make_evaluator, monkeypatch, tmp_path):
    """Ask a team that picks DCFR with external sampling; exploitabilities are given per update rule."""
    monkeypatch.setattr(shipped, "DATA", tmp_path)  # the package's measurements have a test of their own
    monkeypatch.setattr(SelectorTeam, "greedy", lambda team, env, among=None: small.index(DCFR))

    def asked(game="kuhn", budget=None, preset=ACCURACY, known=(), **exploitability):
        evaluator = make_evaluator(lambda game, cell: exploitability.get(cell.update_rule, 0.01))
        limits = [Budget("iterations", 10), Budget("iterations", 20)]
        team = SelectorTeam(["kuhn"], limits, preset=["accuracy", "paper-kuhn"], catalog=small, evaluator=evaluator)
        for cell in known:
            evaluator.measure(Request(game, (cell,), limits[0]))
        return caveats(team, team.recommend(game, budget, preset), preset)

    return asked


def test_nothing_speaks_against_a_good_pick_for_what_the_team_has_learned(ask):
    assert ask() == []


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        ("kuhn(cards=4)", "it is of a family that the team knows"),
        ("goofspiel(num_cards=3,imp_info=True,points_order=descending)", "it is of a family that is new to the team"),
        ("leduc", "it is at least a hundred times as large as the largest of those"),
    ],
)
def test_a_game_that_the_team_has_never_seen(ask, game, kind):
    assert ask(game) == [f"the team has never seen {game}: it learned on kuhn; {kind}"]
    assert ask("kuhn_poker") == []


def test_a_budget_and_weights_that_the_team_has_never_met(ask):
    assert ask(budget=Budget("iterations", 30), preset=PRESETS["paper-leduc"]) == [
        "the team was not trained with a budget of 30 iterations: it learned with 10 iterations, 20 iterations",
        "the team was not trained with the weights paper-leduc (e in the game's units): it learned with accuracy (e on "
        "a log scale), paper-kuhn (e in the game's units)",
    ]


@pytest.mark.parametrize(("exploitability", "worse"), [(0.4582, False), (0.4583, True), (0.6, True)])
def test_a_pick_that_is_no_better_than_the_uniform_policy(ask, exploitability, worse):
    line = "the pick is no better than the uniform policy, whose exploitability is 0.458"
    assert ask(dcfr=exploitability) == [line] * worse


def test_a_pick_that_fails(ask, make_evaluator, monkeypatch):
    measure = make_evaluator.measure
    monkeypatch.setattr(make_evaluator, "measure", lambda *asked: replace(measure(*asked), status="timeout"))
    assert ask() == ["the pick could not be measured: timeout"]


def test_a_fixed_algorithm_that_is_known_to_be_as_good(ask, small):
    exact = Cell("lcfr", "none", "none")
    assert ask(lcfr=0.001) == []  # the fixed algorithm was not measured
    assert ask(lcfr=0.1, known=[exact]) == []
    assert ask(lcfr=0.001, known=[exact]) == [
        "LCFR, a fixed algorithm, has 0.125 more reward under this budget: lcfr x none x none"
    ]
    assert ask(lcfr=0.01, known=[exact]) == [
        "LCFR, a fixed algorithm, has the same reward under this budget: lcfr x none x none"
    ]


def test_a_pick_that_has_not_converged_is_told_of_a_fixed_algorithm_that_has(ask, small):
    """Weights on speed give the hasty pick the higher reward, which is no reason to take it."""
    hasty = Preset("hasty", (Weights(0.001, 1),) * 3, "log")
    exact = Cell("lcfr", "none", "none")
    found = ask(preset=hasty, dcfr=0.4, lcfr=0.001, known=[exact])
    assert found[-1].startswith("LCFR, a fixed algorithm, has ")


def test_the_packages_measurements_are_known(ask, monkeypatch):
    monkeypatch.setattr(shipped, "DATA", shipped.Path(shipped.__file__).parent / "data")
    (line,) = ask(dcfr=0.4)
    assert line.startswith("LCFR, a fixed algorithm, has ")


def test_situations_are_games_times_budgets_times_weights(small, evaluator):
    limits = [Budget("iterations", amount) for amount in (10, 20, 30)]
    team = SelectorTeam(
        ["kuhn", "leduc"], limits, catalog=small, preset=["accuracy", "paper-kuhn"], evaluator=evaluator
    )
    assert situations(team) == 12
