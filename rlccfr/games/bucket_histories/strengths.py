"""The strength of every hand on every board, in whole numbers: E[HS^2], up to a factor.

HS, the hand strength on a whole board, is the probability that a hand wins plus half that of a tie, against a random
hand of the other cards. In units of half a hand of the opponent it is a whole number, at most 1,980 for the whole deck
and five board cards. In the last round, a hand's strength is HS itself, which orders hands as HS^2 does. In earlier
rounds, it is the sum of HS^2 over all boards that may still come, which orders them as the mean does. So ties are
exact, and nothing depends on rounding or on the order of summation.

HS is counted from the order of the hands at showdown. A hand's *rank* on a whole board is its place in that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from weakref import WeakValueDictionary

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.bucket_histories.boards import Boards, Progress
from rlccfr.games.cache import find_arrays, keep_arrays
from rlccfr.games.memory import available_memory, gigabytes
from rlccfr.games.public.cards import strengths
from rlccfr.games.public.deals import TEXAS, WHOLE_BOARD
from rlccfr.kernels.bucket_histories.strengths import DIGIT, add_squares, add_sums, fill_half_pairs, fill_orders
from rlccfr.kernels.public.hand_strength import fill_strengths

FORMAT = "rlccfr-strengths-1"
"""Version of the tables kept on disk; it is raised when their numbers change."""

FIRST_FORMAT = "rlccfr-strengths-1"
"""First version of :data:`FORMAT`; keys of tables that are computed from strengths do not name this version."""

HANDS_PER_CALL = 3_000_000
"""Number of pairs of a hand and a board per kernel call; so few that Ctrl-C takes effect within half a second.

Calls that sort hands get an eighth of this number.
"""

MOST_VALUE = 2**31 - 1
"""Largest number in 32 bits. It marks buckets that do not exist, so it must not occur in the sums themselves."""


STRENGTHS_REMEDY = "use fewer ranks or rounds"
"""Advice in errors on how to make tables of strengths smaller."""


@dataclass(frozen=True, eq=False)
class StrengthTables:
    """The strength of each hand on each board of each round.

    Attributes:
        boards: the boards.
        sums: (rows of all rounds but the last, hands) the sum of HS^2 over the boards to come; 0 for hands that hold a
            card of the board. The rows of the first round come first. If the sums of a round do not fit into 32 bits,
            their ranks among the distinct sums of the round take their place.
        half_pairs: (rows of the last round, hands) HS in units of half a hand of the opponent.
    """

    boards: Boards
    sums: np.ndarray
    half_pairs: np.ndarray

    @property
    def row_begin(self) -> np.ndarray:
        """(rounds,) the first row of each round in ``sums``; 0 for the last round, which has a table of its own."""
        row_begin = np.zeros(self.boards.num_rounds, np.int64)
        row_begin[1:-1] = np.cumsum(self.boards.num_rows[:-2])
        return row_begin


_in_use: WeakValueDictionary[Boards, StrengthTables] = WeakValueDictionary()


def strength_tables(boards: Boards, progress: Progress | None = None) -> StrengthTables:
    """Return the strengths of all hands on all boards, from the cache if they are there.

    For the whole deck with five board cards, they take 0.45 GB and about 10 seconds to compute. All bucketings of the
    same cards share one copy.

    Args:
        boards: the boards.
        progress: called with the share of the work that is done.

    Raises:
        GameError: the tables do not fit into memory.

    Examples:
        >>> from rlccfr.games.public.deals import Deck
        >>> tables = strength_tables(Boards(Deck(ranks=3, suits=1, private=1), (0, 1)))
        >>> tables.half_pairs  # a pair is impossible with one suit, so the higher card wins
        array([[0, 0, 2],
               [0, 0, 2],
               [0, 2, 0]], dtype=uint16)
        >>> tables.sums  # the deuce always loses, the trey wins on a four, the four always wins
        array([[0, 4, 8]], dtype=int32)
    """
    tables = _in_use.get(boards)
    if tables is None:
        tables = _kept_or_computed(boards, progress)
        _in_use[boards] = tables
    return tables


def _kept_or_computed(boards: Boards, progress: Progress | None) -> StrengthTables:
    """See :func:`strength_tables`."""
    deck = boards.deck
    num_hands = deck.num_hands
    num_rows = boards.num_rows
    size = num_hands * (2 * num_rows[-1] + 4 * sum(num_rows[:-1]))
    what = f"the strengths of {num_hands} hands"
    check_memory(size, what, STRENGTHS_REMEDY)
    parts = (FORMAT, repr((deck.ranks, deck.suits, deck.private)), repr(boards.new_cards))
    kept = find_arrays("strengths", parts) if boards.are_many else None
    if kept is not None:
        return StrengthTables(boards, kept["sums"], kept["half_pairs"])
    # The sums of one round are computed in 64 bits.
    check_memory(size + 8 * num_hands * max(num_rows[:-1], default=0), what, STRENGTHS_REMEDY)
    half_pairs = np.zeros((num_rows[-1], num_hands), np.uint16)
    holding = np.zeros(deck.size + 1, np.int64)
    for rows, orders in orders_of(boards, progress):
        fill_half_pairs(orders, boards.hands, deck.private - 1, holding, half_pairs[rows])
    sums = _sums(boards, half_pairs)
    if boards.are_many:
        keep_arrays("strengths", parts, {"sums": sums, "half_pairs": half_pairs})
    return StrengthTables(boards, sums, half_pairs)


def format_in_keys() -> tuple[str, ...]:
    """Return the part of a table's key in the cache that names the version of the strengths it was computed from.

    It is empty for the first version, so tables that were kept under keys without a version stay valid.
    """
    return () if FORMAT == FIRST_FORMAT else (FORMAT,)


def check_memory(size: int, what: str, remedy: str = "use fewer buckets, ranks or rounds") -> None:
    """Check that arrays fit into memory.

    Args:
        size: size of the arrays in bytes.
        what: what the arrays are, for the error.
        remedy: what makes the arrays smaller, for the error.

    Raises:
        GameError: they do not fit.
    """
    available = available_memory()
    if available is not None and size > available:
        raise GameError(
            f"{what} need {gigabytes(size)} of memory, but only {gigabytes(available)} are available: {remedy}"
        )


def orders_of(boards: Boards, progress: Progress | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the hands on each whole board in the order of their strength, some boards at a time.

    Boards that differ only by a permutation of suits share a row.

    Args:
        boards: the boards.
        progress: called with the share of the work that is done.

    Yields:
        Some rows, and for each of them the indices of the possible hands, the weakest first, (rows, possible hands). An
        index has the bit ``STRONGER`` if its hand beats the one before; see
        :func:`rlccfr.kernels.bucket_histories.strengths.fill_orders`.
    """
    last = boards.num_rounds - 1
    cards = boards.first_images(last)
    num_possible = boards.hands_on_board(last)
    # Working memory of a sort by two digits, used again for every board.
    unsorted = np.zeros(num_possible, np.int64)
    by_low_digit = np.zeros(num_possible, np.int64)
    begin = np.zeros(2**DIGIT + 1, np.int64)
    step = _rows_per_call(boards)
    for first in range(0, len(cards), step):
        rows = slice(first, min(first + step, len(cards)))
        orders = np.zeros((rows.stop - rows.start, num_possible), np.uint16)
        fill_orders(_ranks_on(boards, cards[rows]), unsorted, by_low_digit, begin, orders)
        yield rows, orders
        if progress is not None:
            progress(rows.stop / len(cards))


def _rows_per_call(boards: Boards) -> int:
    return max(1, HANDS_PER_CALL // boards.deck.num_hands // 8)


def _ranks_on(boards: Boards, cards: np.ndarray) -> np.ndarray:
    """Return numbers that order the hands on whole boards, (boards, hands); -1 for a hand with a card of the board."""
    deck = boards.deck
    ranks_on = np.full((len(cards), deck.num_hands), -1)
    if (deck.ranks, deck.suits) == TEXAS and deck.private == 2 and cards.shape[1] == WHOLE_BOARD:
        for board, row in zip(cards, ranks_on, strict=True):
            fill_strengths(board, boards.hands, row)
        return ranks_on
    for board, row in zip(cards, ranks_on, strict=True):
        possible = ~np.isin(deck.hands, board).any(axis=1)
        hands = deck.hands[possible]
        sets = np.hstack([hands, np.broadcast_to(board, (len(hands), len(board)))])
        row[possible] = strengths(sets, deck.ranks, deck.suits)
    return ranks_on


def _sums(boards: Boards, half_pairs: np.ndarray) -> np.ndarray:
    """Return the sums of HS^2 of all rounds but the last, (rows, hands)."""
    of_rounds: list[np.ndarray] = []
    values = half_pairs
    remaining = np.zeros(boards.deck.size, np.int64)
    # From the last round back: a round adds up the values of the round after it.
    for number in range(boards.num_rounds - 2, -1, -1):
        masks = (1 << boards.first_images(number)).sum(axis=1)
        sets = slice(boards.set_begin[number + 1], boards.set_begin[number + 2])
        row = boards.row[sets]
        turning = boards.turning[sets]
        chosen = np.zeros(boards.new_cards[number + 1], np.int64)
        sums = np.zeros((len(masks), boards.deck.num_hands), np.int64)
        # HS is squared where it is known; earlier rounds add up the squares.
        add = add_squares if values is half_pairs else add_sums
        # A kernel call visits all boards that follow its rows; the more there are per row, the fewer rows it gets.
        boards_per_row = comb(boards.deck.size - boards.sizes[number], boards.new_cards[number + 1])
        step = max(1, _rows_per_call(boards) * 8 // boards_per_row)
        for begin in range(0, len(masks), step):
            rows = slice(begin, begin + step)
            add(masks[rows], boards.choose, row, turning, boards.image, values, chosen, remaining, sums[rows])
        of_rounds.insert(0, _in_32_bits(sums))
        # The sums themselves go on: the ranks that replace large ones in 32 bits could not be added up.
        values = sums
    if not of_rounds:
        return np.zeros((0, boards.deck.num_hands), np.int32)
    return np.concatenate(of_rounds)


def _in_32_bits(values: np.ndarray) -> np.ndarray:
    """Return whole numbers in 32 bits; if one is too large, the rank of each among the distinct numbers instead."""
    if values.max() < MOST_VALUE:
        return values.astype(np.int32)
    ranks = np.unique(values, return_inverse=True)[1]
    return ranks.reshape(values.shape).astype(np.int32)
