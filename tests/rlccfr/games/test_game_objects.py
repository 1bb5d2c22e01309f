"""Games may be given as OpenSpiel's objects."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from planted_games import Place, SpielGame, end, game_type
from support import random_policy

import rlccfr
from rlccfr.envs import ControlEnv, SelectorEnv, SweepPlan
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.games.hints import IN_COMMON_USE, hint_for
from rlccfr.games.names import NAMED_GAMES
from rlccfr.games.openspiel import openspiel_game, solvable_names
from rlccfr.games.public.names import PUBLIC, rules_of
from rlccfr.testing import own_reach


@pytest.mark.parametrize(
    "use",
    [
        rlccfr.Solver,
        rlccfr.solve_exactly,
        lambda game: rlccfr.Policy.load("policy.csv", game),
        lambda _: rlccfr.recommend(3),
    ],
)
def test_what_is_no_compiled_game_is_refused_alike(use):
    with pytest.raises(TypeError, match=r"game must come from rlccfr.load_game\(...\), not"):
        use("kuhn")


def test_the_error_for_a_matrix_names_matrix_game():
    for matrix in ([[1, -1], [-1, 1]], np.eye(2)):
        with pytest.raises(TypeError, match=r"game must come from rlccfr.matrix_game\(...\), not"):
            rlccfr.solve(matrix)


def test_an_object_that_has_a_name_is_the_game_of_that_name():
    game = rlccfr.load_game(pyspiel.load_game("kuhn_poker"))
    assert game.content_hash == rlccfr.load_game("kuhn").content_hash
    assert game.name == "kuhn_poker()"


def test_an_object_without_a_name_is_kept():
    made = [pyspiel.create_matrix_game("pair", "Pair", ["a"], ["b", "c"], [[1, k]], [[-1, -k]]) for k in (2, 3)]
    games = [rlccfr.load_game(one) for one in made]
    assert [game.utility.max() for game in games] == [2, 3]
    assert rlccfr.load_game(made[0]).name == games[0].name != games[1].name
    for game in games:
        policy = rlccfr.Policy.uniform(game).to_openspiel()
        assert policy.game.max_utility() == game.utility.max()


def test_an_object_does_not_take_the_place_of_openspiels_game():
    mine = pyspiel.create_matrix_game(
        "matrix_rps", "Mine", ["a", "b"], ["a", "b"], [[1, 5], [7, 2]], [[-1, -5], [-7, -2]]
    )
    assert rlccfr.load_game(mine).utility.max() == 7
    assert rlccfr.load_game("matrix_rps").utility.max() == 1
    assert rlccfr.load_game("matrix_rps()").utility.max() == 1


def choice(payoff: float) -> Place:
    """Return the root of a game in which player 0 takes a payoff or leaves it."""
    return Place(0, "alone", [0, 1], [end(0.0), end(payoff)])


@pytest.fixture(scope="module")
def registered():
    """Register a game in Python, whose objects may have another root than the registered game, and return its class."""

    class Choice(SpielGame):
        def __init__(self, params=None, root=None):
            super().__init__(choice(1.0) if root is None else root, "choice_of_mine")

    pyspiel.register_game(game_type("choice_of_mine"), Choice)
    return Choice


def test_an_object_in_python_is_the_registered_game_only_if_its_attributes_are(registered):
    assert rlccfr.load_game(registered()).name == "choice_of_mine()"
    other = rlccfr.load_game(registered(root=choice(5.0)))
    assert other.name == "choice_of_mine()#1"
    assert rlccfr.solve_exactly(other).value == 5
    assert rlccfr.solve_exactly(rlccfr.load_game("choice_of_mine")).value == 1


def test_an_object_of_another_class_than_the_registered_one_is_kept(registered):
    class Choice(registered):
        """A class of the same name."""

    assert rlccfr.load_game(Choice()).name != "choice_of_mine()"


def test_games_inside_other_games_are_compared(registered):
    mine = pyspiel.create_matrix_game("matrix_mp", "Mine", ["a", "b"], ["a", "b"], [[5, 0], [0, 1]], [[-5, 0], [0, -1]])
    assert rlccfr.solve_exactly(rlccfr.load_game(pyspiel.convert_to_turn_based(mine))).value == pytest.approx(5 / 6)
    assert rlccfr.load_game(pyspiel.load_game("misere(game=choice_of_mine())")).name == "misere(game=choice_of_mine())"
    plain = pyspiel.load_game_as_turn_based("matrix_rps")
    assert rlccfr.load_game(plain).name == str(plain)
    goofspiel = pyspiel.load_game_as_turn_based("goofspiel(num_cards=3)")
    assert rlccfr.load_game(goofspiel).name == str(goofspiel)


def test_a_changed_object_of_openspiels_games_in_python_is_kept():
    import open_spiel.python.games.kuhn_poker as kuhn

    class Doubled(kuhn.KuhnPokerState):
        def returns(self):
            return [2 * payoff for payoff in super().returns()]

    changed = pyspiel.load_game("python_kuhn_poker")
    assert rlccfr.load_game(changed).name == "python_kuhn_poker()"
    changed.new_initial_state = lambda: Doubled(changed)
    assert rlccfr.load_game(changed).name == "python_kuhn_poker()#1"


def test_a_policy_for_openspiel_distinguishes_players_who_share_an_information_state():
    """OpenSpiel's tabular policies have one row for each information state, whoever is to move."""
    root = Place(0, "same", [0, 1], [Place(1, "same", [0, 1], [end(1.0), end(-1.0)]) for _ in range(2)])
    game = rlccfr.load_game(SpielGame(root, "shared_states"))
    policy = rlccfr.Policy(game, [0.9, 0.1, 0.2, 0.8])
    theirs = policy.to_openspiel()
    assert rlccfr.Policy.from_openspiel(game, theirs).probabilities.tolist() == [0.9, 0.1, 0.2, 0.8]
    assert theirs.action_probabilities(openspiel_game(game).new_initial_state()) == {0: 0.9, 1: 0.1}


def test_a_file_is_named_by_its_path(tmp_path):
    path = tmp_path / "game.efg"
    rlccfr.Policy.uniform(rlccfr.load_game("kuhn")).save(path)
    game = rlccfr.load_game(path)
    assert game.content_hash == rlccfr.load_game(str(path)).content_hash
    assert SelectorEnv(path).games == SelectorEnv([path]).games == ControlEnv(path).games == (str(path),)
    assert ControlEnv(["kuhn", path]).reset(options={"game": path})[1]["game"] == str(path)
    assert SelectorEnv(["kuhn", path]).reset(options={"game": path})[1]["game"] == str(path)
    assert Request(path, (), Budget("iterations", 1)) == Request(str(path), (), Budget("iterations", 1))
    assert SweepPlan([path]).games == (str(path),)
    assert rlccfr.load_game(Path("kuhn")).num_histories == game.num_histories
    with pytest.raises(rlccfr.GameError, match=r"there is no file .*none.efg"):
        rlccfr.load_game(tmp_path / "none.efg")
    with pytest.raises(rlccfr.GameError, match=r"there is no file .*none.efg"):
        rlccfr.recommend(tmp_path / "none.efg")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (
            "python_kuhn_poker",
            r"in Python, run `import open_spiel.python.games`.*`rlccfr --load .*games/kuhn_poker.py`",
        ),
        ("python_of_mine", "`rlccfr --load FILE` before the command"),
        ("python_kuhn_pokr", "`rlccfr --load FILE` before the command"),
        ("python_tic_tac_to", "did you mean 'python_tic_tac_toe'"),
        ("kuhn_pokr", "did you mean 'kuhn_poker'"),
        ("KUHN", "did you mean 'kuhn'"),
        ("Kuhn-poker", "did you mean 'kuhn_poker'"),
        ("Leduc Hold'em", "did you mean 'leduc'"),
        ("matching_penies", "did you mean 'matrix_mp'"),
        ("HULH", "did you mean 'texas_holdem'"),
        ("no-limit hold'em", "`rlccfr games` lists the names"),
        ("nolimit_holdem", "`rlccfr games` lists the names"),
        ("heads_up_no_limit_texas_holdem", "`rlccfr games` lists the names"),
        ("nogame", "`rlccfr games` lists the names"),
        ("my", "`rlccfr games` lists the names"),
    ],
)
def test_an_unknown_name_gets_a_hint(name, hint):
    names = ["kuhn", "kuhn_poker", "tic_tac_toe", "python_tic_tac_toe", "nfg_game", "y", "holdem", "flop_holdem"]
    assert re.search(hint, hint_for(name, names))


def test_names_in_common_use_stand_for_known_games():
    known_names = {*NAMED_GAMES, *PUBLIC, *solvable_names()}
    assert {name.partition("(")[0] for name in IN_COMMON_USE.values()} <= known_names
    for name in IN_COMMON_USE.values():
        if "(" in name:
            assert rules_of(name).raises
    assert not set(IN_COMMON_USE) & known_names


def test_no_game_of_three_players_is_suggested():
    with pytest.raises(rlccfr.GameError, match="did you mean 'matrix_mp'"):
        rlccfr.load_game("matrix_mp_3p")


ONE_ROUND = (
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=1,blind=1 2,firstPlayer=1,numSuits=1,numRanks=3,"
    "numHoleCards=1,numBoardCards=0,stack=4 4,bettingAbstraction=fchpa)"
)
"""A game whose parameters firstPlayer and numBoardCards are lists of one number, which OpenSpiel takes as texts."""


@pytest.mark.parametrize("name", [ONE_ROUND, f"misere(game={ONE_ROUND})"])
def test_one_number_may_stand_where_openspiel_wants_a_list_as_text(tmp_path, name):
    game = rlccfr.load_game(name)
    assert game.num_histories == 64
    rlccfr.Policy.uniform(game).save(tmp_path / "policy.csv")
    assert rlccfr.Policy.load(tmp_path / "policy.csv").game.content_hash == game.content_hash


@pytest.mark.parametrize(("name", "big_blind"), [(ONE_ROUND, 2), ("leduc(ranks=2)", 1), ("leduc", None)])
def test_universal_poker_has_a_big_blind(tmp_path, monkeypatch, name, big_blind):
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path))
    monkeypatch.setattr("rlccfr.games.cache.LEAST_HISTORIES", 1)
    for game in (
        rlccfr.load_game(name),
        rlccfr.load_game(name),
        rlccfr.load_game(openspiel_game(rlccfr.load_game(name))),
    ):
        assert game.big_blind == big_blind
        assert game.sizes().get("big_blind") == big_blind
    if big_blind is not None:
        result = rlccfr.Solver(game, "dcfr_plus").run(until="20mbb")
        assert result.target == pytest.approx(0.02 * big_blind)
        assert result.exploitability <= result.target


def test_an_object_of_such_a_game_is_named_by_its_string():
    arguments = pyspiel.game_parameters_from_string(ONE_ROUND)
    arguments |= {"firstPlayer": "1", "numBoardCards": "0"}
    loaded = pyspiel.load_game(arguments.pop("name"), arguments)
    assert rlccfr.load_game(loaded).name == str(loaded)


def test_objects_that_can_not_be_solved_are_refused():
    with pytest.raises(rlccfr.GameError, match="only zero-sum and constant-sum games"):
        rlccfr.load_game(pyspiel.create_matrix_game([[1, 2]], [[1, 2]]))
    with pytest.raises(rlccfr.GameError, match="a name, an OpenSpiel string or an OpenSpiel game object, not 3"):
        rlccfr.load_game(3)


@pytest.mark.parametrize(
    ("game", "parts"),
    [
        ("kuhn", ("dcfr", "external", "none")),
        ("leduc", ("pcfr_plus", "none", "none")),
        pytest.param("bluff(dice=1)", ("cfr_plus", "public_chance", "none"), marks=pytest.mark.slow),
    ],
)
def test_a_pickled_solver_goes_on_bit_for_bit(game, parts):
    solver = rlccfr.Solver(rlccfr.load_game(game), *parts, seed=3)
    solver.run(iterations=20)
    for again in (pickle.loads(pickle.dumps(solver)), copy.deepcopy(solver)):
        assert again.run(iterations=30).exploitability == copy.copy(solver).run(iterations=30).exploitability
    assert solver.result().iterations == 20


def test_a_solver_of_an_own_component_says_why_it_can_not_be_pickled():
    from rlccfr.components import UpdateRule

    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), UpdateRule())
    with pytest.raises(rlccfr.CheckpointError, match="the update rule is not registered"):
        pickle.dumps(solver)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel"])
def test_realization_weights_are_products_of_the_owners_probabilities(name):
    tree = rlccfr.load_game(name)
    policy = random_policy(tree, 1).probabilities
    reach_of_infosets = np.repeat(own_reach(tree, policy), np.diff(tree.view.first_sequence))
    np.testing.assert_allclose(tree.realization_weights(policy), reach_of_infosets * policy, rtol=1e-13)
