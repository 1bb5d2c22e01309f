"""A huge penalty may forbid a move; beside it, the payoffs for which the players play still count."""

from __future__ import annotations

import numpy as np
import pytest
from open_spiel.python.algorithms.expected_game_score import policy_value
from planted_games import CHANCE, Place, SpielGame, end

import rlccfr
from rlccfr.games.payoff_sizes import WIDE_GAP, tolerance_factor


def two_deals(penalty: float, forbidden: int) -> Place:
    """Return a game in which both players see the deal; each deal has its payoffs, and moves that are forbidden."""
    deals = [
        Place(
            0,
            f"row after {deal}",
            list(range(2 + forbidden)),
            [
                Place(1, f"column after {deal}", [0, 1], [end(payoff) for payoff in row])
                for row in (*payoffs, *[(-penalty, -penalty)] * forbidden)
            ],
        )
        for deal, payoffs in (("A", ((2.0, 0.0), (0.0, 1.0))), ("B", ((-1.0, 0.0), (0.0, -3.0))))
    ]
    return Place(CHANCE, "", [0, 1], deals, [0.5, 0.5])


@pytest.mark.parametrize("forbidden", [1, 20])
@pytest.mark.parametrize("penalty", [1e2, 1e10, 1e13, 1e14, 1e15, 1e18])
def test_payoffs_beside_penalties_are_kept_apart(penalty, forbidden):
    tree = rlccfr.load_game(SpielGame(two_deals(penalty, forbidden), f"penalty_{penalty:.0e}"))
    row = [0.5, 0.5, *[0.0] * forbidden]  # never plays a forbidden move
    policy = rlccfr.Policy(tree, [*row, *row, *[0.5] * 4])
    theirs = policy.to_openspiel()
    expected = policy_value(theirs.game.new_initial_state(), [theirs, theirs])[0]
    assert policy.values().game[0] == pytest.approx(expected) == -0.125
    assert policy.against(policy).seats == pytest.approx((-0.125, 0.125))
    assert policy.exploitability() == pytest.approx(0.375)
    assert sum(state.gain for state in policy.gains_by_state()) == pytest.approx(0.75)


@pytest.mark.parametrize("penalty", [1e2, 1e9, 1e13])
def test_what_is_solved_without_a_target_is_solved_for_the_usual_payoffs(penalty):
    solution = rlccfr.solve(rlccfr.load_game(SpielGame(two_deals(penalty, 1), f"penalty_{penalty:.0e}")))
    assert solution.reached
    assert solution.value == pytest.approx(-1 / 24, abs=2e-5)  # a half of 2 / 3 and of -3 / 4
    assert solution.exploitability < 2e-5


@pytest.mark.parametrize("penalty", [1e12, 2e13, 1e16])
def test_actions_beside_a_penalty_are_kept_apart(penalty):
    """Exact passes go over classes of actions that are worth the same."""
    payoffs = np.zeros((31, 31))
    payoffs[:30, :30] = np.random.default_rng(0).uniform(1, 4, (30, 30))
    payoffs[30, :30], payoffs[:30, 30] = -penalty, penalty
    solver = rlccfr.Solver(rlccfr.matrix_game(payoffs), "dcfr")
    exploitability = solver.run(iterations=100, curve=False).exploitability
    row, column = np.split(solver.average_policy().probabilities, 2)
    assert exploitability == pytest.approx(((payoffs @ column).max() - (row @ payoffs).min()) / 2, rel=1e-12)


def test_classes_remain_beside_a_penalty():
    payoffs = np.zeros((3, 4))
    payoffs[2] = -1e14
    payoffs[0, :2], payoffs[1, 2:] = 2.0, 1.0  # columns 0 and 1 are alike, and so are 2 and 3
    tree = rlccfr.matrix_game(payoffs)
    assert len(np.unique(tree.classes.sequence[3:7])) == 2


@pytest.mark.parametrize(
    "name",
    ["kuhn", "leduc", "liars_dice(dice_sides=3)", "goofspiel", "oshi_zumo(coins=5,size=1,horizon=4)"],
)
def test_usual_payoffs_have_the_usual_tolerance(name):
    assert tolerance_factor(rlccfr.load_game(name).utility) == 1.0


def test_payoffs_beside_many_penalties_of_one_sign_are_kept_apart():
    """The median of all payoffs is a penalty, which must not be subtracted from the others."""
    payoffs = np.full((2, 5), 1e16)
    payoffs[:, :2] = [[3.0, 1.0], [1.0, 2.0]]
    policy = rlccfr.Policy(rlccfr.matrix_game(payoffs), [0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0])
    assert policy.values().game[0] == 1.75
    assert policy.exploitability() == 0.25


def test_the_factor_is_the_share_of_the_usual_payoffs():
    assert tolerance_factor(np.array([0.0])) == 1.0
    assert tolerance_factor(np.array([1.0, WIDE_GAP])) == 1.0
    assert tolerance_factor(np.array([1.0, 2.0, -100 * WIDE_GAP, 1e20])) == pytest.approx(2e-20)
