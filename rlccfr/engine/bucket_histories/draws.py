"""Draws of real cards for passes over bucket histories: deals for ``chance``, boards for ``public_chance``."""

from __future__ import annotations

from math import comb
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.engine.bucket_histories.sweeps import Sweeps
from rlccfr.games.bucket_histories.bucketing import Bucketing
from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.games.bucket_histories.meetings import PairMatrices, showdowns_of, summed_over_continuations
from rlccfr.games.bucket_histories.strengths import StrengthTables
from rlccfr.kernels.bucket_histories.draws import BoardRows, Cards, draw_board_masks, fill_board_rows
from rlccfr.kernels.bucket_histories.meetings import Showdowns, Sums
from rlccfr.kernels.bucket_histories.passes import Pending

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
    """Return pending discounts of 1 for each player's histories of each round."""
    num_entries = 2 * sum(game.num_bucket_histories)
    return Pending(
        is_used=True, regret_log=np.zeros((num_entries, 2)), average_log=np.zeros(num_entries), clock=np.zeros(3)
    )


class BoardSweeps(Sweeps):
    """Passes over the bucket histories that hands have on one board, which :meth:`draw` draws.

    Args:
        game: the game.
        dtype: type of the tables' numbers.
        threads: number of threads that share the work.
    """

    def _set_up(self, game: BucketHistoryGame) -> None:
        """Make room for the histories on a board."""
        self._bucketing = game.bucketing
        self._showdowns = kept_showdowns(self._bucketing)
        self._cards = cards_of(self._bucketing)
        boards = self._bucketing.boards
        num_possible = boards.hands_on_board(boards.num_rounds - 1)
        cards_left = boards.deck.size - boards.sizes[-1] - boards.deck.private
        self._num_pairs = num_possible * comb(cards_left, boards.deck.private)
        num_rows = [min(num_possible, count) for count in game.num_bucket_histories]
        self._make_room(game, num_rows)
        most = num_rows[-1]
        shape = boards.num_rounds, most
        self._histories = np.zeros((boards.num_rounds, boards.deck.num_hands), np.int32)
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

    def draw(self, rng: np.ndarray) -> int:
        """Draw a board; return how many bucket histories an iteration then meets.

        Args:
            rng: (1,) state of the generator, advanced in place.
        """
        draw_board_masks(self._cards, rng)
        return self.set_board(self._cards.masks)

    def set_board(self, masks: np.ndarray) -> int:
        """Set the rows and matrices of a board; return how many bucket histories an iteration meets on it.

        Args:
            masks: (rounds,) the board cards that are known in each round, as bits.
        """
        fill_board_rows(
            self._bucketing.tables, self._showdowns, masks, self._histories, self._row_of, self._rows, self._of_hand,
            self._sums,
        )  # fmt: skip
        counts = self._rows.counts.tolist()
        num_met = 0
        for number, count in enumerate(counts):
            before = counts[number - 1] if number else 1
            self.rounds[number] = self.rounds[number]._replace(
                history=self._rows.history[number, :count],
                above=self._rows.above[number, :count],
                begins=self._rows.begins[number, : before + 1],
            )
            num_met += 4 * count * self.rounds[number].lines * len(self.rounds[number].nodes)
        # Twice the wins plus the ties, and their transpose, give the pairs and the margins: see
        # rlccfr/games/bucket_histories/meetings.py.
        wins = self._sums.shown[: counts[-1], : counts[-1]].astype(self.dtype) / self.dtype.type(2 * self._num_pairs)
        met = [wins + wins.T]
        for number in range(len(counts) - 1, 0, -1):
            begins = self.rounds[number].begins[:-1]
            met.insert(0, summed_over_continuations(met[0], begins, begins))
        self.pairs = PairMatrices(met, wins - wins.T)
        return num_met
