"""How often two players' bucket histories *meet*, that is, are dealt together, and who wins then.

In an abstraction with perfect recall, a player knows the betting and its own bucket history; boards are forgotten. So
an abstract game of hold'em needs only the tree of histories and, for each pair of histories of the last round, two
numbers: the number of deals that give the players these histories, and the number of these that player 0 wins minus
the number that it loses. Both are sums over all boards and all pairs of hands, in whole numbers.

The two are computed from one matrix. For each pair of histories, it has twice the number of deals that player 0 wins,
plus the number of ties. If both players have the same buckets, this matrix plus its transpose is twice the number of
deals, and this matrix minus its transpose is twice the wins less the losses. Otherwise, a second matrix with the
players swapped replaces the transpose.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.bucket_histories.boards import Progress, share_of
from rlccfr.games.bucket_histories.bucketing import FORMAT as BUCKETS_FORMAT
from rlccfr.games.bucket_histories.bucketing import Bucketing, histories_by_board
from rlccfr.games.bucket_histories.strengths import StrengthTables, check_memory, format_in_keys, orders_of
from rlccfr.games.cache import are_arrays_kept, find_arrays, forget_arrays, keep_arrays
from rlccfr.games.public.deals import Deck
from rlccfr.kernels.bucket_histories.meetings import (
    Dealing,
    Showdowns,
    Side,
    Sums,
    add_meetings,
    most_local,
)

FORMAT = "rlccfr-meetings-1"
"""Version of the numbers kept on disk; it is raised when they change."""

BOARDS_PER_CALL = 3000
"""Number of complete boards that one kernel call visits; so few that Ctrl-C takes effect within half a second."""

SECONDS_BETWEEN_FILES = 60.0
"""Least time between two writes of the file of unfinished work."""

WRITING = 0.05
"""Largest share of the time that is spent on writing the file of unfinished work."""

BLOCK = 1024
"""Number of rows that are converted at a time, so that no large matrix is copied in double precision."""


class PairMatrices(NamedTuple):
    """The probabilities of pairs of bucket histories, one of each player, and the margins of player 0 at showdowns.

    Attributes:
        met: for each round, the probability that the players have each pair of histories, (player 0's histories,
            player 1's).
        margins: for the last round, the probability that the players have each pair of histories and player 0 wins,
            less the probability that they have it and player 0 loses, (player 0's histories, player 1's).
    """

    met: list[np.ndarray]
    margins: np.ndarray


@dataclass(frozen=True, eq=False)
class Meetings:
    """How many deals give the two players each pair of bucket histories, and who wins them.

    A deal is an ordered pair of hands and a board. A round's board cards are a set, so a flop's order does not count.

    Attributes:
        above: for each round, the index of the previous round's history that each of player 0's histories continues,
            (histories,); zeros in the first round. Ascending, so the continuations of one history are neighbours.
        wins: for each pair of histories of the last round, twice the number of deals that player 0 wins, plus the
            number of ties, (player 0's histories, player 1's). Whole numbers, in 32 bits if they fit, otherwise in
            double precision.
        opponent_above: like ``above``, but for player 1's histories.
        opponent_wins: twice the number of deals that player 1 wins, plus the number of ties, (player 1's histories,
            player 0's). It is ``wins`` itself if both players have the same buckets.

    Examples:
        >>> from rlccfr.games.bucket_histories.bucketing import bucketing_of
        >>> from rlccfr.games.public.deals import Deck
        >>> bucketing = bucketing_of(Deck(ranks=3, suits=1, private=1), (0,), buckets=3)
        >>> meetings = meetings_of(bucketing)  # Kuhn poker's cards
        >>> meetings.met
        array([[0., 1., 1.],
               [1., 0., 1.],
               [1., 1., 0.]])
        >>> meetings.won[2]
        array([1., 1., 0.])
    """

    above: tuple[np.ndarray, ...]
    wins: np.ndarray
    opponent_above: tuple[np.ndarray, ...]
    opponent_wins: np.ndarray

    @property
    def met(self) -> np.ndarray:
        """Number of deals in which the players have each pair of histories, (player 0's histories, player 1's).

        It is computed at each call.
        """
        deals: np.ndarray = (self.wins.astype(float) + self.opponent_wins.T) / 2
        return deals

    @property
    def won(self) -> np.ndarray:
        """Number of player 0's wins minus its losses with each pair of histories, (player 0's histories, player 1's).

        It is computed at each call.
        """
        margins: np.ndarray = (self.wins.astype(float) - self.opponent_wins.T) / 2
        return margins

    @property
    def total(self) -> float:
        """Number of deals."""
        return (float(self.wins.sum()) + float(self.opponent_wins.sum())) / 2

    def matrices(self, dtype: np.dtype) -> PairMatrices:
        """Return the probabilities of pairs of histories, and the margins by which player 0 wins.

        Args:
            dtype: type of their numbers.

        Raises:
            GameError: they do not fit into memory.
        """
        num_rows, num_columns = self.wins.shape
        check_memory(2 * dtype.itemsize * num_rows * num_columns, f"the matrices of {num_rows:,} bucket histories")
        total = self.total
        met = np.empty(self.wins.shape, dtype)
        margins = np.empty(self.wins.shape, dtype)
        opponent_begins = _first_of_each(self.opponent_above[-1])
        by_opponent_before = np.empty((len(met), len(opponent_begins)))
        for begin in range(0, len(met), BLOCK):
            rows = slice(begin, begin + BLOCK)
            own_wins = self.wins[rows].astype(float)
            opponent_wins = np.ascontiguousarray(self.opponent_wins[:, rows].T)
            deals = (own_wins + opponent_wins) / 2
            met[rows] = deals / total
            margins[rows] = (own_wins - opponent_wins) / 2 / total
            by_opponent_before[rows] = np.add.reduceat(deals, opponent_begins, axis=1)
        by_round = [met]
        # Deals of an earlier round are sums over the histories that continue a pair.
        deals = np.add.reduceat(by_opponent_before, _first_of_each(self.above[-1]), axis=0)
        for number in range(len(self.above) - 2, -1, -1):
            by_round.insert(0, (deals / total).astype(dtype))
            begins = _first_of_each(self.above[number])
            deals = summed_over_continuations(deals, begins, _first_of_each(self.opponent_above[number]))
        return PairMatrices(by_round, margins)


def summed_over_continuations(matrix: np.ndarray, begins: np.ndarray, opponent_begins: np.ndarray) -> np.ndarray:
    """Return, for each pair of histories of the previous round, the sum of a matrix over the pairs that continue it.

    Args:
        matrix: (player 0's histories, player 1's).
        begins, opponent_begins: for player 0 and for player 1, (histories of the round before,) index of the first
            continuation of each history.
    """
    by_row = np.add.reduceat(matrix, begins, axis=0)
    sums: np.ndarray = np.add.reduceat(by_row, opponent_begins, axis=1)
    return sums


def _first_of_each(above: np.ndarray) -> np.ndarray:
    """Return the index of the first continuation of each history of the previous round; see :attr:`Meetings.above`."""
    return np.flatnonzero(np.diff(above, prepend=-1))


def meetings_of(bucketing: Bucketing, progress: Progress | None = None) -> Meetings:
    """Return how often bucket histories meet if both players have the same buckets; counts may come from the cache.

    Interrupted work resumes from the file of unfinished work, which is written about once a minute.

    Args:
        bucketing: the buckets of both players.
        progress: called with the share of the work that is done.

    Raises:
        GameError: the matrix does not fit into memory.
    """
    size = bucketing.num_histories[-1]
    # A matrix of doubles, and while it is made, a copy in 32 bits.
    check_memory(12 * size**2, f"the counts for pairs of {size:,} bucket histories")
    wins = _doubled_wins(bucketing, bucketing, progress)
    return Meetings(bucketing.above, wins, bucketing.above, wins)


def meetings_between(first: Bucketing, second: Bucketing, progress: Progress | None = None) -> Meetings:
    """Return how often bucket histories meet if the players have different buckets; see :func:`meetings_of`.

    Args:
        first, second: the buckets of player 0 and of player 1, on the same deck and boards.
        progress: called with the share of the work that is done.

    Raises:
        GameError: the matrices do not fit into memory, or the decks or the boards differ.
    """
    if first.boards != second.boards:
        raise GameError("the decks or the boards differ: both players' buckets must be of the same deck and boards")
    shape = first.num_histories[-1], second.num_histories[-1]
    # Two matrices of doubles, each with a copy in 32 bits while it is made.
    check_memory(24 * shape[0] * shape[1], f"the counts for pairs of {shape[0]:,} and {shape[1]:,} bucket histories")
    first_wins = _doubled_wins(first, second, share_of(progress, 0.0, 0.5))
    second_wins = _doubled_wins(second, first, share_of(progress, 0.5, 1.0))
    return Meetings(first.above, first_wins, second.above, second_wins)


def are_kept(deck: Deck, board: tuple[int, ...], buckets: int) -> bool:
    """Return whether the cache has the counts for two players with the same buckets, without reading them.

    Args:
        deck, board, buckets: see :func:`rlccfr.games.bucket_histories.bucketing.bucketing_of`.
    """
    return are_arrays_kept("meetings", _parts_of_key(deck, board, buckets, buckets))


def _parts_of_key(deck: Deck, board: tuple[int, ...], buckets: int, opponent_buckets: int) -> tuple[str, ...]:
    """Return the key under which counts are kept."""
    rules = repr((deck.ranks, deck.suits, deck.private, board, buckets, opponent_buckets))
    return (FORMAT, BUCKETS_FORMAT, *format_in_keys(), rules)


def _doubled_wins(first: Bucketing, second: Bucketing, progress: Progress | None) -> np.ndarray:
    """Return, for each pair of histories, twice the number of deals that a player wins, plus the number of ties.

    Args:
        first: the player's buckets.
        second: the opponent's buckets.
        progress: called with the share of the work that is done; None to call nothing.

    Returns:
        Whole numbers, (first's histories, second's histories).
    """
    parts = _parts_of_key(first.deck, first.boards.new_cards, first.buckets, second.buckets)
    unfinished = (*parts, "unfinished")
    wins = np.zeros((first.num_histories[-1], second.num_histories[-1]))
    if not first.boards.are_many:
        for _ in _add_all(first, second, 0, wins):
            pass
        return _in_32_bits(wins)
    kept = find_arrays("meetings", parts)
    if kept is not None:
        forget_arrays("meetings", unfinished)  # left by another process that was interrupted
        return _in_32_bits(kept["wins"])
    done = 0
    kept = find_arrays("meetings", unfinished)
    if kept is not None:
        wins = kept["wins"]
        done = int(kept["done"])
    keeper = _Keeper(lambda done: keep_arrays("meetings", unfinished, {"wins": wins, "done": np.array(done)}))
    for boards_done in _add_all(first, second, done, wins):
        if progress is not None:
            progress(boards_done / (len(first.boards.dealt[-1].begin) - 1))
        keeper.keep_sometimes(boards_done)
    wins = _in_32_bits(wins)
    keep_arrays("meetings", parts, {"wins": wins}, replaces=unfinished)
    return wins


def _in_32_bits(wins: np.ndarray) -> np.ndarray:
    """Return whole numbers as unsigned 32-bit integers if they fit; otherwise unchanged."""
    return wins.astype(np.uint32, copy=False) if wins.max() < 2**32 else wins


class _Keeper:
    """Decides when unfinished work is written to a file.

    Attributes:
        keep: function that writes the file, given how much is done.
    """

    def __init__(self, keep: Callable[[int], None]) -> None:
        self.keep = keep
        self._last = time.monotonic()
        self._pause = SECONDS_BETWEEN_FILES

    def keep_sometimes(self, done: int) -> None:
        """Write the file unless that would take too large a share of the time since it was last written."""
        begin = time.monotonic()
        if begin - self._last < self._pause:
            return
        self.keep(done)
        self._last = time.monotonic()
        self._pause = max(SECONDS_BETWEEN_FILES, (self._last - begin) / WRITING)


def _add_all(first: Bucketing, second: Bucketing, done: int, wins: np.ndarray) -> Iterator[int]:
    """Add up, over all boards, twice the number of a player's wins plus the number of ties.

    Args:
        first, second: the buckets of the player whose wins are counted, and of the opponent.
        done: number of boards of the second-to-last round that have been added already.
        wins: (first's histories, second's histories) the sums, which are changed in place.

    Yields:
        Now and then, the number of boards of the second-to-last round that have been added.
    """
    boards = first.boards
    before_last = boards.num_rounds - 2
    dealt = boards.dealt[-1]
    # In a game of one round, an empty board stands for the time before it.
    masks = boards.dealt[before_last].mask if before_last >= 0 else np.zeros(1, np.int64)
    all_images = boards.dealt[before_last].all_images if before_last >= 0 else np.ones(1, np.int64)
    num_possible = boards.hands_on_board(boards.num_rounds - 1)
    showdowns = showdowns_of(first.strengths)
    work = _Work(boards.deck.size, num_possible, (first, second))
    parts = zip(histories_by_board(first, before_last), histories_by_board(second, before_last), strict=True)
    for (part, row_histories), (_, column_histories) in parts:
        # Boards that an interrupted run has added already are skipped.
        for chosen in _parts_of(slice(max(part.start, done), part.stop), dealt.begin):
            # Histories are those of this part alone, so boards are counted from the part's first one.
            inner = slice(chosen.start - part.start, chosen.stop - part.start)
            dealing = Dealing(
                masks[chosen],
                all_images[chosen],
                dealt.begin[chosen.start : chosen.stop + 1],
                dealt.row,
                dealt.turning,
                dealt.images,
            )
            sides = work.sides((row_histories[inner], column_histories[inner]), masks[chosen], boards.hand_masks)
            add_meetings(showdowns, dealing, *sides, first is second, work.sums, wins)
            yield chosen.stop


def showdowns_of(strengths: StrengthTables) -> Showdowns:
    """Return the hands on each complete board in the order of their strength; with the whole deck, it takes seconds.

    Raises:
        GameError: they do not fit into memory.
    """
    boards = strengths.boards
    num_possible = boards.hands_on_board(boards.num_rounds - 1)
    check_memory(2 * boards.num_rows[-1] * num_possible, "the orders of hands by strength")
    orders = np.zeros((boards.num_rows[-1], num_possible), np.uint16)
    for rows, orders_of_rows in orders_of(boards):
        orders[rows] = orders_of_rows
    return Showdowns(
        hands=boards.hands.astype(np.uint32),
        hand_masks=boards.hand_masks,
        # 1 if hands have two cards and 0 if they have one, since kernels compute with it.
        holds_two=boards.deck.private - 1,
        origin=boards.origin,
        orders=orders,
        half_pairs=strengths.half_pairs,
    )


def _parts_of(part: slice, begin: np.ndarray) -> Iterator[slice]:
    """Divide some boards of the second-to-last round into parts, and yield them.

    One kernel call can go through all complete boards that continue the boards of one part.

    Args:
        part: the boards to divide, as a range of the round's boards.
        begin: (boards of the round + 1,) index of the first complete board that continues each board of the round.
    """
    start = part.start
    while start < part.stop:
        stop = int(np.searchsorted(begin, begin[start] + BOARDS_PER_CALL, side="right")) - 1
        stop = min(max(stop, start + 1), part.stop)
        yield slice(start, stop)
        start = stop


class _Work:
    """Working memory of :func:`rlccfr.kernels.bucket_histories.meetings.add_meetings`, which grows as needed.

    Attributes:
        sums: see :class:`rlccfr.kernels.bucket_histories.meetings.Sums`.
    """

    def __init__(self, num_cards: int, num_possible: int, bucketings: tuple[Bucketing, Bucketing]) -> None:
        self._num_cards = num_cards
        self._num_possible = num_possible
        self._bucketings = bucketings
        self._sizes = [-1, -1]

    def sides(
        self, histories: tuple[np.ndarray, np.ndarray], masks: np.ndarray, hand_masks: np.ndarray
    ) -> tuple[Side, Side]:
        """Return both players' histories on some boards, with working memory for the histories that continue them.

        Args:
            histories: for each player, (boards, hands) history of each hand on each board.
            masks: (boards,) cards of each board, as bits.
            hand_masks: (hands,) cards of each hand, as bits.
        """
        sizes = [
            most_local(of_player, masks, hand_masks, bucketing.first[-1], np.zeros(len(bucketing.starts[-1]), np.int64))
            for of_player, bucketing in zip(histories, self._bucketings, strict=True)
        ]
        if any(size > room for size, room in zip(sizes, self._sizes, strict=True)):
            self._allocate([max(pair) for pair in zip(sizes, self._sizes, strict=True)])
        rows, columns = (
            side._replace(histories=of_player) for side, of_player in zip(self._sides, histories, strict=True)
        )
        return rows, columns

    def _allocate(self, sizes: list[int]) -> None:
        """Allocate working memory; ``sizes`` has each player's number of histories that may follow one board."""
        self._sizes = sizes
        num_rows, num_columns = sizes
        # On one board, no more histories can be shown than there are hands.
        shown_rows, shown_columns = (min(size, self._num_possible) for size in sizes)
        size = 4 * (num_rows * num_columns + shown_rows * shown_columns)
        check_memory(size, "the counts for pairs of bucket histories on one board")
        rows, columns = self._bucketings
        row_side = self._side(rows, num_rows)
        self._sides = row_side, row_side if rows is columns else self._side(columns, num_columns)
        self.sums = Sums(
            total=np.zeros(shown_columns, np.int32),
            holding=np.zeros((self._num_cards + 1, shown_columns), np.int32),
            shown=np.zeros((shown_rows, shown_columns), np.int32),
            local=np.zeros((num_rows, num_columns), np.int32),
        )

    def _side(self, bucketing: Bucketing, size: int) -> Side:
        return Side(
            histories=np.zeros((0, 0), np.int32),
            starts=bucketing.starts[-1],
            first=bucketing.first[-1],
            begin=np.zeros(len(bucketing.starts[-1]), np.int64),
            history=np.zeros(size, np.uint32),
            shown=np.zeros(size, np.int64),
            local=np.zeros(size, np.uint32),
            of_hand=np.zeros(self._num_possible, np.uint32),
        )
