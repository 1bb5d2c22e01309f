from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr, expected_game_score
from open_spiel.python.algorithms.exploitability import nash_conv
from open_spiel.python.policy import TabularPolicy
from support import FORGETFUL, SMALL_DICE, game, random_policy

import rlccfr
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.games.traversal import REPORT_EVERY

# Numbers of histories, decisions, terminals, infosets, sequences of a player with the empty one, and payoffs other
# than 0; counted independently of this compiler, see docs/architecture.md.
COUNTS = {
    "kuhn": (58, 24, 30, 12, 13, 30),
    "goofspiel": (1_077, 501, 576, 162, 175, 464),
    "leduc": (9_457, 3_780, 5_520, 936, 1_093, 4_920),
    "royal": (656_049, 262_416, 384_944, 52_128, 60_817, 354_944),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "royal" else name for name in COUNTS]
)
def test_sizes_are_the_known_ones(name):
    tree = game(name)
    actor = tree.histories["actor"]
    sequences = tree.sequences_of(0)
    assert (
        tree.num_histories,
        int((actor < CHANCE).sum()),
        int((actor == TERMINAL).sum()),
        tree.num_infosets,
        sequences.stop - sequences.start + 1,
        tree.num_leaf_pairs,
    ) == COUNTS[name]


def test_children_are_contiguous_and_chance_sums_to_one():
    tree = game("leduc")
    nodes = tree.histories
    inner = nodes[nodes["num_children"] > 0]
    covered = np.concatenate([np.arange(f, f + n) for f, n in zip(inner["first_child"], inner["num_children"])])
    assert np.array_equal(np.sort(covered), np.arange(1, tree.num_histories))
    for node in nodes[nodes["actor"] == CHANCE]:
        children = slice(node["first_child"], node["first_child"] + node["num_children"])
        assert tree.probability[children].sum() == pytest.approx(1, abs=1e-12)


def test_parents_stand_before_children():
    view = game("leduc").view
    for infoset, parent in enumerate(view.parent):
        assert parent >= view.first_sequence[-1] or parent < view.first_sequence[infoset]


@pytest.mark.parametrize(
    "name", ["kuhn", "leduc", "goofspiel", SMALL_DICE, pytest.param("liars_dice", marks=pytest.mark.verify)]
)
def test_nash_conv_equals_openspiel(name):
    tree = game(name)
    for seed in range(3):
        policy = random_policy(tree, seed)
        spiel = policy.to_openspiel()
        assert policy.nash_conv() == pytest.approx(nash_conv(spiel.game, spiel), abs=1e-12)


def test_forgetting_is_refused_and_repaired_by_name():
    with pytest.raises(rlccfr.GameError, match=r"imperfect recall.*restore_recall=True"):
        rlccfr.load_game(FORGETFUL)
    tree = game(FORGETFUL, restore_recall=True)
    assert tree.num_infosets > len(set(tree.infoset_keys))


def test_policy_by_history_has_the_compiled_value():
    tree = game(FORGETFUL, restore_recall=True)
    policy = random_policy(tree, 1)
    spiel = policy.to_openspiel()
    state = pyspiel.load_game(FORGETFUL).new_initial_state()
    expected = expected_game_score.policy_value(state, [spiel, spiel])
    assert policy.values().game == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "recall"), [("kuhn", False), ("leduc", False), (SMALL_DICE, False), (FORGETFUL, True)]
)
def test_a_policy_goes_to_openspiel_and_comes_back(name, recall):
    tree = game(name, restore_recall=recall)
    policy = random_policy(tree, 2)
    np.testing.assert_array_equal(
        rlccfr.Policy.from_openspiel(tree, policy.to_openspiel()).probabilities, policy.probabilities
    )


@pytest.mark.slow
def test_openspiels_own_solver_is_measured_as_openspiel_does():
    solver = cfr.CFRSolver(pyspiel.load_game("leduc_poker"))
    for _ in range(3):
        solver.evaluate_and_update_policy()
    theirs = solver.average_policy()
    ours = rlccfr.Policy.from_openspiel(game("leduc"), theirs)
    assert ours.nash_conv() == pytest.approx(nash_conv(solver._game, theirs), abs=1e-12)


def test_a_policy_of_another_game_is_refused_in_one_line():
    theirs = TabularPolicy(pyspiel.load_game("leduc_poker"))
    with pytest.raises(rlccfr.PolicyError, match="has no probabilities for") as error:
        rlccfr.Policy.from_openspiel(game("kuhn"), theirs)
    assert "\n" not in str(error.value)


def test_what_are_no_probabilities_is_refused():
    theirs = TabularPolicy(pyspiel.load_game("kuhn_poker"))
    theirs.action_probability_array[3] = (0.5, 0.4)
    with pytest.raises(rlccfr.PolicyError, match="sum to 1"):
        rlccfr.Policy.from_openspiel(game("kuhn"), theirs)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kuhnn", "did you mean 'kuhn'"),
        ("ledduc_poker", "did you mean 'leduc_poker'"),
        ("kuhn_poker(players=3)", "3 players"),
        ("kuhn_poker(cards=3)", "can't load"),
        ("bargaining", "only zero-sum and constant-sum games"),
        ("xyzzy(cards=4)", "`rlccfr games` lists the names .*`rlccfr --load FILE`"),
        ("go", "more than 1,000 histories.*max_histories"),
        ("backgammon", "does not provide information states|more than"),
    ],
)
def test_unsuitable_games_are_refused_in_one_line(name, message):
    with pytest.raises(rlccfr.GameError, match=message) as error:
        rlccfr.load_game(name, max_histories=1_000)
    assert "\n" not in str(error.value)


def test_size_limit_can_be_raised():
    assert rlccfr.load_game("leduc", max_histories=9_457).num_histories == 9_457
    with pytest.raises(rlccfr.GameError, match="9,456"):
        rlccfr.load_game("leduc", max_histories=9_456)
    with pytest.raises(rlccfr.GameError, match="max_histories must be a positive integer, not -3"):
        rlccfr.load_game("leduc", max_histories=-3)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_royal_takes_under_a_gigabyte():
    code = "import rlccfr; rlccfr.load_game('royal'); print(open('/proc/self/status').read())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    peak = int(out.split("VmHWM:")[1].split()[0])
    assert peak * 1024 < 1e9


def test_sparse_payoffs_are_stored_without_their_zeros():
    # With open prizes and bids, most pairs of sequences never meet, but all lie in one connected part of the matrix.
    tree = game("goofspiel(num_cards=3,imp_info=True,points_order=random)")
    assert len(tree.view.payoff_0) <= 16 * np.count_nonzero(tree.view.payoff_0)
    policy = random_policy(tree, 0)
    spiel = policy.to_openspiel()
    assert policy.nash_conv() == pytest.approx(nash_conv(spiel.game, spiel), abs=1e-12)


def test_progress_is_the_share_compiled():
    shares = []
    tree = rlccfr.load_game("liars_dice(dice_sides=5)", progress=shares.append)
    assert len(shares) == -(-tree.num_histories // REPORT_EVERY) > 1
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.5 < shares[-1] < 1


def test_progress_is_heard_and_its_errors_are_its_own(capfd):
    def complain(share: float) -> None:
        print("so far", share, file=sys.stderr)
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        rlccfr.load_game("kuhn", progress=complain)
    assert "so far 0" in capfd.readouterr().err


def test_a_file_given_as_a_game_is_told_as_one(tmp_path):
    (tmp_path / "leduc.npz").touch()
    with pytest.raises(rlccfr.GameError, match=r"leduc\.npz' is not a game's file, .* --against FILE"):
        rlccfr.load_game(str(tmp_path / "leduc.npz"))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("stack=20 20", "blind for player 1 is greater than stack size"),
        ("stack=4 4,blind=1 1,numRounds=9", "invalid number of rounds: 9"),
        ("stack=4 4,blind=1 1,numRanks=1,numSuits=2", "too many hole and board cards"),
        ("numPlayers=1", "invalid number of players: 1"),
    ],
)
def test_arguments_at_which_openspiel_would_end_the_process_are_refused(arguments, reason):
    with pytest.raises(rlccfr.GameError, match=f"can't load .*: {reason}"):
        rlccfr.load_game(f"universal_poker({arguments})")


@pytest.mark.parametrize("name", ["kuhn", "leduc(ranks=4)", "royal", "holdem", "flop_holdem", "generated(holdem)"])
def test_a_name_under_which_another_game_was_registered_is_refused(monkeypatch, name):
    """Otherwise, the library's game would be solved instead, without a word."""
    short_name = name.removeprefix("generated(").rstrip(")").partition("(")[0]
    registered = [*pyspiel.registered_names(), short_name]
    monkeypatch.setattr(pyspiel, "registered_names", lambda: registered)
    with pytest.raises(rlccfr.GameError, match=f"'{short_name}' is a game of this library's, but another game is"):
        rlccfr.load_game(name)


@pytest.mark.parametrize("name", ["leduc", "kuhn", "holdem"])
def test_a_game_object_with_the_name_of_a_game_of_the_librarys_is_refused(name):
    with pytest.raises(rlccfr.GameError, match=f"'{name}' is a game of this library's"):
        rlccfr.load_game(pyspiel.create_matrix_game(name, name, ["a"], ["b"], [[1.0]], [[-1.0]]))


REPLACED = """
from pathlib import Path
import rlccfr
{before}
text = Path({example!r}).read_text().split("if __name__")[0].replace("my_one_card", {registered!r})
exec(text)
try:
    print(rlccfr.load_game({name!r}))
except rlccfr.GameError as error:
    print(error)
"""
EXAMPLE = str(Path(__file__).parents[3] / "examples" / "own_game.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "registered", "name"),
    [
        ("", "kuhn_poker", "kuhn"),
        ("", "kuhn_poker", "generated(kuhn)"),
        ("", "universal_poker", "royal"),
        ("", "random_poker", "random_poker(seed=1)"),
        ("rlccfr.load_game('random_poker(seed=1)')", "random_poker", "random_poker"),
    ],
)
def test_a_game_that_replaces_one_behind_a_name_is_refused(before, registered, name):
    command = [sys.executable, "-c", REPLACED.format(before=before, example=EXAMPLE, registered=registered, name=name)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.startswith(f"{registered!r} is a game of ")
    assert "but another game is registered under that name: rename your game" in printed
