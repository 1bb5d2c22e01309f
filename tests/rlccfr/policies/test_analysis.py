"""The figures at each infoset agree with expected values by OpenSpiel, and with what best responses gain."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score
from support import random_policy

import rlccfr
from rlccfr.policies.analysis import figures_of_histories, figures_of_infosets


def by_hand(tree, policy):
    """Return reach, value and gain from OpenSpiel's states, infoset by infoset, in plain Python."""
    spiel, given = pyspiel.load_game(tree.openspiel_name), policy.to_openspiel()
    if spiel.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        spiel = pyspiel.convert_to_turn_based(spiel)
    numbers = {key: number for number, key in enumerate(tree.infoset_keys)}
    reach, mass, value = (np.zeros(tree.num_infosets) for _ in range(3))
    action_value = np.zeros(tree.num_sequences)

    def visit(state, own):
        if state.is_terminal():
            return
        if state.is_chance_node():
            moves = state.chance_outcomes()
        else:
            player = state.current_player()
            moves = list(given.action_probabilities(state).items())
            infoset = numbers[state.information_state_string()]
            others = own[1 - player] * own[2]
            reach[infoset] += own[0] * own[1] * own[2]
            mass[infoset] += others
            value[infoset] += others * expected_game_score.policy_value(state, [given, given])[player]
            for place, action in zip(range(*tree.infoset_sequences(infoset).indices(10**9)[:2]), sorted(dict(moves))):
                below = expected_game_score.policy_value(state.child(action), [given, given])[player]
                action_value[place] += others * below
        for action, probability in moves:
            who = 2 if state.is_chance_node() else state.current_player()
            visit(state.child(action), [one * probability if k == who else one for k, one in enumerate(own)])

    visit(spiel.new_initial_state(), [1.0, 1.0, 1.0])
    with np.errstate(invalid="ignore"):  # where nobody leads
        value /= mass
        return reach, value, action_value / mass[tree.owner] - value[tree.owner]


@pytest.mark.parametrize(
    "name", ["kuhn", "leduc(ranks=2,suits=2,raises=1)", "goofspiel(num_cards=3,imp_info=True,points_order=descending)"]
)
def test_figures_are_openspiels(name):
    tree = rlccfr.load_game(name)
    policy = random_policy(tree, 0)
    for ours, theirs in zip(
        figures_of_infosets(tree, figures_of_histories(tree, policy.probabilities)), by_hand(tree, policy), strict=True
    ):
        assert np.allclose(ours, theirs, rtol=0, atol=1e-12, equal_nan=True)


def test_in_an_equilibrium_nothing_gains():
    solution = rlccfr.solve_exactly(rlccfr.load_game("leduc"))
    tree = solution.policy.game
    found = figures_of_infosets(tree, figures_of_histories(tree, solution.policy.probabilities))
    likely = found.reach[tree.owner] > 1e-6
    assert np.nanmax(found.gain[likely]) < 1e-6
    played = likely & (solution.policy.probabilities > 1e-6)
    assert np.abs(found.gain[played]).max() < 1e-5  # what is played is worth the same


def test_where_nobody_leads_there_is_no_value():
    tree = rlccfr.load_game("kuhn")
    policy = rlccfr.Policy.uniform(tree)
    never_bets = policy.probabilities.copy()
    for infoset in range(tree.num_infosets):
        never_bets[tree.infoset_sequences(infoset)] = [1, 0]
    found = figures_of_infosets(tree, figures_of_histories(tree, never_bets))
    after_a_bet = np.array([key.endswith("b") for key in tree.infoset_keys])
    assert np.isnan(found.value[after_a_bet]).all()
    assert (found.reach[after_a_bet] == 0).all()
    assert np.isfinite(found.value[~after_a_bet]).all()
