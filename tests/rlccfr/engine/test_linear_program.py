"""Exact solutions, against known values and the plain linear programs of random games."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import cycle, product
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest
from open_spiel.python.algorithms.exploitability import exploitability
from random_games import Node, PlantedGame, RandomGame
from scipy.optimize import linprog
from support import game

import rlccfr
from benchmarks import exact
from rlccfr.engine import highs, linear_program, rational_program
from rlccfr.engine.exactness import PayoffScale
from rlccfr.engine.sequence_program import SequenceProgram
from rlccfr.errors import BudgetError, RLCCFRError
from rlccfr.games.records import TERMINAL, utility_of

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


@pytest.mark.slow
def test_random_games_have_the_plain_programs_value(tmp_path):
    for seed, hidden in zip(range(30), cycle([(), (0,), (1,)])):
        one = RandomGame(Random(seed))
        found = rlccfr.solve_exactly(rlccfr.load_game(one.write(tmp_path / f"one-{seed}.efg")))
        assert found.value == pytest.approx(one.value(), abs=1e-9), seed
        assert found.exploitability < 1e-9, seed
        planted = rlccfr.load_game(PlantedGame(Random(seed), hidden=hidden).write(tmp_path / f"planted-{seed}.efg"))
        assert rlccfr.solve_exactly(planted).exploitability < 1e-9, seed


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


def value_of_matrix(payoffs: np.ndarray) -> float:
    """Return player 0's value of a matrix game, by the textbook's program."""
    rows, columns = payoffs.shape
    found = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack([-payoffs.T, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=[np.append(np.ones(rows), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    assert found.status == 0
    return -float(found.fun)


def test_the_constant_in_a_matrix_does_not_matter():
    for size in (2, 10, 50):
        random = np.random.default_rng(size)
        payoffs = random.integers(-9000, 9001, (size, size)) / 1024  # which 1e12 leaves as they are
        value, span = value_of_matrix(payoffs), np.ptp(payoffs)
        for offset in (0.0, 1.0, 1e3, 1e6, 1e9, 1e12, -1e12):
            found = rlccfr.solve_exactly(rlccfr.matrix_game(payoffs + offset))
            case = f"{size} x {size} beside {offset:g}"
            assert found.exact, case
            assert found.value == pytest.approx(offset + value, rel=1e-15, abs=1e-9), case
            rows, columns = found.policy.probabilities[:size], found.policy.probabilities[size:]
            assert (payoffs @ columns).max() - (rows @ payoffs).min() < 2e-9 * span, case
            assert found.policy.exploitability() == found.exploitability, case
            assert not found.rational, case


def with_constant(name: str, offset: float, path: Path) -> str:
    """Write a game with a constant in all payoffs as Gambit's file, and return the file's name."""
    rlccfr.Policy.uniform(game(name)).save(path)

    def shifted(line: re.Match[str]) -> str:
        utility = Fraction(line[2]) + Fraction(offset)
        return f"{line[1]}{{ {float(utility)!r}, {-float(utility)!r} }}"

    text, count = re.subn(r"(?m)^(t .*)\{ *([^ ,]+)[ ,][^}]*\}", shifted, path.read_text())
    assert count == (game(name).histories["actor"] == TERMINAL).sum()
    path.write_text(text)
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "leduc(ranks=3,suits=1,raises=1)", "random_poker(seed=1,hands=3)"])
def test_the_constant_in_a_games_payoffs_does_not_matter(name, tmp_path):
    plain = rlccfr.solve_exactly(game(name))
    for offset in (1e3, 1e6, 1e9, 2.0**40):
        tree = rlccfr.load_game(with_constant(name, offset, tmp_path / f"{offset:g}.efg"))
        found = rlccfr.solve_exactly(tree)
        assert found.exact
        assert found.exploitability < 1e-9 * game(name).utility_range
        assert found.value == pytest.approx(offset + plain.value, rel=1e-15, abs=1e-9)
        if name != "random_poker(seed=1,hands=3)":  # whose payoffs are not symmetric about 0
            assert linear_program.program_size(tree) == linear_program.program_size(game(name))  # so it takes as long


def test_the_constant_in_a_random_games_payoffs_does_not_matter(tmp_path):
    for seed, offset in product(range(10), (1e6, 1e12)):
        value = RandomGame(Random(seed)).value()
        one = RandomGame(Random(seed), offset=offset)
        found = rlccfr.solve_exactly(rlccfr.load_game(one.write(tmp_path / f"{offset:g}-{seed}.efg")))
        assert found.exact
        assert found.exploitability < 5e-9
        assert found.value == pytest.approx(offset + value, rel=1e-15, abs=1e-9)


@pytest.mark.parametrize(
    ("payoffs", "value"),
    [([[600, 3e5], [-1e6, -4e13]], 600), ([[-2e4, 1e7], [-5e7, -8e15]], -2e4), ([[-300, 3e11], [30, 3e4]], 30)],
)
def test_a_huge_payoff_that_nobody_plays_hides_nothing(payoffs, value):
    """HiGHS leaves an exploitability that is negligible beside the huge payoff, but not beside the value."""
    assert rlccfr.solve_exactly(rlccfr.matrix_game(payoffs)).value == value


@pytest.mark.slow
def test_payoffs_of_two_rows_and_columns_of_any_sizes_have_the_exact_value():
    random = np.random.default_rng(0)
    for _ in range(100):
        payoffs = random.choice([-1.0, 1.0], (2, 2)) * 10.0 ** random.integers(-15, 16, (2, 2))
        (a, b), (c, d) = [[Fraction(payoff) for payoff in row] for row in payoffs.tolist()]
        least, most = max(min(a, b), min(c, d)), min(max(a, c), max(b, d))
        value = least if least == most else (a * d - b * c) / (a + d - b - c)
        found = rlccfr.solve_exactly(rlccfr.matrix_game(payoffs))
        if found.rational:
            assert found.value == float(value), payoffs
        else:
            assert found.value == pytest.approx(float(value), abs=1e-5 * np.diff(np.unique(payoffs)).min()), payoffs


def nested(one: RandomGame, kind: str, stake: float) -> float:
    """Put a random game beside payoffs of another size, and return the value of the whole."""
    value, pays = one.value(), lambda utility: Node(None, utility=utility)
    numbers = [len(infosets) for infosets in one.sequences]
    if kind == "chance":  # matching pennies over the stake, as likely as the game
        second = [Node(1, [pays(sign * stake), pays(-sign * stake)], numbers[1]) for sign in (1, -1)]
        one.root = Node("chance", [one.root, Node(0, second, numbers[0])], weights=(1, 1))
        return value / 2
    player = int(kind == "second")
    stake = stake if player else -stake
    one.root = Node(
        player, [one.root, Node(1 - player, [pays(stake), pays(stake / 2)], numbers[1 - player])], numbers[player]
    )
    return value


@pytest.mark.parametrize("kind", ["chance", "first", "second"])
@pytest.mark.parametrize("stake", [1e6, 1e10, 1e15])
def test_small_payoffs_beside_large_ones_have_the_right_value(kind, stake, tmp_path):
    for seed in range(5):
        one = RandomGame(Random(seed))
        value = nested(one, kind, stake)
        found = rlccfr.solve_exactly(rlccfr.load_game(one.write(tmp_path / f"{seed}.efg")))
        assert found.exact
        assert found.value == pytest.approx(value, abs=1e-6)
        assert found.exploitability < 1e-6


def test_chances_that_are_no_doubles_stand_for_fractions(tmp_path):
    one = RandomGame(Random(0))
    payoffs = (2e15, -1e15, 3.0, -2.0)
    leaves = [Node(1, [Node(None, utility=pays), Node(None, utility=pays)], 0) for pays in payoffs]
    one.root = Node("chance", leaves, weights=(1, 2, 2, 2))
    found = rlccfr.solve_exactly(rlccfr.load_game(one.write(tmp_path / "one.efg")))
    assert found.value == float(Fraction(2, 7))


def test_a_solution_is_refined_by_narrower_tolerances(monkeypatch):
    """Beside a payoff of 1e7, HiGHS's default tolerances leave some games exploitable."""
    monkeypatch.setattr(linear_program, "is_small", lambda _: False)
    trees = []
    for seed in range(20):
        payoffs = np.random.default_rng(seed).normal(size=(20, 20))
        payoffs[0, 0] = -1e7
        trees.append(rlccfr.matrix_game(payoffs))
    assert max(rlccfr.solve_exactly(tree).exploitability for tree in trees) < 1e-6
    monkeypatch.setattr(SequenceProgram, "rescale", lambda *_: None)
    monkeypatch.setattr(highs, "LEAST_TOLERANCE", 1e-7)  # HiGHS's default
    coarse = max((rlccfr.solve_exactly(tree) for tree in trees), key=lambda solution: solution.exploitability)
    assert coarse.exploitability > 1e-9 * 1e7
    assert re.fullmatch(
        "not exact: the exploitability of .* is above 1e-09 of the range of payoffs from -1e[+]07 to .*: the linear "
        "program's solver came no closer; iterate instead",
        coarse.caveat,
    )


def test_what_double_precision_hides_is_told(monkeypatch):
    tree = rlccfr.matrix_game([[1e15, 1.0], [0.0, 2.0]])
    assert rlccfr.solve_exactly(tree).exact
    monkeypatch.setattr(rational_program, "MOST_WORK", 0)  # as if it were too large
    found = rlccfr.solve_exactly(tree)
    assert not found.exact
    assert re.fullmatch(
        "not exact: beside payoffs from 0 to 1e[+]15, double precision hides differences as small as 1, so value and "
        "exploitability may be off by about 0.*",
        found.caveat,
    )


def test_payoffs_that_differ_by_rounding_count_as_one(monkeypatch):
    monkeypatch.setattr(rational_program, "MOST_WORK", 0)
    assert rlccfr.solve_exactly(rlccfr.matrix_game([[0.1, 0.1 + 0.2], [0.3, 0.7]])).exact
    unit = np.spacing(1e15)  # beside a range of four units, one is no rounding
    assert PayoffScale.of(rlccfr.matrix_game([[1e15, 1e15 + unit, 1e15 + 4 * unit]])).difference == unit


def test_a_policy_that_double_precision_cannot_hold_is_told():
    """Player 0 mixes evenly over 1e17 and its like, so that rounded probabilities cost more than 1."""
    found = rlccfr.solve_exactly(rlccfr.matrix_game([[1e17, 3.0, -7e16], [-1e17, 5e16, 1.0], [2e16, -9e16, 8e16]]))
    assert found.rational
    assert found.exploitability > 1e-3
    assert found.caveat.endswith("the value is exact, but the policy's probabilities are rounded")


def test_a_small_game_is_solved_even_if_highs_fails(monkeypatch):
    def fail(*_):
        raise RLCCFRError("HiGHS fails")

    monkeypatch.setattr(highs.HighsRun, "solve", fail)
    found = rlccfr.solve_exactly(game("kuhn"))
    assert found.rational
    assert found.value == -1 / 18
    with pytest.raises(RLCCFRError, match="HiGHS fails"):
        rlccfr.solve_exactly(game("leduc"))


@pytest.mark.parametrize(
    ("payoffs", "value"),
    [
        ([[5e12] * 3] * 2, 5e12),
        ([[7.0]], 7.0),
        ([[0.0, 0.0]], 0.0),
        ([[1e12 + 1, 1e12 + 2, 1e12]], 1e12),
        ([[1e12 + 1], [1e12 + 2]], 1e12 + 2),
        ([[1e-300, -1e-300], [-3e-300, 1e-300]], -1e-300 / 3),
        ([[1e300, -1e300], [-3e300, 1e300]], -1e300 / 3),
        ([[5e-324, 0.0], [0.0, 5e-324]], 0.0),  # half of the least double rounds to 0
        ([[1.7e308, -1.7e308], [-1.7e308, 1.7e308]], 0.0),  # the range is above the largest double
        ([[1.7e308, 1.6e308], [1.6e308, 1.7e308]], 1.65e308),
        ([[1.7e308, -1.7e308, 1.0], [-1.7e308, 1.7e308, 1.7e308], [1.0, 2.0, 3.0]], 1.5),
    ],
)
@pytest.mark.filterwarnings("error")
def test_payoffs_at_the_ends_of_double_precision(payoffs, value):
    found = rlccfr.solve_exactly(rlccfr.matrix_game(payoffs))
    assert found.value == pytest.approx(value, rel=1e-15, abs=0)
    assert found.exact


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

    monkeypatch.setattr(highs, "POLL", 1e-4)
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
    assert (linear_program.TIME_OVERHEAD, *linear_program.TIME_LAW) == pytest.approx(
        (np.exp(constants[0]), *constants[1:]), rel=0.05
    )
    assert pytest.approx(factor, rel=0.05) == linear_program.TIME_FACTOR


def test_a_prediction_says_how_sure_it_is():
    predicted = linear_program.predicted_time(game("leduc"))
    assert 0.001 < predicted.seconds < 0.1
    assert re.fullmatch(r"0\.0\d+ s \(usually 0\.0\d+ to 0\.0\d+ s\)", str(predicted))


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), "5", True])
def test_a_time_limit_must_be_positive(seconds):
    with pytest.raises(BudgetError, match="seconds must be a positive, finite number, not "):
        rlccfr.solve_exactly(game("kuhn"), seconds=seconds)


def test_a_program_that_takes_too_long_is_one_line():
    with pytest.raises(
        BudgetError, match=r"^the linear program of 'leduc' was not solved in 1e-06 seconds; allow more time"
    ):
        rlccfr.solve_exactly(game("leduc"), seconds=1e-6)


def test_payoffs_that_are_not_finite_are_refused():
    tree = game("kuhn")
    histories = tree.histories.copy()
    utility_of(histories)[-1] = np.nan
    with pytest.raises(RLCCFRError, match="'kuhn' has payoffs that are not finite"):
        rlccfr.solve_exactly(replace(tree, histories=histories))
