"""Games represented by OpenSpiel's states: what playouts find, what is refused, and rows that are what players know."""

from __future__ import annotations

from random import Random

import numpy as np
import pyspiel
import pytest
from planted_games import FAULTS, Place, SpielGame, one_hot_keys, placed
from random_games import RandomGame

import rlccfr
from rlccfr.errors import GameError
from rlccfr.game import policy_class
from rlccfr.games.walked.playouts import played_out
from rlccfr.games.walked.state_walks import StateWalks
from rlccfr.games.walked.walked_game import TERMINAL


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel", "kuhn(cards=5)", "leduc(ranks=4,suits=1)"])
def test_a_row_has_the_tensor_and_the_legal_actions_of_its_infoset(name):
    """Rows of all infosets differ, and their tensors are OpenSpiel's, up to the scale of those that are not bits."""
    game = rlccfr.load_game(name, form="generated")
    rows = game._infoset_rows
    assert len(np.unique(rows.view(f"S{rows.dtype.itemsize}"))) == game.tree.num_infosets
    rng = np.random.default_rng(0)
    scale = np.maximum(np.abs(game.playouts.least), np.abs(game.playouts.largest))
    for _ in range(20):
        state = game.openspiel_game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                row = game.walks.row_of(state).reshape(1)
                np.testing.assert_array_equal(np.flatnonzero(game.walks.legal(row)[0]), state.legal_actions())
                tensor = np.array(state.information_state_tensor(), np.float32)
                expected = np.divide(tensor, scale, out=np.zeros_like(tensor), where=scale > 0)
                np.testing.assert_allclose(game.walks.features(row)[0], expected, rtol=1e-6)
            state.apply_action(int(rng.choice(state.legal_actions())))


def test_numbers_that_no_playout_met_become_small_inputs():
    """Playouts met at most 0, 0.5 and 2,000 chips in the three columns; a walk meets more in the first two."""
    root = _two_secrets()
    game = SpielGame(root, tensor_of=lambda state: np.array([5_000.0, 400.0, -1_000.0]))
    met = played_out(game, "planted", 0.0)._replace(
        least=np.array([0.0, 0.0, -2_000.0], np.float32), largest=np.array([0.0, 0.5, 1.0], np.float32)
    )
    walks = StateWalks(game, "planted", 0.0, met)
    state = game.new_initial_state().child(0)
    expected = np.array([[2.5, 10.0, -0.5]], np.float32)
    np.testing.assert_array_equal(walks.features(walks.row_of(state).reshape(1)), expected)


@pytest.mark.parametrize("num_actions", [2**15, 2**15 + 1])
def test_numbers_of_many_actions_do_not_wrap(num_actions):
    """The greatest number of an action is kept in rows of histories."""
    greatest = num_actions - 1
    ends = [Place(-4, returns=[1.0, -1.0]), Place(-4, returns=[-1.0, 1.0])]
    reply = Place(1, "reply", [0, greatest], ends)
    root = Place(0, "root", [greatest], [reply])
    game = SpielGame(root, tensor_of=one_hot_keys(root), num_actions=num_actions)
    walks = rlccfr.load_game(game, form="generated").walks
    rng = np.random.default_rng(0)
    first_place = np.zeros(1, np.int64)
    states = walks.children(walks.begin(1, rng), first_place, np.array([greatest]), rng)
    rows = walks.histories(states, first_place, np.array([greatest]))
    assert np.flatnonzero(walks.taken(rows)[0]).tolist() == [greatest]
    last = walks.history_features(rows)[0, 2 * walks.num_columns : -1]
    assert np.flatnonzero(last).tolist() == [greatest]


def test_names_of_a_generated_game():
    game = rlccfr.load_game("kuhn", form="generated")
    again = rlccfr.load_game(game.full_name)
    assert again.content_hash == game.content_hash
    assert game.content_hash != rlccfr.load_game("leduc", form="generated").content_hash
    assert game.content_hash != rlccfr.load_game("kuhn").content_hash
    assert rlccfr.load_game("generated(kuhn)", form="generated").full_name == "generated(kuhn)"


@pytest.mark.parametrize("size", [0, 1, 2])
def test_histories_per_walk_are_estimated(size):
    expected = _expected_histories("leduc_poker", size)
    found = rlccfr.load_game("leduc", form="generated").playouts.histories_per_walk(size)
    assert found == pytest.approx(expected, rel=0.05)


def _expected_histories(name: str, size: int) -> float:
    """Return the expected number of decisions and ends that a walk meets, by visiting all histories."""

    def below(state: pyspiel.State, traverser: int) -> float:
        if state.is_terminal():
            return 1.0
        if state.is_chance_node():
            return sum(p * below(state.child(outcome), traverser) for outcome, p in state.chance_outcomes())
        counts = [below(state.child(action), traverser) for action in state.legal_actions()]
        if state.current_player() != traverser:
            return 1.0 + sum(counts) / len(counts)
        return 1.0 + sum(counts) * (min(size, len(counts)) / len(counts) if size else 1.0)

    return sum(below(pyspiel.load_game(name).new_initial_state(), traverser) for traverser in (0, 1)) / 2


def test_tensors_that_infosets_share_are_counted():
    assert rlccfr.load_game("generated(dark_hex(board_size=3))").playouts.num_merged > 100
    assert rlccfr.load_game("generated(phantom_ttt)").playouts.num_merged == 0
    root = _two_secrets()
    shared = SpielGame(root, tensor_of=lambda state: np.zeros(1))
    assert played_out(shared, "shared", 0.0).num_merged == 2
    assert played_out(SpielGame(root, tensor_of=one_hot_keys(root)), "told apart", 0.0).num_merged == 0


def test_infosets_at_which_something_is_forgotten_are_counted():
    """OpenSpiel's information state of Royal poker forgets the order of the public cards; Leduc poker has one card."""
    assert rlccfr.load_game("royal", form="generated").playouts.num_forgetful > 10
    assert rlccfr.load_game("leduc", form="generated").playouts.num_forgetful == 0
    assert rlccfr.load_game("phantom_ttt", form="generated").playouts.num_forgetful == 0


def test_tensors_that_know_more_than_the_player_are_refused():
    root = _two_secrets(keys=("same", "same"))
    game = SpielGame(root, tensor_of=lambda state: np.array([float(state.place is root.children[0])]))
    with pytest.raises(GameError, match="differ at histories of one infoset"):
        rlccfr.load_game(game, form="generated")


def _two_secrets(keys: tuple[str, str] = ("first", "second")) -> Place:
    """Return a game in which chance draws a secret that player 0 sees, or does not see if both keys are equal."""
    ends = [[Place(-4, returns=[value, -value]) for value in values] for values in ((1.0, -1.0), (-1.0, 1.0))]
    children = [Place(0, key, [0, 1], ends_of) for key, ends_of in zip(keys, ends, strict=True)]
    return Place(-1, "", [0, 1], children, [0.5, 0.5])


FOUND_LATER = {"three returns", "third player", "both move"}
"""Faults that OpenSpiel may run into first, with an error of its own."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_refused(fault):
    """In games this small, playouts meet all histories; chance that is never drawn can't be met."""
    planted = 0
    for seed in range(40):
        root = placed(RandomGame(Random(seed)).root)
        tensor_of = one_hot_keys(root)
        pattern = FAULTS[fault](root, Random(seed))
        if pattern is None:
            continue
        planted += 1
        with pytest.raises(GameError) as raised:
            rlccfr.load_game(SpielGame(root, tensor_of=tensor_of), form="generated")
        assert "planted" in str(raised.value)
    assert planted >= 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_sound_games_are_accepted(seed):
    root = placed(RandomGame(Random(seed)).root)
    game = rlccfr.load_game(SpielGame(root, tensor_of=one_hot_keys(root)), form="generated")
    rng = np.random.default_rng(seed)
    states = game.walks.begin(10, rng)
    assert set(states.actors.tolist()) <= {0, 1, TERMINAL}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tic_tac_toe", "has perfect information and needs no CFR"),
        ("oshi_zumo", "has no information state tensors"),
        ("bluff", "load it by that name alone"),
        ("holdem(flop=6)", "flop of holdem must be from 1 to 5"),
        ("holdem(flop=5,rounds=3)", "at most 5 board cards, not 6"),
        ("texas_holdem(buckets=5)", "load it by that name alone"),
        ("no_such_game", "unknown game 'no_such_game'"),
        ("kuhn_poker(players=3)", "has 3 players"),
    ],
)
def test_what_can_not_be_played_by_networks_is_refused(name, message):
    with pytest.raises(GameError, match=message.replace("(", r"\(").replace(")", r"\)")):
        rlccfr.load_game(name, form="generated")


@pytest.mark.parametrize("cards", ["ranks=7,suits=1,private=1,flop=5", "ranks=3,suits=2,private=1,flop=4,raises=2"])
def test_holdem_by_its_states_is_holdem_on_its_public_tree(cards):
    """Flops of more than three cards, with small decks."""
    name = f"holdem({cards})"
    by_states = rlccfr.load_game(name, form="generated")
    on_public_tree = rlccfr.load_game(name)
    assert (by_states.big_blind, by_states.utility_range) == (2.0, on_public_tree.utility_range)
    uniform = rlccfr.NetworkPolicy.uniform(by_states)
    of_public_tree = policy_class(on_public_tree).uniform(on_public_tree)
    assert uniform.values().game[0] == pytest.approx(of_public_tree.values().game[0], abs=1e-12)
    assert uniform.exploitability() == pytest.approx(of_public_tree.exploitability(), abs=1e-12)


def test_holdem_that_fits_no_table_is_walked_through():
    """Five-card flops and four rounds, with all 52 cards."""
    for name in ("holdem(flop=5)", "texas_holdem"):
        game = rlccfr.load_game(name, form="generated")
        assert game.tree is None
        rule = "deep_lcfr(preset='states',traversals=5,train_steps=2,policy_steps=2)"
        solver = rlccfr.Solver(game, rule, "robust_k(k=2)")
        assert solver.run(iterations=1, curve=False).iterations == 1


def test_arguments_are_checked():
    with pytest.raises(GameError, match="form must be 'generated'"):
        rlccfr.load_game("kuhn", form="compiled")
    with pytest.raises(GameError, match="leave them out"):
        rlccfr.load_game("kuhn", form="generated", max_histories=10)
    with pytest.raises(GameError, match="must be a name"):
        rlccfr.load_game(3, form="generated")
