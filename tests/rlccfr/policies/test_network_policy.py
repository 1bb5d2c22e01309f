"""Policies as networks: asked at states, saved and loaded, valued exactly where that is possible, matched, exported."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.algorithms.exploitability import nash_conv

import rlccfr
from rlccfr.errors import CheckpointError, PolicyError, RLCCFRError
from rlccfr.policies.matches import played_match

RULE = "deep_lcfr(hidden=16, traversals=100, train_steps=40, policy_steps=40, train_every=1)"


def run_on(name, sampler="external", rule=RULE):
    run = rlccfr.Solver(rlccfr.load_game(name, form="generated"), rule, sampler)
    run.run(iterations=2, curve=False)
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
    with pytest.raises(PolicyError, match="convert it to a policy of the compiled game"):
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
