"""Strengths of hold'em hands, and what hands win over all boards.

A card is the number 4 x rank + suit, as in :mod:`rlccfr.games.public.cards`. The strengths are the numbers that
``strengths`` gives there, which is a hundred times slower.
"""

from __future__ import annotations

from numba import types

from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8M

RANKS = 13
SUITS = 4
DECK = RANKS * SUITS
BOARD = 5
"""Number of cards of a whole board."""

CATEGORY_SIZE = RANKS**5
"""Distance between the strengths of two categories: each strength has five digits, ranks, below its category."""

PAIR, TWO_PAIRS, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(1, 9)

I8S = types.int64[::1]
I8M = types.int64[:, ::1]


@inlined
def straight_top(rank_mask):
    """Return the highest rank of the best straight among some ranks, or -1; a straight to the five has the rank 3.

    Args:
        rank_mask: a bit for each rank, from the deuce up.
    """
    # The ace also counts below the deuce, so everything is shifted by one.
    shifted = (rank_mask << 1) | (rank_mask >> (RANKS - 1))
    starts = shifted & (shifted >> 1) & (shifted >> 2) & (shifted >> 3) & (shifted >> 4)
    top = -1
    for start in range(RANKS - 3):
        if (starts >> start) & 1:
            top = start + 3
    return top


@inlined
def straight_digits(top):
    """Return the five digits of a straight, from its highest rank down; the ace below a deuce has the digit 0."""
    digits = 0
    for step in range(5):
        digits = digits * RANKS + max(top - step, 0)
    return digits


@inlined
def highest_digits(digits, rank_mask, count):
    """Append the ``count`` highest ranks of a mask to some digits."""
    for rank in range(RANKS - 1, -1, -1):
        if count > 0 and (rank_mask >> rank) & 1:
            digits = digits * RANKS + rank
            count -= 1
    return digits


@inlined
def best_hand(rank_counts, suit_masks):
    """Return the strength of the best five of seven cards: the larger, the stronger.

    Args:
        rank_counts: for each rank four bits, the number of cards of that rank.
        suit_masks: for each suit sixteen bits, a bit for each rank.
    """
    rank_mask = 0
    quads = -1
    trips_mask = 0
    pair_mask = 0
    for rank in range(RANKS):
        count = (rank_counts >> (4 * rank)) & 15
        if count > 0:
            rank_mask |= 1 << rank
        if count == 4:
            quads = rank
        elif count == 3:
            trips_mask |= 1 << rank
        elif count == 2:
            pair_mask |= 1 << rank
    flush_mask = 0
    for suit in range(SUITS):
        mask = (suit_masks >> (16 * suit)) & 0x1FFF
        size = 0
        for rank in range(RANKS):
            size += (mask >> rank) & 1
        if size >= 5:
            flush_mask = mask
    flush_top = straight_top(flush_mask)
    trips = highest_rank(trips_mask)
    pairs = pair_mask | (trips_mask & ~(1 << max(trips, 0)) if trips >= 0 else 0)  # second trips count as a pair
    pair = highest_rank(pairs)
    top = straight_top(rank_mask)
    if flush_top >= 0:
        return STRAIGHT_FLUSH * CATEGORY_SIZE + straight_digits(flush_top)
    if quads >= 0:
        digits = highest_digits(quads, rank_mask & ~(1 << quads), 1)
        return QUADS * CATEGORY_SIZE + digits * RANKS**3
    if trips >= 0 and pair >= 0:
        return FULL_HOUSE * CATEGORY_SIZE + (trips * RANKS + pair) * RANKS**3
    if flush_mask:
        return FLUSH * CATEGORY_SIZE + highest_digits(0, flush_mask, 5)
    if top >= 0:
        return STRAIGHT * CATEGORY_SIZE + straight_digits(top)
    if trips >= 0:
        digits = highest_digits(trips, rank_mask & ~(1 << trips), 2)
        return TRIPS * CATEGORY_SIZE + digits * RANKS**2
    if pair >= 0:
        second = highest_rank(pairs & ~(1 << pair))
        if second >= 0:
            digits = highest_digits(pair * RANKS + second, rank_mask & ~(1 << pair) & ~(1 << second), 1)
            return TWO_PAIRS * CATEGORY_SIZE + digits * RANKS**2
        return PAIR * CATEGORY_SIZE + highest_digits(pair, rank_mask & ~(1 << pair), 3) * RANKS
    return highest_digits(0, rank_mask, 5)


@inlined
def highest_rank(rank_mask):
    """Return the highest rank of a mask, or -1."""
    highest = -1
    for rank in range(RANKS):
        if (rank_mask >> rank) & 1:
            highest = rank
    return highest


@kernel(types.void(I8S, I8M, I8S))
def fill_strengths(board, hands, strength):
    """Write the strength of each hand on a board; -1 where the board holds one of its cards.

    Args:
        board: (5,) cards.
        hands: (hands, 2) cards.
        strength: (hands,) overwritten.
    """
    board_counts = 0
    board_suits = 0
    board_mask = 0
    for card in board:
        board_counts += 1 << (4 * (card // SUITS))
        board_suits |= 1 << (16 * (card % SUITS) + card // SUITS)
        board_mask |= 1 << card
    for hand in range(len(hands)):
        counts = board_counts
        suits = board_suits
        hand_mask = 0
        for k in range(2):
            card = hands[hand, k]
            counts += 1 << (4 * (card // SUITS))
            suits |= 1 << (16 * (card % SUITS) + card // SUITS)
            hand_mask |= 1 << card
        strength[hand] = -1 if hand_mask & board_mask else best_hand(counts, suits)


@inlined
def sort_by_strength(order, count, strength):
    """Sort the first ``count`` hands of ``order`` by strength, weakest first, in place (Shell's sort)."""
    gap = 1
    while 3 * gap + 1 < count:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, count):
            hand = order[k]
            place = k
            while place >= gap and strength[order[place - gap]] > strength[hand]:
                order[place] = order[place - gap]
                place -= gap
            order[place] = hand
        gap //= 3


@inlined
def without(totals, player, first_card, second_card):
    """Return a player's weight of all hands that hold neither of two cards, but for the hand of both.

    Args:
        totals: (2, DECK + 1) each player's weight by card held, and in the last column of all hands.
    """
    return totals[player, DECK] - totals[player, first_card] - totals[player, second_card]


@inlined
def add_hand(totals, hand, hands, weights):
    """Add a hand's weights to both players' totals; see :func:`without`."""
    for player in range(2):
        weight = weights[player, hand]
        totals[player, hands[hand, 0]] += weight
        totals[player, hands[hand, 1]] += weight
        totals[player, DECK] += weight


@inlined
def add_board(hands, weights, strength, order, times, totals, sums):
    """Add one board's pairs of hands to the sums; see :func:`add_boards`.

    Args:
        strength: (hands,) on this board; negative for hands that are not possible.
        order: (hands,) overwritten.
        times: number of boards that this one stands for.
        totals: (3, 2, DECK + 1) overwritten: weights of weaker hands, of equally strong ones, and of all.
    """
    weaker = totals[0]
    equal = totals[1]
    everyone = totals[2]
    totals[:] = 0.0
    count = 0
    for hand in range(len(hands)):
        if strength[hand] >= 0:
            order[count] = hand
            count += 1
            add_hand(everyone, hand, hands, weights)
    sort_by_strength(order, count, strength)
    begin = 0
    while begin < count:
        end = begin
        equal[:] = 0.0
        while end < count and strength[order[end]] == strength[order[begin]]:
            add_hand(equal, order[end], hands, weights)
            end += 1
        for k in range(begin, end):
            hand = order[k]
            first_card = hands[hand, 0]
            second_card = hands[hand, 1]
            for player in range(2):
                opponent = 1 - player
                # The opponent's own copy of the hand holds both cards, so it was subtracted twice.
                copy = weights[opponent, hand]
                sums[0, player, hand] += times * without(weaker, opponent, first_card, second_card)
                sums[1, player, hand] += times * (without(equal, opponent, first_card, second_card) + copy)
                sums[2, player, hand] += times * (without(everyone, opponent, first_card, second_card) + copy)
        for k in range(begin, end):
            add_hand(weaker, order[k], hands, weights)
        begin = end


@inlined
def boards_alike(cards, count, permutations):
    """Return how many boards a set of cards stands for: the number of its images, or 0 if an image comes before it.

    Args:
        cards: array whose first ``count`` entries are the cards.
        permutations: (permutations, DECK) a group of permutations of the cards; the first one changes nothing.
    """
    mask = 0
    for k in range(count):
        mask |= 1 << cards[k]
    num_equal = 0
    for permutation in range(len(permutations)):
        image = 0
        for k in range(count):
            image |= 1 << permutations[permutation, cards[k]]
        if image < mask:
            return 0
        if image == mask:
            num_equal += 1
    return len(permutations) // num_equal


@kernel(
    types.boolean(
        I8S, I8S, I8S, types.int64, I8M, I8M, F8M, I8S, I8S, types.float64[:, :, ::1], types.float64[:, :, ::1]
    )
)
def add_boards(board, rest, picked, limit, permutations, hands, weights, strength, order, totals, sums):
    """Add up, for each hand of each player, the opponent's weight that it beats, ties with and meets, board by board.

    Args:
        board: (5,) the known cards first; the others are overwritten.
        rest: (cards,) cards that may complete the board, ascending.
        picked: (missing cards,) indices in ``rest`` of the next board's further cards, ascending; changed in place.
        limit: largest number of boards of this call.
        permutations: (permutations, DECK) a group of permutations of the cards that change neither the known cards nor
            the weights; of boards that differ by one of these, one is added, as often as there are such boards.
        hands: (hands, 2) cards.
        weights: (2, hands) each player's weight of each hand.
        strength, order: (hands,) working memory.
        totals: (3, 2, DECK + 1) working memory.
        sums: (3, 2, hands) for each hand of each player the weight beaten, tied with, and met; added to.

    Returns:
        Whether there are further boards.
    """
    missing = len(picked)
    known = BOARD - missing
    for _ in range(limit):
        for k in range(missing):
            board[known + k] = rest[picked[k]]
        times = boards_alike(board[known:], missing, permutations)
        if times > 0:
            fill_strengths(board, hands, strength)
            add_board(hands, weights, strength, order, times, totals, sums)
        # The next set of cards: the last index that can move moves on, and those after it follow closely.
        k = missing - 1
        while k >= 0 and picked[k] == len(rest) - missing + k:
            k -= 1
        if k < 0:
            return False
        picked[k] += 1
        for later in range(k + 1, missing):
            picked[later] = picked[later - 1] + 1
    return True
