"""Lower bounds of the exploitability of a policy in buckets, from best responses that see the real cards.

A policy in buckets may be close to an equilibrium of its abstract game, and still lose much in the game of cards, where
an opponent tells hands apart that share a bucket. Finding the best opponent on all boards takes days. So boards of the
second round are drawn; in Texas hold'em, these are flops. Below each of them, a player's best response is found
exactly: it knows its hand and the board. In the first round it plays the policy itself. Averaged over all flops, this
opponent gains at most as much as the best one, so the mean of its gains is a lower bound.

A pass goes through the boards that can follow the flop, depth first, with a row for each hand on the board.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from rlccfr.engine.bucket_histories.draws import COLUMNS_AT_ONCE, kept_showdowns
from rlccfr.engine.bucket_histories.sweeps import PassState, round_arrays, scratch_for
from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.kernels.bucket_histories.hands import BoardHands, find_fold_values, find_showdown_values
from rlccfr.kernels.bucket_histories.passes import BEST, MEAN, RoundArrays, pass_down, pass_up
from rlccfr.kernels.bucket_histories.strengths import HAND, STRONGER

MODES = (MEAN, BEST)
"""What a player does at its decisions: it follows its policy, or plays a best response to the opponent's."""


class HandRows(NamedTuple):
    """The hands that a board leaves possible, which are the rows of a pass.

    Attributes:
        numbers: (rows,) index of each hand in the deck's list of hands, ascending.
        arrays: the round's tree of actions, with these rows.
        hands: the hands' cards and, on a whole board, their order by strength.
    """

    numbers: np.ndarray
    arrays: RoundArrays
    hands: BoardHands


class CardResponses:
    """Best responses by hand and board, below given boards of the second round.

    Args:
        game: the game; it has at least two rounds.
        table: (m,) entries of the policy, which is proportional to their positive parts.
    """

    def __init__(self, game: BucketHistoryGame, table: np.ndarray) -> None:
        self._game = game
        self._boards = game.bucketing.boards
        self._showdowns = kept_showdowns(game.bucketing)
        self._pots = game.rounds[-1].pots.astype(table.dtype)
        self._state = PassState.of_policy(table, table)
        scratch = scratch_for(game, table.dtype)
        shape = 2, self._boards.deck.size + 2, COLUMNS_AT_ONCE
        self._scratch = scratch._replace(sums=np.zeros(shape, table.dtype))
        self._folds = []
        self._ends = []
        self._values = []  # of both modes, on the lines that lead to a round
        for number, betting in enumerate(game.rounds):
            num_rows = self._boards.hands_on_board(number)
            num_before = self._boards.hands_on_board(max(number - 1, 0))
            self._folds.append(np.zeros((num_rows, betting.num_folds * betting.num_lines), table.dtype))
            self._ends.append(np.zeros((num_rows, betting.num_ends * betting.num_lines), table.dtype))
            self._values.append(np.zeros((len(MODES), num_before, betting.num_lines), table.dtype))

    def gains(self, flop: tuple[int, ...]) -> tuple[float, float]:
        """Return what each player gains by its response below a board of the second round, if that board is dealt.

        Args:
            flop: the board's cards.
        """
        first, second = (self._gain(player, flop) for player in range(2))
        return first, second

    def _gain(self, player: int, flop: tuple[int, ...]) -> float:
        """Return a player's gain; see :meth:`gains`."""
        deck = self._boards.deck
        start = self._rows(0, flop, np.zeros(1, np.int64))
        own_reach = self._reach_of_flop(player, start)
        opponent_reach = self._reach_of_flop(1 - player, start)
        # Number of ordered pairs of hands that the flop allows; all are equally likely.
        pairs = self._boards.hands_on_board(1) * comb(deck.size - len(flop) - deck.private, deck.private)
        # Before the flop the player follows its policy, so its own reach weighs both values.
        followed, responding = self._values_below(1, player, flop, start.numbers, opponent_reach, 1 / pairs)
        return float((own_reach * (responding - followed)).sum(dtype=float))

    def _reach_of_flop(self, player: int, start: HandRows) -> np.ndarray:
        """Return a player's own reach of the lines that lead to the second round, (rows, lines)."""
        num_rows = len(start.numbers)
        self._go_down(0, 1 - player, start, np.ones((1, 1), self._pots.dtype))
        return self._ends[0][:num_rows].copy()

    def _values_below(
        self,
        number: int,
        player: int,
        board: tuple[int, ...],
        numbers_before: np.ndarray,
        reach_before: np.ndarray,
        probability: float,
    ) -> np.ndarray:
        """Return a player's counterfactual values on the lines that lead to a round, (modes, rows before, lines).

        Args:
            number: index of the round.
            player: the player.
            board: the board of the round.
            numbers_before: (rows before,) indices of the hands on the board of the round before.
            reach_before: (rows before, lines) the opponent's reach.
            probability: probability of each pair of hands together with this board.
        """
        rows = self._rows(number, board, numbers_before)
        num_rows = len(rows.numbers)
        scale = np.array([probability], self._pots.dtype)
        # This writes the opponent's reach into folds and ends; the ``find_`` calls turn it into values in place.
        self._go_down(number, player, rows, reach_before)
        folds = self._folds[number][:num_rows]
        ends = self._ends[number][:num_rows]
        holds_two = self._showdowns.holds_two
        find_fold_values(rows.hands, holds_two, folds, scale, self._scratch, 0, folds.shape[1])
        if number + 1 == len(self._game.rounds):
            find_showdown_values(rows.hands, holds_two, ends, self._pots * scale, self._scratch, 0, ends.shape[1])
            # Nobody acts after a showdown, so both modes have the same values there.
            end_values = np.broadcast_to(ends, (len(MODES), *ends.shape))
        else:
            end_values = np.zeros((len(MODES), *ends.shape), ends.dtype)
            size = self._boards.deck.size
            new_cards = self._boards.new_cards[number + 1]
            # Neither the board's cards nor those of both hands can be dealt.
            num_boards = comb(size - len(board) - 2 * self._boards.deck.private, new_cards)
            for dealt in combinations(sorted(set(range(size)) - set(board)), new_cards):
                end_values += self._values_below(
                    number + 1, player, board + dealt, rows.numbers, ends, probability / num_boards
                )
        values = self._values[number][:, : len(numbers_before)]
        # A best response responds in later rounds, too, so each mode goes on from its own values.
        for place, mode in enumerate(MODES):
            self._go_up(number, player, rows, end_values[place], values[place], mode)
        return values

    def _go_down(self, number: int, player: int, rows: HandRows, reach_before: np.ndarray) -> None:
        """Carry the reach of a player's opponent down through a round, into ``_folds`` and ``_ends``."""
        state = self._state
        pass_down(
            rows.arrays, player, state.source, state.tables, state.pending, reach_before, self._folds[number],
            self._ends[number], self._scratch, state.schedule[0], MEAN, 0, len(rows.numbers),
        )  # fmt: skip

    def _go_up(
        self, number: int, player: int, rows: HandRows, end_values: np.ndarray, values: np.ndarray, mode: int
    ) -> None:
        """Carry a player's values back up through a round, from ``_folds`` and ``end_values`` to ``values``."""
        state = self._state
        pass_up(
            rows.arrays, player, state.source, state.tables, state.pending, self._folds[number], end_values, values,
            self._scratch, state.schedule[0], state.schedule[1], mode, 0, len(values),
        )  # fmt: skip

    def _rows(self, number: int, board: tuple[int, ...], numbers_before: np.ndarray) -> HandRows:
        """Return the hands on a board as rows of a round; each continues a row of the round before."""
        histories = self._game.bucketing.histories_on(np.array(board))
        # A hand that holds any card of the board is left out, in the first round, too.
        numbers = np.flatnonzero(histories[-1] >= 0)
        above = np.searchsorted(numbers_before, numbers) if number else np.zeros(len(numbers), np.int64)
        arrays = round_arrays(
            self._game,
            number,
            history=histories[number, numbers].astype(np.int64),
            above=above,
            begins=np.searchsorted(above, np.arange(len(numbers_before) + 1)),
            dtype=self._pots.dtype,
        )
        is_whole = number + 1 == len(self._game.rounds)
        hands = BoardHands(
            counts=np.zeros(0, np.int64),
            history=np.zeros((0, 0), np.int64),
            begins=np.zeros((0, 0), np.int64),
            cards=self._boards.hands[numbers].astype(np.uint32),
            order=self._order(board, numbers) if is_whole else np.zeros(0, np.uint16),
        )
        return HandRows(numbers, arrays, hands)

    def _order(self, board: tuple[int, ...], numbers: np.ndarray) -> np.ndarray:
        """Return the rows of hands on a whole board, the weakest first.

        A hand that is stronger than the one before it has the bit
        :data:`~rlccfr.kernels.bucket_histories.strengths.STRONGER`.
        """
        mask = np.array([sum(1 << card for card in board)])
        place = self._boards.places_of(self._boards.num_rounds - 1, mask)[0]
        order = self._showdowns.orders[self._boards.row[place]]
        hands = self._showdowns.origin[self._boards.turning[place]][order & HAND]
        rows: np.ndarray = (np.searchsorted(numbers, hands) | (order & STRONGER)).astype(np.uint16)
        return rows
