"""Boards up to permutations of suits: their indices, and the boards that can follow one another.

A set of cards is a *mask*, which has the bit of each of its cards. The index of a set is its place among all sets of
its size, from 0, in the order of their masks (the colexicographic order). Permutations of suits map a set to its
*images*. The *first image*, which has the smallest mask, represents all of them.
"""

from __future__ import annotations

from numba import types

from rlccfr.kernels.jit import inlined, kernel

I8S = types.int64[::1]
I8M = types.int64[:, ::1]
I4S = types.int32[::1]


@inlined
def number_of_set(mask, choose):
    """Return the index of a set of cards in the list of all sets of its size, ordered by their masks.

    Args:
        mask: the set.
        choose: (cards + 1, sizes) binomial coefficients.
    """
    number = 0
    size = 0
    card = 0
    while mask:
        if mask & 1:
            size += 1
            number += choose[card, size]
        mask >>= 1
        card += 1
    return number


@inlined
def count_up(numbers):
    """Fill an array with 0, 1, 2 and so on: the cards of a deck in order, or the first set for :func:`next_set`."""
    for k in range(len(numbers)):
        numbers[k] = k


@inlined
def next_set(chosen, count):
    """Move ``chosen``, ascending indices below ``count``, to the next set of its size; return whether there is one."""
    size = len(chosen)
    for k in range(size):
        limit = chosen[k + 1] if k + 1 < size else count
        if chosen[k] + 1 < limit:
            chosen[k] += 1
            for lower in range(k):
                chosen[lower] = lower
            return True
    return False


@inlined
def fill_remaining(mask, num_cards, remaining):
    """Write the cards that are not in a set, ascending; return how many there are."""
    count = 0
    for card in range(num_cards):
        if not mask >> card & 1:
            remaining[count] = card
            count += 1
    return count


@kernel(types.int64(I8M, I8M, I8S, I4S, I4S))
def number_boards(permutations, choose, chosen, row, turning):
    """Give consecutive indices to the first images of all sets of one size; return how many first images there are.

    For first images, see :class:`rlccfr.games.bucket_histories.boards.Boards`.

    Args:
        permutations: (permutations, cards) the card that each card becomes; the first one changes nothing.
        choose: see :func:`number_of_set`.
        chosen: (size,) working memory.
        row: (sets,) overwritten by the index of each set's first image among all first images.
        turning: (sets,) overwritten by the index of the first permutation that maps each set to its first image.
    """
    num_cards = permutations.shape[1]
    count_up(chosen)
    num_rows = 0
    for number in range(len(row)):
        own = 0
        for k in range(len(chosen)):
            own |= 1 << chosen[k]
        first = own
        turn = 0
        for p in range(1, len(permutations)):
            image = 0
            for k in range(len(chosen)):
                image |= 1 << permutations[p, chosen[k]]
            if image < first:
                first = image
                turn = p
        turning[number] = turn
        if turn == 0:
            row[number] = num_rows
            num_rows += 1
        else:  # the first image has a smaller mask, so it has been numbered already
            row[number] = row[number_of_set(first, choose)]
        next_set(chosen, num_cards)
    return num_rows


@inlined
def symmetry_of(chosen, remaining, symmetry, permutations):
    """Return, as bits, the permutations of ``symmetry`` that map a set to itself.

    Return 0 if a permutation of ``symmetry`` maps the set to one with a smaller mask, which then represents both.

    Args:
        chosen: indices of the set's cards in ``remaining``.
        remaining: cards.
        symmetry: permutations, as bits.
        permutations: see :func:`number_boards`.
    """
    own = 0
    for k in range(len(chosen)):
        own |= 1 << remaining[chosen[k]]
    left = 0
    for p in range(len(permutations)):
        if symmetry >> p & 1:
            image = 0
            for k in range(len(chosen)):
                image |= 1 << permutations[p, remaining[chosen[k]]]
            if image < own:
                return 0
            if image == own:
                left |= 1 << p
    return left


@inlined
def num_bits(mask):
    """Return how many bits are set."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel(types.void(I8S, I8S, I8M, I8S, I8S, I8S))
def count_following(masks, symmetries, permutations, chosen, remaining, counts):
    """Count the boards that follow each board. Boards that its symmetries map onto each other count as one.

    Args:
        masks: (boards,) cards of each board.
        symmetries: (boards,) for each board, the permutations of suits that map the cards of each of its rounds onto
            themselves, as bits.
        permutations: see :func:`number_boards`.
        chosen: (new cards,) working memory.
        remaining: (cards,) working memory.
        counts: (boards,) overwritten.
    """
    for board in range(len(masks)):
        count = fill_remaining(masks[board], permutations.shape[1], remaining)
        count_up(chosen)
        counts[board] = 0
        while True:
            if symmetry_of(chosen, remaining, symmetries[board], permutations):
                counts[board] += 1
            if not next_set(chosen, count):
                break


@kernel(types.void(I8S, I8S, I8M, I8S, I8S, I8S, I8S, I4S))
def fill_following(masks, symmetries, permutations, chosen, remaining, next_masks, next_symmetries, images):
    """Write the boards that follow the first board, then those that follow the second, and so on.

    Args:
        masks, symmetries, permutations, chosen, remaining: see :func:`count_following`.
        next_masks, next_symmetries: (next boards,) overwritten by ``masks`` and ``symmetries`` of these boards.
        images: (next boards,) overwritten by the number of boards that each stands for, itself included, among those
            that follow the same board.
    """
    place = 0
    for board in range(len(masks)):
        count = fill_remaining(masks[board], permutations.shape[1], remaining)
        count_up(chosen)
        group_size = num_bits(symmetries[board])
        while True:
            symmetry = symmetry_of(chosen, remaining, symmetries[board], permutations)
            if symmetry:
                mask = masks[board]
                for k in range(len(chosen)):
                    mask |= 1 << remaining[chosen[k]]
                next_masks[place] = mask
                next_symmetries[place] = symmetry
                images[place] = group_size // num_bits(symmetry)
                place += 1
            if not next_set(chosen, count):
                break


@kernel(types.void(I8S, I8M, I8S))
def fill_set_numbers(masks, choose, numbers):
    """Write the index of each set of cards in the list of all sets of its size; see :func:`number_of_set`."""
    for k in range(len(masks)):
        numbers[k] = number_of_set(masks[k], choose)
