"""Nodes of a public tree, and their paths."""

from __future__ import annotations

import pytest

import rlccfr


@pytest.mark.parametrize("name", ["holdem(ranks=4,suits=2,private=1,flop=1)", "bluff"])
def test_a_path_leads_back_to_its_node(name):
    game = rlccfr.load_game(name)
    assert game.node("") == 0
    for node in [*game.decisions[1:40].tolist(), *game.decisions[-3:].tolist()]:
        assert game.node(game.path(node)) == node


def test_a_flop_is_found_by_its_cards():
    game = rlccfr.load_game("holdem(ranks=5,suits=4,private=2,flop=3)")
    node = game.node("cc/6h5d2c/")
    assert game.deals[game.view.nodes["deal"][node]].board_name == "6h5d2c"
    assert game.node("cc/6h5d2c/r") in game.decisions


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("x", "after the root, the next step is one of f, c, r"),
        ("cc/6h5h4h/", "after cc, the next step is one of .* more"),
        ("ff", "after f, the game is over"),
    ],
)
def test_a_path_that_no_node_has_is_refused(path, message):
    game = rlccfr.load_game("holdem(ranks=5,suits=4,private=2,flop=3)")
    with pytest.raises(rlccfr.GameError, match=message):
        game.node(path)


def test_what_belongs_to_the_player_who_acts_is_refused_where_nobody_acts():
    game = rlccfr.subgame("Td9d6hQc", pot=100, stack=120, oop="AA", ip="KK", bets="50%")
    chance = game.node("cc")
    assert game.row_names(chance, 1)
    for of_actor in (game.deal_at, game.row_names):
        with pytest.raises(rlccfr.GameError, match=f"nobody acts at node {chance} of .*: name a player, 0 or 1"):
            of_actor(chance)


@pytest.mark.parametrize(
    ("name", "path", "words"),
    [
        ("holdem(ranks=4,suits=2,private=1,flop=1)", "", ["fold", "call", "raise"]),
        ("holdem(ranks=4,suits=2,private=1,flop=1)", "c", ["check", "raise"]),
        ("bluff", "25", ["2*", "call"]),
    ],
)
def test_actions_in_words(name, path, words):
    game = rlccfr.load_game(name)
    assert game.action_words(game.node(path))[-len(words) :] == words
