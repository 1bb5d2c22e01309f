"""Percentile buckets of hand strengths."""

from __future__ import annotations

import numpy as np
import pytest
from support import game

from rlccfr.errors import ComponentError
from rlccfr.games.merging.percentiles import equity_buckets, percentiles
from rlccfr.games.merging.rounds import Rounds, expected_over_boards, hand_strengths
from rlccfr.games.merging.symmetric import symmetric_buckets

WIDE = "leduc(ranks=13,suits=2,raises=1)"


def test_percentiles_have_equal_mass_and_keep_ties_together():
    values, mass = np.array([0.3, 0.1, 0.2, 0.4]), np.array([1.0, 1.0, 1.0, 1.0])
    assert percentiles(values, mass, 2).tolist() == [1, 0, 0, 1]
    assert percentiles(values, mass, 4).tolist() == [2, 0, 1, 3]
    assert percentiles(values, mass, 100).tolist() == [62, 12, 37, 87]
    assert percentiles(np.array([0.1, 0.1 + 1e-12, 0.9]), np.array([1.0, 1.0, 2.0]), 4).tolist() == [1, 1, 3]
    assert percentiles(values, np.array([3.0, 1.0, 0.0, 0.0]), 2).tolist() == [1, 0, 0, 1]
    assert percentiles(values, np.zeros(4), 2).tolist() == [1, 0, 0, 1]


def test_hand_strengths_of_kuhn():
    rounds = Rounds(game("kuhn"))
    shown = [own for own in hand_strengths(rounds, "equity") if len(own[0])]
    assert [sorted(own.tolist()) for own in shown[0]] == [[0.0, 0.5, 1.0]] * 2


def test_hand_strengths_of_leduc_by_hand():
    """With six cards, the first card's E[HS^2] is the mean over five boards; the opponent has four cards left."""
    leduc = game("leduc")
    rounds = Rounds(leduc)
    last = hand_strengths(rounds, "equity")
    found = expected_over_boards(rounds, [[own**2 for own in pair] for pair in last], "equity")
    first = next(d for d in range(len(found)) if rounds.decides(d, 0))
    strengths = {  # on a board of the own rank, then on both cards of each other rank
        "jack": [1.0, *[0.5 / 4] * 4],  # ties with the other jack, and loses to all others
        "queen": [1.0, *[0.5 / 4] * 2, *[2.5 / 4] * 2],  # on a king, two jacks are beaten
        "king": [1.0, *[2.5 / 4] * 4],
    }
    expected = sorted(np.mean(np.square(own)) for own in strengths.values())
    assert sorted(set(np.round(found[first][0][:, 0], 12))) == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("buckets", [2, 3, 5, 8, 13])
def test_buckets_of_the_first_round_have_equal_mass(buckets):
    tree = game(WIDE)
    bucket = equity_buckets(tree, buckets)
    roots = np.flatnonzero(tree.view.parent == tree.num_sequences)  # player 0's first decisions
    mass = np.bincount(np.unique(bucket[roots], return_inverse=True)[1], tree.view.chance_weight[roots])
    assert len(mass) == buckets
    assert mass.sum() == pytest.approx(1.0)
    assert np.abs(mass - 1 / buckets).max() <= 1 / 13 + 1e-12  # hands of one rank tie


@pytest.mark.slow
def test_more_buckets_in_one_round_tell_no_more_than_hands():
    tree = game(WIDE)
    one, all_ranks = equity_buckets(tree, 13), symmetric_buckets(tree)
    roots = np.flatnonzero(tree.view.parent >= tree.num_sequences)
    pairs = {tuple(pair) for pair in np.stack([one[roots], all_ranks[roots]], axis=1).tolist()}
    assert len(pairs) == len(np.unique(one[roots]))


def test_suits_share_buckets():
    tree = game("leduc")
    suits, buckets = symmetric_buckets(tree), equity_buckets(tree, 3)
    assert len(np.unique(np.stack([suits, buckets]), axis=1).T) == len(np.unique(suits))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("goofspiel", "'equity' needs a public tree, but .*; use abstraction='none' instead"),
        ("liars_dice(numdice=1,dice_sides=3)", "needs the same order of hands at all showdowns"),
    ],
)
def test_games_without_hands_are_refused(name, message):
    with pytest.raises(ComponentError, match=message):
        equity_buckets(game(name), 3)
