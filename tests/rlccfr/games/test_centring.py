"""Forms of games with their payoffs about zero."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from random_games import PlantedGame, RandomGame
from support import game

import rlccfr
from rlccfr.games.centring import centre_of, centred_form, terminal_reach
from rlccfr.games.quotient import centred_quotient_of, quotient_of
from rlccfr.games.symmetry import payoff_matrix


@pytest.mark.parametrize(
    ("payoffs", "centre"),
    [([[1, -1]], 0), ([[3, 0]], 0), ([[5, 7]], 6), ([[-7, -4, -1e9]], -7), ([[1.7e308] * 2], 1.7e308)],
)
def test_the_centre_is_the_median_if_one_player_always_wins(payoffs, centre):
    assert centre_of(rlccfr.matrix_game(payoffs)) == centre


def test_a_game_in_which_both_can_win_is_its_own_centred_form():
    assert centred_form(game("leduc")) is None
    assert centred_quotient_of(game("leduc")) is quotient_of(game("leduc"))


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel"])
def test_terminals_sum_to_the_payoffs_of_pairs_of_sequences(name):
    tree = game(name)
    reach = terminal_reach(tree)
    payoffs = np.zeros((tree.num_sequences + 2,) * 2)
    np.add.at(payoffs, tuple(reach.last_sequence), reach.chance_reach * tree.utility[reach.history])
    np.testing.assert_allclose(payoffs, payoff_matrix(tree.view).toarray(), rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_a_policys_exploitability_does_not_depend_on_a_constant(seed, tmp_path):
    policies = []
    for offset in (0.0, 2.0**40):
        one = RandomGame(Random(seed), offset=offset)
        tree = rlccfr.load_game(one.write(tmp_path / f"{offset}.efg"))
        shares = np.random.default_rng(seed).random(tree.num_sequences)
        policies.append(rlccfr.Policy.from_sums(tree, shares))
    plain, shifted = policies
    assert shifted.exploitability() == pytest.approx(plain.exploitability(), abs=1e-14)
    assert np.array_equal(shifted.best_response().probabilities, plain.best_response().probabilities)
    assert shifted.values().game[0] - 2.0**40 == pytest.approx(plain.values().game[0], abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_symmetry_is_that_of_the_differences_between_payoffs(seed, tmp_path):
    """Beside 1e13 all payoffs are equal up to rounding: the compiler takes them for equal, and the passes must not."""
    plain, shifted = (
        rlccfr.load_game(PlantedGame(Random(seed), offset=offset).write(tmp_path / f"{offset}.efg"))
        for offset in (0.0, 1e13)
    )
    expected = quotient_of(plain)
    centred = centred_quotient_of(shifted)
    assert expected is not None
    assert centred is not None
    np.testing.assert_array_equal(centred.place, expected.place)
    compiled = quotient_of(shifted)
    assert compiled is None or np.array_equal(compiled.place, expected.place)


@pytest.mark.parametrize("seed", range(5))
def test_iterations_beside_a_constant_find_an_equilibrium(seed, tmp_path):
    tree = rlccfr.load_game(PlantedGame(Random(seed), copies=6, offset=1e13).write(tmp_path / "planted.efg"))
    solver = rlccfr.Solver(tree, "cfr_plus")
    solver.run(iterations=500)
    assert solver.average_policy().exploitability() < 1e-3
