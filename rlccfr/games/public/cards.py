"""Cards: their numbers and names, permutations of suits, and the strength of hands.

A card is the number rank x suits + suit. Ranks are counted from the deuce, so only a deck of 13 ranks has an ace, which
also counts below the deuce in a straight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any

import numpy as np

from rlccfr.errors import GameError, brief

HAND = 5
"""Largest number of cards that count at a showdown."""

ACE = 12
"""Rank of the ace."""

STRAIGHT, FLUSH, STRAIGHT_FLUSH = 4, 5, 8
CATEGORY = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 2], [3, 3, 6], [7, 7, 7]])
"""Category of a hand other than a straight or a flush, (5, 3), by the numbers of cards of its two most frequent ranks.

0 is a high card, 1 a pair, 2 two pairs, 3 three of a kind, 6 a full house, and 7 four of a kind.
"""

RANKS = "23456789TJQKA"
SUITS = "cdhs"

SEPARATORS = re.compile(r"[,;\s]+")
"""Pattern of the characters that may separate cards, and the items of a range."""

ACTIONS = {"f": "fold", "c": "call", "r": "raise"}
"""Words for the letters of limit hold'em's actions."""

PLACES = {"f": 0, "c": 1, "r": 2, "a": 2}
"""Colour indices of hold'em's actions; bets and raises of several sizes come after them. No game has both r and a."""


def action_in_words(name: str, *, can_fold: bool) -> str:
    """Return an action of limit or no-limit hold'em in words.

    Args:
        name: the action's name.
        can_fold: whether the player may fold instead, that is, whether there is a bet to call.

    Examples:
        >>> [action_in_words(name, can_fold=True) for name in ("f", "c", "r", "r300", "a")]
        ['fold', 'call', 'raise', 'raise to 300', 'all-in']
        >>> [action_in_words(name, can_fold=False) for name in ("c", "b120")]
        ['check', 'bet 120']
    """
    if name[1:]:
        return f"{'bet' if name[0] == 'b' else 'raise to'} {name[1:]}"
    return {**ACTIONS, "c": "call" if can_fold else "check", "a": "all-in"}[name]


def places_of_actions(names: Iterable[str]) -> dict[str, int]:
    """Map hold'em actions to colour indices: those of :data:`PLACES`, then the bets and raises of several sizes.

    The result has the actions of :data:`PLACES` even if ``names`` lacks them. Sizes are in order of amount.

    Examples:
        >>> places_of_actions(["f", "c", "r300", "r1000", "a"])
        {'f': 0, 'c': 1, 'r': 2, 'a': 2, 'r300': 3, 'r1000': 4}
    """
    sizes = sorted((name for name in set(names) if name[1:]), key=lambda name: (float(name[1:]), name))
    return PLACES | {name: len(PLACES) - 1 + number for number, name in enumerate(sizes)}


def names_of(cards: np.ndarray, suits: int) -> str:
    """Return cards as a string, the highest first, such as ``Kh7d2c``."""
    pairs = [divmod(card, suits) for card in sorted(cards.tolist(), reverse=True)]
    return "".join(RANKS[rank] + SUITS[suit] for rank, suit in pairs)


def card_number(name: str, ranks: int = len(RANKS), suits: int = len(SUITS)) -> int:
    """Return the number of a card, such as ``Ah``; case does not matter.

    Args:
        name: the card's name.
        ranks, suits: numbers of ranks and of suits in the deck, by default those of the whole deck.

    Raises:
        GameError: the deck has no such card.

    Examples:
        >>> card_number("Ah"), card_number("3c", ranks=4, suits=2)
        (50, 2)
    """
    rank = RANKS.find(name[:1].upper() or "?")
    suit = SUITS.find(name[1:].lower() or "?")
    if len(name) != 2 or not 0 <= rank < ranks or not 0 <= suit < suits:
        raise GameError(
            f"{name!r} is not a card of the deck; a card is one of {RANKS[:ranks]} and one of {SUITS[:suits]}, such as "
            f"{RANKS[ranks - 1]}{SUITS[0]}"
        )
    return rank * suits + suit


def cards_named(text: str, ranks: int = len(RANKS), suits: int = len(SUITS)) -> list[int]:
    """Return the numbers of cards that are given in one string, such as ``Td9d6h``, perhaps with spaces or commas.

    Args:
        text: the cards' names; case does not matter.
        ranks, suits: numbers of ranks and of suits in the deck, by default those of the whole deck.

    Returns:
        The cards in the order of their names.

    Raises:
        GameError: ``text`` is not a string, a part of it is not a card of the deck, or a card is repeated.

    Examples:
        >>> cards_named("Ah2c")
        [50, 0]
    """
    if not isinstance(text, str):
        raise GameError(f"cards must be given as a string, such as 'Td9d6h', not as {brief(text)}")
    letters = SEPARATORS.sub("", text)
    cards = [card_number(letters[first : first + 2], ranks, suits) for first in range(0, len(letters), 2)]
    if len(set(cards)) < len(cards):
        raise GameError(f"{text!r} has a card twice: name each card once")
    return cards


def swapped(hand: str) -> str:
    """Return a hand of two cards with the cards in the other order; a hand of one card stays as it is.

    Examples:
        >>> swapped("QdQs")
        'QsQd'
    """
    return hand[2:] + hand[:2]


class ByHand(dict[str, float]):
    """A dict from hands to numbers, in which a hand is found with its cards in either order.

    Each hand is stored once, under the name that the library prints.

    Examples:
        >>> values = ByHand({"QsQd": 1.5})
        >>> values["QdQs"], "QdQs" in values, values.get("QdQc", 0.0), list(values)
        (1.5, True, 0.0, ['QsQd'])
    """

    def _as_kept(self, hand: Any) -> Any:
        """Return the name under which a hand is stored; any other key is returned as it is."""
        is_swapped = isinstance(hand, str) and not super().__contains__(hand) and super().__contains__(swapped(hand))
        return swapped(hand) if is_swapped else hand

    def __getitem__(self, hand: Any) -> float:
        return super().__getitem__(self._as_kept(hand))

    def __missing__(self, hand: Any) -> float:
        raise KeyError(f"no hand {hand!r} is here; a hand looks like {next(iter(self), 'AhKh')!r}")

    def __contains__(self, hand: object) -> bool:
        return super().__contains__(self._as_kept(hand))

    def get(self, hand: Any, default: Any = None) -> Any:
        """Return the number of a hand, or the default if the hand is not a key."""
        return super().get(self._as_kept(hand), default)


def card_sets(cards: np.ndarray, size: int) -> np.ndarray:
    """Return all sets of ``size`` cards out of ``cards``, (sets, size), each in ascending order."""
    sets = np.array(list(combinations(np.sort(cards).tolist(), size)), np.int64)
    return sets.reshape(-1, size)


def codes_of(sets: np.ndarray, deck: int) -> np.ndarray:
    """Return a number for each set of cards, (sets,); it does not depend on their order, and no other set has it.

    Args:
        sets: (sets, size) cards.
        deck: number of cards in the deck.
    """
    powers = deck ** np.arange(sets.shape[1])[::-1]
    codes: np.ndarray = np.sort(sets, axis=1) @ powers
    return codes


@lru_cache(maxsize=8)
def suit_permutations(ranks: int, suits: int) -> np.ndarray:
    """Return all permutations of a deck's suits, (permutations, cards): the card that each card becomes.

    The first one changes nothing.
    """
    rank, suit = np.divmod(np.arange(ranks * suits), suits)
    return np.array([rank * suits + np.array(order)[suit] for order in permutations(range(suits))])


def strengths(sets: np.ndarray, ranks: int, suits: int) -> np.ndarray:
    """Return the strength of the best hand in each set of cards, (sets,); stronger hands have larger numbers.

    Args:
        sets: (sets, size) cards; if a set has more than five cards, the best five count.
    """
    size = sets.shape[1]
    if size > HAND:
        of_subsets = [strengths(sets[:, list(subset)], ranks, suits) for subset in combinations(range(size), HAND)]
        best: np.ndarray = np.max(of_subsets, axis=0)
        return best
    rank, suit = np.divmod(sets, suits)
    rank_counts = (rank[:, :, None] == np.arange(ranks)).sum(1)
    # Ranks in the order in which hands of one category are compared: the most frequent first, then the highest.
    by_weight = np.sort(rank_counts * ranks + np.arange(ranks), axis=1)[:, ::-1][:, :size]
    counts, order = np.divmod(by_weight, ranks)
    order = np.where(counts > 0, order, 0)
    category = CATEGORY[counts[:, 0], counts[:, 1] if size > 1 else 0]
    if size == HAND <= ranks:
        distinct = counts[:, 0] == 1
        wheel = distinct & (order[:, 0] == ACE) & (order[:, 1] == 3)  # A2345, in which the ace is low
        straight = distinct & (order[:, 0] - order[:, -1] == HAND - 1) | wheel
        flush = (suit == suit[:, :1]).all(1)
        order[wheel] = np.array([3, 2, 1, 0, 0])
        category[straight] = STRAIGHT
        category[flush] = FLUSH
        category[straight & flush] = STRAIGHT_FLUSH
    # Digits in base ``ranks``: the category, then the ranks.
    powers = ranks ** np.arange(HAND)[::-1][: order.shape[1]]
    strength: np.ndarray = category * ranks**HAND + order @ powers
    return strength
