"""The reference against OpenSpiel, with which it shares no code either; its docstring's examples are run, too."""

from __future__ import annotations

import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score, exploitability
from open_spiel.python.policy import TabularPolicy

from rlccfr import reference


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_values_and_exploitability_are_openspiels(name):
    game = pyspiel.load_game(name)
    cfr = reference.CFR(game)
    for _ in range(2):
        cfr.iterate()
    policy = cfr.average_policy()
    theirs = TabularPolicy(game)
    for player, states in enumerate(theirs.states_per_player):
        for state in states:
            row = theirs.action_probability_array[theirs.state_lookup[state]]
            row[row > 0] = policy[f"{player} {state}"]
    value = expected_game_score.policy_value(game.new_initial_state(), [theirs] * 2)[0]
    assert reference.expected_value(game, policy, 0) == pytest.approx(value, abs=1e-12)
    assert reference.exploitability(game, policy) == pytest.approx(
        exploitability.exploitability(game, theirs), abs=1e-12
    )
