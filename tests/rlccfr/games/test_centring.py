"""Forms of games with their payoffs about zero."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from random_games import PlantedGame, RandomGame
from support import game

import rlccfr
from rlccfr.archives import archive_of, read_archive
from rlccfr.components import Abstraction
from rlccfr.games.centring import centre_of, centred_game, terminal_reach
from rlccfr.games.quotient import quotient_of
from rlccfr.games.symmetry import payoff_matrix


@pytest.mark.parametrize(
    ("payoffs", "centre"),
    [([[1, -1]], 0), ([[3, 0]], 0), ([[5, 7]], 6), ([[-7, -4, -1e9]], -7), ([[1.7e308] * 2], 1.7e308)],
)
def test_the_centre_is_the_median_if_one_player_always_wins(payoffs, centre):
    assert centre_of(rlccfr.matrix_game(payoffs)) == centre


def test_a_game_is_centred_at_most_once():
    assert centred_game(game("leduc")) is game("leduc")
    centred = centred_game(rlccfr.matrix_game([[5, 7], [6, 5]]))
    assert centred.centre == 5.5
    assert centred_game(centred) is centred


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
    centred = quotient_of(shifted)
    assert expected is not None
    assert centred is not None
    np.testing.assert_array_equal(centred.place, expected.place)


@pytest.mark.parametrize(
    "components",
    [
        {"update_rule": "cfr_plus"},
        {"update_rule": "dcfr", "blend": True},
        {"control": "schedule"},
        {"control": "schedule", "blend": True, "threads": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_does_not_depend_on_a_constant(seed, components, tmp_path):
    """Neither do its curve, its values of the current policy, and when it reaches a target."""
    results = []
    for offset in (0.0, 2.0**40):
        tree = rlccfr.load_game(PlantedGame(Random(seed), copies=6, offset=offset).write(tmp_path / f"{offset}.efg"))
        solver = rlccfr.Solver(tree, **components)
        result = solver.run(until=1e-3, iterations=2000)
        assert result.exploitability == pytest.approx(solver.average_policy().exploitability(), abs=1e-12)
        results.append((result, solver))
    (plain, plain_solver), (shifted, shifted_solver) = results
    assert shifted.reached == plain.reached
    assert shifted.iterations == plain.iterations
    np.testing.assert_allclose(shifted.curve["exploitability"], plain.curve["exploitability"], rtol=1e-6, atol=1e-12)
    plain_current = plain_solver.exploitability(current=True)
    assert shifted_solver.exploitability(current=True) == pytest.approx(plain_current, rel=1e-6, abs=1e-12)
    assert shifted_solver.values().game[0] - 2.0**40 == pytest.approx(plain_solver.values().game[0], abs=1e-3)


def test_best_responses_to_buckets_do_not_depend_on_a_constant(tmp_path):
    """Player 0 sees which of two matrices is played, and forgets it in the abstraction."""
    found = []
    for offset in (0.0, 2.0**40):
        lines = ['EFG 2 R "two matrices" { "0" "1" }', 'c "" 1 "" { "left" 1/2 "right" 1/2 } 0']
        for side, matrix in enumerate([[[3, 0], [0, 1]], [[0, 2], [1, -1]]]):
            lines.append(f'p "" 1 {1 + side} "" {{ "up" "down" }} 0')
            for row, payoffs in enumerate(matrix):
                lines.append('p "" 2 1 "" { "a" "b" } 0')
                outcomes = [f"{1 + 4 * side + 2 * row + column}" for column in range(2)]
                utilities = [offset + payoff for payoff in payoffs]
                lines += [f't "" {o} "" {{ {u:.0f} {-u:.0f} }}' for o, u in zip(outcomes, utilities, strict=True)]
        path = tmp_path / f"{offset:.0f}.efg"
        path.write_text("\n".join(lines) + "\n")
        tree = rlccfr.load_game(path)
        forgetful = Abstraction(buckets=lambda tree: np.array([0, 0, 1]))
        solver = rlccfr.Solver(tree, "cfr_plus", abstraction=forgetful)
        result = solver.run(iterations=100)
        assert result.exploitability == pytest.approx(solver.average_policy().exploitability(), abs=1e-12)
        found.append((result.exploitability, result.exploitability_abstract, solver.values().game[0] - offset))
    plain, shifted = found
    assert plain[0] > 10 * plain[1]
    assert shifted[:2] == pytest.approx(plain[:2], rel=1e-6)
    assert shifted[2] == pytest.approx(plain[2], abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_iterations_beside_a_constant_find_an_equilibrium(seed, tmp_path):
    tree = rlccfr.load_game(PlantedGame(Random(seed), copies=6, offset=1e13).write(tmp_path / "planted.efg"))
    solver = rlccfr.Solver(tree, "cfr_plus")
    solver.run(iterations=500)
    assert solver.average_policy().exploitability() < 1e-3


def test_a_run_that_was_saved_with_the_constant_is_not_continued(tmp_path):
    solver = rlccfr.Solver(rlccfr.matrix_game([[5, 7], [6, 5]]), "cfr_plus", blend=True)
    solver.run(iterations=20)
    solver.save(tmp_path / "run.npz")
    again = rlccfr.Solver.load(tmp_path / "run.npz")
    assert again.run(iterations=30).exploitability == solver.run(iterations=30).exploitability
    arrays = read_archive(tmp_path / "run.npz")
    del arrays["learned_centre"]
    (tmp_path / "earlier.npz").write_bytes(archive_of(arrays))
    with pytest.raises(rlccfr.CheckpointError, match="kept the constant in all payoffs; start a new run"):
        rlccfr.Solver.load(tmp_path / "earlier.npz")
