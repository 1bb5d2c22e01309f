"""A sweep: every algorithm of a catalog on each game, measured once and kept."""

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

from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.sweeping.close import close_calls
from rlccfr.envs.sweeping.executors import Executors, processes
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.runner import Report, Runner, left_to_do
from rlccfr.errors import BudgetError, InUseError, RLCCFRError, brief, whole_number
from rlccfr.files import held
from rlccfr.games.names import GameName, as_name

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SweepPlan:
    """The plan of a sweep.

    Attributes:
        games: names of games, OpenSpiel strings, or files.
        catalog: algorithms to measure.
        seeds: number of engine seeds per tabular algorithm that draws at random.
        model_seeds: number of engine seeds per algorithm that fits models.
        close: algorithms that draw at random and whose R̄ is at most this far from the best get ``close_seeds`` seeds;
            0 for none.
        limits: least length of a run, and its limits of time and memory.
        close_seeds: number of engine seeds of these algorithms; 0 for ``seeds``.

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
        object.__setattr__(self, "games", tuple(map(as_name, self.games)))
        whole_number(self.seeds, "seeds", 1, BudgetError)
        whole_number(self.model_seeds, "model_seeds", 1, BudgetError)
        whole_number(self.close_seeds, "close_seeds", 0, BudgetError)
        if self.close_seeds and not (self.close > 0 and self.close_seeds > min(self.seeds, self.model_seeds)):
            raise BudgetError(
                "close_seeds needs close, the distance from the best reward, and must exceed the number of other seeds"
            )

    def jobs(self) -> list[Job]:
        """Return all runs except those that :meth:`more_jobs` adds.

        Raises:
            GameError: an unknown game.
        """
        seeds = {as_name(game): range(self.seeds) for game in self.games}
        return jobs(seeds, self.catalog, range(self.model_seeds), self.limits)

    def more_jobs(self, store: Store, planned: Sequence[Job]) -> list[Job]:
        """Return further runs of the algorithms that were measured to be close to the best."""
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

    The same call resumes an interrupted sweep. Two sweeps may share a store; they then divide the runs that
    both plan between them. Example::

        counts = rlccfr.envs.sweep(["kuhn"], "runs/sweep")
        table = rlccfr.envs.TableEvaluator("runs/sweep")

    In a script, call it below ``if __name__ == "__main__":``, as worker processes import the script again.

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
        StoreError: a record can't be written; the earlier records stay.
    """
    plan = plan if isinstance(plan, SweepPlan) else SweepPlan(plan)
    kept = store if isinstance(store, Store) else Store(store)
    where = _executors(executor)
    planned = plan.jobs()
    told = report or (lambda job, record: None)
    with sharing(kept, log.warning) as order:
        Runner(kept, where.make, where.workers, told).run(order(left_to_do(planned, kept, retry_failed=retry_failed)))
        more = plan.more_jobs(kept, planned)
        Runner(kept, where.make, where.workers, told).run(order(left_to_do(more, kept, retry_failed=retry_failed)))
    return statuses(planned + more, kept)


@contextmanager
def sharing(store: Store, say: Callable[[str], None]) -> Iterator[Callable[[list[Job]], list[Job]]]:
    """Choose the order of the runs so that several sweeps on the same store share the work.

    Several sweeps may share a store, because each run has its own file.

    Args:
        say: function called with one line if another sweep is under way.

    Yields:
        Function that returns runs in the order of this sweep: as planned or, if another sweep is under way, at random,
        so that two sweeps seldom perform the same run at the same time.
    """
    with ExitStack() as stack:
        order: Callable[[list[Job]], list[Job]] = list
        try:
            stack.enter_context(held(store.path))
        except InUseError as error:
            order = _shuffled
            say(
                f"a sweep of {error.holder} is measuring into {store.path}, too; this one takes the runs in random "
                "order and skips those that are measured by then"
            )
        yield order


def _shuffled(runs: list[Job]) -> list[Job]:
    return random.sample(runs, len(runs))


def statuses(planned: Sequence[Job], store: Store) -> dict[str, dict[str, int]]:
    """Return, for each game, the number of runs by status; ``missing`` for those without a record."""
    found: dict[str, Counter[str]] = {job.game: Counter() for job in planned}
    for job in planned:
        record: Mapping[str, Any] | None = store.get(job.id)
        found[job.game]["missing" if record is None else record["status"]] += 1
    return {game: dict(counts) for game, counts in found.items()}


def _executors(executor: Executor | Executors | None) -> Executors:
    if executor is None:
        return processes()
    if isinstance(executor, Executors):
        return executor
    if not callable(getattr(executor, "submit", None)):
        raise RLCCFRError(f"executor must be a concurrent.futures.Executor, not {executor!r}")
    return Executors(lambda: _Kept(executor), int(getattr(executor, "_max_workers", 1)))


class _Kept(Executor):
    """A caller's executor, which outlives the sweep."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: the owner shuts the executor down."""
