"""Strengths of hold'em hands, and sums over all boards of the weights of the hands that each hand beats.

A card is the number 4 x rank + suit, as in :mod:`rlccfr.games.public.cards`. The strengths are the same numbers that
``strengths`` returns there, computed a hundred times as fast.
"""

from __future__ import annotations

from numba import types

from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8M

RANKS = 13
SUITS = 4
DECK = RANKS * SUITS
BOARD = 5
"""Number of cards of a full board."""

CATEGORY_SIZE = RANKS**5
"""Difference in strength between adjacent categories, such as a pair and two pairs.

A strength is a number whose digits in base RANKS are the category and then five ranks.
"""

# A high card has the category 0.
PAIR, TWO_PAIRS, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(1, 9)

RANK_BITS = 4
"""Bits for each rank in a number that counts cards by rank. A *rank mask* sets only the lowest of a rank's bits."""

ONE_OF_EACH = sum(1 << (RANK_BITS * rank) for rank in range(RANKS))
"""The rank mask of all ranks."""

I8S = types.int64[::1]
I8M = types.int64[:, ::1]
F8C = types.float64[:, :, ::1]


@inlined
def highest_rank(rank_mask):
    """Return the highest rank of a rank mask, or -1 if it is empty, by halving the range in which the rank lies."""
    if rank_mask == 0:
        return -1
    rank = 0
    if rank_mask >> (8 * RANK_BITS):
        rank += 8
        rank_mask >>= 8 * RANK_BITS
    if rank_mask >> (4 * RANK_BITS):
        rank += 4
        rank_mask >>= 4 * RANK_BITS
    if rank_mask >> (2 * RANK_BITS):
        rank += 2
        rank_mask >>= 2 * RANK_BITS
    return rank + 1 if rank_mask >> RANK_BITS else rank


@inlined
def straight_top(rank_mask):
    """Return the highest rank of the best straight in a rank mask, or -1 if there is none.

    In the straight from the ace to the five, the highest rank is that of the five, 3.
    """
    # The ace also counts below the deuce, so everything is shifted by one rank.
    shifted = (rank_mask << RANK_BITS) | (rank_mask >> (RANK_BITS * (RANKS - 1)))
    pairs = shifted & (shifted >> RANK_BITS)
    starts = pairs & (pairs >> (2 * RANK_BITS)) & (shifted >> (4 * RANK_BITS))
    return highest_rank(starts) + 3 if starts else -1


@inlined
def straight_digits(top):
    """Return a straight's five digits as a number, from its highest rank down; an ace below a deuce has the digit 0."""
    digits = 0
    for step in range(5):
        digits = digits * RANKS + max(top - step, 0)
    return digits


@inlined
def highest_digits(digits, rank_mask, count):
    """Return a number with the ``count`` highest ranks of a rank mask appended to its digits."""
    for _ in range(count):
        rank = highest_rank(rank_mask)
        digits = digits * RANKS + rank
        rank_mask &= ~(1 << (RANK_BITS * rank))
    return digits


@inlined
def best_hand(rank_counts, flush_mask):
    """Return the strength of the best five of seven cards: the larger, the stronger.

    Args:
        rank_counts: the number of cards of each rank, in ``RANK_BITS`` bits each.
        flush_mask: rank mask of the suit that five or more of the cards have; 0 if there is no such suit.
    """
    # A count of 1 or 3 has its lowest bit set, a count of 2 or 3 its second bit, and a count of 4 its third bit.
    lowest_bits = rank_counts & ONE_OF_EACH
    second_bits = (rank_counts >> 1) & ONE_OF_EACH
    quads_mask = (rank_counts >> 2) & ONE_OF_EACH
    rank_mask = lowest_bits | second_bits | quads_mask
    quads = highest_rank(quads_mask)
    trips = highest_rank(lowest_bits & second_bits)
    # With two ranks of three cards, the lower one counts as a pair.
    pair_mask = second_bits & ~(1 << (RANK_BITS * trips)) if trips >= 0 else second_bits
    pair = highest_rank(pair_mask)
    # Try the categories from the strongest to the weakest.
    if flush_mask:
        top = straight_top(flush_mask)
        if top >= 0:
            return STRAIGHT_FLUSH * CATEGORY_SIZE + straight_digits(top)
    if quads >= 0:
        digits = highest_digits(quads, rank_mask & ~(1 << (RANK_BITS * quads)), 1)
        return QUADS * CATEGORY_SIZE + digits * RANKS**3
    if trips >= 0 and pair >= 0:
        return FULL_HOUSE * CATEGORY_SIZE + (trips * RANKS + pair) * RANKS**3
    if flush_mask:
        return FLUSH * CATEGORY_SIZE + highest_digits(0, flush_mask, 5)
    top = straight_top(rank_mask)
    if top >= 0:
        return STRAIGHT * CATEGORY_SIZE + straight_digits(top)
    if trips >= 0:
        digits = highest_digits(trips, rank_mask & ~(1 << (RANK_BITS * trips)), 2)
        return TRIPS * CATEGORY_SIZE + digits * RANKS**2
    if pair < 0:
        return highest_digits(0, rank_mask, 5)
    others = rank_mask & ~(1 << (RANK_BITS * pair))
    second_pair = highest_rank(pair_mask & ~(1 << (RANK_BITS * pair)))
    if second_pair < 0:
        return PAIR * CATEGORY_SIZE + highest_digits(pair, others, 3) * RANKS
    digits = highest_digits(pair * RANKS + second_pair, others & ~(1 << (RANK_BITS * second_pair)), 1)
    return TWO_PAIRS * CATEGORY_SIZE + digits * RANKS**2


@kernel(types.void(I8S, I8M, I8S))
def fill_strengths(board, hands, strength):
    """Write the strength of each hand on a board; -1 for a hand with a card of the board.

    Args:
        board: (5,) cards.
        hands: (hands, 2) cards.
        strength: (hands,) overwritten.
    """
    board_mask = 0
    board_counts = 0
    for card in board:
        board_mask |= 1 << card
        board_counts += 1 << (RANK_BITS * (card // SUITS))
    # A flush needs three cards of the board, so at most one suit can have one.
    flush_suit = -1
    flush_missing = 0  # cards of that suit that a hand must add
    board_flush_mask = 0
    for suit in range(SUITS):
        count = 0
        mask = 0
        for card in board:
            if card % SUITS == suit:
                count += 1
                mask |= 1 << (RANK_BITS * (card // SUITS))
        if count >= 3:
            flush_suit = suit
            flush_missing = 5 - count
            board_flush_mask = mask
    for hand in range(len(hands)):
        counts = board_counts
        hand_mask = 0
        flush_mask = board_flush_mask
        added = 0
        for k in range(2):
            card = hands[hand, k]
            rank_bit = 1 << (RANK_BITS * (card // SUITS))
            hand_mask |= 1 << card
            counts += rank_bit
            if card % SUITS == flush_suit:
                added += 1
                flush_mask |= rank_bit
        if hand_mask & board_mask:
            strength[hand] = -1
        else:
            has_flush = flush_suit >= 0 and added >= flush_missing
            strength[hand] = best_hand(counts, flush_mask if has_flush else 0)


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
    """Return a player's weight of all hands with neither of two cards, less the weight of the hand of both cards.

    Args:
        totals: (2, DECK + 1) each player's weight of the hands with each card and, in the last column, of all hands.
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
def add_board(hands, weights, strength, order, num_images, totals, sums):
    """Add one board's pairs of hands to the sums; see :func:`add_boards`.

    Args:
        strength: (hands,) of each hand on this board; negative for hands with a card of the board.
        order: (hands,) overwritten.
        num_images: number of boards that this one stands for.
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
                # ``without`` subtracts the hand itself twice where the totals contain it once: among the equally strong
                # hands and among all, not among the weaker ones.
                same_hand = weights[opponent, hand]
                beaten = without(weaker, opponent, first_card, second_card)
                tied = without(equal, opponent, first_card, second_card) + same_hand
                met = without(everyone, opponent, first_card, second_card) + same_hand
                sums[0, player, hand] += num_images * beaten
                sums[1, player, hand] += num_images * tied
                sums[2, player, hand] += num_images * met
        for k in range(begin, end):
            add_hand(weaker, order[k], hands, weights)
        begin = end


@inlined
def num_equal_boards(cards, count, permutations):
    """Return how many boards a set of cards stands for: the number of its images, or 0 if an image has a smaller mask.

    So only one of the boards that are images of each other is evaluated.

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


@kernel(types.boolean(I8S, I8S, I8S, types.int64, I8M, I8M, F8M, I8S, I8S, F8C, F8C))
def add_boards(
    board, remaining_cards, board_indices, limit, permutations, hands, weights, strength, order, totals, sums
):
    """Add up, board by board, the weights of the hands that each hand beats, ties with and can be dealt against.

    This is done for each player's hands, against the opponent's.

    Args:
        board: (5,) the known cards first; the others are overwritten.
        remaining_cards: (cards,) cards that may complete the board, ascending.
        board_indices: (missing cards,) ascending indices in ``remaining_cards`` of the next board's further cards;
            changed in place.
        limit: largest number of boards of this call.
        permutations: (permutations, DECK) a group of permutations of the cards that change neither the known cards nor
            the weights. If these map some boards onto each other, only one of the boards is evaluated, and its sums
            count once for each of them.
        hands: (hands, 2) cards.
        weights: (2, hands) each player's weight of each hand.
        strength, order: (hands,) working memory.
        totals: (3, 2, DECK + 1) working memory.
        sums: (3, 2, hands) the weights that each hand of each player beats, ties with, and can be dealt against; added
            to in place.

    Returns:
        Whether there are further boards.
    """
    missing = len(board_indices)
    known = BOARD - missing
    for _ in range(limit):
        for k in range(missing):
            board[known + k] = remaining_cards[board_indices[k]]
        num_images = num_equal_boards(board[known:], missing, permutations)
        if num_images > 0:
            fill_strengths(board, hands, strength)
            add_board(hands, weights, strength, order, num_images, totals, sums)
        # The next set of cards: the last index that can grow grows by 1, and those after it follow it without gaps.
        k = missing - 1
        while k >= 0 and board_indices[k] == len(remaining_cards) - missing + k:
            k -= 1
        if k < 0:
            return False
        board_indices[k] += 1
        for later in range(k + 1, missing):
            board_indices[later] = board_indices[later - 1] + 1
    return True
