"""Ranges of hands as text."""

from __future__ import annotations

import numpy as np
import pytest

from rlccfr.errors import GameError
from rlccfr.games.public.ranges import HOLDEM_DECK, hands_of, range_weights


def names(text: str) -> set[str]:
    """Return the hands of a range, each as its cards in the deck's order, highest first."""
    first = HOLDEM_DECK.first()
    return {first.hand_name(int(hand)) for hand in np.flatnonzero(range_weights(text))}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("AhKd", 1), ("QQ", 6), ("AK", 16), ("KA", 16), ("AKs", 4), ("AKo", 12), ("QQ+", 18), ("22+", 78), ("A8s+", 24),
        ("AA+", 6), ("98s+", 24), ("T9s+", 20), ("KQ+", 32), ("T7o+", 36), ("QQ-88", 30), ("88-QQ", 30),
        ("A8s-A5s", 16), ("A5s-A8s", 16),
        ("T9s-65s", 20), ("T8-64", 80), ("KQo-KQo", 12), ("random", 1326), ("66+ A8s+;KQo", 54 + 24 + 12), 
        ("88 +, 98s - 65s : 0.25", 42 + 16),
        ("QQ,QQ", 6), ("aks", 4), ("AKS", 4), ("AHKD", 1), ("tt+", 30), ("QQ,QhQd", 6),
    ],
)  # fmt: skip
def test_items_have_as_many_hands_as_in_other_programs(text, count):
    assert len(names(text)) == count


def test_all_classes_together_are_all_hands():
    ranks = "23456789TJQKA"
    classes = [high + low + kind for k, high in enumerate(ranks) for low in ranks[:k] for kind in "so"]
    pairs = [rank * 2 for rank in ranks]
    weights = range_weights(",".join([*classes, *pairs]))
    assert len(classes) + len(pairs) == 169
    assert (weights == 1).all()
    assert sum(len(hands_of(text)) for text in (*classes, *pairs)) == 1326


def test_hands_are_those_of_the_item():
    assert names("KdAh") == {"AhKd"}
    assert names("AKs") == {"AsKs", "AhKh", "AdKd", "AcKc"}
    assert names("98s-76s") == {f"{high}{suit}{low}{suit}" for high, low in ("98", "87", "76") for suit in "cdhs"}
    assert names("KTs-K8s") == {f"K{suit}{low}{suit}" for low in "T98" for suit in "cdhs"}
    assert names("Q9o+") & names("Q9o+ Q8s") == names("QTo,QJo,Q9o")


def test_of_overlapping_items_the_first_one_counts():
    """As in postflop-solver, whose own tests have this."""
    weights = range_weights("AsAc:0,AhAd:0.25,KK,QQ+:0.5")
    assert weights[hands_of("QQ")].tolist() == [0.5] * 6
    assert weights[hands_of("KK")].tolist() == [1.0] * 6
    assert weights[hands_of("AdAh")].tolist() == [0.25]
    assert weights.sum() == pytest.approx(3 + 6 + 4 * 0.5 + 0.25)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the range '' has no hand"),
        ("QQ:0", "has no hand"),
        (3, "the range 3 has no hand"),
        ("QQ:2", "'QQ:2', whose weight must be a number from 0 to 1"),
        ("QQ:", "'QQ:', whose weight must be"),
        ("QQ:nan", "'QQ:nan', whose weight must be"),
        ("AhAh", "'AhAh', which is one card twice"),
        ("QQs", "'QQs', but a pair is neither suited nor offsuit: write QQ"),
        ("AKx", "'AKx'; an item is like"),
        ("1K", "'1K'; an item is like"),
        ("A8s-K5s", "'A8s-K5s', but a dash joins"),
        ("A8s-A5o", "'A8s-A5o', but a dash joins"),
        ("QQ-A5", "'QQ-A5', but a dash joins"),
        ("QQ-", "'QQ-'; an item is like"),
        ("AK,+", "'+'; an item is like"),
    ],
)
def test_what_is_no_range_is_named_in_one_line(text, message):
    with pytest.raises(GameError) as error:
        range_weights(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
