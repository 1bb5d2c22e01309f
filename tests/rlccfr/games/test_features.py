from __future__ import annotations

import numpy as np
import pytest
from support import FORGETFUL, SMALL_DICE, game

import rlccfr
from rlccfr.games.features import history_features, infoset_features
from rlccfr.networks.inputs import inputs_of, inputs_of_histories


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel", "royal", SMALL_DICE])
def test_features_tell_all_infosets_of_a_player_apart(name):
    """This holds also on Royal, where OpenSpiel's tensors forget the order of the public cards."""
    tree = game(name)
    for player in (0, 1):
        inputs = inputs_of(tree, player, per_sequence=False)
        assert np.isfinite(inputs.matrix).all()
        assert np.abs(inputs.matrix).max() <= 1.0
        assert len(np.unique(inputs.matrix, axis=0)) == len(inputs.matrix)


def test_features_are_openspiels_tensors():
    import pyspiel

    tree = game("leduc")
    seen = {}

    def visit(state):
        if state.is_terminal():
            return
        if not state.is_chance_node():
            seen[state.information_state_string()] = state.information_state_tensor()
        for action in state.legal_actions():
            visit(state.child(action))

    visit(pyspiel.load_game("leduc_poker").new_initial_state())
    for infoset, key in enumerate(tree.infoset_keys):
        assert np.array_equal(infoset_features(tree)[infoset], seen[key])


def test_where_recall_is_restored_the_way_there_is_added():
    forgetful = game(FORGETFUL, restore_recall=True)
    width = infoset_features(forgetful).shape[1] // 2
    tensors = infoset_features(forgetful)[:, :width]
    assert len(np.unique(tensors, axis=0)) < forgetful.num_infosets
    assert len(np.unique(infoset_features(forgetful), axis=0)) == forgetful.num_infosets


@pytest.mark.parametrize("per_sequence", [False, True])
def test_outputs_stand_where_their_actions_do(per_sequence):
    tree = game("leduc")
    inputs = inputs_of(tree, 0, per_sequence=per_sequence)
    sequences = tree.sequences_of(0)
    assert len(np.unique(inputs.position)) == sequences.stop - sequences.start
    counts = np.diff(tree.view.first_sequence)[tree.infosets_of(0)]
    owner = inputs.infoset[inputs.position // inputs.num_outputs]
    assert np.array_equal(owner, np.repeat(np.arange(468), counts))
    if not per_sequence:
        assert np.array_equal(inputs.position % inputs.num_outputs, tree.sequence_action[sequences])


def test_a_game_without_tensors_is_for_tables_only():
    tree = game("nim(pile_sizes=1;2)")
    for learned in ({"update_rule": "deep_cfr"}, {"abstraction": "rcfr"}):
        with pytest.raises(rlccfr.ComponentError, match="has no information state tensors") as error:
            rlccfr.Solver(tree, **learned)
        assert "\n" not in str(error.value)
    solver = rlccfr.Solver(tree, "cfr")
    solver.run(iterations=10)
    with pytest.raises(rlccfr.ComponentError, match="tensors"):
        solver.switch(update_rule="deep_cfr")
    assert solver.run(iterations=10).iterations == 20


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel", SMALL_DICE])
def test_features_of_histories_begin_with_both_players_tensors(name):
    """Together with the last move they tell all histories apart; on Goofspiel, where players move at once, too."""
    tree = game(name)
    found, histories, width = history_features(tree), tree.histories, infoset_features(tree).shape[1]
    decisions = np.flatnonzero(histories["infoset"] >= 0)
    if not tree.restore_recall:
        tensors = found[:, : 2 * width].reshape(len(decisions), 2, width)
        own = tensors[np.arange(len(decisions)), histories["actor"][decisions]]
        np.testing.assert_array_equal(own, infoset_features(tree)[histories["infoset"][decisions]])
    assert len(np.unique(inputs_of_histories(tree).matrix, axis=0)) == len(decisions)


def test_features_of_histories_need_tensors():
    with pytest.raises(rlccfr.ComponentError, match="have no tensors, which models need"):
        rlccfr.Solver(game("holdem(ranks=4,suits=2)"), "cfr", "dream", "equity(buckets=2)")
