"""Ranges: the hold'em hands that a player may hold, each with a weight, given as strings.

The grammar is that of the program postflop-solver, which follows PioSOLVER's, without intervals of single hands, such
as ``AhAs-QhQs``, but with ``random``. A range is a list of items, separated by commas. Each item may end with a weight.
Where items overlap, the first one counts.

========== ==========================================================================================
Item       Hands
========== ==========================================================================================
AhKd       this hand
QQ         the six hands of this pair
AK         the sixteen hands of these ranks; AKs only the four suited ones, AKo only the twelve others
QQ+        this pair and all higher ones
A8s+       the first rank stays, the second goes up: A8s, A9s, ... to AKs
98s+       adjacent ranks go up together: 98s, T9s, ... to AKs
QQ-88      all pairs from queens to eights
A8s-A5s    the first rank stays, the second goes down
T9s-65s    both ranks go down together
random     all 1,326 hands
QQ:0.5     a weight from 0 to 1, after any item; it must be 0 or at least 1e-9
========== ==========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rlccfr.errors import GameError, brief
from rlccfr.games.public.cards import RANKS, SEPARATORS, SUITS, card_number, suit_permutations
from rlccfr.games.public.deals import Deck

HOLDEM_DECK = Deck(ranks=len(RANKS), suits=len(SUITS), private=2)
"""The deck of Texas hold'em; ``HOLDEM_DECK.hands``, (1326, 2), are its hands in the order of a range's weights."""

ANY_HAND = "random"

SMALLEST_WEIGHT = 1e-9
"""Smallest weight above 0: smaller ones are lost in sums of weights, so the values of hands would be meaningless."""

_HAND = re.compile(f"([{RANKS}][{SUITS}])([{RANKS}][{SUITS}])", re.IGNORECASE)
_HAND_CLASS = re.compile(f"([{RANKS}])([{RANKS}])([so]?)", re.IGNORECASE)
_SPACES_IN_ITEMS = re.compile(r"\s*([-:])\s*|\s+(\+)")

HandClass = tuple[int, int, str]
"""Two ranks, the higher first, and ``s`` for suited hands, ``o`` for offsuit hands or an empty string for both."""


def range_weights(text: str) -> np.ndarray:
    """Return the weight of each hand in a range, (1326,), in the order of ``HOLDEM_DECK.hands``.

    Args:
        text: the range, in the grammar of the module's docstring; case does not matter.

    Raises:
        GameError: an item is not in the grammar, a weight is too small or not a number from 0 to 1, or no hand has a
            weight above 0.

    Examples:
        >>> from rlccfr.games.public.ranges import range_weights
        >>> float(range_weights("QQ+,AKs:0.5").sum())  # three pairs of six hands, and half of four
        20.0
    """
    weights = np.zeros(len(HOLDEM_DECK.hands))
    for item in reversed(_items_of(text)):  # the first item counts, so it comes last
        hands, colon, weight = item.partition(":")
        weights[hands_of(hands, item)] = _weight(weight, item) if colon else 1.0
    if not weights.any():
        raise GameError(f"the range {brief(text)} has no hands: write a range such as 'QQ+,AKs,AhKd:0.5'")
    return weights


def _items_of(text: Any) -> list[str]:
    """Return the items of a range, without spaces; none if ``text`` is not a string."""
    if not isinstance(text, str):
        return []
    closed_up = _SPACES_IN_ITEMS.sub(r"\1\2", text)
    return [item for item in SEPARATORS.split(closed_up) if item]


def hands_of(text: str, item: str = "") -> np.ndarray:
    """Return the indices in ``HOLDEM_DECK.hands`` of an item's hands, ascending.

    Args:
        text: an item of a range without its weight.
        item: the whole item, for errors.

    Raises:
        GameError: ``text`` is not in the grammar.
    """
    if text.lower() == ANY_HAND:
        return np.arange(len(HOLDEM_DECK.hands))
    if one_hand := _HAND.fullmatch(text):
        cards = {card_number(card) for card in one_hand.groups()}
        if len(cards) < 2:
            raise GameError(f"the range has {item or text!r}, which is one card twice")
        return np.flatnonzero(np.isin(HOLDEM_DECK.hands, sorted(cards)).all(axis=1))
    classes = list(_classes_of(text, item or text))
    return np.unique(np.concatenate([_hands_of_class(hand_class) for hand_class in classes]))


def _weight(text: str, item: str) -> float:
    """Return the weight that an item ends with.

    Raises:
        GameError: the weight is not a number from 0 to 1, or is too small.
    """
    try:
        weight = float(text)
    except ValueError:
        weight = np.nan
    if not 0.0 <= weight <= 1.0:
        raise GameError(f"the range has {item!r}, whose weight must be a number from 0 to 1")
    if 0.0 < weight < SMALLEST_WEIGHT:
        raise GameError(f"the range has {item!r}, whose weight is below {SMALLEST_WEIGHT:g}: leave the hands out")
    return weight


def _classes_of(text: str, item: str) -> Iterator[HandClass]:
    """Yield the classes of hands that an item without its weight stands for, such as ``A8s+``.

    Raises:
        GameError: ``text`` is not in the grammar.
    """
    if text.endswith("+"):
        yield from _classes_from(_class_of(text[:-1], item))
        return
    start_text, dash, end_text = text.partition("-")
    start = _class_of(start_text, item)
    if dash:
        yield from _classes_between(start, _class_of(end_text, item), item)
    else:
        yield start


def _classes_from(start: HandClass) -> Iterator[HandClass]:
    """Yield a class and those above it; both ranks go up if they are equal or adjacent, otherwise only the second."""
    high, low, suits = start
    if high - low <= 1:
        yield from ((rank, rank - (high - low), suits) for rank in range(high, len(RANKS)))
    else:
        yield from ((high, rank, suits) for rank in range(low, high))


def _classes_between(start: HandClass, end: HandClass, item: str) -> Iterator[HandClass]:
    """Yield the classes from one to another; both have the same first rank, or the same distance between their ranks.

    Raises:
        GameError: they have neither in common, only one is a pair, or their suits differ, as in AKs-AQo.
    """
    steps_of_high = end[0] - start[0]
    steps_of_low = end[1] - start[1]
    are_pairs = [high == low for high, low, _ in (start, end)]
    if start[2] != end[2] or steps_of_high not in (0, steps_of_low) or are_pairs[0] != are_pairs[1]:
        raise GameError(
            f"the range has {item!r}, but a dash joins two pairs, or two classes with the same first rank or the same "
            "distance between their ranks, as in QQ-88, A8s-A5s or T9s-65s"
        )
    direction = 1 if steps_of_low > 0 else -1
    for step in range(abs(steps_of_low) + 1):
        high = start[0] + direction * step if steps_of_high else start[0]
        yield high, start[1] + direction * step, start[2]


def _class_of(text: str, item: str) -> HandClass:
    """Return the class that a string such as ``AKs`` stands for.

    Raises:
        GameError: the string does not stand for a class.
    """
    parts = _HAND_CLASS.fullmatch(text)
    if parts is None:
        raise GameError(f"the range has {item!r}; an item is like AhKd, QQ, AK, AKs, AKo, QQ+, A8s+, QQ-88 or A8s-A5s")
    low, high = sorted(RANKS.index(rank.upper()) for rank in parts.groups()[:2])
    if low == high and parts[3]:
        raise GameError(f"the range has {item!r}, but a pair is neither suited nor offsuit: write {text[:2]}")
    return high, low, parts[3].lower()


def _hands_of_class(hand_class: HandClass) -> np.ndarray:
    """Return the indices in ``HOLDEM_DECK.hands`` of a class's hands."""
    high, low, suits = hand_class
    ranks, card_suits = np.divmod(HOLDEM_DECK.hands, len(SUITS))  # each hand's cards ascend
    is_member = (ranks[:, 0] == low) & (ranks[:, 1] == high)
    if suits:
        is_member &= (card_suits[:, 0] == card_suits[:, 1]) == (suits == "s")
    return np.flatnonzero(is_member)


def possible_weights(weights: np.ndarray, known: list[int]) -> np.ndarray:
    """Return a range's weights, (1326,), with 0 for hands that contain a card of the board.

    Args:
        weights: (1326,) the range's weights.
        known: cards of the board.
    """
    return np.where(np.isin(HOLDEM_DECK.hands, known).any(axis=1), 0.0, weights)


def meets_any(hands: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return for each player and hand, (2, hands), whether it can be dealt together with some hand of the opponent.

    A hand with a positive weight can, if the opponent has a hand with a positive weight that shares no card with it.

    Args:
        hands: (hands, 2) cards.
        weights: (2, hands) each player's weight of each hand.
    """
    cards_held = np.zeros((len(hands), HOLDEM_DECK.size), np.float32)  # products of floats are fast
    np.put_along_axis(cards_held, hands, 1.0, axis=1)
    are_disjoint = cards_held @ cards_held.T == 0
    has_hand = weights > 0
    can_meet: np.ndarray = np.stack([are_disjoint[:, has_hand[1 - player]].any(axis=1) for player in range(2)])
    may_meet: np.ndarray = has_hand & can_meet
    return may_meet


def range_symmetries(known: list[int], weights: np.ndarray) -> np.ndarray:
    """Return the permutations of suits that change neither the board nor a weight, (permutations, 52).

    Args:
        known: cards of the board.
        weights: (2, 1326) both ranges' weights.
    """
    permutations = suit_permutations(len(RANKS), len(SUITS))
    keeps_all = [
        set(permutation[known].tolist()) == set(known)
        and np.array_equal(weights[:, images_of(permutation, HOLDEM_DECK.hands)], weights)
        for permutation in permutations
    ]
    return np.ascontiguousarray(permutations[keeps_all])


def images_of(permutation: np.ndarray, hands: np.ndarray) -> np.ndarray:
    """Return the index of each hand's image under a permutation of the cards, (hands,).

    Args:
        permutation: (52,) the card that each card becomes.
        hands: (hands, 2) cards, ascending in each hand. The hands are in ascending order, too, and contain all images.
    """
    place_values = np.array([HOLDEM_DECK.size, 1])
    images = np.sort(permutation[hands], axis=1)
    places: np.ndarray = np.searchsorted(hands @ place_values, images @ place_values)
    return places
