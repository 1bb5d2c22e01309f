"""Policies as networks: asked at states, saved and loaded, valued exactly where that is possible, matched, exported."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.algorithms.exploitability import nash_conv

import rlccfr
from rlccfr.errors import CheckpointError, ComponentError, PolicyError, RLCCFRError
from rlccfr.games.openspiel_policies import states_of
from rlccfr.networks.row_policies import PlayerPolicies, RowPolicies
from rlccfr.policies.matches import played_match
from rlccfr.policies.network_policy import _restored
from rlccfr.policies.network_policy_format import SINGLE_FORMAT, is_network_policy

RULE = "deep_lcfr(hidden=16, traversals=100, train_steps=40, policy_steps=40, train_every=1)"


SEVERAL = f"{RULE[:-1]}, average='value_networks')"


def run_on(name, sampler="external", rule=RULE, iterations=2):
    run = rlccfr.Solver(rlccfr.load_game(name, form="generated"), rule, sampler)
    run.run(iterations=iterations, curve=False)
    return run


@pytest.fixture(scope="module")
def kuhn():
    return run_on("kuhn").average_policy()


def test_probabilities_at_states_are_those_of_the_table(kuhn):
    """The policy of OpenSpiel's form has the NashConv that this library computes for it."""
    assert nash_conv(kuhn.game.openspiel_game, kuhn.to_openspiel()) == pytest.approx(kuhn.nash_conv(), abs=1e-6)
    assert kuhn.tabulated.nash_conv() == kuhn.nash_conv()


@pytest.mark.slow
@pytest.mark.parametrize("rule", [RULE, "deep_lcfr(model='table', traversals=100, train_every=1)"])
def test_a_saved_policy_plays_the_same(tmp_path, rule):
    run = run_on("leduc", rule=rule)
    for policy in (run.average_policy(), run.current_policy(), rlccfr.NetworkPolicy.uniform(run.game)):
        policy.save(tmp_path / "policy.npz")
        loaded = rlccfr.NetworkPolicy.load(tmp_path / "policy.npz")
        np.testing.assert_array_equal(loaded.probabilities, policy.probabilities)


@pytest.fixture(scope="module")
def several():
    """A policy of which each player has several networks, as in SD-CFR."""
    return run_on("kuhn", rule=SEVERAL, iterations=4).average_policy()


def test_a_player_with_several_networks_plays_their_mean(several):
    """Against any opponent, the payoff is the mean of the networks' payoffs, weighted by their shares."""
    played = several.policies.first
    assert len(played.models) == 4  # the uniform policy of the first iteration, and one after each fit but the last
    uniform = rlccfr.NetworkPolicy.uniform(several.game)
    values = [
        rlccfr.NetworkPolicy(several.game, RowPolicies(PlayerPolicies((model,), fallback=played.fallback)))
        .seated_with(uniform)
        .values()
        .game[0]
        for model in played.models
    ]
    assert sum(played.shares) == pytest.approx(1.0)
    assert len(set(values)) > 1
    assert several.seated_with(uniform).values().game[0] == pytest.approx(np.dot(played.shares, values), abs=1e-6)


def test_several_networks_are_one_policy_at_states_in_files_and_in_games(several, tmp_path):
    assert nash_conv(several.game.openspiel_game, several.to_openspiel()) == pytest.approx(
        several.nash_conv(), abs=1e-6
    )
    several.save(tmp_path / "policy.npz")
    for copied in (rlccfr.NetworkPolicy.load(tmp_path / "policy.npz"), pickle.loads(pickle.dumps(several))):
        np.testing.assert_array_equal(copied.probabilities, several.probabilities)
    uniform = rlccfr.NetworkPolicy.uniform(several.game)
    match = played_match(several, uniform, several.game, pairs=4000)
    assert abs(match.value - several.against(uniform).value) < 2 * match.error
    bound = several.trained_bound(steps=2048, opponents=1, games=500)
    assert bound.value - bound.error < several.exploitability()


@pytest.mark.parametrize("sampler", ["external", pytest.param("dream(preset='states')", marks=pytest.mark.slow)])
def test_several_networks_are_one_policy_in_a_game_of_several_moves(sampler):
    """The moves are simultaneous, and some infosets are reached by none of the networks that are kept."""
    name = "goofspiel(num_cards=3,imp_info=True,points_order=descending)"
    policy = run_on(name, sampler, f"{SEVERAL[:-1]}, kept_networks=2)", iterations=5).average_policy()
    assert len(policy.policies.second.models) > 1
    tree = policy.game.tree
    for history, state in states_of(tree):
        infoset = int(tree.histories["infoset"][history])
        if infoset >= 0:
            sequences = tree.infoset_sequences(infoset)
            expected = dict(zip(tree.sequence_action[sequences], policy.probabilities[sequences], strict=True))
            assert policy.action_probabilities(state) == pytest.approx(expected, abs=1e-6)


def test_a_policy_can_be_drawn_for_each_game():
    """Its networks are drawn by their shares, so that the mean over games is the average policy."""
    run = run_on("kuhn", rule=SEVERAL, iterations=4)
    uniform = rlccfr.NetworkPolicy.uniform(run.game)
    values = [run.draw_policy(seed).against(uniform).value for seed in range(300)]
    mean = run.average_policy().against(uniform).value
    assert abs(np.mean(values) - mean) < 4 * np.std(values) / len(values) ** 0.5
    with pytest.raises(ComponentError, match="value_networks"):
        run_on("kuhn").draw_policy()


def test_files_of_the_format_with_one_network_for_each_player_are_read(kuhn, tmp_path):
    content = kuhn._content()
    header = json.loads(str(content.pop("header")))
    header |= {"format": SINGLE_FORMAT, "models": [models[0] for models in header["models"]]}
    del header["shares"]
    earlier = {name.replace(".0.", ".", 1): array for name, array in content.items()}
    np.savez(tmp_path / "policy.npz", header=np.array(json.dumps(header)), **earlier)
    pickled = {"header": np.array(json.dumps(header)), **earlier}
    for loaded in (rlccfr.NetworkPolicy.load(tmp_path / "policy.npz"), _restored(type(kuhn), pickled, kuhn.game)):
        np.testing.assert_array_equal(loaded.probabilities, kuhn.probabilities)
    assert is_network_policy(tmp_path / "policy.npz")


def test_a_file_whose_shares_do_not_fit_its_networks_is_refused(several, tmp_path):
    content = several._content()
    header = json.loads(str(content.pop("header")))
    for shares in ([0.5], [0.5] * 4):
        np.savez(tmp_path / "policy.npz", header=np.array(json.dumps(header | {"shares": [shares] * 2})), **content)
        with pytest.raises(CheckpointError, match="not a complete policy file"):
            rlccfr.NetworkPolicy.load(tmp_path / "policy.npz")


def test_states_of_another_game_of_the_same_sizes_are_refused():
    policy, other = (
        rlccfr.NetworkPolicy.uniform(rlccfr.load_game(f"generated(holdem({cards},private=1,flop=1))"))
        for cards in ("ranks=4,suits=3", "ranks=3,suits=4")
    )
    state = other.game.openspiel_game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    assert sum(other.action_probabilities(state).values()) == pytest.approx(1.0)
    with pytest.raises(PolicyError, match="the state belongs to"):
        policy.action_probabilities(state)


def test_files_that_do_not_fit_are_refused(kuhn, tmp_path):
    with pytest.raises(RLCCFRError, match=r"saved as \.npz"):
        kuhn.save(tmp_path / "policy.csv")
    kuhn.save(tmp_path / "policy.npz")
    with pytest.raises(CheckpointError, match="is a policy of"):
        rlccfr.NetworkPolicy.load(tmp_path / "policy.npz", rlccfr.load_game("leduc", form="generated"))
    with pytest.raises(CheckpointError, match="can't read"):
        rlccfr.NetworkPolicy.load(tmp_path / "missing.npz")
    whole = (tmp_path / "policy.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="not a complete policy file"):
        rlccfr.NetworkPolicy.load(tmp_path / "cut.npz")
    with pytest.raises(CheckpointError, match=r"read this one by rlccfr\.NetworkPolicy\.load"):
        rlccfr.Policy.load(tmp_path / "policy.npz")
    rlccfr.Policy.uniform(rlccfr.load_game("kuhn")).save(tmp_path / "table.npz")
    with pytest.raises(CheckpointError, match="network policy"):
        rlccfr.NetworkPolicy.load(tmp_path / "table.npz")


def test_matches_by_played_games_agree_with_exact_ones(kuhn):
    uniform = rlccfr.NetworkPolicy.uniform(kuhn.game)
    exact = kuhn.against(uniform)
    played = played_match(kuhn, uniform, kuhn.game, pairs=4000)
    assert exact.error == 0
    assert abs(played.value - exact.value) < 2 * played.error
    equilibrium = rlccfr.solve_exactly(rlccfr.load_game("kuhn")).policy
    assert kuhn.against(equilibrium).value <= 1e-9
    assert kuhn.value_against(kuhn) == pytest.approx(kuhn.values().game[0])


def test_seats_are_combined(kuhn):
    uniform = rlccfr.NetworkPolicy.uniform(kuhn.game)
    mixed = kuhn.seated_with(uniform)
    first = kuhn.game.tree.sequences_of(0)
    second = kuhn.game.tree.sequences_of(1)
    np.testing.assert_array_equal(mixed.probabilities[first], kuhn.probabilities[first])
    np.testing.assert_array_equal(mixed.probabilities[second], uniform.probabilities[second])
    with pytest.raises(PolicyError, match="must be for the same game"):
        kuhn.seated_with(rlccfr.NetworkPolicy.uniform(rlccfr.load_game("leduc", form="generated")))


def test_bots_play_in_openspiel():
    policy = run_on("phantom_ttt", "robust_k(k=1)").average_policy()
    bots = [policy.to_bot(player, seed=player) for player in (0, 1)]
    returns = evaluate_bots(policy.game.openspiel_game.new_initial_state(), bots, np.random.RandomState(0))
    assert sum(returns) == 0
    with pytest.raises(PolicyError, match="player must be 0 or 1"):
        policy.to_bot(2)


def test_states_at_which_nobody_acts_are_refused(kuhn):
    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    with pytest.raises(PolicyError, match="nobody acts"):
        kuhn.action_probabilities(state)
    other = pyspiel.load_game("leduc_poker").new_initial_state()
    for outcome in (0, 1):
        other.apply_action(outcome)
    with pytest.raises(PolicyError, match="belongs to leduc_poker"):
        kuhn.action_probabilities(other)


def test_policies_of_openspiel_are_refused(kuhn):
    with pytest.raises(PolicyError, match=r"only for the compiled game, load_game\('kuhn'\)"):
        rlccfr.NetworkPolicy.from_openspiel(kuhn.game, kuhn.to_openspiel())


@pytest.mark.slow
def test_policies_games_and_runs_are_pickled():
    run = run_on("leduc", "dream(preset='states')")
    for policy in (run.average_policy(), run.current_policy()):
        again = pickle.loads(pickle.dumps(policy))
        np.testing.assert_array_equal(again.probabilities, policy.probabilities)
    other = pickle.loads(pickle.dumps(run))
    other.run(iterations=1, curve=False)
    run.run(iterations=1, curve=False)
    np.testing.assert_array_equal(other.average_policy().probabilities, run.average_policy().probabilities)
    assert copy.deepcopy(run.game) is run.game


def test_what_is_no_state_or_no_game_by_its_states_is_refused(kuhn):
    with pytest.raises(PolicyError, match="needs a state of OpenSpiel's"):
        kuhn.action_probabilities("K")
    with pytest.raises(PolicyError, match="load it as"):
        rlccfr.NetworkPolicy.uniform(rlccfr.load_game("kuhn"))
    with pytest.raises(PolicyError, match="seed must be"):
        kuhn.to_bot(0, seed=-1)


def test_spellings_of_a_game_are_one_game(kuhn):
    for name in ("kuhn_poker", "kuhn_poker()", "kuhn_poker(players=2)"):
        assert rlccfr.load_game(name, form="generated").content_hash == kuhn.game.content_hash
    spelled = rlccfr.load_game(pyspiel.load_game("kuhn_poker(players=2)"), form="generated")
    assert spelled.content_hash == kuhn.game.content_hash
    state = pyspiel.load_game("kuhn_poker(players=2)").new_initial_state()
    for outcome in (0, 1):
        state.apply_action(outcome)
    assert sum(kuhn.action_probabilities(state).values()) == pytest.approx(1)


def test_a_table_plays_against_networks(kuhn):
    table = rlccfr.solve_exactly(rlccfr.load_game("kuhn")).policy
    assert table.against(kuhn).value == pytest.approx(-kuhn.against(table).value)
