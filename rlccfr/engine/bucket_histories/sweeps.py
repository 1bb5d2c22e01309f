"""Passes over bucket histories: two sweeps by kernels, with matrix products between them.

Let q(g, l) be the opponent's reach of its history g on the betting line l, and P(h, g) the probability that the player
has the history h and the opponent g. If somebody folds there, the player's counterfactual value of h is

    payoff(l) * sum over g of P(h, g) q(g, l),

and at a showdown P is replaced by the margin W(h, g): the probability that the player has h, the opponent has g, and
the player wins, less the probability of the same if the opponent wins. So one product of matrices gives the values of
all histories on all lines at once. Both players share P and W: P is symmetric; and W(g, h) = -W(h, g) for player 0 is
what player 1 wins with h against g.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise

import numpy as np

from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.bucket_histories.passes import (
    BEST,
    MEAN,
    RESPOND,
    UPDATE,
    RoundArrays,
    pass_down,
    pass_up,
    vectors_size,
)
from rlccfr.kernels.public.workspace import PublicTables

LINES_AT_ONCE = 512
"""Number of columns of one matrix product. It does not depend on the threads, so results do not, either."""

RANGES_PER_THREAD = 8
"""Number of ranges of work per thread; threads take one after another, so that they end at the same time."""

Work = Callable[[int, int, np.ndarray], None]
"""Function that does the work of a range, from ``begin`` to ``end``, with a working array."""


class Sweeps:
    """Passes over a game in one precision, with their working arrays.

    Args:
        game: the game.
        dtype: type of the tables' numbers.
        threads: number of threads that share the work; results are bitwise those of one thread.
    """

    def __init__(self, game: BucketHistoryGame, dtype: np.dtype, threads: int = 1) -> None:
        self.dtype = dtype
        # No reference to the game is kept, since its passes are kept for as long as it lives.
        self._num_histories = game.num_bucket_histories
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="rlccfr") if threads > 1 else None
        self._met = [probability.astype(dtype) for probability in game.probabilities]
        self._margins = game.win_margins.astype(dtype)
        self._pots = game.rounds[-1].pots.astype(dtype)
        self._rounds = [self._arrays_of(game, number) for number in range(len(game.rounds))]
        # At first the opponent's reach at the leaves of each round, then the player's values.
        self._folds: list[np.ndarray] = []
        self._ends: list[np.ndarray] = []
        for betting, num_histories in zip(game.rounds, game.num_bucket_histories, strict=True):
            self._folds.append(np.zeros((num_histories, betting.num_folds * betting.num_lines), dtype))
            self._ends.append(np.zeros((num_histories, betting.num_ends * betting.num_lines), dtype))
        self._root_reach = np.ones((1, 1), dtype)
        self._root_value = np.zeros((1, 1), dtype)
        max_actions = max(int(betting.nodes["num_children"].max()) for betting in game.rounds)
        self._reciprocals = np.append(0.0, 1.0 / np.arange(1, max_actions + 1)).astype(dtype)
        size = max(vectors_size(len(betting.nodes), betting.num_lines, max_actions) for betting in game.rounds)
        self._vectors = [np.zeros(size, dtype) for _ in range(threads)]

    def _arrays_of(self, game: BucketHistoryGame, number: int) -> RoundArrays:
        """Return a round as kernels read it."""
        betting = game.rounds[number]
        above = game.meetings.above[number].astype(np.int64)
        num_before = game.num_bucket_histories[number - 1] if number else 1
        return RoundArrays(
            nodes=betting.nodes,
            above=above,
            begins=np.searchsorted(above, np.arange(num_before + 1)),
            lines=betting.num_lines,
            first_entries=game.first_entries[number],
            columns=np.array(betting.columns),
            fold_payoffs=betting.fold_payoffs.astype(self.dtype),
        )

    def iterate(self, tables: PublicTables, schedule: np.ndarray) -> None:
        """Run one iteration: player 0's update, then player 1's against the updated policy.

        Args:
            tables: changed in place.
            schedule: (2, 5 + p) rows of this iteration and of the next, in the tables' type.
        """
        source = current(tables)
        for player in range(2):
            self._find_leaf_values(player, source, tables, schedule, UPDATE)
            self._go_up(player, source, tables, schedule, UPDATE)

    def values(self, table: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy, and each player's value of a best response, in the game's units.

        Args:
            table: (m,) entries; the policy is proportional to their positive parts, and uniform where these are 0.
        """
        tables = PublicTables.of_one(table)
        no_schedule = np.zeros((2, 0), self.dtype)
        with uninterrupted():
            self._find_leaf_values(0, table, tables, no_schedule, BEST)
            value = self._go_up(0, table, tables, no_schedule, MEAN)
            first = self._go_up(0, table, tables, no_schedule, BEST)
            self._find_leaf_values(1, table, tables, no_schedule, BEST)
            second = self._go_up(1, table, tables, no_schedule, BEST)
        return value, first, second

    def responses(self, table: np.ndarray) -> np.ndarray:
        """Return both players' best responses to a policy, (m,): 1 for the action taken, 0 for the others."""
        responses = np.zeros_like(table)
        tables = PublicTables.of_one(responses)
        no_schedule = np.zeros((2, 0), self.dtype)
        with uninterrupted():
            for player in range(2):
                self._find_leaf_values(player, table, tables, no_schedule, RESPOND)
                self._go_up(player, table, tables, no_schedule, RESPOND)
        return responses

    def compile(self, tables: PublicTables, schedule: np.ndarray) -> None:
        """Compile the kernels of :meth:`iterate` for these arguments, or load them from disk."""
        source = current(tables)
        self._down(0, 0, source, tables, schedule, UPDATE)(0, 0, self._vectors[0])
        self._up(0, 0, source, tables, schedule, UPDATE)(0, 0, self._vectors[0])

    def _find_leaf_values(
        self, player: int, source: np.ndarray, tables: PublicTables, schedule: np.ndarray, mode: int
    ) -> None:
        """Carry the opponent's reach down to all leaves, and replace it by the player's values there."""
        for number, num_histories in enumerate(self._num_histories):
            self._share(num_histories, 1, self._down(number, player, source, tables, schedule, mode))
        for met, folds in zip(self._met, self._folds, strict=True):
            self._share(folds.shape[1], LINES_AT_ONCE, _product(met, folds))
        showdowns = self._ends[-1]
        self._share(showdowns.shape[1], LINES_AT_ONCE, _product(self._margins, showdowns, self._pots))

    def _go_up(self, player: int, source: np.ndarray, tables: PublicTables, schedule: np.ndarray, mode: int) -> float:
        """Carry the values back to the root, and return the player's value there."""
        for number in range(len(self._rounds) - 1, -1, -1):
            num_before = len(self._rounds[number].begins) - 1
            self._share(num_before, 1, self._up(number, player, source, tables, schedule, mode))
        return float(self._root_value[0, 0])

    def _down(
        self, number: int, player: int, source: np.ndarray, tables: PublicTables, schedule: np.ndarray, mode: int
    ) -> Work:
        """Return the work of a round on the way down; its ranges are of bucket histories."""
        reach_before = self._ends[number - 1] if number else self._root_reach

        def work(begin: int, end: int, vectors: np.ndarray) -> None:
            pass_down(
                self._rounds[number], player, source, tables, reach_before, self._folds[number], self._ends[number],
                vectors, self._reciprocals, schedule[0], mode, begin, end,
            )  # fmt: skip

        return work

    def _up(
        self, number: int, player: int, source: np.ndarray, tables: PublicTables, schedule: np.ndarray, mode: int
    ) -> Work:
        """Return the work of a round on the way up; its ranges are of bucket histories of the round before."""
        values_before = self._ends[number - 1] if number else self._root_value

        def work(begin: int, end: int, vectors: np.ndarray) -> None:
            pass_up(
                self._rounds[number], player, source, tables, self._folds[number], self._ends[number], values_before,
                vectors, self._reciprocals, schedule[0], schedule[1], mode, begin, end,
            )  # fmt: skip

        return work

    def _share(self, size: int, least: int, work: Work) -> None:
        """Do the work of the numbers up to ``size`` in ranges, by all threads.

        Args:
            least: the ranges begin at multiples of this number.
        """
        if self._pool is None:
            work(0, size, self._vectors[0])
            return
        length = -(-size // (least * RANGES_PER_THREAD * len(self._vectors))) * least
        bounds = list(pairwise([*range(0, size, length), size]))
        numbers = count()  # of ranges; taking the next one is atomic

        def work_through(vectors: np.ndarray) -> None:
            while (number := next(numbers)) < len(bounds):
                work(*bounds[number], vectors)

        futures = [self._pool.submit(work_through, vectors) for vectors in self._vectors[1:]]
        try:
            work_through(self._vectors[0])
        finally:
            for future in futures:
                future.result()


def _product(matrix: np.ndarray, vectors: np.ndarray, factors: np.ndarray | None = None) -> Work:
    """Return the work of replacing columns by their products with a matrix, each times its factor.

    Args:
        matrix: (histories, histories).
        vectors: (histories, columns) overwritten.
        factors: (columns,), or None for 1.
    """

    def work(begin: int, end: int, _: np.ndarray) -> None:
        for first in range(begin, end, LINES_AT_ONCE):
            columns = vectors[:, first : min(first + LINES_AT_ONCE, end)]
            products = matrix @ columns
            if factors is not None:
                products *= factors[first : min(first + LINES_AT_ONCE, end)]
            columns[:] = products

    return work


def current(tables: PublicTables) -> np.ndarray:
    """Return the entries, (m,), to whose positive parts the current policy is proportional."""
    return tables.policy if len(tables.policy) else tables.regret
