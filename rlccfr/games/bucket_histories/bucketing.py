"""Percentile buckets of hands; each round splits the buckets of the round before, which gives bucket histories.

In each round, hands that had the same history in the previous round are split into buckets, over all boards, by
percentiles of their E[HS^2]. Hands of equal strength share the bucket in which the middle of their mass lies. The
buckets are those of :mod:`rlccfr.games.merging.percentiles`, but everything is counted in whole numbers, so ties are
exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.bucket_histories.boards import Boards, Progress, share_of
from rlccfr.games.bucket_histories.strengths import (
    MOST_VALUE,
    StrengthTables,
    check_memory,
    format_in_keys,
    strength_tables,
)
from rlccfr.games.cache import find_arrays, keep_arrays
from rlccfr.games.public.cards import cards_named, codes_of
from rlccfr.games.public.deals import Deck
from rlccfr.kernels.bucket_histories.histories import (
    HistoryTables,
    count_half_pairs,
    count_sums,
    fill_board_histories,
    fill_dealt_histories,
    fill_hand_histories,
)

FORMAT = "rlccfr-buckets-1"
"""Version of the buckets kept on disk; it is raised when their numbers change."""

HANDS_PER_CALL = 30_000_000
"""Number of pairs of a hand and a board per kernel call; so few that Ctrl-C takes effect within half a second."""


@dataclass(frozen=True, eq=False)
class Bucketing:
    """Percentile buckets of the hands of a deck, and the bucket history of each hand on each board.

    A history of a round is a history of the round before, followed by a bucket. Histories of a round are numbered in
    the order of the histories that they continue, then from weak hands to strong ones. Histories that no hand has are
    not numbered.

    Attributes:
        strengths: the strength of each hand on each board.
        buckets: number of parts into which each round splits the hands of a history.
        starts: for each round, (histories of the round before, buckets - 1) the least strength in each bucket but the
            first; ``MOST_VALUE`` stands for a bucket that does not exist. There is one history before the first round.
        first: for each round, (histories of the round before + 1,) the first continuation of each of them; then the
            number of histories.

    Examples:
        >>> from rlccfr.games.public.deals import Deck
        >>> bucketing = bucketing_of(Deck(ranks=4, suits=2, private=1), (0, 1), buckets=2)
        >>> bucketing.num_histories
        (2, 4)
        >>> bucketing.histories_of([[7], [0]], [[6], [6]])  # the higher ace, then the lower deuce, on the other ace
        array([[1, 3],
               [0, 0]], dtype=int32)
    """

    strengths: StrengthTables
    buckets: int
    starts: tuple[np.ndarray, ...]
    first: tuple[np.ndarray, ...]

    @property
    def boards(self) -> Boards:
        """The boards."""
        return self.strengths.boards

    @property
    def deck(self) -> Deck:
        """The cards, and how many of them each player holds."""
        return self.boards.deck

    @property
    def num_histories(self) -> tuple[int, ...]:
        """Number of histories in each round."""
        return tuple(int(first[-1]) for first in self.first)

    @cached_property
    def above(self) -> tuple[np.ndarray, ...]:
        """For each round, the index of the previous round's history that each history continues, (histories,).

        In the first round, all are 0.
        """
        return tuple(np.repeat(np.arange(len(first) - 1), np.diff(first)) for first in self.first)

    def labels(self, number: int) -> list[str]:
        """Return the buckets of each history of a round, such as ``2/5``: the second bucket, then the fifth in it.

        Buckets are counted from 1, from weak hands to strong ones; those that no hand is in are left out.

        Args:
            number: the round's number, from 0.
        """
        labels = [""]
        for first in self.first[: number + 1]:
            sizes = np.diff(first).tolist()
            labels = [
                f"{label}/{bucket}".lstrip("/")
                for label, size in zip(labels, sizes, strict=True)
                for bucket in range(1, size + 1)
            ]
        return labels

    @cached_property
    def tables(self) -> HistoryTables:
        """The arrays from which kernels find a hand's bucket history on a board."""
        boards = self.boards
        return HistoryTables(
            hand_masks=boards.hand_masks,
            choose=boards.choose,
            set_begin=boards.set_begin,
            row=boards.row,
            turning=boards.turning,
            image=boards.image,
            row_begin=self.strengths.row_begin,
            sums=self.strengths.sums,
            half_pairs=self.strengths.half_pairs,
            # Kernels take no lists of arrays, so the arrays of all rounds lie one after another.
            history_begin=np.array([0, *np.cumsum([len(starts) for starts in self.starts])[:-1]]),
            starts=np.concatenate(self.starts),
            # The last entry of each round is only the end of its histories, which no lookup needs.
            first=np.concatenate([first[:-1] for first in self.first]).astype(np.int32),
        )

    def histories_of(self, hands: np.ndarray, boards: np.ndarray) -> np.ndarray:
        """Return the bucket histories of several hands, each on its own board, in each round.

        Args:
            hands: (k, private) cards of each hand, in any order.
            boards: (k, board cards) cards of each hand's board, in the order in which they are dealt. Boards may end
                with any round.

        Returns:
            (k, rounds of the board) history in each round; -1 if the hand holds a card of the board.

        Raises:
            GameError: a hand is not one of the deck's.
        """
        hands = np.asarray(hands)
        deck = self.deck
        codes = codes_of(deck.hands, deck.size)
        wanted = codes_of(hands, deck.size)
        numbers = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        if (codes[numbers] != wanted).any():
            raise GameError(f"hands must be sets of {deck.private} different cards from 0 to {deck.size - 1}")
        masks = self._masks(np.asarray(boards, np.int64))
        histories = np.zeros(masks.shape, np.int32)
        fill_hand_histories(self.tables, numbers, masks, histories)
        return histories

    def histories_on(self, board: np.ndarray) -> np.ndarray:
        """Return the bucket history of each hand in each round on a board, (rounds of the board, hands).

        Args:
            board: (board cards,) in the order in which they are dealt. It may end with any round.

        Returns:
            The histories of the deck's hands; -1 for hands that hold a card of the board of that round.
        """
        masks = self._masks(np.asarray(board, np.int64)[None])[0]
        histories = np.zeros((len(masks), self.deck.num_hands), np.int32)
        fill_board_histories(self.tables, masks, histories)
        return histories

    def history_named(self, hand: str, board: Sequence[str]) -> int:
        """Return a hand's bucket history in the last round of a board; both are given by the names of their cards.

        Args:
            hand: the hand, such as ``AsKs``; its cards may be in any order.
            board: the cards dealt before each round after the first, such as ``["7h5d2c", "Ks"]``.

        Raises:
            GameError: a name is not that of a card in the deck, a card is named twice, or the number of cards is wrong.

        Examples:
            >>> from rlccfr.games.public.deals import Deck
            >>> bucketing = bucketing_of(Deck(ranks=4, suits=2, private=1), (0, 1), buckets=2)
            >>> bucketing.history_named("5d", ["5c"])
            3
        """
        deck = self.deck
        dealt = [cards_named(text, deck.ranks, deck.suits) for text in (hand, *board)]
        wanted = [deck.private, *self.boards.new_cards[1:][: len(board)]]
        cards = np.array([card for of_round in dealt for card in of_round], np.int64)
        if [len(of_round) for of_round in dealt] != wanted or len(np.unique(cards)) < len(cards):
            given = "/".join([hand, *board])
            sizes = "/".join(map(str, wanted))
            raise GameError(
                f"{given!r} is not a hand and a board: the numbers of cards must be {sizes}, and no card may come twice"
            )
        return int(self.histories_of(cards[None, : deck.private], cards[None, deck.private :])[0, -1])

    def _masks(self, boards: np.ndarray) -> np.ndarray:
        """Return the board cards that are known in each round of some boards, as bits, (boards, rounds)."""
        sizes = [size for size in self.boards.sizes if size <= boards.shape[1]]
        return np.stack([(1 << boards[:, :size]).sum(axis=1) for size in sizes], axis=1)


def bucketing_of(deck: Deck, board: tuple[int, ...], buckets: int, progress: Progress | None = None) -> Bucketing:
    """Return the percentile buckets of a deck, from the cache if they are there.

    Args:
        deck: the cards, and how many of them each player holds.
        board: number of board cards dealt before each round.
        buckets: number of parts into which each round splits the hands of a history.
        progress: called with the share of the work that is done.

    Raises:
        GameError: the tables do not fit into memory.
    """
    strengths = strength_tables(Boards(deck, board), share_of(progress, 0.0, 0.5))
    boards = strengths.boards
    parts = (FORMAT, *format_in_keys(), repr((deck.ranks, deck.suits, deck.private)), repr(board), str(buckets))
    kept = find_arrays("buckets", parts) if boards.are_many else None
    rounds = range(len(board))
    if kept is not None:
        starts = tuple(kept[f"starts_{number}"] for number in rounds)
        return Bucketing(strengths, buckets, starts, tuple(kept[f"first_{number}"] for number in rounds))
    splits: list[Split] = []
    for number in rounds:
        # The last round has few different strengths, so each of them is counted at once.
        if number < len(board) - 1:
            splits.append(_split_by_sums(_partial(strengths, splits, buckets), number))
        else:
            splits.append(_split_by_half_pairs(_partial(strengths, splits, buckets), share_of(progress, 0.5, 1.0)))
    if boards.are_many:
        arrays = {f"starts_{number}": splits[number].starts for number in rounds}
        keep_arrays("buckets", parts, arrays | {f"first_{number}": splits[number].first for number in rounds})
    return _partial(strengths, splits, buckets)


class Split(NamedTuple):
    """How a round splits the histories of the round before; see :class:`Bucketing`."""

    starts: np.ndarray
    first: np.ndarray


def histories_by_board(bucketing: Bucketing, number: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the history of each hand on the boards of a round, some boards at a time.

    Args:
        bucketing: the buckets, at least those of all rounds up to this one.
        number: the round's number; -1 stands for the time before the first round, with one board and one history.

    Yields:
        Some boards, as a slice of the round's boards in ``bucketing.boards.dealt``; and (boards, hands) the history of
        each hand on each of them.
    """
    boards = bucketing.boards
    if number < 0:
        yield slice(0, 1), np.zeros((1, boards.deck.num_hands), np.int32)
        return
    dealt = boards.dealt[number]
    before = np.concatenate([histories for _, histories in histories_by_board(bucketing, number - 1)])
    # One kernel call visits all boards that continue a part's boards, so their number limits the part.
    following = np.diff(boards.dealt[number + 1].begin) if number + 1 < boards.num_rounds else np.ones(len(dealt.row))
    work = np.cumsum(following) * boards.deck.num_hands // HANDS_PER_CALL
    ends = np.append(np.flatnonzero(np.diff(work)) + 1, len(work)).tolist()
    for begin, end in zip([0, *ends], ends, strict=False):
        part = slice(begin, end)
        histories = np.zeros((end - begin, boards.deck.num_hands), np.int32)
        fill_dealt_histories(
            bucketing.tables, number, before, dealt.before[part], dealt.row[part], dealt.turning[part], histories
        )
        yield part, histories


def _partial(strengths: StrengthTables, splits: list[Split], buckets: int) -> Bucketing:
    """Return the buckets of the rounds that have been split already; later rounds have no buckets yet."""
    missing = strengths.boards.num_rounds - len(splits)
    starts = [split.starts for split in splits] + [np.zeros((0, buckets - 1), np.int32)] * missing
    first = [split.first for split in splits] + [np.zeros(1, np.int64)] * missing
    return Bucketing(strengths, buckets, tuple(starts), tuple(first))


def _split_by_sums(bucketing: Bucketing, number: int) -> Split:
    """Return how a round that is not the last splits the histories of the round before.

    There are too many different strengths to count each one in each history. So hands are counted by the upper bits of
    their strength first, then, where a bucket may begin, by the lower bits.

    Args:
        bucketing: the buckets of the rounds before.
        number: the round's number.
    """
    num_groups = bucketing.num_histories[number - 1] if number else 1
    buckets = bucketing.buckets
    bits = int(_sums_of(bucketing, number).max()).bit_length()
    # Halves of equal length keep both tables of counts small.
    low_bits = bits // 2
    num_upper = 2 ** (bits - low_bits)
    check_memory(
        8 * num_groups * (3 * num_upper + (buckets - 1) * 2**low_bits),
        f"the counts for {buckets} buckets in each of {num_groups:,} bucket histories",
    )
    coarse = np.zeros((num_groups, num_upper), np.int64)
    _count_sums(bucketing, number, np.arange(num_groups, dtype=np.int32)[:, None], (bits, low_bits), coarse)
    end = np.cumsum(coarse, axis=1)
    total = end[:, -1:]
    # Bucket k begins where the mass, times the number of buckets, reaches k times the total.
    wanted = np.arange(1, buckets) * total
    upper = np.array(
        [np.searchsorted(buckets * end[group], wanted[group], side="right") for group in range(num_groups)]
    )
    # Only intervals in which a bucket may begin are counted by the lower bits; -1 marks all others.
    places = np.full(coarse.shape, -1, np.int32)
    is_counted = np.zeros(coarse.shape, bool)
    is_counted[np.arange(num_groups)[:, None], upper] = True
    places[is_counted] = np.arange(is_counted.sum())
    fine = np.zeros((int(is_counted.sum()), 2**low_bits), np.int64)
    _count_sums(bucketing, number, places, (low_bits, 0), fine)
    starts = np.zeros((num_groups, buckets - 1), np.int64)
    below = np.zeros((num_groups, buckets - 1), np.int64)
    for group in range(num_groups):
        for k, interval in enumerate(upper[group].tolist()):
            # All hands in the history's lower intervals have smaller strengths than those of this interval.
            mass_before = end[group, interval] - coarse[group, interval]
            value, below[group, k] = _first_value(fine[places[group, interval]], mass_before, wanted[group, k], buckets)
            starts[group, k] = (interval << low_bits) + value
    return _existing(starts, below, total)


def _sums_of(bucketing: Bucketing, number: int) -> np.ndarray:
    """Return the strengths of hands in a round that is not the last, (rows of the round, hands)."""
    begin = bucketing.strengths.row_begin[number]
    return bucketing.strengths.sums[begin : begin + bucketing.boards.num_rows[number]]


def _count_sums(
    bucketing: Bucketing, number: int, places: np.ndarray, bits: tuple[int, int], counts: np.ndarray
) -> None:
    """Count the hands of a round; see :func:`rlccfr.kernels.bucket_histories.histories.count_sums`."""
    boards = bucketing.boards
    dealt = boards.dealt[number]
    sums = _sums_of(bucketing, number)
    for part, histories in histories_by_board(bucketing, number - 1):
        chosen = slice(dealt.begin[part.start], dealt.begin[part.stop])
        # The kernel gets the histories of this part alone, so boards are counted from its first one.
        count_sums(
            histories, dealt.before[chosen] - part.start, dealt.row[chosen], dealt.turning[chosen], dealt.mask[chosen],
            dealt.all_images[chosen], boards.image, boards.hand_masks, sums, places, *bits, counts,
        )  # fmt: skip


def _split_by_half_pairs(bucketing: Bucketing, progress: Progress | None) -> Split:
    """Return how the last round splits the histories of the round before.

    Args:
        bucketing: the buckets of the rounds before.
        progress: called with the share of the work that is done.
    """
    boards = bucketing.boards
    dealt = boards.dealt[-1]
    half_pairs = bucketing.strengths.half_pairs
    num_groups = bucketing.num_histories[-2] if boards.num_rounds > 1 else 1
    num_values = int(half_pairs.max()) + 1
    buckets = bucketing.buckets
    check_memory(
        16 * num_groups * num_values, f"the counts for {buckets} buckets in each of {num_groups:,} bucket histories"
    )
    counts = np.zeros((num_groups, num_values), np.int64)
    for part, histories in histories_by_board(bucketing, boards.num_rounds - 2):
        chosen = slice(dealt.begin[part.start], dealt.begin[part.stop])
        # The kernel gets the histories of this part alone, so boards are counted from its first one.
        count_half_pairs(
            histories, dealt.before[chosen] - part.start, dealt.row[chosen], dealt.turning[chosen], dealt.mask[chosen],
            dealt.all_images[chosen], boards.image, boards.hand_masks, half_pairs, counts,
        )  # fmt: skip
        if progress is not None:
            progress(chosen.stop / len(dealt.row))
    total = counts.sum(axis=1, keepdims=True)
    starts = np.zeros((num_groups, buckets - 1), np.int64)
    below = np.zeros((num_groups, buckets - 1), np.int64)
    for group in range(num_groups):
        for k in range(buckets - 1):
            starts[group, k], below[group, k] = _first_value(counts[group], 0, (k + 1) * total[group, 0], buckets)
    return _existing(starts, below, total)


def _first_value(mass: np.ndarray, mass_before: int, wanted: int, buckets: int) -> tuple[int, int]:
    """Return the first value that lies in a given bucket or above it, and the mass of all values below that value.

    Args:
        mass: (values,) mass of each value.
        mass_before: mass of all values before these.
        wanted: number of buckets below the given one, times the total mass.
        buckets: number of buckets.
    """
    end = mass_before + np.cumsum(mass)
    # Whether the middle of each value's mass lies at or above the share of the buckets below; once true, it stays true.
    lies_above = buckets * (2 * end - mass) >= 2 * wanted
    value = int(np.argmax(lies_above)) if lies_above[-1] else len(mass)
    return value, int(end[value - 1]) if value else mass_before


def _existing(starts: np.ndarray, below: np.ndarray, total: np.ndarray) -> Split:
    """Return the split of a round, without empty buckets.

    Args:
        starts: (histories before, buckets - 1) least strength in each bucket but the first, as if none were empty.
        below: (histories before, buckets - 1) mass of the hands below each of these strengths.
        total: (histories before, 1) mass of each history.
    """
    edges = np.hstack([np.zeros_like(total), below, total])
    is_there = np.diff(edges, axis=1) > 0
    counts = is_there.sum(axis=1)
    # The least strength of the first bucket that exists does not matter. The others move up.
    least = np.hstack([np.zeros_like(total), starts])
    compact = np.full(starts.shape, MOST_VALUE, np.int32)
    for group in range(len(starts)):
        existing = least[group, is_there[group]][1:]
        compact[group, : len(existing)] = existing
    return Split(compact, np.concatenate([[0], np.cumsum(counts)]))
