"""What a page shows at each point adds up, and agrees with the policy's own figures."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from support import random_policy

import rlccfr
from rlccfr.explorer.points import ENDS, _places, content
from rlccfr.games.records import CHANCE

GOOFSPIEL = "goofspiel(num_cards=3,imp_info=True,points_order=descending)"
GAMES = ("kuhn", "leduc(ranks=2,suits=2,raises=1)", GOOFSPIEL, "liars_dice(numdice=1,dice_sides=2)")
DEEP = "dark_hex(board_size=2,gameversion=adh)"  # infosets over several depths, and points where some have ended


@pytest.mark.parametrize("name", GAMES)
def test_shares_and_values_add_up(name):
    policy = random_policy(rlccfr.load_game(name), 0)
    found, below = list(content(policy).points), defaultdict(list)
    for point in found:
        below[point.parent].append(point)
    assert found[0].value == pytest.approx(policy.values().game[0])
    reached = [point.share for point in found]
    for number, point in enumerate(found[1:], 1):
        reached[number] *= reached[point.parent]
    for number, point in enumerate(found):
        if reached[number] == 0:
            continue
        if point.actor == ENDS:
            assert not below[number]
        else:
            assert sum(one.share for one in below[number]) == pytest.approx(1)
            assert sum(one.share * one.value for one in below[number]) == pytest.approx(point.value)
        if point.actor in (0, 1):
            assert sum(held.share for held in point.states) == pytest.approx(1)
            assert sum(held.share for held in point.opponent_states) == pytest.approx(1 if point.opponent_states else 0)


@pytest.mark.parametrize("name", GAMES)
def test_every_state_of_the_policy_is_at_one_point(name):
    policy = random_policy(rlccfr.load_game(name), 0)
    held = [(point.actor, one) for point in content(policy).points for one in point.states]
    assert sorted(one.text for _, one in held) == sorted(policy.game.infoset_keys)
    numbers = {key: number for number, key in enumerate(policy.game.infoset_keys)}
    for actor, one in held:
        rows = policy.game.infoset_sequences(numbers[one.text])
        assert [likely for _, likely, _ in one.actions] == policy.probabilities[rows].tolist()
        assert actor == int(numbers[one.text] >= policy.game.view.infoset_begin[1])
        gains = [likely * gain for _, likely, gain in one.actions if not np.isnan(gain)]
        assert sum(gains) == pytest.approx(0, abs=1e-12)  # the policy itself gains nothing


def test_a_point_shows_the_states_of_the_player_who_moves_there():
    policy = random_policy(rlccfr.load_game(DEEP), 0)
    keys = {player: set() for player in (0, 1)}
    for number, key in enumerate(policy.game.infoset_keys):
        keys[int(number >= policy.game.view.infoset_begin[1])].add(key)
    for point in content(policy).points:
        assert {held.text for held in point.states} <= keys.get(point.actor, set())
        assert sum(held.share for held in point.states) <= 1 + 1e-12
        assert sum(held.share for held in point.opponent_states) <= 1 + 1e-12


def test_moves_have_names_and_hidden_ones_are_told():
    kuhn = list(content(rlccfr.Policy.uniform(rlccfr.load_game("kuhn"))).points)
    assert [point.move for point in kuhn[3:5]] == ["Pass", "Bet"]
    assert {held.text for held in kuhn[3].opponent_states} == {"0 → Pass", "1 → Pass", "2 → Pass"}
    leduc = list(content(rlccfr.Policy.uniform(rlccfr.load_game("leduc"))).points)
    assert [point.move for point in leduc[1:3]] == ["one of 6 deals"] * 2
    assert [point.actor for point in leduc[:3]] == [CHANCE, CHANCE, 0]
    board = next(number for number, point in enumerate(leduc) if point.actor == CHANCE and number > 2)
    assert [point.move for point in leduc if point.parent == board] == ["J♠", "J♥", "Q♠", "Q♥", "K♠", "K♥"]


@pytest.mark.parametrize(
    ("numbers", "names", "places"),
    [
        ([1, 2, 0, 1, 2], ["Call", "Raise", "Fold", "Call", "Raise"], {"Fold": 0, "Call": 1, "Raise": 2}),
        ([3, 9, 3, 9], ["[P0]Bid: 1", "[P0]Bid: 2", "[P1]Bid: 1", "[P1]Bid: 2"],
         {"[P0]Bid: 1": 0, "[P1]Bid: 1": 0, "[P0]Bid: 2": 1, "[P1]Bid: 2": 1}),
        ([0, 1, 0, 1], ["bet", "pass", "pass", "bet"], {"bet": 0, "pass": 1}),
    ],
)  # fmt: skip
def test_an_action_has_one_place_in_a_game(numbers, names, places):
    assert _places(np.array(numbers), names) == places
