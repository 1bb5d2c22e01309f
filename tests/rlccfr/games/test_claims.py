"""What a game claims is checked, whatever it comes from; sound games are solved, however they list their actions."""

from __future__ import annotations

import copy
import re
from random import Random

import numpy as np
import pyspiel
import pytest
from planted_games import (
    CHANCE,
    END,
    FAULTS,
    Observer,
    Place,
    PlaceGame,
    SpielGame,
    SpielState,
    end,
    game_type,
    placed,
    reordered,
)
from random_games import RandomGame

import rlccfr
from rlccfr.errors import GameError
from rlccfr.games.claims import check_claims
from rlccfr.games.compiler import build
from rlccfr.games.generated.spiel import CHANCE as CHANCE_MOVES
from rlccfr.games.generated.spiel import TERMINAL, Rules, Text, register
from rlccfr.games.merging.bucketed import _Histories
from rlccfr.games.traversal import traverse

VALUE = 1e-9
"""Largest difference of two values that linear programs find for one game."""


def through_openspiel(root):
    """Compile a tree of places as a game object of OpenSpiel's."""
    return rlccfr.load_game(SpielGame(root))


def without_openspiel(root):
    """Compile a tree of places by the traversal and the compiler alone."""
    walk, forgetful = traverse(PlaceGame(root), "planted", False, 10**6, None)
    assert not forgetful
    return build(walk, name="planted", openspiel_name="", restore_recall=False)


def pennies(seen="second", tails=3.0):
    """Return matching pennies; the second player may see the first one's side."""
    sides = [
        Place(1, "second", [0, 1], [end(1.0), end(-1.0)]),
        Place(1, seen, [0, 1], [end(-1.0), end(tails)]),
    ]
    return Place(0, "first", [0, 1], sides)


def check_games(seeds, compiled):
    """Check that random games are solved, also with reordered actions, and that one fault in each is told by its kind.

    Returns:
        The number of games with each fault.
    """
    planted = dict.fromkeys(FAULTS, 0)
    for seed in seeds:
        random = Random(seed)
        theirs = RandomGame(random, depth=random.randint(2, 4))
        root = placed(theirs.root)
        tree, same = compiled(root), compiled(reordered(root, random))
        assert tree.num_infosets == same.num_infosets
        values = [rlccfr.solve_exactly(game).value for game in (tree, same)]
        assert values == pytest.approx([theirs.value()] * 2, abs=1e-7)
        assert values[0] == pytest.approx(values[1], abs=VALUE)
        for name in sorted(planted, key=planted.__getitem__):  # the rarest so far that has a place in this game
            faulty = copy.deepcopy(root)
            message = FAULTS[name](faulty, random)
            if message is not None:
                break
        with pytest.raises(GameError) as caught:
            compiled(faulty)
        told = str(caught.value)
        assert re.search(f"'planted.*' can't be solved: .*{message}", told), (seed, name, told)
        assert "\n" not in told
        planted[name] += 1
    return planted


@pytest.mark.slow
def test_faults_in_some_random_games_are_told_by_their_kind():
    planted = check_games(range(40), without_openspiel)
    assert min(planted.values()) > 0


def test_openspiel_games_in_python_are_checked_alike():
    check_games(range(1_000, 1_020), through_openspiel)


@pytest.mark.slow
def test_faults_in_a_thousand_random_games_are_told_by_their_kind():
    planted = check_games(range(10_000, 11_000), through_openspiel)
    assert min(planted.values()) >= 20
    assert sum(planted.values()) == 1_000


def test_an_action_is_the_same_wherever_it_is_listed():
    """The second player does not see the first one's side, and lists its own sides in another order below tails."""
    game = pennies()
    tails = game.children[1]
    tails.actions, tails.children = tails.actions[::-1], tails.children[::-1]
    tree = through_openspiel(game)
    solution = rlccfr.solve_exactly(tree)
    assert solution.value == pytest.approx(1 / 3)  # (1·3 − 1·1) / (1 + 3 + 1 + 1)
    assert solution.policy.probabilities == pytest.approx([2 / 3, 1 / 3, 2 / 3, 1 / 3])
    assert tree.sequence_action.tolist() == [0, 1, 0, 1]
    assert solution.policy.to_frame()["action"].tolist() == [0, 1, 0, 1]
    assert rlccfr.Policy.from_openspiel(tree, solution.policy.to_openspiel()).exploitability() == pytest.approx(0)


def test_reordered_actions_do_not_make_a_player_forget():
    """Below the reordered infoset, the second player's last move is told by its action, not by its place."""
    below = [
        [Place(1, "later", [0, 1], [end(float(k)), end(-1.0)]) if side == 0 else end(0.0) for side in (0, 1)]
        for k in range(2)
    ]
    second = [Place(1, "second", [0, 1], below[0]), Place(1, "second", [1, 0], below[1][::-1])]
    tree = through_openspiel(Place(0, "first", [0, 1], second))
    assert tree.num_infosets == 3


@pytest.mark.parametrize(
    ("utility", "utility_sum", "second", "message"),
    [
        ("CONSTANT_SUM", 1.0, 0.75, None),
        ("CONSTANT_SUM", None, -0.25, None),
        ("CONSTANT_SUM", 1.0, 0.7, "the returns are 0.25 and 0.7, which sum to 0.95; they must sum to 1 everywhere"),
        ("CONSTANT_SUM", float("inf"), 0.75, "declares that returns sum to inf; utility_sum must be finite"),
        ("ZERO_SUM", None, -0.25, None),
        ("ZERO_SUM", 1.0, 0.75, "declares that it is zero-sum, but also that its returns sum to 1"),
        ("GENERAL_SUM", 0.0, -0.25, "is declared general_sum, but only zero-sum and constant-sum games"),
        ("IDENTICAL", 0.0, 0.25, "is declared identical, but only zero-sum and constant-sum games"),
    ],
)
def test_returns_sum_to_what_the_game_declares(utility, utility_sum, second, message):
    root = Place(0, "alone", [0, 1], [end(0.25, second)] * 2)
    game = SpielGame(root, utility=getattr(pyspiel.GameType.Utility, utility), utility_sum=utility_sum)
    if message is None:
        assert rlccfr.solve_exactly(rlccfr.load_game(game)).value == 0.25
    else:
        with pytest.raises(GameError, match=re.escape(message)):
            rlccfr.load_game(game)


def test_sums_may_be_rounded_and_no_more():
    """The least payoff's sum may have the rounding of the largest payoff, and is otherwise measured by itself."""
    for chance, error, rounding, sound in ((1e-10, 1e-13, 1e-15, True), (1e-8, 1e-11, 1e-12, False)):
        roots = [
            Place(CHANCE, "", [0, 1], [end(1.0), end(2.0)], [0.5, 0.5 + chance]),
            Place(0, "alone", [0, 1], [end(1e6), end(1e6 + 1.0, -1e6 - 1.0 + 1e6 * error)]),
            Place(0, "alone", [0, 1], [end(1e6), end(1.0, -1.0 + 1e6 * rounding)]),
            # Payoffs that cancel leave the rounding of the largest, too.
            Place(0, "alone", [0, 1, 2, 3], [end(1e6), end(1e5), end(1e4), end(0.0, 1e6 * rounding)]),
        ]
        for root in roots:
            if sound:
                assert without_openspiel(root).num_histories == 1 + len(root.children)
            else:
                with pytest.raises(GameError, match="must"):
                    without_openspiel(root)


@pytest.mark.parametrize("penalty", [1e6, 1e10, 1e15])
def test_a_large_penalty_hides_no_wrong_sum(penalty):
    """A forbidden move is often given a huge payoff; beside it, sums that are wrong by 1 would pass for rounding."""
    wrong = Place(0, "alone", [0, 1, 2], [end(-penalty), end(1.0, 1.0), end(2.0, -2.0)])
    with pytest.raises(GameError, match="which sum to 2; they must sum to 0"):
        without_openspiel(wrong)
    sound = Place(0, "alone", [0, 1], [end(-penalty), end(0.1 + 0.2, -0.3)])
    assert without_openspiel(sound).num_histories == 3


@pytest.mark.parametrize("mover", [0, CHANCE])
def test_a_game_in_python_is_over_where_it_says_so(mover):
    """Some games in Python name a player, or chance, as the one to move even at the end."""

    class Ended(SpielState):
        def current_player(self):
            return mover if self.is_terminal() else self.place.actor

        def __deepcopy__(self, memo):
            other = Ended(self.get_game())
            other.place = self.place
            return other

    class Game(SpielGame):
        def new_initial_state(self):
            return Ended(self)

    tree = rlccfr.load_game(Game(Place(0, "alone", [0, 1], [end(1.0), end(2.0)]), "ended"))
    assert (tree.num_histories, rlccfr.solve_exactly(tree).value) == (3, 2.0)


def test_returns_that_are_none_are_told():
    with pytest.raises(
        GameError, match=r"after the actions \[0\], the returns are None; there must be one for each of the two players"
    ):
        without_openspiel(Place(0, "alone", [0], [Place(END, returns=None)]))


def bids(name, actions, returns, utility=pyspiel.GameType.Utility.ZERO_SUM, utility_sum=0.0):
    """Register a game in which both players move at once, and return its name."""
    kind = game_type(name, utility, pyspiel.GameType.Dynamics.SIMULTANEOUS)

    class Bids(pyspiel.Game):
        def __init__(self, params=None):
            super().__init__(kind, pyspiel.GameInfo(9, 0, 2, -9.0, 9.0, utility_sum, 1), {})

        def new_initial_state(self):
            return State(self)

        def make_py_observer(self, kind=None, params=None):
            return Observer()

    class State(pyspiel.State):
        def __init__(self, game):
            super().__init__(game)
            self.bids = ()

        def current_player(self):
            return pyspiel.PlayerId.TERMINAL if self.bids else pyspiel.PlayerId.SIMULTANEOUS

        def is_terminal(self):
            return bool(self.bids)

        def _legal_actions(self, player):
            return actions[player]

        def _apply_actions(self, chosen):
            self.bids = tuple(chosen)

        def _action_to_string(self, player, action):
            return str(action)

        def returns(self):
            return returns(*self.bids) if self.bids else [0.0, 0.0]

        def information_state_string(self, player):
            return f"player {player}"

        def __str__(self):
            return str(self.bids)

    pyspiel.register_game(kind, Bids)
    return name


@pytest.mark.parametrize(
    ("actions", "returns", "message"),
    [
        (([0, 1], [0, 1]), lambda i, j: [1.0, 1.0], r"after the actions \[0, 0\], the returns are 1 and 1"),
        (([0, 1], [0, 1]), lambda i, j: [i, -i] if j else [np.nan] * 2, "the returns are nan and nan"),
        (([0, 1], [0, 0]), lambda i, j: [i, -i], "the legal action 0 is listed twice"),
        (([], []), lambda i, j: [i, -i], "current_player_ < num_players_"),
    ],
)
def test_simultaneous_games_are_checked(actions, returns, message):
    with pytest.raises(GameError, match=f"'faulty_bids' can't be (solved|played): .*{message}") as caught:
        rlccfr.load_game(bids("faulty_bids", actions, returns))
    assert "\n" not in str(caught.value)


def test_simultaneous_games_may_have_another_sum():
    utility = pyspiel.GameType.Utility.CONSTANT_SUM
    name = bids("fair_bids", ([0, 1], [0, 1]), lambda i, j: [float(i == j), float(i != j)], utility, 1.0)
    tree = rlccfr.load_game(name)
    assert rlccfr.solve_exactly(tree).value == pytest.approx(0.5)


def test_openspiels_games_around_a_faulty_game_are_checked():
    """OpenSpiel's misère games are written in C++; their returns are the negatives of another game's."""

    class Inside(SpielGame):
        def __init__(self, params=None):
            root = pennies()
            root.children[0].children[1].returns = [2.0, 0.5]
            super().__init__(root, "faulty_inside")

    pyspiel.register_game(game_type("faulty_inside"), Inside)
    with pytest.raises(GameError, match=r"'misere\(.*' can't be solved: .* \[0, 1\], the returns are -2 and -0.5"):
        rlccfr.load_game("misere(game=faulty_inside())")


@pytest.mark.parametrize(
    "payoffs", [([[1, 2], [3, 4]], [[-1, -2], [-3, 5]]), ([[1, 2], [3, 4]], [[-1, -2], [-3, np.nan]])]
)
def test_matrices_of_openspiels_are_checked(payoffs):
    with pytest.raises(GameError, match=r"'short.*' (is declared general_sum|can't be solved)"):
        rlccfr.load_game(pyspiel.create_matrix_game("short", "Long", ["a", "b"], ["c", "d"], *payoffs))


class OneDraw(Rules):
    """Chance draws, then player 0 decides; what is wrong is given by name."""

    most_actions = most_outcomes = 3
    longest_path = 2
    largest_payoff = 9.0

    def __init__(self, fault):
        self.fault = fault

    def actor(self, past):
        return [CHANCE_MOVES, 2 if self.fault == "player" else 0, TERMINAL][len(past)]

    def actions(self, past):
        return {"empty": [], "twice": [0, 1, 1], "other": [0, 1 + past[0]]}.get(self.fault, [0, 1])

    def outcomes(self, past):
        return [(0, 0.5), (1, {"chances": 0.4, "negative": -0.5}.get(self.fault, 0.5))]

    def utility(self, past):
        return float("inf") if self.fault == "payoff" and past == (1, 0) else float(sum(past))

    def seen(self, past, player):
        return "alone"

    def name(self, past, action):
        return str(action)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("empty", r"after the actions \[0\], player 0 has no legal actions"),
        ("twice", r"after the actions \[0\], the legal action 1 is listed twice"),
        ("other", r"after the actions \[1\], infoset 'alone' of player 0 offers the actions \[0, 2\], but \[0, 1\]"),
        ("chances", r"at the root, chance's probabilities \[0.5, 0.4\] sum to 0.9"),
        ("negative", r"at the root, chance's probabilities \[0.5, -0.5\] sum to 0"),
        ("payoff", r"after the actions \[1, 0\], the returns are inf and -inf"),
        ("player", r"after the actions \[0\], the player to move is 2"),
    ],
)
def test_rules_in_python_are_checked(fault, message):
    register("one_draw", "One draw", {"fault": Text("")}, OneDraw)
    assert rlccfr.solve_exactly(rlccfr.load_game("one_draw(fault=none)")).value == pytest.approx(1.5)
    with pytest.raises(GameError, match=rf"'one_draw\(fault={fault}\)' can't be solved: {message}") as caught:
        rlccfr.load_game(f"one_draw(fault={fault})")
    assert "\n" not in str(caught.value)


def test_games_of_buckets_are_checked(monkeypatch):
    from rlccfr.games.merging import bucketed

    public = rlccfr.load_game("holdem(ranks=3,suits=2,private=1,flop=1)")
    bucket = np.arange(len(public.view.above))
    assert bucketed.bucketed(public, bucket).tree.num_histories
    add = _Histories._add

    def faulty(self, edges, actor, **columns):
        return add(self, edges._replace(probability=edges.probability * 0.9), actor, **columns)

    monkeypatch.setattr(_Histories, "_add", faulty)
    with pytest.raises(GameError, match=r"can't be solved: at the root, chance's probabilities .* sum to 0.9"):
        bucketed.bucketed(public, bucket)


def test_a_games_error_is_told_with_its_name():
    class Broken(SpielGame):
        def new_initial_state(self):
            return 1 / 0

    with pytest.raises(
        GameError,
        match=r"'planted.*' can't be played: ZeroDivisionError: division by zero \(line \d+ of test_claims.py\)",
    ):
        rlccfr.load_game(Broken(pennies()))


def test_a_game_without_histories_below_its_root_keeps_its_claims():
    assert without_openspiel(end(2.0)).num_histories == 1
    with pytest.raises(GameError, match="at the root, the returns are 2 and 2"):
        without_openspiel(end(2.0, 2.0))


def test_the_check_takes_any_traversal():
    """A traversal that was not made by ``traverse`` is checked, too: actions that differ in place alone are a fault."""
    walk, _ = traverse(PlaceGame(pennies()), "pennies", False, 100, None)
    check_claims(walk, "pennies")
    action = walk.action.copy()
    action[-2:] = [1, 0]
    with pytest.raises(GameError, match=r"'pennies' can't be solved: .* offers the actions \[1, 0\], but \[0, 1\]"):
        check_claims(walk._replace(action=action), "pennies")
