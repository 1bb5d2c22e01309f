"""Exact solutions, against known values and the plain linear programs of random games."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from random_games import PlantedGame, RandomGame
from support import game

import rlccfr
from rlccfr.errors import BudgetError, RLCCFRError

VALUES = {
    "kuhn": -1 / 18,
    "leduc": -0.085606424,
    "liars_dice(numdice=1,dice_sides=3)": None,
    "goofspiel": 0.0,
    "dark_hex(board_size=2)": None,
}


@pytest.mark.parametrize("name", VALUES)
def test_an_exact_solution_can_hardly_be_exploited(name):
    found = rlccfr.solve_exactly(game(name))
    assert found.exploitability < 1e-9
    assert found.policy.exploitability() == found.exploitability
    if VALUES[name] is not None:
        assert found.value == pytest.approx(VALUES[name], abs=1e-8)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("hidden", [(), (0,), (1,)])
def test_random_games_have_the_plain_programs_value(seed, hidden, tmp_path):
    one = RandomGame(Random(seed))
    found = rlccfr.solve_exactly(rlccfr.load_game(one.write(tmp_path / "one.efg")))
    assert found.value == pytest.approx(one.value(), abs=1e-9)
    assert found.exploitability < 1e-9
    planted = rlccfr.load_game(PlantedGame(Random(seed), hidden=hidden).write(tmp_path / "planted.efg"))
    assert rlccfr.solve_exactly(planted).exploitability < 1e-9


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_time_limit_must_be_positive(seconds):
    with pytest.raises(BudgetError, match="seconds must be positive, not "):
        rlccfr.solve_exactly(game("kuhn"), seconds=seconds)


def test_a_program_that_takes_too_long_is_one_line():
    with pytest.raises(BudgetError, match=r"^the linear program of 'leduc' did not end in 1e-06 seconds; give it more"):
        rlccfr.solve_exactly(game("leduc"), seconds=1e-6)


def test_payoffs_that_are_not_finite_are_refused():
    tree = game("kuhn")
    histories = tree.histories.copy()
    histories["utility"][-1] = np.nan
    with pytest.raises(RLCCFRError, match="'kuhn' has payoffs that are not finite"):
        rlccfr.solve_exactly(replace(tree, histories=histories))
