"""What public-tree games claim is checked where they are built."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rlccfr
from rlccfr.games.public.claims import check_public
from rlccfr.games.public.records import CHANCE, FOLD, SHOWDOWN

SMALL = "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1)"
PAIRS = "holdem(rounds=2,ranks=4,suits=2,private=2,flop=2)"


def changed(game, array, change):
    """Return the game with one array of its view changed."""
    copied = getattr(game.view, array).copy()
    change(copied)
    return replace(game, view=game.view._replace(**{array: copied}))


def at_first(kind, name, value):
    """Return a function that sets a number of the first node of a kind."""

    def change(nodes):
        nodes[name][np.flatnonzero(nodes["kind"] == kind)[0]] = value

    return change


@pytest.mark.parametrize("name", [SMALL, PAIRS, "holdem(rounds=1)", "bluff"])
def test_games_keep_their_claims(name):
    game = rlccfr.load_game(name)
    assert check_public(game) is game


@pytest.mark.parametrize("name", [SMALL, PAIRS])
@pytest.mark.parametrize(
    ("array", "change", "message"),
    [
        ("nodes", at_first(FOLD, "payoff", np.nan), "at a terminal node, a payoff is not finite"),
        ("nodes", at_first(SHOWDOWN, "payoff", -1.0), "the winner of a showdown gets -1; it must be at least 0"),
        ("nodes", at_first(CHANCE, "num_children", 0), "after '.*', chance has no outcome with a positive probability"),
        ("nodes", at_first(0, "num_children", 0), "at the root, player 0 has no legal actions"),
        (
            "weight",
            lambda weight: weight.__imul__(0.9),
            "at the root, the probabilities .* must sum to 1|after deal 0, ",
        ),
        (
            "weight",
            lambda weight: weight.__setitem__(-1, 9.0),
            r"after deal \d+, the probabilities of player . sum|must sum to",
        ),
    ],
)
def test_what_breaks_a_claim_is_refused_in_one_line(name, array, change, message):
    game = rlccfr.load_game(name)
    with pytest.raises(rlccfr.GameError, match=message) as caught:
        check_public(changed(game, array, change))
    assert str(caught.value).startswith(f"{name!r} can't be solved: ")
    assert "\n" not in str(caught.value)


def test_the_pairs_of_the_first_deal_have_probability_one():
    game = rlccfr.load_game("bluff")
    with pytest.raises(rlccfr.GameError, match=r"at the root, the probabilities .* sum to 0\.9; they must sum to 1"):
        check_public(replace(game, pair_probability=0.9 * game.pair_probability))
    with pytest.raises(rlccfr.GameError, match="at a terminal node, a payoff is not finite"):
        check_public(changed(game, "payoffs", lambda payoffs: payoffs.__setitem__(0, np.inf)))
