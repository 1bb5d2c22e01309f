"""Strength of hands."""

from __future__ import annotations

import numpy as np
import pytest

from rlccfr.errors import GameError
from rlccfr.games.public.cards import RANKS, SUITS, card_sets, cards_named, names_of, strengths, suit_permutations

COUNTS = {
    # hands of five of 52 cards, from high card to straight flush
    0: 1_302_540,
    1: 1_098_240,
    2: 123_552,
    3: 54_912,
    4: 10_200,
    5: 5_108,
    6: 3_744,
    7: 624,
    8: 40,
}


def cards(text: str) -> np.ndarray:
    """Return the cards that a text such as ``AsKs`` names, in a deck of 52."""
    pairs = zip(text[::2], text[1::2], strict=True)
    return np.array([[4 * RANKS.index(rank) + SUITS.index(suit) for rank, suit in pairs]])


def strength(text: str) -> int:
    return int(strengths(cards(text), 13, 4)[0])


@pytest.mark.slow
def test_all_hands_of_five_cards_are_ranked():
    found = strengths(card_sets(np.arange(52), 5), 13, 4)
    categories, counts = np.unique(found // 13**5, return_counts=True)
    assert dict(zip(categories.tolist(), counts.tolist(), strict=True)) == COUNTS
    assert len(np.unique(found)) == 7462


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("AsKsQsJsTs", "KhQhJhTh9h"),
        ("5h4h3h2hAh", "AsAhAdAcKs"),
        ("6h5d4c3s2h", "5h4d3c2sAh"),
        ("KsKhKd2c2d", "QsQhQdAcAd"),
        ("AsAh3d2c4d", "KsKhAdQcJd"),
        ("AsAhKd2c4d", "AdAcQd3c4h"),
        ("AhKh2h3h4hAsAd", "QsQhQdJcTd2s3c"),  # of seven cards the best five count
        ("7h7d", "AhKd"),
        ("AhQd", "AsJd"),
    ],
)
def test_stronger_hands_have_larger_numbers(stronger, weaker):
    assert strength(stronger) > strength(weaker)


def test_equal_hands_have_equal_numbers():
    assert strength("AsKh9d7c4s") == strength("AhKd9c7s4h")
    assert strength("AsKsQhJdTc2h2d") == strength("AhKhQdJcTs3c4c")


def test_short_decks_have_no_ace():
    """In a deck of six ranks the highest is a seven, which does not count below the deuce."""
    wheel = np.array([[0, 4, 8, 12, 20]])  # 2, 3, 4, 5, 7
    assert strengths(wheel, 6, 4)[0] // 6**5 == 5  # a flush, not a straight flush
    assert strengths(wheel + np.array([0, 1, 0, 0, 0]), 6, 4)[0] // 6**5 == 0


def test_permutations_of_suits_keep_ranks():
    found = suit_permutations(3, 4)
    assert found.shape == (24, 12)
    assert np.array_equal(np.sort(found, axis=1), np.tile(np.arange(12), (24, 1)))
    assert np.array_equal(found // 4, np.tile(np.arange(12) // 4, (24, 1)))


def test_cards_have_names():
    assert names_of(cards("2c7dKh")[0], 4) == "Kh7d2c"


def test_cards_are_read_in_the_order_of_their_names():
    assert cards_named("AhKs 2c,tD") == [50, 47, 0, 33]
    assert cards_named("3c2d", ranks=4, suits=2) == [2, 1]
    assert cards_named("") == []
    deck = np.arange(52)
    assert sorted(cards_named(names_of(deck, 4))) == deck.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5c1h", "'1h' is not a card of the deck; a card is one of 2345 and one of cd, such as 5c"),
        ("6c", "'6c' is not a card of the deck"),
        ("2h", "'2h' is not a card of the deck"),
        ("2c3", "'3' is not a card of the deck"),
        ("2cc", "'c' is not a card of the deck"),
        ("2c2C", "'2c2C' has a card twice: name each card once"),
        (12, "cards must be given as a string, such as 'Td9d6h', not as 12"),
    ],
)
def test_what_is_no_card_is_named(text, message):
    with pytest.raises(GameError, match=message):
        cards_named(text, ranks=4, suits=2)
