"""Values of policies, and what is no policy."""

from __future__ import annotations

import numpy as np
import pytest
from open_spiel.python.algorithms.best_response import BestResponsePolicy
from support import game, random_policy

import rlccfr
import rlccfr.locks
from rlccfr.errors import CheckpointError, PolicyError
from rlccfr.policy import Values


def test_a_policy_tells_its_game_and_size():
    assert repr(rlccfr.Policy.uniform(game("kuhn"))) == "Policy('kuhn', infosets=12, sequences=24)"
    public = rlccfr.load_game("holdem(ranks=4,suits=2)")
    size = f"infosets={public.num_infosets:,}, sequences={public.num_sequences:,}"
    assert repr(rlccfr.PublicPolicy.uniform(public)) == f"PublicPolicy('holdem(ranks=4,suits=2)', {size})"


def test_rounding_takes_no_nash_conv_below_zero():
    assert Values.of(0.5, 0.5 - 1e-16, -0.5).nash_conv == 0.0
    assert Values.of(0.5, 0.25, -0.5).nash_conv == -0.25


PUBLIC = ("holdem(ranks=3,suits=2,private=1,flop=1)", "bluff(dice=1,opponent_dice=1)")


def random_policy_of(tree, seed):
    """Return a random policy of either form of games."""
    if tree.form.has_histories:
        return random_policy(tree, seed)
    return rlccfr.PublicPolicy(tree, np.random.default_rng(seed).random(tree.num_sequences))


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel", *PUBLIC])
def test_a_best_response_gets_its_value(name):
    policy = random_policy_of(game(name), 7)
    values = policy.values()
    for player in (0, 1):
        response = policy.best_response(player)
        assert set(np.unique(response.best_response().probabilities)) == {0.0, 1.0}
        assert response.values().game[player] == pytest.approx(values.best_response[player], abs=1e-12)
        # The other player keeps its policy, so it loses no more to its best response than before.
        assert response.values().best_response[player] == pytest.approx(values.best_response[player], abs=1e-12)
    assert policy.best_response().against(policy).value == pytest.approx(values.exploitability, abs=1e-12)


def test_a_best_response_is_openspiels():
    policy = random_policy(game("leduc"), 3)
    theirs = policy.to_openspiel()
    ours = policy.best_response().to_openspiel()
    response = BestResponsePolicy(theirs.game, 0, theirs)
    stack = [theirs.game.new_initial_state()]
    compared = 0
    while stack:
        state = stack.pop()
        if state.is_player_node() and state.current_player() == 0:
            assert (
                ours.action_probabilities(state)[response.best_response_action(state.information_state_string())] == 1
            )
            compared += 1
        stack += [] if state.is_terminal() else [state.child(action) for action in state.legal_actions()]
    assert compared > 1000


def test_there_are_two_players():
    with pytest.raises(PolicyError, match="player must be 0, 1, or None for both, not 2"):
        rlccfr.Policy.uniform(game("kuhn")).best_response(2)


def test_rounded_probabilities_are_normalised_and_copied():
    """A policy whose rows sum to a little more or less than 1 would have a wrong exploitability, or one below 0."""
    tree = game("kuhn")
    solved = rlccfr.solve_exactly(tree).policy
    for factor in (1 - 9e-6, 1 + 9e-6):
        assert rlccfr.Policy(tree, factor * solved.probabilities).exploitability() == pytest.approx(0.0, abs=1e-15)
    numbers = solved.probabilities.copy()
    policy = rlccfr.Policy(tree, numbers)
    numbers[:] = 0.7
    np.testing.assert_array_equal(policy.probabilities, solved.probabilities)


@pytest.mark.parametrize("name", ["kuhn", PUBLIC[0]])
def test_only_policies_of_one_game_are_seated_together(name):
    policy = random_policy_of(game(name), 3)
    for other in ("leduc", PUBLIC[1]):
        with pytest.raises(PolicyError, match="must be for the same game"):
            policy.seated_with(random_policy_of(game(other), 4))


def test_what_is_no_policy_is_refused_in_one_line():
    with pytest.raises(TypeError, match="kuhn"):
        rlccfr.Policy("kuhn", [0.5] * 24)
    for numbers in (["a"] * 24, [[1.0], [0.5, 0.5]]):
        with pytest.raises(PolicyError, match="must be an array of numbers"):
            rlccfr.Policy(game("kuhn"), numbers)
    with pytest.raises(PolicyError, match="the seed of a bot must be at most"):
        rlccfr.Policy.uniform(game("kuhn")).to_bot(0, seed=2**32)


def test_a_lock_that_only_one_side_has_is_named(tmp_path):
    plain = game("kuhn")
    locked = rlccfr.locks.locked(plain, {"0": [0.5, 0.5]})
    rlccfr.Policy.uniform(plain).save(tmp_path / "policy.npz")
    with pytest.raises(CheckpointError, match="without its lock"):
        rlccfr.Policy.load(tmp_path / "policy.npz", locked)
    with pytest.raises(PolicyError, match="with a lock"):
        rlccfr.Policy.uniform(plain).against(rlccfr.Policy.uniform(locked))
