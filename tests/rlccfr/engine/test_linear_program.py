"""Exact solutions, against known values and the plain linear programs of random games."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random

import numpy as np
import pandas as pd
import pytest
from open_spiel.python.algorithms.exploitability import exploitability
from random_games import Node, PlantedGame, RandomGame
from support import game

import rlccfr
from benchmarks import exact
from rlccfr.engine import linear_program
from rlccfr.errors import BudgetError, RLCCFRError
from rlccfr.games.flat_tree import utility_of

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


@pytest.mark.parametrize("scale", [1e-10, 1e-6, 1e6, 1e12])
def test_the_scale_of_payoffs_does_not_matter(scale, tmp_path):
    one = RandomGame(Random(5))
    value = one.value()
    assert value

    def scaled(node):
        node.utility *= scale
        for child in node.children:
            scaled(child)

    scaled(one.root)
    found = rlccfr.solve_exactly(rlccfr.load_game(one.write(tmp_path / "one.efg")))
    assert found.value == pytest.approx(scale * value, rel=1e-9)
    assert found.exploitability < 1e-9 * scale


@pytest.mark.parametrize(("rare", "stake"), [(10**9, 1e9), (10, 1e9), (10**6, 1.0)])
def test_payoffs_and_chances_of_very_different_sizes(rare, stake, tmp_path):
    """Chance leads to matching pennies over 1, or rarely to another over the stake."""

    def pennies(infosets, pays):
        leaves = [Node(None, utility=pays * sign) for sign in (3.0, -1.0, -1.0, 1.0)]
        second = [Node(1, leaves[k : k + 2], infosets) for k in (0, 2)]
        return Node(0, second, infosets)

    one = RandomGame(Random(0))
    one.root = Node("chance", [pennies(0, stake), pennies(1, 1.0)], weights=(1, rare))
    found = rlccfr.solve_exactly(rlccfr.load_game(one.write(tmp_path / "one.efg")))
    expected = (stake + rare) / 3 / (1 + rare)
    assert found.value == pytest.approx(expected, rel=1e-7)
    assert found.exploitability < 1e-7 * max(1.0, expected)


def test_several_threads_solve_at_a_time():
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(rlccfr.solve_exactly, [game("leduc"), game("goofspiel"), game("kuhn")] * 4))
    assert max(solution.exploitability for solution in found) < 1e-9


@pytest.mark.parametrize("name", ["leduc", "goofspiel"])
def test_openspiel_finds_nothing_to_exploit(name):
    theirs = rlccfr.solve_exactly(game(name)).policy.to_openspiel()
    assert exploitability(theirs.game, theirs) < 1e-9


@pytest.mark.parametrize("actors", [[], [0], [1], ["chance"]])
def test_games_in_which_hardly_anyone_decides(actors, tmp_path):
    one = RandomGame(Random(0))
    one.root = Node(None, utility=2.0)
    for actor in actors:
        one.root = Node(actor, [Node(None, utility=1.0), Node(None, utility=3.0)], 0, (1, 1))
    found = rlccfr.solve_exactly(rlccfr.load_game(one.write(tmp_path / "one.efg")))
    assert found.value == pytest.approx({0: 3.0, 1: 1.0}.get((*actors, "")[0], 2.0))
    assert found.exploitability < 1e-9


def test_progress_and_interruption(monkeypatch):
    """Ctrl-C ends the run of HiGHS; the next program is solved as ever."""
    shares = []

    def impatient(share):
        shares.append(share)
        raise KeyboardInterrupt

    monkeypatch.setattr(linear_program, "POLL", 1e-4)
    with pytest.raises(KeyboardInterrupt):
        rlccfr.solve_exactly(game("leduc"), progress=impatient)
    assert len(shares) == 1
    assert rlccfr.solve_exactly(game("leduc")).exploitability < 1e-9


def test_nothing_is_printed(capfd):
    rlccfr.solve_exactly(game("leduc"))
    assert capfd.readouterr() == ("", "")


def test_the_law_is_fitted_to_the_measured_times():
    table = pd.read_csv(exact.FILE)
    constants, factor = exact.fit(table)
    assert (linear_program.OVERHEAD, *linear_program.LAW) == pytest.approx(
        (np.exp(constants[0]), *constants[1:]), rel=0.05
    )
    assert pytest.approx(factor, rel=0.05) == linear_program.FACTOR


def test_a_prediction_says_how_sure_it_is():
    predicted = linear_program.predicted_time(game("leduc"))
    assert 0.001 < predicted.seconds < 0.1
    assert re.fullmatch(r"0\.00\d+ s \(usually 0\.00\d+ to 0\.0\d+ s\)", str(predicted))


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), "5", True])
def test_a_time_limit_must_be_positive(seconds):
    with pytest.raises(BudgetError, match="seconds must be a positive number, not "):
        rlccfr.solve_exactly(game("kuhn"), seconds=seconds)


def test_a_program_that_takes_too_long_is_one_line():
    with pytest.raises(BudgetError, match=r"^the linear program of 'leduc' did not end in 1e-06 seconds; give it more"):
        rlccfr.solve_exactly(game("leduc"), seconds=1e-6)


def test_payoffs_that_are_not_finite_are_refused():
    tree = game("kuhn")
    histories = tree.histories.copy()
    utility_of(histories)[-1] = np.nan
    with pytest.raises(RLCCFRError, match="'kuhn' has payoffs that are not finite"):
        rlccfr.solve_exactly(replace(tree, histories=histories))
