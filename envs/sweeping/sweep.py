"""A sweep: every algorithm of a catalog on each game, measured once and kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.sweeping.close import close_calls
from rlccfr.envs.sweeping.executors import Executors, processes
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.runner import Report, Runner, left_to_do
from rlccfr.errors import BudgetError, RLCCFRError, whole_number


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep measures.

    Attributes:
        games: names or OpenSpiel strings.
        catalog: the algorithms.
        seeds: number of engine seeds per tabular algorithm that draws at random.
        model_seeds: number of engine seeds per algorithm that fits models.
        close: algorithms with models whose reward is this close to the best get ``seeds`` seeds, too; 0 for none.
        limits: how long a run lasts, and what it may take.

    Raises:
        RLCCFRError: a number that is not positive, or no games.
    """

    games: Sequence[str]
    catalog: Catalog = field(default_factory=lambda: Catalog.paper().with_networks("sweep"))
    seeds: int = 5
    model_seeds: int = 2
    close: float = 0.0
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if isinstance(self.games, str) or not self.games:
            raise RLCCFRError(f"a sweep's games must be a list of at least one name, not {self.games!r}")
        whole_number(self.seeds, "seeds", 1, BudgetError)
        whole_number(self.model_seeds, "model_seeds", 1, BudgetError)

    def jobs(self) -> list[Job]:
        """Return all runs but those that close calls add.

        Raises:
            GameError: an unknown game.
        """
        seeds = {game: range(self.seeds) for game in self.games}
        return jobs(seeds, self.catalog, range(self.model_seeds), self.limits)

    def more_jobs(self, store: Store, planned: Sequence[Job]) -> list[Job]:
        """Return the further runs of algorithms that came close to the best, by what was measured."""
        return close_calls(planned, store, range(self.seeds), self.close) if self.close > 0 else []


def sweep(
    plan: SweepPlan | Sequence[str],
    store: Store | str | Path,
    *,
    executor: Executor | Executors | None = None,
    retry_failed: bool = False,
    report: Report | None = None,
) -> dict[str, dict[str, int]]:
    """Measure every algorithm of a catalog on each game; what the store has already is not run again.

    A sweep that was interrupted goes on with the same call. Example::

        counts = rlccfr.envs.sweep(["kuhn"], "runs/sweep")
        table = rlccfr.envs.TableEvaluator("runs/sweep")

    In a script, call it below ``if __name__ == "__main__":``, as worker processes import the script again.

    Args:
        plan: what to measure, or names of games to measure the paper's catalog on.
        store: keeps every run.
        executor: where runs are made: an executor of ``concurrent.futures`` (or any with its interface), or
            :class:`Executors`, which can be made anew when a worker is killed. The default is one process per physical
            core.
        retry_failed: run again what did not end well.
        report: called with each job and its record, once it is kept.

    Returns:
        For each game, the number of runs by status.

    Raises:
        GameError: an unknown game.
        StoreError: a record can't be written; what was written before stays.
    """
    plan = plan if isinstance(plan, SweepPlan) else SweepPlan(plan)
    kept = store if isinstance(store, Store) else Store(store)
    where = _executors(executor)
    planned = plan.jobs()
    told = report or (lambda job, record: None)
    Runner(kept, where.make, where.workers, told).run(left_to_do(planned, kept, retry_failed=retry_failed))
    more = plan.more_jobs(kept, planned)
    Runner(kept, where.make, where.workers, told).run(left_to_do(more, kept, retry_failed=retry_failed))
    return statuses(planned + more, kept)


def statuses(planned: Sequence[Job], store: Store) -> dict[str, dict[str, int]]:
    """Return, for each game, the number of runs by status; ``missing`` for those that were not made."""
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
        raise RLCCFRError(f"executor must be an executor as concurrent.futures has them, not {executor!r}")
    return Executors(lambda: _Kept(executor), int(getattr(executor, "_max_workers", 1)))


class _Kept(Executor):
    """Somebody else's executor, which outlives a sweep."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing: its owner shuts it down."""
