"""Solutions in rational numbers, against known values and linear programs in double precision."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from random_games import RandomGame
from support import game

import rlccfr
from rlccfr.engine.rational_program import RationalGame, is_small


def solved(tree):
    """Return a game's solution in rational numbers, from the uniform policy."""
    return RationalGame(tree).solve(tree.uniform_policy(), lambda: True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kuhn", Fraction(-1, 18)),
        ("kuhn(cards=8)", Fraction(-7, 112)),
        ("liars_dice(numdice=1,dice_sides=3)", Fraction(1, 9)),
    ],
)
def test_games_have_their_exact_values(name, value):
    assert solved(game(name)).value == value


@pytest.mark.parametrize("seed", range(40))
def test_random_games_have_the_plain_programs_value(seed, tmp_path):
    one = RandomGame(Random(seed), depth=5)
    tree = rlccfr.load_game(one.write(tmp_path / "one.efg"))
    assert is_small(tree)
    found = solved(tree)
    assert float(found.value) == pytest.approx(one.value(), abs=1e-9)
    policy = rlccfr.Policy.from_sums(tree, found.probabilities)
    assert policy.exploitability() < 1e-12
    first, second = RationalGame(tree).best_responses(policy.probabilities)
    assert -second - Fraction(1, 10**12) <= found.value <= first + Fraction(1, 10**12)


def test_best_responses_are_those_of_the_policy():
    tree = game("leduc(ranks=3,suits=1,raises=1)")
    policy = rlccfr.Policy.from_sums(tree, np.random.default_rng(0).random(tree.num_sequences))
    responses = RationalGame(tree).best_responses(policy.probabilities)
    assert [float(value) for value in responses] == pytest.approx(policy.values().best_response, abs=1e-12)


def test_a_search_can_be_ended():
    tree = game("kuhn")
    pivots = []

    def twice():
        pivots.append(None)
        return len(pivots) < 3

    assert RationalGame(tree).solve(tree.uniform_policy(), twice) is None
    assert len(pivots) == 3


def test_large_games_are_not_tried():
    assert not is_small(game("leduc"))
    assert not is_small(rlccfr.matrix_game(np.zeros((1000, 2))))  # a tableau of few rows, but made of as many
    assert is_small(rlccfr.matrix_game(np.zeros((2, 1000))))
    assert is_small(rlccfr.matrix_game(np.zeros((100, 100))))
