"""Draws of real cards for passes over bucket histories: deals for ``chance``, boards for ``public_chance``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import comb
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.engine.bucket_histories.sweeps import PassState, Sweeps, Work
from rlccfr.games.bucket_histories.bucketing import Bucketing
from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.games.bucket_histories.meetings import PairMatrices, showdowns_of, summed_over_continuations
from rlccfr.games.bucket_histories.strengths import StrengthTables
from rlccfr.kernels.bucket_histories.draws import BoardRows, Cards, draw_board_masks, fill_board_rows
from rlccfr.kernels.bucket_histories.hands import (
    BoardHands,
    fill_board_hands,
    find_fold_values,
    find_showdown_values,
    pass_hands_down,
    pass_hands_up,
)
from rlccfr.kernels.bucket_histories.meetings import Showdowns, Sums
from rlccfr.kernels.bucket_histories.passes import Pending, Scratch
from rlccfr.kernels.public.workspace import PublicTables

COLUMNS_AT_ONCE = 128
"""Number of columns that a pass over hands evaluates at once, so that sums over hands stay in the processor's cache."""

_showdowns: WeakKeyDictionary[StrengthTables, Showdowns] = WeakKeyDictionary()


def kept_showdowns(bucketing: Bucketing) -> Showdowns:
    """Return the hands on all whole boards in the order of their strength; they are computed once.

    Raises:
        GameError: they do not fit into memory.
    """
    strengths = bucketing.strengths
    if strengths not in _showdowns:
        _showdowns[strengths] = showdowns_of(strengths)
    return _showdowns[strengths]


def cards_of(bucketing: Bucketing) -> Cards:
    """Return working memory for draws of deals and boards."""
    boards = bucketing.boards
    deck = boards.deck
    hand_of = np.zeros((deck.size, deck.size), np.int64)
    # A hand of one card stands on the diagonal.
    first = deck.hands[:, 0]
    second = deck.hands[:, -1]
    hand_of[first, second] = np.arange(deck.num_hands)
    hand_of[second, first] = np.arange(deck.num_hands)
    return Cards(
        hand_of=hand_of,
        deck=np.arange(deck.size),
        masks=np.zeros(boards.num_rounds, np.int64),
        new_cards=np.array(boards.new_cards),
        hands=np.zeros(2, np.int64),
        histories=np.zeros((2, boards.num_rounds), np.int64),
    )


def pending_for(game: BucketHistoryGame) -> Pending:
    """Return pending discounts, all of them 1, for both players' histories of all rounds."""
    num_entries = 2 * sum(game.num_bucket_histories)
    return Pending(
        is_used=True, regret_log=np.zeros((num_entries, 2)), average_log=np.zeros(num_entries), clock=np.zeros(3)
    )


class DrawnSweeps(Sweeps, ABC):
    """Base of passes over one board, drawn by :meth:`draw`; subclasses differ in what their rows are.

    Args:
        game: the game.
        dtype: type of the tables' numbers.
        threads: number of threads that share the work.
    """

    def _set_up(self, game: BucketHistoryGame) -> None:
        """Allocate the arrays that passes over a board need."""
        self._bucketing = game.bucketing
        self._showdowns = kept_showdowns(self._bucketing)
        self._cards = cards_of(self._bucketing)
        boards = self._bucketing.boards
        num_possible = boards.hands_on_board(boards.num_rounds - 1)
        cards_left = boards.deck.size - boards.sizes[-1] - boards.deck.private
        # Number of ordered pairs of hands on a whole board, which are equally likely.
        self._num_pairs = num_possible * comb(cards_left, boards.deck.private)
        self._histories = np.zeros((boards.num_rounds, boards.deck.num_hands), np.int32)
        self._set_up_rows(game, num_possible)

    @abstractmethod
    def _set_up_rows(self, game: BucketHistoryGame, num_possible: int) -> None:
        """Allocate the arrays of the rows, given the number of hands that share no card with a board."""

    def draw(self, rng: np.ndarray) -> int:
        """Draw a board; return how many bucket histories an iteration meets on it, counted once for each row.

        Args:
            rng: (1,) state of the generator, advanced in place.
        """
        draw_board_masks(self._cards, rng)
        return self.set_board(self._cards.masks)

    @abstractmethod
    def set_board(self, masks: np.ndarray) -> int:
        """Set the rows of a board; return how many bucket histories an iteration meets on it.

        Args:
            masks: (rounds,) the board cards that are known in each round, as bits.
        """

    def _set_rows(self, number: int, history: np.ndarray, above: np.ndarray, begins: np.ndarray) -> int:
        """Set a round's rows; return how many bucket histories an iteration meets in it."""
        arrays = self.rounds[number] = self.rounds[number]._replace(history=history, above=above, begins=begins)
        # An iteration has two passes, each of which meets the histories of both players.
        return 4 * len(history) * arrays.lines * len(arrays.nodes)


class BoardSweeps(DrawnSweeps):
    """Passes over the bucket histories that hands have on a board; see :class:`DrawnSweeps` for the arguments."""

    def _set_up_rows(self, game: BucketHistoryGame, num_possible: int) -> None:
        boards = self._bucketing.boards
        # On a board, there are no more different histories than hands.
        num_rows = [min(num_possible, count) for count in game.num_bucket_histories]
        self._make_room(game, num_rows)
        # Histories only split from round to round, so no round has more rows than the last.
        most = num_rows[-1]
        shape = boards.num_rounds, most
        self._row_of = np.zeros(game.num_bucket_histories[-1], np.int32)
        self._of_hand = np.zeros(num_possible, np.uint32)
        self._rows = BoardRows(
            counts=np.zeros(boards.num_rounds, np.int64),
            history=np.zeros(shape, np.int64),
            above=np.zeros(shape, np.int64),
            begins=np.zeros((boards.num_rounds, most + 2), np.int64),
        )
        self._sums = Sums(
            total=np.zeros(most, np.int32),
            holding=np.zeros((boards.deck.size + 1, most), np.int32),
            shown=np.zeros((most, most), np.int32),
            local=np.zeros((0, 0), np.int32),
        )

    def set_board(self, masks: np.ndarray) -> int:
        fill_board_rows(
            self._bucketing.tables, self._showdowns, masks, self._histories, self._row_of, self._rows, self._of_hand,
            self._sums,
        )  # fmt: skip
        counts = self._rows.counts.tolist()
        num_met = 0
        for number, count in enumerate(counts):
            # In the first round, all rows continue the only root.
            before = counts[number - 1] if number else 1
            num_met += self._set_rows(
                number,
                history=self._rows.history[number, :count],
                above=self._rows.above[number, :count],
                begins=self._rows.begins[number, : before + 1],
            )
        # Twice the wins plus the ties, and their transpose, give the pairs and the margins: see
        # rlccfr/games/bucket_histories/meetings.py.
        wins = self._sums.shown[: counts[-1], : counts[-1]].astype(self.dtype) / self.dtype.type(2 * self._num_pairs)
        met = [wins + wins.T]
        # A pair of an earlier round is as likely as all pairs that continue it together.
        for number in range(len(counts) - 1, 0, -1):
            begins = self.rounds[number].begins[:-1]
            met.insert(0, summed_over_continuations(met[0], begins, begins))
        self.pairs = PairMatrices(met, wins - wins.T)
        return num_met


class HandSweeps(DrawnSweeps):
    """Passes over all hands that a board allows; see :class:`DrawnSweeps` for the arguments.

    For rules without a floor, a prediction or momentum, they make the same updates as :class:`BoardSweeps`, up to
    rounding. :meth:`values` and :meth:`responses` must not be called: their best responses would depend on the hand,
    not only on its bucket history.
    """

    _pass_down = staticmethod(pass_hands_down)
    _pass_up = staticmethod(pass_hands_up)

    def _set_up_rows(self, game: BucketHistoryGame, num_possible: int) -> None:
        num_rounds = len(game.rounds)
        self._make_room(game, [num_possible] * num_rounds)
        self._root_value = np.zeros((num_possible, 1), self.dtype)
        # A row continues the same hand's row in the round before; in the first round, it continues the only root.
        self._above = [np.zeros(num_possible, np.int64), *[np.arange(num_possible)] * (num_rounds - 1)]
        self._places = np.zeros(game.num_bucket_histories[-1] + 1, np.int64)
        self._hands = BoardHands(
            counts=np.zeros(num_rounds, np.int64),
            history=np.zeros((num_rounds, num_possible), np.int64),
            begins=np.zeros((num_rounds, num_possible + 1), np.int64),
            cards=np.zeros((num_possible, 2), np.uint32),
            order=np.zeros(num_possible, np.uint16),
        )
        # Each pair of hands has the probability that it has in the matrices of BoardSweeps.
        self._probability = np.array([1 / self._num_pairs], self.dtype)
        self._factors = self._pots * self._probability
        most_columns = max(max(betting.columns) for betting in game.rounds)
        shape = 2, self._bucketing.deck.size + 2, COLUMNS_AT_ONCE
        self._scratches = [
            scratch._replace(entries=np.zeros(most_columns, self.dtype), sums=np.zeros(shape, self.dtype))
            for scratch in self._scratches
        ]

    def set_board(self, masks: np.ndarray) -> int:
        fill_board_hands(self._bucketing.tables, self._showdowns, masks, self._histories, self._places, self._hands)
        num_met = 0
        for number, count in enumerate(self._hands.counts.tolist()):
            begins = self._hands.begins[number, : count + 1]
            num_met += self._set_rows(number, self._hands.history[number], self._above[number], begins)
        return num_met

    def compile(self, tables: PublicTables, pending: Pending, schedule: np.ndarray) -> None:
        super().compile(tables, pending, schedule)
        self._fold_values(0)(0, 0, self._scratches[0])
        self._showdown_values()(0, 0, self._scratches[0])

    def _find_leaf_values(self, player: int, state: PassState, mode: int) -> None:
        # Work is divided by histories, not by hands, because the hands of a history change the same entries.
        for number, arrays in enumerate(self.rounds):
            self._share(len(arrays.begins) - 1, 1, self._down(number, player, state, mode))
        for number, folds in enumerate(self._folds):
            self._share(folds.shape[1], COLUMNS_AT_ONCE, self._fold_values(number))
        self._share(self._ends[-1].shape[1], COLUMNS_AT_ONCE, self._showdown_values())

    def _fold_values(self, number: int) -> Work:
        """Return the function that turns reach into values at a round's folds, for a range of columns."""

        def work(begin: int, end: int, scratch: Scratch) -> None:
            holds_two = self._showdowns.holds_two
            find_fold_values(self._hands, holds_two, self._folds[number], self._probability, scratch, begin, end)

        return work

    def _showdown_values(self) -> Work:
        """Return the function that turns reach into values at showdowns, for a range of columns."""

        def work(begin: int, end: int, scratch: Scratch) -> None:
            holds_two = self._showdowns.holds_two
            find_showdown_values(self._hands, holds_two, self._ends[-1], self._factors, scratch, begin, end)

        return work
