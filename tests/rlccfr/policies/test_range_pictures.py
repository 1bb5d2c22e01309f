"""Pictures of ranges."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from public_games import derived_game

import rlccfr
from rlccfr.games.public.deals import Deck
from rlccfr.policies.range_pictures import range_grid


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_the_grid_of_starting_hands():
    deal = Deck(13, 4, 2).first()
    probabilities = np.stack([np.arange(deal.rows) / deal.rows, 1 - np.arange(deal.rows) / deal.rows])
    shares, names = range_grid(deal.deck.hands, 4, deal.row_of_hand, probabilities)
    assert len(names) == deal.rows == 169
    assert (names[0, 0], names[0, 1], names[1, 0], names[12, 12]) == ("AA", "AKs", "AKo", "22")
    assert shares.sum(axis=0) == pytest.approx(1)
    hand = [deal.hand_name(number) for number in range(1326)].index("AsKs")
    assert shares[0, 0, 1] == pytest.approx(probabilities[0, deal.row_of_hand[hand]])


def test_hands_that_the_board_excludes_have_no_cell():
    deal = next(deal for deal in Deck(4, 2, 2).first().following(2) if deal.board_name == "5d5c")
    _, names = range_grid(deal.deck.hands, 2, deal.row_of_hand, np.ones((1, deal.rows)))
    assert not any("5" in name for name in names.values())
    assert "44" in names.values()


@pytest.mark.parametrize(
    ("name", "labels", "height", "font_size"),
    [
        ("holdem(ranks=5,suits=2,private=2,flop=2)", 15 + 10, 6.5, 14.0),
        ("holdem(ranks=13,suits=2,private=2,flop=1)", 91 + 78, 6.5, 7.0),
        ("holdem(ranks=4,suits=2,private=1,flop=1)", 4, 1.8, 14.0),  # one line of cards
    ],
)
def test_a_picture_of_hands(name, labels, height, font_size):
    policy = rlccfr.PublicPolicy.uniform(rlccfr.load_game(name))
    axes = policy.plot_range()
    assert len(axes.texts) == labels
    assert axes.figure.get_figheight() == height
    assert {text.get_fontsize() for text in axes.texts} == {font_size}
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["fold", "call", "raise"]
    assert axes.get_title() == "player 0 at the first decision"
    flop = next(node for node in policy.game.decisions.tolist() if "/" in policy.game.path(node))
    assert "cc/" in policy.plot_range(flop).get_title()


def test_a_picture_of_a_subgame_names_sizes_and_shows_the_players_own_hands():
    game = rlccfr.subgame("Td9d6hQcJs", pot=100, stack=400, oop="AA", ip="KK,54s", bets="50%, 100%", raises="3x, a")
    policy = rlccfr.PublicPolicy.uniform(game)
    axes = policy.plot_range(game.node("b50"))
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["fold", "call", "raise to 150", "all-in"]
    assert len({patch.get_facecolor() for patch in legend.get_patches()}) == 4
    assert {text.get_text() for text in axes.texts} == {"KK", "54s"}
    assert len(axes.lines) == 2 * 14  # between 13 ranks, whatever the range has
    assert {text.get_text() for text in policy.plot_range(0).texts} == {"AA"}


def test_a_picture_of_rolls():
    policy = rlccfr.PublicPolicy.uniform(rlccfr.load_game("bluff"))
    axes = policy.plot_range(3)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3", "4", "5", "*"]
    assert axes.get_yticklabels()[-1].get_text() == "call"
    assert axes.get_title() == "player 1 at 13"


def test_bids_are_named_apart_from_rolls_and_left_out_where_no_roll_makes_them():
    game = rlccfr.load_game("bluff")
    solver = rlccfr.Solver(game, "dcfr_plus")
    solver.run(iterations=100, curve=False)
    axes = solver.average_policy().plot_range()
    drawn = [text.get_text() for text in axes.get_yticklabels()]
    assert "1 of 5" in drawn
    assert "2 of *" not in drawn
    assert np.asarray(axes.images[0].get_array()).sum(axis=0) == pytest.approx(1, abs=0.1)


def test_games_without_names_are_refused():
    policy = rlccfr.PublicPolicy.uniform(derived_game("kuhn_poker").public)
    with pytest.raises(rlccfr.PolicyError, match="have no names"):
        policy.plot_range(policy.game.decisions[0])
    with pytest.raises(rlccfr.PolicyError, match="have no names"):
        policy.action_probabilities(policy.game.decisions[0], "J")
    with pytest.raises(rlccfr.PolicyError, match="nobody acts"):
        rlccfr.PublicPolicy.uniform(rlccfr.load_game("bluff")).plot_range(8190)
