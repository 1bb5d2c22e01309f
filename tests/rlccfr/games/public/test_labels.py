from __future__ import annotations

import numpy as np
import pytest
from support import SMALL_DICE, game

from rlccfr.errors import GameError
from rlccfr.games.public.labels import chance_labels
from rlccfr.games.records import CHANCE

LEDUC_288 = "leduc_poker(suit_isomorphism=True)"
ALL_IN = (  # the public card may come after the last decision
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=2,blind=1 1,stack=4 4,firstPlayer=1 1,numSuits=2,"
    "numRanks=2,numHoleCards=1,numBoardCards=0 1,bettingAbstraction=fcpa)"
)
WAYS = (None, 0, 1)


def test_kuhn_by_hand():
    """Chance deals one card after the other, and nothing is public. A card has a label once both are dealt.

    Cards are numbered as they first come: player 1's are queen, king; jack, king; jack, queen.
    """
    tree = game("kuhn")
    neither, first, second = chance_labels(tree, WAYS)
    dealt = np.flatnonzero(tree.histories["actor"] == CHANCE)
    assert len(dealt) == 4
    for labels in (neither, first, second):
        assert labels.draw[dealt].tolist() == [0, 1, 1, 1]
    np.testing.assert_array_equal(neither.probability, [1, 1])
    np.testing.assert_array_equal(neither.first_label, [0, 1, 2])
    for labels, cards in ((first, [0, 0, 1, 1, 2, 2]), (second, [0, 1, 2, 1, 2, 0])):
        assert labels.probability == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3])
        below = tree.histories["first_child"][dealt[1:]]
        assert [int(labels.label[child + k]) - 1 for child in below for k in (0, 1)] == cards


def test_leducs_public_card():
    """The second round begins after five public histories, where six cards may come; with one known, five."""
    neither, first, second = chance_labels(game("leduc"), WAYS)
    assert np.diff(neither.first_label).tolist() == [1, 1, 6, 6, 6, 6, 6]
    assert neither.probability[2:] == pytest.approx(np.full(30, 1 / 6))
    for labels in (first, second):
        assert np.diff(labels.first_label).tolist() == [1, 6, *[5] * 30]
        assert labels.probability[7:] == pytest.approx(np.full(150, 1 / 5))


@pytest.mark.parametrize("name", ["kuhn", "leduc", SMALL_DICE, LEDUC_288, "random_poker(seed=1)", ALL_IN])
def test_labels_tell_apart_what_is_drawn_and_nothing_else(name):
    tree = game(name)
    actor, infoset = tree.histories["actor"], tree.histories["infoset"]
    for player, labels in zip(WAYS, chance_labels(tree, WAYS), strict=True):
        draws = np.repeat(np.arange(len(labels.first_label) - 1), np.diff(labels.first_label))
        assert np.bincount(draws, labels.probability) == pytest.approx(1)
        own = np.flatnonzero((labels.label >= 0) & (actor == player))  # none if nobody's state is drawn
        met = np.unique(np.stack([labels.label[own], infoset[own]]), axis=1)
        assert len(np.unique(met[0])) == len(np.unique(met[1])) == met.shape[1]


def test_nothing_is_drawn_after_the_last_decision():
    tree = game(ALL_IN)
    (labels,) = chance_labels(tree, [None])
    idle = np.flatnonzero((tree.histories["actor"] == CHANCE) & (labels.draw < 0))
    assert len(idle) == 48
    below = tree.histories["first_child"][idle]
    assert (labels.label[below] == -1).all()


@pytest.mark.parametrize("name", ["goofspiel", "matrix_rps", "dark_hex(board_size=2,gameversion=adh)"])
def test_hidden_actions_are_refused(name):
    with pytest.raises(GameError, match="has no public tree"):
        chance_labels(game(name), [None])
