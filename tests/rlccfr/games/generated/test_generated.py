"""Games made from a seed."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.exploitability import exploitability

import rlccfr
from rlccfr.games.names import RANDOM_KINDS

SMALL = {"poker": {"hands": 3, "boards": 2, "raises": 1}, "moves": {"types": 2, "moves": 4, "actions": 3}}
KINDS = pytest.mark.parametrize("kind", RANDOM_KINDS)


def small(kind: str, seed: int = 5) -> rlccfr.GameTree:
    return rlccfr.random_game(kind, seed=seed, **SMALL[kind])


@KINDS
@pytest.mark.parametrize("seed", range(5))
def test_openspiel_plays_it(kind, seed):
    pyspiel.random_sim_test(
        pyspiel.load_game(small(kind, seed).openspiel_name), num_sims=5, serialize=False, verbose=False
    )


@KINDS
def test_openspiel_finds_the_same_exploitability(kind):
    solver = rlccfr.Solver(small(kind), "dcfr")
    solver.run(iterations=10)
    policy = solver.average_policy().to_openspiel()
    assert solver.exploitability() == pytest.approx(exploitability(policy.game, policy), abs=1e-12)


@KINDS
def test_a_seed_stands_for_one_game(kind):
    assert small(kind).content_hash == small(kind).content_hash == rlccfr.load_game(small(kind).name).content_hash
    assert len({small(kind, seed).content_hash for seed in range(5)}) == 5


@pytest.mark.parametrize(
    ("kind", "worth", "exploitability"),
    [("poker", 0.2702689498923126, 1.6529454736633902), ("moves", -0.14020507898201787, 1.7947748592782369)],
)
def test_a_seed_stands_for_the_same_game_in_all_versions(kind, worth, exploitability):
    """Lists of training and test games name seeds: if a generator changes, raise its VERSION."""
    values = rlccfr.Policy.uniform(small(kind)).values()
    assert (values.game[0], values.exploitability) == pytest.approx((worth, exploitability), abs=1e-12)


@KINDS
def test_chances_add_up_and_payoffs_are_within_bounds(kind):
    tree = small(kind)
    bound = pyspiel.load_game(tree.openspiel_name).max_utility()
    assert np.abs(tree.utility).max() <= bound
    solution = rlccfr.solve_exactly(tree)
    assert solution.exploitability <= 1e-9 * tree.utility_range


def test_a_fold_costs_what_was_paid_and_a_showdown_the_pot():
    game = pyspiel.load_game("random_poker(seed=1,hands=2,boards=1,raises=1)")
    stake = game.max_utility() - 1

    def paid(*actions: int) -> float:
        state = game.new_initial_state()
        for action in (0, 1, *actions):
            state.apply_action(action)
        assert state.is_terminal()
        return state.returns()[0]

    assert paid(2, 0) == 1  # raise, fold
    assert paid(1, 2, 0) == -1  # check, raise, fold
    assert abs(paid(1, 1)) in (0, 1)
    assert abs(paid(2, 1)) == (1 + stake) * abs(paid(1, 1))


def test_the_opponent_sees_of_a_move_what_it_may():
    """Over many games, some moves are seen, some are hidden, and some look like one other."""
    shares = []
    for seed in range(40):
        tree = rlccfr.random_game("moves", seed=seed, types=1, moves=2, actions=3)
        shares.append(tree.infosets_of(1).stop - tree.infosets_of(1).start if tree.num_infosets > 1 else 0)
    assert set(shares) >= {1, 2, 3}


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("chess", {}, "the kind of a random game must be 'poker' or 'moves', not 'chess'"),
        ("poker", {"hands": 1}, "hands of random_poker must be from 2 to 64, not 1"),
        ("moves", {"seed": -1}, "seed of random_moves must be from 0 to"),
        ("moves", {"hands": 3}, "hands"),
        ("moves", {"types": 16, "moves": 12, "actions": 6}, "12 moves and 6 actions has too many terminal histories"),
    ],
)
def test_what_cannot_be_made_is_one_line(kind, parameters, message):
    with pytest.raises(rlccfr.GameError, match=message) as error:
        rlccfr.random_game(kind, **parameters)
    assert "\n" not in str(error.value)
