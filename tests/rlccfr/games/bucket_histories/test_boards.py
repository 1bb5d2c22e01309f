"""Boards up to permutations of suits."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rlccfr.games.bucket_histories.boards import Boards
from rlccfr.games.public.deals import Deck


def images_of(cards: tuple[int, ...], boards: Boards) -> list[tuple[int, ...]]:
    return [tuple(sorted(permutation[list(cards)].tolist())) for permutation in boards.permutations]


def test_sets_have_the_row_of_their_first_image():
    boards = Boards(Deck(3, 3, 1), (0, 2, 1))
    for number, size in enumerate(boards.sizes):
        sets = sorted(combinations(range(9), size), key=lambda cards: cards[::-1])
        firsts = boards.first_images(number)
        assert len(firsts) == boards.num_rows[number]
        for k, cards in enumerate(sets):
            place = boards.set_begin[number] + k
            turned = boards.permutations[boards.turning[place]][list(cards)]
            first = tuple(firsts[boards.row[place]].tolist())
            assert tuple(sorted(turned.tolist())) == first
            assert first == min(images_of(cards, boards), key=lambda image: image[::-1])


@pytest.mark.parametrize(("deck", "new_cards"), [(Deck(3, 3, 1), (0, 2, 1, 1)), (Deck(4, 2, 2), (0, 1, 2))])
def test_boards_are_dealt_once_with_their_images(deck, new_cards):
    boards = Boards(deck, new_cards)
    before = {(): 1}
    for dealt, cards in zip(boards.dealt, new_cards, strict=True):
        # All boards as they are dealt, each by the least of its images.
        counts: dict[tuple, int] = {}
        for parts in all_dealt(deck.size, [len(part) for part in next(iter(before))] + [cards]):
            images = [
                tuple(tuple(sorted(permutation[list(part)].tolist())) for part in parts)
                for permutation in boards.permutations
            ]
            counts[min(images)] = counts.get(min(images), 0) + 1
        assert sorted(counts.values()) == sorted(dealt.all_images.tolist())
        assert len(dealt.before) == dealt.begin[-1]
        before = counts


def all_dealt(size: int, new_cards: list[int]) -> list[tuple]:
    boards: list[tuple] = [()]
    for cards in new_cards:
        boards = [
            (*board, new)
            for board in boards
            for new in combinations(sorted(set(range(size)).difference(*board)), cards)
        ]
    return boards


def test_places_of_sets_are_in_the_order_of_their_masks():
    boards = Boards(Deck(4, 3, 2), (0, 3, 1))
    for number, size in enumerate(boards.sizes):
        masks = np.sort([sum(1 << card for card in cards) for cards in combinations(range(12), size)])
        assert np.array_equal(boards.places_of(number, masks), range(*boards.set_begin[number : number + 2]))


def test_permutations_and_origins_of_hands_are_inverse():
    boards = Boards(Deck(4, 3, 2), (0, 1))
    hands = boards.deck.hands
    for permutation, image, origin in zip(boards.permutations, boards.image, boards.origin, strict=True):
        assert np.array_equal(hands[image], np.sort(permutation[hands], axis=1))
        assert np.array_equal(image[origin], np.arange(len(hands)))


@pytest.mark.slow
def test_the_whole_deck_has_as_many_boards_as_are_known():
    boards = Boards(Deck(13, 4, 2), (0, 3, 1, 1))
    assert boards.num_rows == (1, 1_755, 16_432, 134_459)
    assert [len(dealt.mask) for dealt in boards.dealt] == [1, 1_755, 63_193, 2_554_656]
    assert [dealt.all_images.sum() for dealt in boards.dealt] == [1, 22_100, 22_100 * 49, 22_100 * 49 * 48]
