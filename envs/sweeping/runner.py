"""Runs over any executor, so that what is measured is kept, whatever becomes of a worker, the disk or the power."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from typing import Any

from rlccfr.envs.measuring.record import make_record
from rlccfr.envs.measuring.store import Store, StoreError
from rlccfr.envs.sweeping.plan import Job
from rlccfr.envs.sweeping.pool import Pool
from rlccfr.envs.sweeping.worker import measure

TRIES = 3
"""Of a run whose worker was lost, the last ones with nothing beside it."""

Report = Callable[[Job, dict[str, Any]], None]


def left_to_do(jobs: Iterable[Job], store: Store, *, retry_failed: bool = False) -> list[Job]:
    """Those that the store has no record of; with ``retry_failed`` also those that did not end well."""
    todo = []
    for job in jobs:
        record = store.get(job.id)
        if record is None or (retry_failed and record["status"] != "ok"):
            todo.append(job)
    return todo


class Runner:
    """Runs jobs and puts their records into a store as they come.

    Args:
        make_executor: called at first, and again when the executor broke because a worker was killed.
        workers: that it has; twice as many runs are handed to it at a time.
        report: called with each job and its record, once it is kept.
    """

    def __init__(self, store: Store, make_executor: Callable[[], Executor], workers: int, report: Report) -> None:
        self.store, self.make_executor, self.workers, self.report = store, make_executor, workers, report
        self._tries: dict[Job, int] = {}

    def run(self, jobs: Sequence[Job]) -> None:
        """Run them all.

        Raises:
            StoreError: a record can't be written; what was written before stays, and the next run goes on there.
        """
        todo, suspects = deque(jobs), deque[Job]()
        while todo or suspects:
            # After a loss the runs that were under way go one at a time: the one that kills its worker shows.
            batch, most = (suspects, 1) if suspects else (todo, 2 * self.workers)
            suspects.extend(self._until_lost(batch, most))

    def _until_lost(self, todo: deque[Job], most: int) -> list[Job]:
        """Run what is in ``todo`` until it is empty or workers are lost; returns what was under way then."""
        executor, running, lost = self.make_executor(), dict[Future[Any], Job](), list[Job]()
        try:
            while (todo or running) and not lost:
                while todo and len(running) < most:
                    job = todo.popleft()
                    running[executor.submit(measure, job)] = job
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    self._take(future, running.pop(future), lost)
        except BrokenExecutor:  # while handing one on
            lost.append(job)
        except KeyboardInterrupt:  # which the workers of a pool don't hear, and a run may take half an hour more
            _end_workers(executor)
            raise
        finally:
            for future in running:  # not by shutdown's option, which Dask's executor does not have
                future.cancel()
            if lost:
                _end_workers(executor)
            executor.shutdown(wait=not lost)
            self._keep_finished(running)
        return [again for again in (*lost, *running.values()) if self._may_try(again)]

    def _take(self, future: Future[Any], job: Job, lost: list[Job]) -> None:
        error = future.exception()
        if error is None:
            self._keep(job, future.result())
        else:  # not the run's own: it answers with a record, whatever happens
            lost.append(job)

    def _keep_finished(self, running: dict[Future[Any], Job]) -> None:
        """What came to its end while the others were given up is taken out of them, and kept if it can be."""
        for future in [one for one in running if one.done() and not one.cancelled() and one.exception() is None]:
            with suppress(StoreError):
                self._keep(running.pop(future), future.result())

    def _keep(self, job: Job, record: dict[str, Any]) -> None:
        self.store.put(record)
        self.report(job, record)

    def _may_try(self, job: Job) -> bool:
        """Whether to run a job again whose worker was lost; if not, that is its record."""
        self._tries[job] = self._tries.get(job, 0) + 1
        if self._tries[job] < TRIES:
            return True
        error = f"its worker was killed {TRIES} times; it may need more memory than there is"
        self._keep(job, make_record(job.request(), job.id, "failed", error=error))
        return False


def _end_workers(executor: Executor) -> None:
    """Kill a pool's workers; those that are still starting would otherwise complain that the pool is gone."""
    if isinstance(executor, Pool):
        executor.kill()
