"""Policies of public-tree games."""

from __future__ import annotations

import numpy as np
import pytest

import rlccfr

SMALL = "holdem(ranks=4,suits=2,private=1,flop=1)"


@pytest.fixture(scope="module")
def solver():
    solver = rlccfr.Solver(rlccfr.load_game(SMALL), "dcfr_plus")
    solver.run(iterations=50)
    return solver


def test_policies_are_distributions(solver):
    policy, game = solver.average_policy(), solver.game
    for node in game.decisions.tolist():
        found = policy.at(node)
        assert (found >= 0).all()
        assert found.sum(axis=0) == pytest.approx(1)
    assert policy.probabilities.shape == (game.num_sequences,)
    assert np.array_equal(policy.at(0).reshape(-1), policy.probabilities[: policy.at(0).size])


@pytest.mark.parametrize(("name", "moves"), [("holdem(ranks=5,suits=4,private=2,flop=2)", "fcr"), (SMALL, "fcr")])
def test_a_hand_has_its_rows_probabilities(name, moves):
    game = rlccfr.load_game(name)
    policy = rlccfr.PublicPolicy(game, np.random.default_rng(0).random(game.num_sequences))
    for node in (0, game.node("r"), next(n for n in game.decisions.tolist() if "/" in game.path(n))):
        for row, hand in enumerate(game.row_names(node)):
            found = policy.action_probabilities(node, hand)
            assert "".join(found) in moves
            assert list(found.values()) == policy.at(node)[:, row].tolist()
            assert policy.action_probabilities(node, hand[2:] + hand[:2]) == found


def test_hands_that_differ_by_a_permutation_of_suits_share_their_probabilities():
    game = rlccfr.load_game("holdem(ranks=5,suits=4,private=2,flop=2)")
    policy = rlccfr.PublicPolicy(game, np.random.default_rng(0).random(game.num_sequences))
    same = [policy.action_probabilities(0, hand) for hand in ("6s5s", "6h5h", "5d6d")]
    assert same[0] == same[1] == same[2] != policy.action_probabilities(0, "6s5h")


def test_a_roll_has_its_rows_probabilities():
    policy = rlccfr.PublicPolicy.uniform(rlccfr.load_game("bluff"))
    assert policy.action_probabilities(0, "*") == dict.fromkeys(policy.game.letters(0), pytest.approx(1 / 12))


@pytest.mark.parametrize(
    ("name", "private", "message"),
    [(SMALL, "As", "a hand looks like '2c'"), (SMALL, "", "a hand looks like"), ("bluff", "7", "the rolls are 1, 2")],
)
def test_hands_and_rolls_that_are_not_dealt_are_refused(name, private, message):
    with pytest.raises(rlccfr.GameError, match=message):
        rlccfr.PublicPolicy.uniform(rlccfr.load_game(name)).action_probabilities(0, private)


def test_values_are_the_solvers(solver):
    assert solver.average_policy().values() == solver.values()
    assert solver.average_policy().exploitability() == solver.exploitability() < 0.02
    uniform = rlccfr.PublicPolicy.uniform(solver.game)
    assert uniform.exploitability() > 1
    assert uniform.probabilities.max() <= 0.5


def test_a_saved_policy_is_read_back(solver, tmp_path):
    policy = solver.average_policy()
    policy.save(tmp_path / "policy.npz")
    assert np.array_equal(rlccfr.PublicPolicy.load(tmp_path / "policy.npz", solver.game).table, policy.table)
    other = rlccfr.load_game(SMALL.replace("ranks=4", "ranks=5"))
    with pytest.raises(rlccfr.CheckpointError, match=r"is a policy of .*ranks=4.*, not of .*ranks=5"):
        rlccfr.PublicPolicy.load(tmp_path / "policy.npz", other)
    (tmp_path / "broken.npz").write_bytes((tmp_path / "policy.npz").read_bytes()[:100])
    with pytest.raises(rlccfr.CheckpointError, match="is not a complete policy file"):
        rlccfr.PublicPolicy.load(tmp_path / "broken.npz", solver.game)
    with pytest.raises(rlccfr.RLCCFRError, match=r"written as .npz or .csv, not as .json"):
        policy.save(tmp_path / "policy.json")


def test_small_policies_are_tables(solver, tmp_path):
    policy = solver.average_policy()
    frame = policy.to_frame()
    assert len(frame) == solver.game.num_sequences
    assert frame.groupby(["player", "infoset"])["probability"].sum().to_numpy() == pytest.approx(1)
    assert set(frame.loc[frame["infoset"] == "r 5c", "action"]) == {"f", "c"}
    policy.save(tmp_path / "policy.csv")
    assert (tmp_path / "policy.csv").read_text().startswith("player,infoset,action,probability")


@pytest.mark.slow  # it compiles in single precision
def test_entries_of_any_type_will_do(solver):
    game = solver.game
    uniform = rlccfr.PublicPolicy.uniform(game).exploitability()
    fixed = np.ones(game.num_sequences, np.float32)
    fixed.flags.writeable = False
    for entries in (
        np.ones(game.num_sequences, int),
        [1] * game.num_sequences,
        np.ones(game.num_sequences, "f2"),
        fixed,
    ):
        assert rlccfr.PublicPolicy(game, entries).exploitability() == pytest.approx(uniform, rel=1e-6)


def test_a_policy_is_a_copy(solver):
    policy, before = solver.average_policy(), solver.average_policy().probabilities
    solver.run(iterations=5)
    assert np.array_equal(policy.probabilities, before)
    assert solver.current_policy().exploitability() > 0


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda game: rlccfr.PublicPolicy(game, np.zeros(3)), "a policy of .* must have the shape"),
        (lambda game: rlccfr.PublicPolicy(game, np.full(game.num_sequences, np.nan)), "must be finite"),
        (lambda game: rlccfr.PublicPolicy.from_openspiel(game, None), "OpenSpiel has no policies"),
        (lambda game: rlccfr.PublicPolicy.uniform(game).at(1), "nobody acts at node 1"),
        (lambda game: rlccfr.PublicPolicy.uniform(game).to_openspiel(), "OpenSpiel has no policies"),
    ],
)
def test_bad_input_is_refused(solver, act, message):
    with pytest.raises(rlccfr.PolicyError, match=message):
        act(solver.game)


def test_a_policy_does_not_change_with_the_array_that_it_was_made_from():
    game = rlccfr.load_game("holdem(ranks=3,suits=2,private=1,flop=1)")
    entries = np.random.default_rng(0).random(game.num_sequences)
    policy = rlccfr.PublicPolicy(game, entries)
    exploitability = policy.exploitability()
    table = policy.table.copy()
    entries[:] = 0.0
    assert np.array_equal(policy.table, table)
    assert rlccfr.PublicPolicy(game, policy.table).exploitability() == exploitability
