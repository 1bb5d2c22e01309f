"""Deals of cards up to permutations of suits: boards, and the hands that a player may hold on each.

A permutation of the suits does not change the game. So only one of the boards that differ by such a permutation is
dealt, with the probability of all of them. Hands that differ only by a permutation that maps the board onto itself
share a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import comb

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.public.cards import card_sets, codes_of, names_of, strengths, suit_permutations, swapped

TEXAS = 13, 4
"""Ranks and suits of the standard deck, for which a compiled kernel finds the strengths of hands on a full board."""

WHOLE_BOARD = 5
"""Number of cards of a full board."""


@dataclass(frozen=True)
class Deck:
    """A deck of cards, and how many of them each player holds.

    Attributes:
        ranks: number of ranks.
        suits: number of suits.
        private: number of cards that each player holds.
        merged: whether boards and hands that differ only by a permutation of suits are merged.
    """

    ranks: int
    suits: int
    private: int
    merged: bool = True

    @property
    def size(self) -> int:
        """Number of cards."""
        return self.ranks * self.suits

    @cached_property
    def hands(self) -> np.ndarray:
        """All hands, (hands, private)."""
        return card_sets(np.arange(self.size), self.private)

    @property
    def num_hands(self) -> int:
        """Number of all hands, whether or not a range has them."""
        return comb(self.size, self.private)

    @cached_property
    def hand_numbers(self) -> np.ndarray:
        """Index of each of :attr:`hands` in the list of all hands, (hands,)."""
        return np.arange(self.num_hands)

    @property
    def num_pairs(self) -> int:
        """Number of pairs of hands, one for each player, that do not share a card."""
        return comb(self.size, self.private) * comb(self.size - self.private, self.private)

    def first(self) -> Deal:
        """Return the deal without board cards."""
        permutations = suit_permutations(self.ranks, self.suits)
        return Deal(self, np.zeros(0, np.int64), permutations if self.merged else permutations[:1], 1, 1.0)


@dataclass(frozen=True, eq=False)
class RangeDeck(Deck):
    """A deck for a player who holds only some of its hands: those of a range.

    Attributes:
        held: (hands,) index of each hand of the range in the list of all hands, ascending.
    """

    held: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @cached_property
    def hands(self) -> np.ndarray:
        """The range's hands, (hands, private)."""
        hands: np.ndarray = card_sets(np.arange(self.size), self.private)[self.held]
        return hands

    @cached_property
    def hand_numbers(self) -> np.ndarray:
        """Index of each of :attr:`hands` in the list of all hands, (hands,)."""
        return self.held


@dataclass(frozen=True, eq=False)
class Deal:
    """A board, with the hands that are possible on it.

    Attributes:
        deck: the deck.
        board: (cards,) the board's cards.
        permutations: (permutations, deck) permutations of suits that map the cards dealt in each round onto themselves;
            the first one changes nothing.
        orbit: number of different images of this board under the previous deal's permutations.
        share: probability of this board alone, without its images, given any two hands that share no card with it.
    """

    deck: Deck
    board: np.ndarray
    permutations: np.ndarray
    orbit: int
    share: float

    @property
    def board_name(self) -> str:
        """The board as a string, such as ``Kh7d2c``."""
        return names_of(self.board, self.deck.suits)

    def hand_name(self, hand: int) -> str:
        """Return the name of a hand, given by its index in ``deck.hands``, such as ``AsKs``."""
        return names_of(self.deck.hands[hand], self.deck.suits)

    @cached_property
    def hands(self) -> np.ndarray:
        """(hands,) index in ``deck.hands`` of each possible hand, row by row, the weakest row first."""
        row, _ = self._rows
        return self._possible[np.argsort(row, kind="stable")]

    @property
    def has_hands(self) -> bool:
        """Whether any hand is possible on the board."""
        return len(self._possible) > 0

    @cached_property
    def _possible(self) -> np.ndarray:
        """Indices of the hands without a card of the board, in the deck's order, with 32 bits to save memory."""
        return np.flatnonzero(~np.isin(self.deck.hands, self.board).any(1)).astype(np.int32)

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Row of each possible hand, in the deck's order, and strength of each row."""
        # Hands that some permutation maps onto each other have the same least code among their images, and share a row.
        hands = self.deck.hands[self._possible]
        images = [codes_of(permutation[hands], self.deck.size) for permutation in self.permutations]
        _, first_hand, row = np.unique(np.min(images, axis=0), return_index=True, return_inverse=True)
        strength = self.strengths_of(hands[first_hand])
        # Rows are renumbered in order of strength, the weakest first.
        order = np.argsort(strength, kind="stable")
        new_row = np.empty(len(order), np.int32)
        new_row[order] = np.arange(len(order))
        return new_row[row.reshape(-1)], strength[order].astype(np.int32)

    def strengths_of(self, hands: np.ndarray) -> np.ndarray:
        """Return the strength on the board of each hand in an array, (hands, private)."""
        deck = self.deck
        if (deck.ranks, deck.suits) == TEXAS and deck.private == 2 and len(self.board) == WHOLE_BOARD:
            from rlccfr.kernels.public.hand_strength import fill_strengths  # the same numbers, a hundred times as fast

            strength = np.empty(len(hands), np.int64)
            fill_strengths(self.board.astype(np.int64), np.ascontiguousarray(hands), strength)
            return strength
        boards = np.broadcast_to(self.board, (len(hands), len(self.board)))
        return strengths(np.hstack([hands, boards]), deck.ranks, deck.suits)

    @property
    def row_strengths(self) -> np.ndarray:
        """(rows,) a number for each row, ascending: the larger, the stronger its hands."""
        return self._rows[1]

    @cached_property
    def row_of_hand(self) -> np.ndarray:
        """Row of each of the deck's hands, (deck's hands,); -1 for a hand with a card of the board."""
        row_of_hand = np.full(len(self.deck.hands), -1, np.int32)
        row_of_hand[self._possible] = self._rows[0]
        return row_of_hand

    def row_named(self, hand: str, player: int) -> int:
        """Return the row of a hand that is given by its name, such as ``AsKs``, with its cards in any order.

        Args:
            hand: the hand.
            player: the player whose hands these are, for errors.

        Raises:
            GameError: the deck or the player's range has no such hand, or the board has one of its cards.
        """
        names = [self.hand_name(number) for number in self._possible.tolist()]
        index = next((k for k, name in enumerate(names) if name in (hand, swapped(hand))), None)
        if index is None:
            where = f" on the board {self.board_name}" if len(self.board) else ""
            holder = f"player {player}'s range has no" if isinstance(self.deck, RangeDeck) else "no player can hold"
            raise GameError(f"{holder} {hand!r}{where}; a hand looks like {names[0]!r}")
        return int(self._rows[0][index])

    @cached_property
    def hand_end(self) -> np.ndarray:
        """(rows,) index after each row's last hand in :attr:`hands`."""
        return np.cumsum(np.bincount(self._rows[0]), dtype=np.int32)

    @property
    def firsts(self) -> np.ndarray:
        """(rows,) index in ``deck.hands`` of each row's first hand."""
        first_hands: np.ndarray = self.hands[self.hand_end - self.sizes]
        return first_hands

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.hand_end)

    @cached_property
    def sizes(self) -> np.ndarray:
        """(rows,) number of hands in each row."""
        return np.diff(self.hand_end, prepend=0)

    @cached_property
    def group_end(self) -> np.ndarray:
        """(groups,) index after the last row of each strength."""
        strength = self._rows[1]
        return np.append(np.flatnonzero(np.diff(strength)) + 1, len(strength))

    def following(self, cards: int) -> Iterator[Deal]:
        """Yield the deals after ``cards`` more board cards; boards that differ only by a permutation share a deal."""
        num_hidden = self.deck.size - len(self.board) - 2 * self.deck.private
        share = self.share / comb(num_hidden, cards)
        # Boards differ only by a permutation if the least codes among their images are equal.
        card_choices = card_sets(np.setdiff1d(np.arange(self.deck.size), self.board), cards)
        images = np.array([codes_of(permutation[card_choices], self.deck.size) for permutation in self.permutations])
        _, firsts, orbits = np.unique(images.min(axis=0), return_index=True, return_counts=True)
        for first, orbit in zip(firsts.tolist(), orbits.tolist(), strict=True):
            leaves_board = images[:, first] == images[0, first]  # permutation 0 changes nothing
            board = np.append(self.board, card_choices[first])
            yield Deal(self.deck, board, self.permutations[leaves_board], orbit, share)

    def edge_from(self, before: Deal) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each row, the row above it, in the deal before, and the weight of its value in that row's value.

        The weight includes the probability of this deal's board and its images.
        """
        row_before = before.row_of_hand[self.firsts]
        return row_before, self.orbit * self.sizes / before.sizes[row_before] * (self.share / before.share)
