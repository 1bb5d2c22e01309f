"""Passes over a public tree by several threads, which divide up the outcomes of the first chance node on each path."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise

import numpy as np

from rlccfr.games.public.view import PublicGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.jit import ready
from rlccfr.kernels.public.public_iterations import begin_pass, end_pass, pass_below, root_value
from rlccfr.kernels.public.sweep import RESPOND, UPDATE, UPDATE_AGAINST_RESPONSE
from rlccfr.kernels.public.workspace import Outcomes, PublicTables, PublicWorkspace

RANGES_PER_THREAD = 16
"""Number of ranges of outcomes per thread; a free thread takes the next one, so that all end at about the same time."""


class PublicCrew:
    """Threads that share passes; results are bit for bit those of one thread, since values are added in a fixed order.

    Each thread has its own working arrays. All threads share the arrays over outcomes.

    Args:
        game: the game, which has several outcomes at its first chance nodes.
        dtype: type of the tables' numbers.
        threads: number of threads, at least 2.
    """

    def __init__(self, game: PublicGame, dtype: np.dtype, threads: int) -> None:
        self.game = game
        self._workspaces = [PublicWorkspace.of(game, dtype) for _ in range(threads)]
        self._outcomes = Outcomes.of(game, dtype)
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="rlccfr")
        num_outcomes = len(game.view.outcomes)
        num_ranges = min(RANGES_PER_THREAD * threads, num_outcomes)
        bounds = np.linspace(0, num_outcomes, num_ranges + 1).astype(int).tolist()
        self._ranges = list(pairwise(bounds))

    def iterate(self, tables: PublicTables, schedule: np.ndarray) -> None:
        """Run one iteration.

        Args:
            tables: changed in place.
            schedule: (2, 5 + p) rows of this iteration and of the next, in the type in which passes compute.
        """
        table = current(tables)
        responds = len(tables.response) > 0
        for mode in (RESPOND, UPDATE_AGAINST_RESPONSE) if responds else (UPDATE,):
            for player in range(2):
                self._pass(player, table, tables, schedule, mode)

    def compile(self, tables: PublicTables, schedule: np.ndarray) -> None:
        """Compile the kernels of :meth:`iterate` for these arguments, or load them from disk."""
        arguments = (self.game.view, 0, current(tables), tables, self._workspaces[0], self._outcomes, schedule, UPDATE)
        ready(begin_pass, *arguments)
        ready(pass_below, *arguments, 0, 0)
        ready(end_pass, *arguments)

    def value(self, player: int, policy_source: np.ndarray, tables: PublicTables, mode: int) -> float:
        """Return what :func:`rlccfr.kernels.public.public_iterations.public_value` returns."""
        no_schedule = np.zeros((2, 0), self._workspaces[0].vectors.dtype)
        with uninterrupted():
            self._pass(player, policy_source, tables, no_schedule, mode)
        return float(root_value(self._workspaces[0], self.game.mass[player]))

    def _pass(self, player: int, table: np.ndarray, tables: PublicTables, schedule: np.ndarray, mode: int) -> None:
        """Make one pass. Callers must hold back Ctrl-C: it would leave other threads running, or outcomes skipped."""
        view = self.game.view
        first_workspace, *further_workspaces = self._workspaces
        begin_pass(view, player, table, tables, first_workspace, self._outcomes, schedule, mode)
        numbers = count()  # indices of ranges; next() is atomic

        def work(workspace: PublicWorkspace) -> None:
            while (number := next(numbers)) < len(self._ranges):
                begin, end = self._ranges[number]
                pass_below(view, player, table, tables, workspace, self._outcomes, schedule, mode, begin, end)

        futures = [self._pool.submit(work, workspace) for workspace in further_workspaces]
        try:
            work(first_workspace)
        finally:
            for future in futures:
                future.result()
        end_pass(view, player, table, tables, first_workspace, self._outcomes, schedule, mode)


def current(tables: PublicTables) -> np.ndarray:
    """Return the entries, (m,), to whose positive parts the current policy is proportional."""
    return tables.policy if len(tables.policy) else tables.regret


def crew_for(game: PublicGame, dtype: np.dtype, threads: int) -> PublicCrew | None:
    """Return a crew for a game; None if ``threads`` is 1, or if there are not several outcomes to share."""
    return PublicCrew(game, dtype, threads) if threads > 1 and len(game.view.outcomes) > 1 else None
