"""Passes over bucket histories: two sweeps by kernels, with matrix products between them.

Let q(g, l) be the opponent's reach of its history g on the betting line l, and P(h, g) the probability that the player
has the history h and the opponent g. If somebody folds there, the player's counterfactual value of h is

    payoff(l) * sum over g of P(h, g) q(g, l),

and at a showdown P is replaced by the margin W(h, g): the probability that the player has h, the opponent has g, and
the player wins, less the probability of the same if the opponent wins. So one product of matrices gives the values of
all histories on all lines at once. Both players have the same buckets and are dealt hands alike, so they share P and W:
P(g, h) = P(h, g), and W(g, h) = -W(h, g).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import count, pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.games.bucket_histories.meetings import PairMatrices
from rlccfr.games.bucket_histories.strengths import check_memory
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.bucket_histories.passes import (
    BEST,
    MEAN,
    NO_PENDING,
    RESPOND,
    UPDATE,
    Pending,
    RoundArrays,
    Scratch,
    pass_down,
    pass_up,
    vectors_size,
)
from rlccfr.kernels.public.workspace import PublicTables

LINES_AT_ONCE = 512
"""Number of columns of one matrix product. It is the same for any number of threads, and so are the results."""

RANGES_PER_THREAD = 8
"""Number of ranges of work per thread; an idle thread takes the next, so that all finish at about the same time."""

Work = Callable[[int, int, Scratch], None]
"""Function ``(begin, end, scratch)`` that does a part of some work: the rows, or columns, ``begin`` to ``end - 1``.

``scratch`` has the working arrays of the thread that does it.
"""


NANOSECONDS_PER_PRODUCT = 0.021
"""Nanoseconds per multiplication and addition in products of large single-precision matrices, on a 2022 processor."""

NANOSECONDS_PER_ENTRY = 5.0
"""Nanoseconds per table entry that the passes down and up of an iteration take."""


def iteration_cost(game: BucketHistoryGame) -> float:
    """Return the predicted nanoseconds of an exact iteration."""
    products = 0
    for betting, num_histories in zip(game.rounds, game.num_bucket_histories, strict=True):
        leaves = betting.num_folds + (betting.num_ends if betting is game.rounds[-1] else 0)
        products += 2 * num_histories**2 * leaves * betting.num_lines  # for each player
    return NANOSECONDS_PER_PRODUCT * products + NANOSECONDS_PER_ENTRY * game.num_sequences


class Sweeps:
    """Passes over all bucket histories of a game in one precision, with their working arrays.

    Args:
        game: the game.
        dtype: type of the tables' numbers.
        threads: number of threads that share the work; results are bitwise those of one thread.

    Attributes:
        rounds: the rounds, with the rows that passes go through.
        pairs: the probability of each pair of rows, and the margin at showdown.
    """

    _pass_down = staticmethod(pass_down)
    _pass_up = staticmethod(pass_up)

    def __init__(self, game: BucketHistoryGame, dtype: np.dtype, threads: int = 1) -> None:
        # The passes of a game are kept until the game is deleted, so they must not refer to it.
        self.dtype = dtype
        # Kernels and products let other threads run, and these may be passing over the same game.
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="rlccfr") if threads > 1 else None
        self._pots = game.rounds[-1].pots.astype(dtype)
        self._root_reach = np.ones((1, 1), dtype)
        self._root_value = np.zeros((1, 1), dtype)
        self._scratches = [scratch_for(game, dtype) for _ in range(threads)]
        self.rounds = [all_rows(game, number, dtype) for number in range(len(game.rounds))]
        self.pairs = PairMatrices([], np.zeros((0, 0), dtype))
        # At first the opponent's reach at the leaves of each round, then the player's values.
        self._folds: list[np.ndarray] = []
        self._ends: list[np.ndarray] = []
        self._set_up(game)

    def _set_up(self, game: BucketHistoryGame) -> None:
        """Set the matrices of pairs, and allocate arrays for the values of all rows."""
        self.pairs = game.matrices(self.dtype)
        self._make_room(game, game.num_bucket_histories)

    def _make_room(self, game: BucketHistoryGame, num_rows: Sequence[int]) -> None:
        """Allocate arrays for the values of ``num_rows[k]`` rows in each round ``k``."""
        for betting, num_of_round in zip(game.rounds, num_rows, strict=True):
            self._folds.append(np.zeros((num_of_round, betting.num_folds * betting.num_lines), self.dtype))
            self._ends.append(np.zeros((num_of_round, betting.num_ends * betting.num_lines), self.dtype))

    def iterate(self, tables: PublicTables, pending: Pending, schedule: np.ndarray) -> None:
        """Run one iteration: player 0's update, then player 1's against the updated policy.

        Args:
            tables: changed in place.
            pending: changed in place.
            schedule: (2, 5 + p) rows of this iteration and of the next, in the tables' type.
        """
        self.update(PassState(current(tables), tables, pending, schedule))

    def update(self, state: PassState) -> None:
        """Update both players' tables, player 0's first."""
        with self._lock, one_blas_thread():
            for player in range(2):
                self._find_leaf_values(player, state, UPDATE)
                self._go_up(player, state, UPDATE)

    def values(self, table: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy, and each player's value of a best response to it, in the game's units.

        Args:
            table: (m,) entries; the policy is proportional to their positive parts, and uniform where these are 0.
        """
        state = PassState.of_policy(table, table)  # no pass below changes it
        with uninterrupted(), self._lock, one_blas_thread():
            self._find_leaf_values(0, state, BEST)  # which do not depend on player 0's policy, so they serve MEAN, too
            value = self._go_up(0, state, MEAN)
            first = self._go_up(0, state, BEST)
            self._find_leaf_values(1, state, BEST)
            second = self._go_up(1, state, BEST)
        return value, first, second

    def value_against(
        self, table: np.ndarray, opponent: Sweeps, opponent_table: np.ndarray, pairs: PairMatrices
    ) -> float:
        """Return player 0's value of a policy if player 1 plays a policy of a game with other buckets.

        Args:
            table: (m,) entries of player 0's policy, whose game these passes are for.
            opponent: the passes for player 1's game, an object other than this one.
            opponent_table: entries of player 1's policy.
            pairs: probabilities and margins of pairs of both games' histories.
        """
        state = PassState.of_policy(table, table)
        opponent_state = PassState.of_policy(opponent_table, opponent_table)
        first, second = sorted((self._lock, opponent._lock), key=id)  # in one order, so that two matches can't deadlock
        with uninterrupted(), first, second, one_blas_thread():
            opponent._go_down(0, opponent_state, MEAN)
            self._multiply(pairs, opponent)
            return self._go_up(0, state, MEAN)

    def responses(self, table: np.ndarray) -> np.ndarray:
        """Return both players' best responses to a policy, (m,): 1 for the action taken, 0 for the others."""
        responses = np.zeros_like(table)
        state = PassState.of_policy(table, responses)
        with uninterrupted(), self._lock, one_blas_thread():
            for player in range(2):
                self._find_leaf_values(player, state, RESPOND)
                self._go_up(player, state, RESPOND)
        return responses

    def values_at_leaves(self, table: np.ndarray, player: int, mode: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return a player's counterfactual values at the leaves of each round, if the opponent plays a policy.

        Args:
            table: (m,) entries of both players' policies.
            player: the player.
            mode: MEAN if the player plays its policy, BEST if it responds to the opponent's.

        Returns:
            For each round, copies of the values where somebody folds, (histories, folds * lines), for a payoff of 1,
            and of those where the betting ends, (histories, ends * lines).

        Raises:
            GameError: they do not fit into memory.
        """
        check_memory(sum(array.nbytes for array in (*self._folds, *self._ends)), "the values of all bucket histories")
        state = PassState.of_policy(table, table)
        with uninterrupted(), self._lock, one_blas_thread():
            self._find_leaf_values(player, state, BEST)
            self._go_up(player, state, mode)
            return [(folds.copy(), ends.copy()) for folds, ends in zip(self._folds, self._ends, strict=True)]

    def compile(self, tables: PublicTables, pending: Pending, schedule: np.ndarray) -> None:
        """Compile the kernels of :meth:`iterate` for these arguments, or load them from disk."""
        state = PassState(current(tables), tables, pending, schedule)
        self._down(0, 0, state, UPDATE)(0, 0, self._scratches[0])
        self._up(0, 0, state, UPDATE)(0, 0, self._scratches[0])

    def _find_leaf_values(self, player: int, state: PassState, mode: int) -> None:
        """Carry the opponent's reach down to all leaves, and replace it by the player's values there."""
        self._go_down(player, state, mode)
        self._multiply(self.pairs, self)

    def _go_down(self, player: int, state: PassState, mode: int) -> None:
        """Carry the opponent's reach down to all leaves."""
        for number, arrays in enumerate(self.rounds):
            self._share(len(arrays.history), 1, self._down(number, player, state, mode))

    def _multiply(self, pairs: PairMatrices, opponent: Sweeps) -> None:
        """Turn the opponent's reach at the leaves into the player's values at the leaves of these passes.

        Args:
            pairs: the probability of each pair of a row of the player and a row of the opponent, and the margin at
                showdown.
            opponent: the passes that have carried the opponent's reach down: either this object or another one.
        """
        for number, met in enumerate(pairs.met):
            values = self._folds[number][: met.shape[0]]
            reach = opponent._folds[number][: met.shape[1]]
            self._share(values.shape[1], LINES_AT_ONCE, _product(met, reach, values))
        values = self._ends[-1][: pairs.margins.shape[0]]
        reach = opponent._ends[-1][: pairs.margins.shape[1]]
        self._share(values.shape[1], LINES_AT_ONCE, _product(pairs.margins, reach, values, self._pots))

    def _go_up(self, player: int, state: PassState, mode: int) -> float:
        """Carry the values back to the root, and return the player's value there."""
        for number in range(len(self.rounds) - 1, -1, -1):
            self._share(len(self.rounds[number].begins) - 1, 1, self._up(number, player, state, mode))
        return float(self._root_value[0, 0])

    def _down(self, number: int, player: int, state: PassState, mode: int) -> Work:
        """Return the function that carries reach down through a round, for a range of the round's rows."""
        reach_before = self._ends[number - 1] if number else self._root_reach

        def work(begin: int, end: int, scratch: Scratch) -> None:
            self._pass_down(
                self.rounds[number], player, state.source, state.tables, state.pending, reach_before,
                self._folds[number], self._ends[number], scratch, state.schedule[0], mode, begin, end,
            )  # fmt: skip

        return work

    def _up(self, number: int, player: int, state: PassState, mode: int) -> Work:
        """Return the function that carries values up through a round, for a range of the previous round's rows."""
        values_before = self._ends[number - 1] if number else self._root_value

        def work(begin: int, end: int, scratch: Scratch) -> None:
            self._pass_up(
                self.rounds[number], player, state.source, state.tables, state.pending, self._folds[number],
                self._ends[number], values_before, scratch, state.schedule[0], state.schedule[1], mode, begin, end,
            )  # fmt: skip

        return work

    def _share(self, size: int, least: int, work: Work) -> None:
        """Divide the indices from 0 to ``size - 1`` into ranges, and let all threads call ``work`` for these ranges.

        Args:
            least: the ranges begin at multiples of this number.
        """
        if self._pool is None:
            work(0, size, self._scratches[0])
            return
        length = -(-size // (least * RANGES_PER_THREAD * len(self._scratches))) * least
        bounds = list(pairwise([*range(0, size, length), size]))
        numbers = count()  # of ranges; taking the next one is atomic

        def work_through(scratch: Scratch) -> None:
            while (number := next(numbers)) < len(bounds):
                work(*bounds[number], scratch)

        futures = [self._pool.submit(work_through, scratch) for scratch in self._scratches[1:]]
        try:
            work_through(self._scratches[0])
        finally:
            for future in futures:
                future.result()


class PassState(NamedTuple):
    """What the passes of one iteration, or of an evaluation, read and write.

    Attributes:
        source: (m,) entries to whose positive parts the policies are proportional.
        tables: the tables that passes change.
        pending: discounts that wait to be applied until a pass next visits their history.
        schedule: (2, 5 + p) rows of this iteration and of the next.
    """

    source: np.ndarray
    tables: PublicTables
    pending: Pending
    schedule: np.ndarray

    @classmethod
    def of_policy(cls, table: np.ndarray, written: np.ndarray) -> PassState:
        """Return the state in which a policy is played without updates; responses are written to ``written``."""
        return cls(table, PublicTables.of_one(written), NO_PENDING, np.zeros((2, 0), table.dtype))


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the object that limits the threads that NumPy uses for products of matrices.

    It is created once, because it scans all libraries that are loaded.
    """
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which a product of matrices uses one thread.

    Otherwise NumPy would use all cores, whatever the run's number of threads. A run's CPU seconds, which are those of
    its main thread, would then leave out the work of the others.
    """
    limited: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limited


def scratch_for(game: BucketHistoryGame, dtype: np.dtype) -> Scratch:
    """Return the working arrays of one thread."""
    max_actions = max(int(betting.nodes["num_children"].max()) for betting in game.rounds)
    size = max(vectors_size(len(betting.nodes), betting.num_lines, max_actions) for betting in game.rounds)
    return Scratch(
        vectors=np.zeros(size, dtype),
        reciprocals=np.append(0.0, 1.0 / np.arange(1, max_actions + 1)).astype(dtype),
        entries=np.zeros(0, dtype),
        sums=np.zeros((2, 0, 0), dtype),
    )


def all_rows(game: BucketHistoryGame, number: int, dtype: np.dtype) -> RoundArrays:
    """Return a round as kernels read it, with a row for each bucket history."""
    above = game.bucketing.above[number].astype(np.int64)
    num_before = game.num_bucket_histories[number - 1] if number else 1
    return round_arrays(
        game,
        number,
        history=np.arange(len(above)),
        above=above,
        begins=np.searchsorted(above, np.arange(num_before + 1)),
        dtype=dtype,
    )


def round_arrays(
    game: BucketHistoryGame, number: int, history: np.ndarray, above: np.ndarray, begins: np.ndarray, dtype: np.dtype
) -> RoundArrays:
    """Return a round as kernels read it; for the rows, see :class:`RoundArrays`."""
    betting = game.rounds[number]
    before = sum(game.num_bucket_histories[:number])
    return RoundArrays(
        nodes=betting.nodes,
        history=history,
        above=above,
        begins=begins,
        lines=betting.num_lines,
        first_entries=game.first_entries[number],
        columns=np.array(betting.columns),
        first_pending=np.array([before, before + sum(game.num_bucket_histories)]),
        fold_payoffs=betting.fold_payoffs.astype(dtype),
    )


def _product(matrix: np.ndarray, vectors: np.ndarray, products: np.ndarray, factors: np.ndarray | None = None) -> Work:
    """Return the function that multiplies a matrix by a range of the columns of ``vectors``.

    It also multiplies each product by its column's factor.

    Args:
        matrix: (rows, opponent's rows).
        vectors: (opponent's rows, columns).
        products: (rows, columns) overwritten; may be ``vectors``.
        factors: (columns,), or None for 1.
    """

    def work(begin: int, end: int, _: Scratch) -> None:
        for first in range(begin, end, LINES_AT_ONCE):
            chosen = slice(first, min(first + LINES_AT_ONCE, end))
            product = matrix @ vectors[:, chosen]
            if factors is not None:
                product *= factors[chosen]
            products[:, chosen] = product

    return work


def current(tables: PublicTables) -> np.ndarray:
    """Return the entries, (m,), to whose positive parts the current policy is proportional."""
    return tables.policy if len(tables.policy) else tables.regret
