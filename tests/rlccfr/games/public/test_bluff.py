"""Bluff by its public tree."""

from __future__ import annotations

import numpy as np
import pytest
from public_games import assert_same_iterations, derived_game

import rlccfr
from rlccfr.games.public.bluff import FACES, VALUES, Bluff, matching, rolls, ways

DICE = "liars_dice(numdice=1,dice_sides=6)"


@pytest.mark.parametrize(
    ("name", "infosets"),
    [("bluff", 24_576), ("bluff(dice=2)", 3_538_944), ("bluff(dice=2,opponent_dice=1)", 3_538_944)],
)
def test_known_sizes(name, infosets):
    game = rlccfr.load_game(name)
    assert game.num_infosets == infosets
    assert game.num_nodes == 2 * 2 ** (6 * (2 + ("dice=2" in name))) - 1


@pytest.mark.parametrize("dice", [(1, 1), (2, 1)])
def test_the_number_of_entries_is_known_before_anything_is_allocated(dice):
    assert Bluff(dice).least_entries() == Bluff(dice).build("bluff").num_sequences
    assert Bluff((2, 2)).least_entries() == 704_643_030


def bids_of(key: str) -> str:
    """Return OpenSpiel's information state as the path of a public node, and the roll."""
    roll, *bids = key.split()
    return " ".join([*(bid.replace("-6", "*").replace("-", "") for bid in bids)]) + "|" + roll.replace("6", "*")


@pytest.mark.slow
def test_one_die_each_is_liars_dice():
    """OpenSpiel calls the star a six, which counts as any face there, too."""
    tree, public = rlccfr.load_game(DICE), derived_game(DICE)
    game = rlccfr.load_game("bluff")
    place_of = {}
    for node, first in zip(game.decisions.tolist(), np.cumsum([0, *(game.rows * game.actions)]).tolist(), strict=False):
        for row, roll in enumerate(game.row_names(node)):
            for action in range(int(game.view.nodes["num_children"][node])):
                place_of[game.path(node) + "|" + roll, action] = first + action * len(game.row_names(node)) + row
    order = np.empty(tree.num_sequences, np.int64)
    for infoset, key in enumerate(tree.infoset_keys):
        sequences = tree.infoset_sequences(infoset)
        for action in range(sequences.stop - sequences.start):
            order[sequences.start + action] = place_of[bids_of(key), action]
    assert_same_iterations(game, public, order)


def test_payoffs_are_what_the_rest_of_the_game_is_worth():
    assert Bluff((1, 1)).payoffs() == (1.0, -1.0)
    assert Bluff((2, 1)).payoffs() == (1.0, -VALUES[1, 1])
    assert Bluff((2, 2)).payoffs() == (VALUES[2, 1], -VALUES[2, 1])


@pytest.mark.slow
def test_the_stored_value_of_one_die_each_is_right():
    solver = rlccfr.Solver(rlccfr.load_game("bluff"), "dcfr_plus")
    solver.run(iterations=4000, curve=False)
    low, high = -solver.values().best_response[1], solver.values().best_response[0]
    assert low <= VALUES[1, 1] <= high
    assert high - low < 1e-5


def test_rolls_have_their_numbers_of_ways():
    assert [len(list(rolls(dice))) for dice in (1, 2)] == [6, 21]
    assert sum(map(ways, rolls(2))) == len(FACES) ** 2
    assert matching(("1", "*"), "1") == 2
    assert matching(("1", "*"), "*") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bluff(dice=3)", "dice of bluff must be from 1 to 2, not 3"),
        ("bluff(dice=1,opponent_dice=2)", "opponent_dice must not exceed dice"),
    ],
)
def test_wrong_numbers_of_dice_are_refused(name, message):
    with pytest.raises(rlccfr.GameError, match=message):
        rlccfr.load_game(name)
