"""Passes over a public tree by several threads, which share the outcomes of its first chance."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np

from rlccfr.games.public.view import PublicGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.jit import ready
from rlccfr.kernels.public.memory import Outcomes, PublicMemory, PublicTables
from rlccfr.kernels.public.public_iterations import begin_pass, end_pass, pass_below, root_value
from rlccfr.kernels.public.sweep import BEST, COUNTER, MEAN, RESPOND, UPDATE

SHARES = 16
"""Number of ranges of outcomes per thread; threads take one after another, so that they end at the same time."""


class PublicCrew:
    """Threads that share passes; results are bitwise those of one thread, since values are added in a fixed order.

    Args:
        dtype: type of the tables' numbers.
    """

    def __init__(self, game: PublicGame, dtype: np.dtype, threads: int) -> None:
        self.game = game
        self._memories = [PublicMemory.of(game, dtype) for _ in range(threads)]
        self._outcomes = Outcomes.of(game, dtype)
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="rlccfr")
        bounds = np.linspace(0, len(game.view.outcomes), min(SHARES * threads, len(game.view.outcomes)) + 1)
        self._ranges = list(zip(bounds[:-1].astype(int).tolist(), bounds[1:].astype(int).tolist(), strict=True))

    def iterate(self, tables: PublicTables, schedule: np.ndarray) -> None:
        """Run one iteration.

        Args:
            tables: changed in place.
            schedule: (2, 5) rows of this iteration and of the next, in the tables' type.
        """
        table = current(tables)
        for mode in (RESPOND, COUNTER) if len(tables.response) else (UPDATE,):
            for player in range(2):
                self._pass(player, table, tables, schedule, mode)

    def compile(self, tables: PublicTables, schedule: np.ndarray) -> None:
        """Compile the kernels of :meth:`iterate` for these arguments, or load them from disk."""
        given = (self.game.view, 0, current(tables), tables, self._memories[0], self._outcomes, schedule, UPDATE)
        ready(begin_pass, *given)
        ready(pass_below, *given, 0, 0)
        ready(end_pass, *given)

    def value(self, player: int, table: np.ndarray, best: bool) -> float:
        """Return what :func:`rlccfr.kernels.public.public_iterations.public_value` does."""
        tables, schedule = PublicTables.read_only(table), np.zeros((2, 0), table.dtype)
        with uninterrupted():
            self._pass(player, table, tables, schedule, BEST if best else MEAN)
        return float(root_value(self._memories[0], self.game.mass[player]))

    def _pass(self, player: int, table: np.ndarray, tables: PublicTables, schedule: np.ndarray, mode: int) -> None:
        """Make one pass. Ctrl-C must be held back: it would leave other threads at work, or lose a range."""
        view, own = self.game.view, self._memories[0]
        begin_pass(view, player, table, tables, own, self._outcomes, schedule, mode)
        numbers = count()

        def work(memory: PublicMemory) -> None:
            while (number := next(numbers)) < len(self._ranges):
                begin, end = self._ranges[number]
                pass_below(view, player, table, tables, memory, self._outcomes, schedule, mode, begin, end)

        others = [self._pool.submit(work, memory) for memory in self._memories[1:]]
        try:
            work(own)
        finally:
            for other in others:
                other.result()
        end_pass(view, player, table, tables, own, self._outcomes, schedule, mode)


def current(tables: PublicTables) -> np.ndarray:
    """Return the entries that the current policy is proportional to."""
    return tables.policy if len(tables.policy) else tables.regret


def crew_for(game: PublicGame, dtype: np.dtype, threads: int) -> PublicCrew | None:
    """Return a crew for a game, or None if one thread does all: one was asked for, or there is nothing to share."""
    return PublicCrew(game, dtype, threads) if threads > 1 and len(game.view.outcomes) > 1 else None
