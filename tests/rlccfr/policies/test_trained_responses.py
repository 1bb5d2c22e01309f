"""Trained opponents: they win what they can, never more than best responses, and are judged by games of their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import rlccfr
from rlccfr.errors import PolicyError
from rlccfr.policies.trained_responses import ResponseEnv, next_legal


@pytest.fixture(scope="module")
def kuhn():
    return rlccfr.NetworkPolicy.uniform(rlccfr.load_game("kuhn", form="generated"))


@pytest.mark.slow
def test_opponents_win_nearly_what_best_responses_win(kuhn):
    bound = kuhn.trained_bound(steps=8000, opponents=2, games=3000)
    exact = kuhn.values().best_response
    for payoff, most in zip(bound.seats, exact, strict=True):
        assert payoff < most + 3 * 2 * bound.error
        assert payoff > 0.7 * most
    assert bound.value == pytest.approx(sum(bound.seats) / 2)
    assert (bound.steps, bound.opponents, bound.games) == (8192, 2, 3000)


@pytest.mark.slow
def test_no_more_is_won_against_a_good_policy_than_its_exploitability():
    run = rlccfr.Solver(
        rlccfr.load_game("generated(kuhn)"), "deep_lcfr(model='table', traversals=4000, train_every=1)", "external"
    )
    run.run(iterations=20)
    policy = run.average_policy()
    bound = policy.trained_bound(steps=3000, opponents=1, games=3000)
    assert bound.value < policy.exploitability() + 2 * bound.error


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bound_and_leaves_global_generators_alone(kuhn):
    torch.manual_seed(1)
    np.random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    bounds = [kuhn.trained_bound(steps=600, opponents=1, games=100, seed=5) for _ in range(2)]
    assert bounds[0] == bounds[1]
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])
    assert kuhn.trained_bound(steps=600, opponents=1, games=100, seed=6) != bounds[0]


def test_an_illegal_action_stands_for_the_next_legal_one():
    legal = np.array([[True, False, True, False], [False, True, False, False], [True, True, False, False]])
    np.testing.assert_array_equal(next_legal(np.array([1, 2, 3]), legal), [2, 1, 0])
    np.testing.assert_array_equal(next_legal(np.array([0, 1, 1]), legal), [0, 1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "phantom_ttt"])
def test_the_environment_is_one_of_gymnasiums(name, seat):
    policy = rlccfr.NetworkPolicy.uniform(rlccfr.load_game(name, form="generated"))
    check_env(ResponseEnv(policy.game.walks, policy.policies, seat), skip_render_check=True)


def test_a_random_player_gets_the_policys_value(kuhn):
    """Random play in either seat, against the uniform policy, has the payoffs of uniform play."""
    rng = np.random.default_rng(0)
    for seat in (0, 1):
        env = ResponseEnv(kuhn.game.walks, kuhn.policies, seat)
        payoffs = []
        for _ in range(3000):
            env.reset(seed=None if payoffs else seat)
            ended = False
            while not ended:
                _, payoff, ended, _, _ = env.step(int(rng.integers(2)))
            payoffs.append(payoff)
        error = np.std(payoffs) / len(payoffs) ** 0.5
        assert abs(np.mean(payoffs) - kuhn.values().game[seat]) < 4 * error


@pytest.mark.parametrize("arguments", [{"steps": 0}, {"opponents": 0}, {"games": 1}, {"seed": -1}, {"steps": 1.5}])
def test_bad_numbers_are_refused(kuhn, arguments):
    with pytest.raises(PolicyError):
        kuhn.trained_bound(**arguments)


class Folding:
    """Policies of which player 0 always folds, so that player 1 never decides."""

    def drawn(self, count, rng):
        return self.played

    @staticmethod
    def played(player, rows, legal, games):
        played = np.zeros(legal.shape)
        played[np.arange(len(rows)), legal.argmax(axis=1)] = 1.0
        return played


def test_a_seat_that_never_decides_is_not_trained():
    game = rlccfr.load_game(
        "universal_poker(betting=limit,numPlayers=2,numRounds=1,blind=5 10,raiseSize=10,firstPlayer=1,maxRaises=1,"
        "numSuits=1,numRanks=3,numHoleCards=1,numBoardCards=0)",
        form="generated",
    )
    policy = rlccfr.NetworkPolicy(game, Folding())
    bound = policy.trained_bound(steps=2048, opponents=1, games=200)
    assert bound.seats[1] == 5.0
    assert bound.steps == 2048
