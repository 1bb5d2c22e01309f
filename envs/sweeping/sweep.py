"""A sweep: every algorithm of a catalog is measured on each game, and all records are kept."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.record import to_frame
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS, costs
from rlccfr.envs.sweeping.executors import Executors, processes
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.runner import Report, Runner, left_to_do
from rlccfr.errors import BudgetError, InUseError, RLCCFRError, brief, whole_number
from rlccfr.files import held
from rlccfr.games.compiled_games import compiled
from rlccfr.games.names import GameName, as_name

log = logging.getLogger(__name__)

DIVISORS = (1, 10, 100)
"""Divisors of :attr:`Limits.seconds`; :func:`close_calls` compares algorithms with each quotient as the budget."""


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep measures: the games, the algorithms, their numbers of engine seeds, and the limits of runs.

    Attributes:
        games: names of games, OpenSpiel strings, or files.
        catalog: algorithms to measure.
        seeds: number of engine seeds per tabular algorithm that draws at random.
        model_seeds: number of engine seeds per algorithm that fits models.
        close: an algorithm that draws at random gets ``close_seeds`` seeds if its mean reward R̄ is at most this far
            below the best; 0 to give no algorithm more seeds.
        limits: least length of a run, and its limits of time and memory.
        close_seeds: number of engine seeds of the algorithms that ``close`` selects; 0 for as many as ``seeds``.

    Raises:
        RLCCFRError: a number of seeds is not a whole number or too small, ``close_seeds`` has no effect, or there are
            no games.
    """

    games: Sequence[GameName]
    catalog: Catalog = field(default_factory=lambda: Catalog.paper().with_networks("sweep"))
    seeds: int = 5
    model_seeds: int = 2
    close: float = 0.0
    limits: Limits = field(default_factory=Limits)
    close_seeds: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.games, Iterable) or isinstance(self.games, str) or not self.games:
            raise RLCCFRError(f"a sweep's games must be a list of at least one name, not {brief(self.games)}")
        object.__setattr__(self, "games", tuple(as_name(game) for game in self.games))
        whole_number(self.seeds, "seeds", 1, BudgetError)
        whole_number(self.model_seeds, "model_seeds", 1, BudgetError)
        whole_number(self.close_seeds, "close_seeds", 0, BudgetError)
        if self.close_seeds and not (self.close > 0 and self.close_seeds > min(self.seeds, self.model_seeds)):
            raise BudgetError(
                "close_seeds needs close > 0, which says how far below the best reward an algorithm may be, and must "
                "exceed seeds or model_seeds"
            )

    def jobs(self) -> list[Job]:
        """Return all runs except those that :meth:`more_jobs` adds.

        Raises:
            GameError: an unknown game.
        """
        seeds = {as_name(game): range(self.seeds) for game in self.games}
        return jobs(seeds, self.catalog, range(self.model_seeds), self.limits)

    def more_jobs(self, store: Store, planned: Sequence[Job]) -> list[Job]:
        """Return further runs of the algorithms that are close to the best by a store's records.

        :func:`close_calls` defines what is close.
        """
        seeds = range(self.close_seeds or self.seeds)
        return close_calls(planned, store, seeds, self.close) if self.close > 0 else []


def sweep(
    plan: SweepPlan | Sequence[str],
    store: Store | str | Path,
    *,
    executor: Executor | Executors | None = None,
    retry_failed: bool = False,
    report: Report | None = None,
) -> dict[str, dict[str, int]]:
    """Measure every algorithm of a catalog on each game, except for runs that the store already has.

    The same call resumes an interrupted sweep. Two sweeps may share a store; they then divide between them the runs
    that both plan. Example::

        counts = rlccfr.envs.sweep(["kuhn"], "runs/sweep")
        table = rlccfr.envs.TableEvaluator("runs/sweep")

    In a script, call it below ``if __name__ == "__main__":``, because worker processes import the script again.

    Args:
        plan: what to measure, or names of games to measure the paper's catalog on.
        store: store of all runs, or its directory.
        executor: executor of the runs: one of ``concurrent.futures`` (or any with its interface), or
            :class:`Executors`, which can replace an executor whose worker was killed. The default is one process per
            physical core.
        retry_failed: whether to repeat failed runs.
        report: function called with each job and its record, once the record is kept.

    Returns:
        For each game, the number of runs by status.

    Raises:
        GameError: an unknown game.
        RLCCFRError: there are no games, or ``executor`` is not an executor.
        StoreError: a record can't be written; the earlier records are kept.
    """
    plan = plan if isinstance(plan, SweepPlan) else SweepPlan(plan)
    store = store if isinstance(store, Store) else Store(store)
    executors = _executors(executor)
    report = report or (lambda job, record: None)
    planned = plan.jobs()
    with sharing(store, log.warning) as order:
        todo = left_to_do(planned, store, retry_failed=retry_failed)
        Runner(store, executors.make, executors.workers, report).run(order(todo))
        # Which algorithms are close to the best is known only now.
        more = plan.more_jobs(store, planned)
        todo = left_to_do(more, store, retry_failed=retry_failed)
        Runner(store, executors.make, executors.workers, report).run(order(todo))
    return statuses(planned + more, store)


def close_calls(planned: Sequence[Job], store: Store, seeds: Iterable[int], within: float) -> list[Job]:
    """Return further runs of the algorithms that draw at random and have nearly the best mean reward on their game.

    The best is the algorithm that would be recommended: one that has converged, if any has. An algorithm is close to it
    if its mean reward is at most ``within`` less, under at least one preset and one of these budgets: the limits'
    ``seconds``, divided by each of :data:`DIVISORS`; and the limits' ``iterations``, unless this is 1, because all
    algorithms are alike after one iteration.

    Args:
        planned: runs to compare; runs without a record in the store are skipped.
        store: store of the records.
        seeds: all engine seeds that close algorithms are to have.
        within: largest shortfall of a close algorithm's mean reward from the best.
    """
    # Runs are compared with those of the same game and the same limits.
    recorded_jobs: dict[tuple[str, Limits], dict[Cell, list[Job]]] = {}
    records = []
    for job in planned:
        record = store.get(job.id)
        if record is not None:
            records.append(record)
            recorded_jobs.setdefault((job.game, job.limits), {}).setdefault(job.cell, []).append(job)
    table = TableEvaluator(to_frame(records, curves=True))
    planned_jobs = set(planned)
    wanted_seeds = list(seeds)
    further_jobs: list[Job] = []
    for (game, limits), by_algorithm in recorded_jobs.items():
        # More seeds are of no use for an algorithm that draws nothing at random.
        close = set(_close(table, by_algorithm, limits, within))
        tree = compiled(game)
        for algorithm in by_algorithm:
            if algorithm in close and not is_deterministic((algorithm,), tree):
                jobs_of_seeds = [Job(game, algorithm, seed, limits) for seed in wanted_seeds]
                further_jobs += [job for job in jobs_of_seeds if job not in planned_jobs]
    return further_jobs


def _close(
    table: TableEvaluator, by_algorithm: Mapping[Cell, Sequence[Job]], limits: Limits, within: float
) -> Iterator[Cell]:
    """Yield the algorithms of one game that are close to the best, as :func:`close_calls` defines it.

    An algorithm is yielded once for each budget and preset under which it is close. Only the planned runs are compared,
    so seeds that were added earlier do not change the choice.
    """
    budgets = [Budget("iterations", limits.iterations)] if limits.iterations > 1 else []
    budgets += [Budget("seconds", limits.seconds / divisor) for divisor in DIVISORS if limits.seconds]
    for budget in budgets:
        measurements = {
            algorithm: [table.measure(Request(job.game, (algorithm,), budget, seed=job.seed)) for job in algorithm_jobs]
            for algorithm, algorithm_jobs in by_algorithm.items()
        }
        for preset in PRESETS.values():
            worths = {cell: preset.worth([costs(run) for run in runs]) for cell, runs in measurements.items()}
            best = max(worths.values())
            yield from (cell for cell, worth in worths.items() if worth.reward >= best.reward - within)


@contextmanager
def sharing(store: Store, say: Callable[[str], None]) -> Iterator[Callable[[list[Job]], list[Job]]]:
    """Hold a store while the block runs, and choose an order of runs in which sweeps on one store share the work.

    Several sweeps may write to a store, because each run has its own file.

    Args:
        store: the store.
        say: function called with one line if another sweep on the store is in progress.

    Yields:
        Function that returns runs in the order of this sweep: as planned or, if another sweep is in progress, at
        random, so that two sweeps seldom perform the same run at the same time.
    """
    with ExitStack() as stack:
        order: Callable[[list[Job]], list[Job]] = list
        try:
            stack.enter_context(held(store.path))
        except InUseError as error:
            order = _shuffled
            say(
                f"another sweep, {error.holder}, is also writing to {store.path}; this one performs its runs in random "
                "order and skips those that the other one has measured"
            )
        yield order


def _shuffled(runs: list[Job]) -> list[Job]:
    return random.sample(runs, len(runs))


def statuses(planned: Sequence[Job], store: Store) -> dict[str, dict[str, int]]:
    """Return, for each game, the number of runs by status; ``missing`` counts runs without a record."""
    counts_by_game: dict[str, Counter[str]] = {job.game: Counter() for job in planned}
    for job in planned:
        record: Mapping[str, Any] | None = store.get(job.id)
        counts_by_game[job.game]["missing" if record is None else record["status"]] += 1
    return {game: dict(counts) for game, counts in counts_by_game.items()}


def _executors(executor: Executor | Executors | None) -> Executors:
    """Return the executors of a sweep: the caller's, or new worker processes if the caller gives none.

    Raises:
        RLCCFRError: the value is not an executor.
    """
    if executor is None:
        return processes()
    if isinstance(executor, Executors):
        return executor
    if not callable(getattr(executor, "submit", None)):
        raise RLCCFRError(f"executor must be a concurrent.futures.Executor, not {executor!r}")
    return Executors(lambda: _CallersExecutor(executor), int(getattr(executor, "_max_workers", 1)))


class _CallersExecutor(Executor):
    """The caller's executor, which outlives the sweep."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: the owner shuts the executor down."""
