"""Boards of a deck up to permutations of suits: as sets of cards, and round by round as they are dealt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import comb

import numpy as np

from rlccfr.games.public.cards import codes_of, suit_permutations
from rlccfr.games.public.deals import Deck
from rlccfr.kernels.bucket_histories.boards import (
    count_following,
    fill_following,
    fill_set_numbers,
    number_boards,
)

Progress = Callable[[float], None]
"""Function that is called repeatedly with the share of the work that is done."""

LEAST_KEPT = 10_000_000
"""Smallest number of entries of a table that is kept on disk; smaller tables are quick to compute."""


def share_of(progress: Progress | None, begin: float, end: float) -> Progress | None:
    """Return the progress function for one part of the work.

    Args:
        progress: called with the share of all work that is done.
        begin, end: shares of all work that are done when the part begins and when it ends.
    """
    if progress is None:
        return None
    return lambda share: progress(begin + (end - begin) * share)


@dataclass(frozen=True, eq=False)
class Dealt:
    """The boards of a round, distinguished by which cards came in which round.

    Of boards that differ only by a permutation of suits, there is only one, which stands for all of them.

    Attributes:
        mask: (boards,) all cards of each board, as bits.
        symmetry: (boards,) permutations of suits that map each round's cards onto themselves, as bits.
        before: (boards,) the board that each board continues, by its index in the round before; ascending.
        begin: (boards of the round before + 1,) first board that continues each of them; then the number of boards.
        images: (boards,) number of boards that each stands for, among those that continue the same board.
        all_images: (boards,) number of boards that each stands for, among all boards of the round.
        row: (boards,) index of the first image of each board's set of cards, see :class:`Boards`.
        turning: (boards,) index of the permutation that maps each board's set of cards to its first image.
    """

    mask: np.ndarray
    symmetry: np.ndarray
    before: np.ndarray
    begin: np.ndarray
    images: np.ndarray
    all_images: np.ndarray
    row: np.ndarray
    turning: np.ndarray


@dataclass(frozen=True)
class Boards:
    """The boards of a deck.

    Sets of cards that differ only by a permutation of suits share a row in tables: that of their canonical set, the
    *first image*, which has the smallest mask of them.

    Attributes:
        deck: the cards, and how many of them each player holds.
        new_cards: number of board cards dealt before each round.

    Examples:
        >>> from rlccfr.games.public.deals import Deck
        >>> boards = Boards(Deck(ranks=5, suits=2, private=1), (0, 1, 1))
        >>> [len(dealt.mask) for dealt in boards.dealt], boards.num_rows
        ([1, 5, 45], (1, 5, 25))
    """

    deck: Deck
    new_cards: tuple[int, ...]

    @property
    def num_rounds(self) -> int:
        """Number of rounds."""
        return len(self.new_cards)

    @property
    def are_many(self) -> bool:
        """Whether tables over the boards and hands are so large that they are kept on disk."""
        return self.num_rows[-1] * self.deck.num_hands >= LEAST_KEPT

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of board cards in each round."""
        return tuple(accumulate(self.new_cards))

    @cached_property
    def permutations(self) -> np.ndarray:
        """Permutations of suits, (permutations, cards): the card that each card becomes; the first changes nothing."""
        return np.ascontiguousarray(suit_permutations(self.deck.ranks, self.deck.suits))

    @cached_property
    def choose(self) -> np.ndarray:
        """Binomial coefficients, (cards + 1, largest board + 1)."""
        sizes = range(self.sizes[-1] + 1)
        return np.array([[comb(cards, size) for size in sizes] for cards in range(self.deck.size + 1)])

    @cached_property
    def hands(self) -> np.ndarray:
        """All hands, (hands, 2) cards; if hands have one card, the size of the deck stands in for the second."""
        hands = np.full((self.deck.num_hands, 2), self.deck.size)
        hands[:, : self.deck.private] = self.deck.hands
        return hands

    @cached_property
    def hand_masks(self) -> np.ndarray:
        """(hands,) cards of each hand, as bits."""
        masks: np.ndarray = (1 << self.deck.hands).sum(axis=1)
        return masks

    @cached_property
    def image(self) -> np.ndarray:
        """Index of the hand to which each permutation maps each hand, (permutations, hands)."""
        codes = codes_of(self.deck.hands, self.deck.size)  # ascending
        images = [codes_of(permutation[self.deck.hands], self.deck.size) for permutation in self.permutations]
        return np.searchsorted(codes, np.array(images)).astype(np.int16)

    @cached_property
    def origin(self) -> np.ndarray:
        """Index of the hand that each permutation maps to each hand, (permutations, hands): ``image`` inverted."""
        return np.argsort(self.image, axis=1).astype(np.int16)

    @cached_property
    def set_begin(self) -> np.ndarray:
        """(rounds + 1,) where the sets of each round begin in :attr:`row` and :attr:`turning`."""
        return np.array([0, *accumulate(comb(self.deck.size, size) for size in self.sizes)])

    @cached_property
    def _numbered(self) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
        row = np.zeros(self.set_begin[-1], np.int32)
        turning = np.zeros(self.set_begin[-1], np.int32)
        num_rows = []
        for number, size in enumerate(self.sizes):
            sets = slice(self.set_begin[number], self.set_begin[number + 1])
            chosen = np.zeros(size, np.int64)
            num_rows.append(number_boards(self.permutations, self.choose, chosen, row[sets], turning[sets]))
        return row, turning, tuple(num_rows)

    @property
    def row(self) -> np.ndarray:
        """(sets,) index of each set's first image among those of its round; the first round's sets come first."""
        return self._numbered[0]

    @property
    def turning(self) -> np.ndarray:
        """(sets,) index of the permutation that maps each set of board cards to its first image."""
        return self._numbered[1]

    @property
    def num_rows(self) -> tuple[int, ...]:
        """Number of first images in each round."""
        return self._numbered[2]

    def places_of(self, number: int, masks: np.ndarray) -> np.ndarray:
        """Return where sets of board cards of a round lie in :attr:`row` and :attr:`turning`, (sets,).

        Args:
            number: the round's number, from 0.
            masks: (sets,) the cards of each set, as bits.
        """
        places = np.zeros(len(masks), np.int64)
        fill_set_numbers(masks, self.choose, places)
        places += self.set_begin[number]
        return places

    def first_images(self, number: int) -> np.ndarray:
        """Return the first images of a round, (rows, board cards), cards ascending.

        Args:
            number: the round's number, from 0.
        """
        sets = slice(self.set_begin[number], self.set_begin[number + 1])
        rest = np.flatnonzero(self.turning[sets] == 0)
        cards = np.zeros((len(rest), self.sizes[number]), np.int64)
        # A set's number is a sum of binomial coefficients, from which its cards follow, the highest first.
        for k in range(self.sizes[number], 0, -1):
            cards[:, k - 1] = np.searchsorted(self.choose[:, k], rest, side="right") - 1
            rest = rest - self.choose[cards[:, k - 1], k]
        return cards

    def hands_on_board(self, number: int) -> int:
        """Return the number of hands that share no card with a board of a round."""
        return comb(self.deck.size - self.sizes[number], self.deck.private)

    def drawn_flop(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Return a board of the second round, drawn from the whole deck; its cards are ascending."""
        cards = rng.choice(self.deck.size, self.sizes[1], replace=False)
        return tuple(sorted(cards.tolist()))

    @cached_property
    def dealt(self) -> tuple[Dealt, ...]:
        """The boards of each round, as they are dealt round by round."""
        every_permutation = (1 << len(self.permutations)) - 1
        mask = np.zeros(1, np.int64)
        # Before the first card, every permutation of suits maps the board onto itself.
        symmetry = np.full(1, every_permutation)
        all_images = np.ones(1, np.int64)
        rounds = []
        for number, cards in enumerate(self.new_cards):
            counts = np.zeros(len(mask), np.int64)
            chosen = np.zeros(cards, np.int64)
            remaining = np.zeros(self.deck.size, np.int64)
            # The first kernel only counts, so that the second can write into arrays of the right size.
            count_following(mask, symmetry, self.permutations, chosen, remaining, counts)
            total = int(counts.sum())
            next_mask = np.zeros(total, np.int64)
            next_symmetry = np.zeros(total, np.int64)
            images = np.zeros(total, np.int32)
            fill_following(mask, symmetry, self.permutations, chosen, remaining, next_mask, next_symmetry, images)
            before = np.repeat(np.arange(len(mask)), counts)
            # Each image of the board before continues in ``images`` ways.
            all_images = all_images[before] * images
            sets = self.places_of(number, next_mask)
            begin = np.concatenate([[0], np.cumsum(counts)])
            mask = next_mask
            symmetry = next_symmetry
            rounds.append(Dealt(mask, symmetry, before, begin, images, all_images, self.row[sets], self.turning[sets]))
        return tuple(rounds)
