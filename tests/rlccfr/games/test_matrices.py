"""Games may be given as one matrix of payoffs, or as both players' matrices."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rlccfr
from rlccfr.policies.matches import played_match

MATRIX = np.random.default_rng(0).normal(size=(3, 4))


def test_a_matrix_is_a_game():
    game = rlccfr.matrix_game(MATRIX, rows=("a", "b", "c"))
    solution = rlccfr.solve_exactly(game)
    rows, columns = (solution.policy.probabilities[game.sequences_of(player)] for player in (0, 1))
    assert (rows @ MATRIX).min() == pytest.approx(solution.value)  # what each player is sure of is the value
    assert (MATRIX @ columns).max() == pytest.approx(solution.value)
    result = rlccfr.Solver(game, "pcfr_plus").run(iterations=2000)
    assert result.exploitability < 1e-3
    assert rlccfr.matrix_game(MATRIX, rows=("a", "b", "c")).name == game.name
    assert rlccfr.matrix_game(MATRIX).name != game.name


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (MATRIX, -MATRIX),
        (MATRIX, 0.3 - MATRIX),
        (1e9 + MATRIX, 7.7 - MATRIX),
        (1e-300 * MATRIX, 1e-300 - 1e-300 * MATRIX),
        (1e308 * (MATRIX > 0), 1e308 * (MATRIX <= 0)),
        (MATRIX.astype(np.float32), np.float32(0.3) - MATRIX.astype(np.float32)),
        ([[True, False]], [[False, True]]),
        ([[Fraction(1, 3), 0]], [[Fraction(2, 3), Decimal(1)]]),
        (pd.DataFrame(MATRIX, columns=list("abcd")), pd.DataFrame(1 - MATRIX, columns=list("abcd"))),
        ([[0, 0]], [[0, 0]]),
        ([[2, 2]], [[5, 5]]),
    ],
)
def test_payoffs_that_add_up_to_a_constant_make_the_game_of_the_first_players(first, second):
    game = rlccfr.matrix_game(first, second)
    assert game.content_hash == rlccfr.matrix_game(first).content_hash
    for own, other in zip(np.asarray(first).flat, np.asarray(second).flat, strict=True):
        size = float(abs(float(own)) + abs(float(other)))
        assert game.opponent_payoffs.at(float(own)) == pytest.approx(float(other), rel=0, abs=1e-6 * size)
    assert rlccfr.load_game(game.openspiel_name).opponent_payoffs == game.opponent_payoffs


class Unreadable:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.\nCall detach first.")


@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        (np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]]), "payoffs must have no masked entries$"),
        (Unreadable(), r"can't be turned into a NumPy array: Can't call numpy\(\) on Tensor that requires grad\.$"),
    ],
)
def test_other_libraries_arrays_are_read_whole_or_refused(payoffs, message):
    with pytest.raises(rlccfr.GameError, match=message):
        rlccfr.matrix_game(payoffs)
    assert rlccfr.matrix_game(np.ma.masked_array([[1.0, 2.0]])).utility_range == 1


@pytest.mark.parametrize("size", [1e3, 1e9, 1e12, 1e15])
def test_large_payoffs_hide_neither_a_wrong_sum_nor_a_constant(size):
    first = np.array([[size, -size], [-size, size]])
    assert rlccfr.matrix_game(first, 1 - first).opponent_payoffs == (1.0, 1.0)
    forbidden = [[1.0, 2.0], [-size, -size]]
    with pytest.raises(rlccfr.GameError, match="add up to 0 in row 0, column 0 and to 12 in row 0, column 1"):
        rlccfr.matrix_game(forbidden, [[-1, 10], [size, size]])


def test_a_sum_that_no_double_holds_is_refused():
    with pytest.raises(rlccfr.GameError, match=r"add up to more than 1\.8e\+308"):
        rlccfr.matrix_game([[1e308]], [[1e308]])


def test_each_players_figures_are_in_its_own_payoffs():
    first = np.array([[0.2, 0.7], [0.9, 0.1]])
    game = rlccfr.matrix_game(first, 1 - first)
    uniform, exact = rlccfr.Policy.uniform(game), rlccfr.solve_exactly(game).policy
    rows, columns = (exact.probabilities[game.sequences_of(player)] for player in (0, 1))
    seats = uniform.against(exact).seats
    assert seats == pytest.approx((first.mean(axis=0) @ columns, rows @ (1 - first).mean(axis=1)))
    assert played_match(uniform, exact, game, 20_000).seats == pytest.approx(seats, abs=0.02)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ([[3, 5], [0, 1]], "add up to 2 in row 1, column 1 and to 6 in row 0, column 0; only constant-sum"),
        ([[3, 0], [5, 1]], "not constant-sum"),  # as if the second matrix were the first player's again
        ([[-6, 0], [-10, -2]], "pass only player 0's"),  # strictly competitive by a change of scale
        ([[-3, 0], [-5, -1 + 1e-6]], "not constant-sum"),
        ([[-3, 1e15], [-5, -1]], "not constant-sum"),
        ([[-3, 0]], r"must have the same shape, not \(2, 2\) and \(1, 2\)"),
        ([[-3, None], [-5, -1]], "player 1's payoffs must be real numbers, but the one in row 0, column 1 is None"),
        (
            [[10**5000, 0], [0, 0]],
            r"player 1's payoffs must be below 1.8e\+308, but the one in row 0, column 0 is larger",
        ),
    ],
)
def test_a_second_matrix_is_never_passed_over(second, message):
    with pytest.raises(rlccfr.GameError, match=message) as caught:
        rlccfr.matrix_game([[3, 0], [5, 1]], second)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "arguments", [(["a", "b"],), ("ab",), (np.array(["a", "b"]),), (None, ["a", "b"]), (["a", "b"], ["c", "d"])]
)
def test_names_without_their_keywords_are_told_from_payoffs(arguments):
    with pytest.raises(rlccfr.GameError, match=r"give names of actions by keyword, as in .*rows=.*columns="):
        rlccfr.matrix_game([[3, 0], [5, 1]], *arguments)


@pytest.mark.parametrize(
    ("payoffs", "names", "message"),
    [
        ([1, 2], {}, "a non-empty matrix, not an array of shape"),
        ([[1, 2j]], {}, "a matrix of real numbers, not of type complex128"),
        ([[]], {}, "a non-empty matrix, not an array of shape"),
        (None, {}, "a matrix that NumPy can read"),
        ([[1, float("nan")]], {}, "must be finite, but the one in row 0, column 1 is nan"),
        ([[1, None]], {}, "must be real numbers, but the one in row 0, column 1 is None"),
        ([[1, object]], {}, "must be real numbers, but the one in row 0, column 1 is <class"),
        ([["1", "2"]], {}, "a matrix of real numbers, not of type <U1"),
        ([[1, 2], [3]], {}, "with rows of equal length"),
        ([[10**400]], {}, r"below 1.8e\+308, but the one in row 0, column 0 is larger"),
        ([[1, 2]], {"rows": ["a", "b"]}, r"rows must be 1 different names of actions, not \['a', 'b'\]"),
        ([[1, 2]], {"columns": ["a", "a"]}, r"columns must be 2 different names of actions, not \['a', 'a'\]"),
        ([[1, 2]], {"columns": 2}, "columns must be 2 different names of actions, not 2"),
    ],
)
def test_what_is_no_matrix_is_refused(payoffs, names, message):
    with pytest.raises(rlccfr.GameError, match=message) as caught:
        rlccfr.matrix_game(payoffs, **names)
    assert "\n" not in str(caught.value)


def test_a_large_payoff_hides_no_wrong_sum():
    with pytest.raises(rlccfr.GameError, match="not constant-sum"):
        rlccfr.matrix_game([[1e10, 1], [0, 3]], [[-1e10, 1], [0, 2]])
    assert rlccfr.matrix_game([[1e10, 1], [0, 3]], [[-1e10, -1], [0, -3]]).num_histories == 7
