"""A form of games that the library does not know runs on it: the one in examples/own_form.py."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from imports import ROOT

import rlccfr

PAYOFFS = np.random.default_rng(1).normal(size=(7, 5))


@pytest.fixture
def own_form(monkeypatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import own_form

    yield own_form
    sys.modules.pop("own_form")


@pytest.mark.parametrize("rule", ["cfr", "cfr_plus", "dcfr", "lcfr"])
def test_a_form_of_its_own_has_the_iterates_of_the_compiled_game(own_form, rule):
    compiled = rlccfr.Solver(rlccfr.matrix_game(PAYOFFS), rule, reduce=False)
    own = rlccfr.Solver(own_form.MatrixGame("mine", PAYOFFS), rule)
    for solver in (compiled, own):
        solver.run(iterations=50)
        solver.switch(update_rule="dcfr")
        solver.run(iterations=20)
    assert own.exploitability() == pytest.approx(compiled.exploitability(), rel=1e-9)
    expected = compiled.average_policy().probabilities
    assert own.average_policy().probabilities == pytest.approx(expected, abs=1e-12)


def test_a_run_on_a_form_of_its_own_is_saved_and_goes_on(own_form, tmp_path):
    game = own_form.MatrixGame("mine", PAYOFFS)
    solver = rlccfr.Solver(game, "dcfr")
    solver.run(iterations=5)
    solver.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz", game=game)
    assert loaded.run(iterations=5).exploitability == solver.run(iterations=5).exploitability


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda game: rlccfr.Solver(game, "cfr", "outcome"), "'mine' is represented as a matrix: use cfr_plus"),
        (
            lambda game: rlccfr.Solver(game, "cfr", blend=True),
            "'mine' is represented as a matrix: leave out the options",
        ),
        (lambda game: rlccfr.Policy.check_path(Path("p.npz"), game), "a file of its policy needs a game's histories"),
        (rlccfr.solve_exactly, "a linear program needs a game's histories, but 'mine' is represented as a matrix"),
        (rlccfr.draw_tree, "a drawing of the tree needs a game's histories, but 'mine' is represented as a matrix"),
        (lambda game: game.form.part("page"), "a game represented as a matrix does not support the explorer"),
    ],
)
def test_what_a_form_lacks_is_refused_in_one_line(own_form, use, message):
    with pytest.raises(rlccfr.RLCCFRError, match=message):
        use(own_form.MatrixGame("mine", PAYOFFS))


def test_a_form_without_a_measured_run_is_solved_by_the_plain_default(own_form):
    solution = rlccfr.solve(own_form.MatrixGame("mine", PAYOFFS), until=0.01)
    assert (solution.reached, solution.why) == (True, "exact passes by cfr_plus")


SUBGAME = 'subgame{"board": "2c3d4h8s9s", "pot": 10, "stack": 10, "oop": "AA,QQ", "ip": "KK", "bets": "a"}'


@pytest.mark.parametrize("name", ["kuhn", "holdem(rounds=1,ranks=3,suits=2)", SUBGAME])
def test_every_part_of_a_form_is_there(name):
    game = rlccfr.load_game(name)
    for field in fields(game.form):
        value = getattr(game.form, field.name)
        if isinstance(value, str) and ":" in value:
            assert game.form.part(field.name)
    assert game.sizes()["name"] == game.name
    assert rlccfr.load_game(game.full_name).content_hash == game.content_hash


def test_what_is_no_game_is_refused():
    with pytest.raises(TypeError, match=r"game must come from rlccfr.load_game\(...\), not 'kuhn'"):
        rlccfr.Solver("kuhn")
