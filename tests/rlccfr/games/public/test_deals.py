"""Boards and hands up to permutations of suits."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from rlccfr.games.public.deals import Deck

FULL = Deck(13, 4, 2)


@pytest.mark.slow
def test_known_numbers_of_boards_and_hands():
    first = FULL.first()
    flops = list(first.following(3))
    assert first.rows == 169
    assert len(flops) == 1755
    assert sum(flop.orbit for flop in flops) == comb(52, 3) == 22_100
    assert sum(flop.rows for flop in flops) == 1_286_792


@pytest.mark.parametrize("deck", [Deck(4, 2, 2), Deck(3, 3, 1), Deck(3, 4, 2), Deck(3, 4, 2, merged=False)])
def test_merged_deals_stand_for_all(deck):
    first = deck.first()
    for flop in first.following(2):
        turns = list(flop.following(1))
        assert sum(turn.orbit for turn in turns) == deck.size - 2
        assert flop.sizes.sum() == len(flop.hands) == comb(deck.size - 2, deck.private)
        assert np.array_equal(np.sort(flop.row_of_hand[flop.hands]), flop.row_of_hand[flop.hands])
    assert sum(flop.orbit for flop in first.following(2)) == comb(deck.size, 2)


@pytest.mark.parametrize("deck", [Deck(4, 2, 2), Deck(3, 4, 1)])
def test_edges_share_out_a_rows_value(deck):
    """A value of 1 for each pair of hands and each flop is a value of 1 per pair before the flop."""
    first = deck.first()
    total = np.zeros(first.rows)
    for flop in first.following(2):
        above, share = flop.edge_from(first)
        hands = deck.hands[flop.firsts]
        free = [comb(deck.size - 2 - deck.private, deck.private)] * len(hands)
        np.add.at(total, above, share * free)
    assert total == pytest.approx(comb(deck.size - deck.private, deck.private))


def test_groups_are_rows_of_equal_strength():
    flop = next(iter(Deck(5, 4, 2).first().following(3)))
    assert flop.group_end[-1] == flop.rows
    assert (np.diff(flop.group_end) > 0).all()
