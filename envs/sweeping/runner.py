"""The runs of a sweep on an executor; records of finished runs are kept if a worker, disk or power fails later."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from typing import Any

from rlccfr.envs.measuring.record import make_record
from rlccfr.envs.measuring.store import Store, StoreError
from rlccfr.envs.sweeping.plan import Job
from rlccfr.envs.sweeping.pool import Pool
from rlccfr.envs.sweeping.worker import measure
from rlccfr.errors import what_failed

TRIES = 3
"""Largest number of attempts at a run whose worker dies; from the second attempt on, the run is performed alone."""

Report = Callable[[Job, dict[str, Any]], None]


def left_to_do(jobs: Iterable[Job], store: Store, *, retry_failed: bool = False) -> list[Job]:
    """Return the runs without a record in the store and, with ``retry_failed``, those that failed."""
    todo = []
    for job in jobs:
        record = store.get(job.id)
        if record is None or (retry_failed and record["status"] != "ok"):
            todo.append(job)
    return todo


class Runner:
    """A runner that performs runs and puts each record into a store as soon as it arrives.

    Args:
        store: store of the records.
        make_executor: function that returns a new executor; called again if a worker died, which breaks its executor.
        workers: number of the executor's workers; at most twice as many runs are submitted at a time.
        report: function called with each job and its record, once the record is kept.
    """

    def __init__(self, store: Store, make_executor: Callable[[], Executor], workers: int, report: Report) -> None:
        self.store = store
        self.make_executor = make_executor
        self.workers = workers
        self.report = report
        self._losses: dict[Job, int] = {}  # number of times that a job's worker was lost
        self._failed_records: dict[Job, dict[str, Any]] = {}  # records to be replaced

    def run(self, jobs: Sequence[Job]) -> None:
        """Perform all runs except those that another sweep on the same store has measured in the meantime.

        Raises:
            StoreError: a record can't be written; the earlier records are kept, and another call continues from there.
        """
        self._failed_records = {job: record for job in jobs if (record := self.store.get(job.id)) is not None}
        todo = deque(jobs)
        suspects = deque[Job]()
        while todo or suspects:
            # After a loss, the interrupted runs are performed one at a time, to find the run that kills its worker.
            interrupted = self._until_lost(suspects, 1) if suspects else self._until_lost(todo, 2 * self.workers)
            suspects.extend(interrupted)

    def _until_lost(self, todo: deque[Job], most: int) -> list[Job]:
        """Perform runs until none is left or a worker is lost.

        Args:
            todo: the runs; runs that were begun are removed.
            most: largest number of runs that are submitted at a time.

        Returns:
            The runs to try again.
        """
        executor = self.make_executor()
        running = dict[Future[Any], Job]()
        lost = list[Job]()
        try:
            while (todo or running) and not lost:
                while todo and len(running) < most:
                    job = todo.popleft()
                    record = self.store.get(job.id)
                    # Another sweep on the same store may have measured it in the meantime.
                    if record is not None and (record["status"] == "ok" or record != self._failed_records.get(job)):
                        self.report(job, record)
                    else:
                        running[executor.submit(measure, job)] = job
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    self._take(future, running.pop(future), lost)
        except BrokenExecutor:  # it broke while a job was being submitted
            lost.append(job)
        except KeyboardInterrupt:  # a pool's workers ignore it, and a run may take half an hour
            _end_workers(executor)
            raise
        finally:
            for future in running:  # Dask's executor lacks shutdown's option for this
                future.cancel()
            if lost:
                _end_workers(executor)
            executor.shutdown(wait=not lost)
            self._keep_finished(running)
        return [interrupted for interrupted in (*lost, *running.values()) if self._may_try(interrupted)]

    def _take(self, future: Future[Any], job: Job, lost: list[Job]) -> None:
        """Keep the record of a finished run; if its worker was lost, add the run to ``lost``."""
        error = future.exception()
        if error is None:
            self._keep(job, future.result())
        elif _is_loss(error):
            lost.append(job)
        else:  # a run that fails returns a record; here the worker could not even begin, or could not make a record
            text = "".join(traceback.format_exception(error))
            message = f"the run's worker raised {what_failed(error)}"
            self._keep(job, make_record(job.request(), job.id, "failed", error=message, traceback=text))

    def _keep_finished(self, running: dict[Future[Any], Job]) -> None:
        """Keep, if possible, the records of runs that ended during cancelling, and remove them from ``running``."""
        finished = [
            future for future in running if future.done() and not future.cancelled() and future.exception() is None
        ]
        for future in finished:
            with suppress(StoreError):
                self._keep(running.pop(future), future.result())

    def _keep(self, job: Job, record: dict[str, Any]) -> None:
        """Put a record into the store, then report it."""
        self.store.put(record)
        self.report(job, record)

    def _may_try(self, job: Job) -> bool:
        """Return whether to try a job again after its worker was lost; record it as failed after the last attempt."""
        self._losses[job] = self._losses.get(job, 0) + 1
        if self._losses[job] < TRIES:
            return True
        error = f"the run's worker was killed {TRIES} times; the run may need more memory than is available"
        self._keep(job, make_record(job.request(), job.id, "failed", error=error))
        return False


def _is_loss(error: BaseException) -> bool:
    """Return whether a future's error says that the worker was lost, and nothing about the run."""
    if not isinstance(error, Exception):  # the worker was interrupted
        return True
    if isinstance(error, (BrokenExecutor, CancelledError)):
        return True
    return type(error).__name__ == "KilledWorker"  # Dask's error, named so as not to import Dask


def _end_workers(executor: Executor) -> None:
    """Kill a pool's workers; otherwise, workers that are still starting would print errors after the pool has ended."""
    if isinstance(executor, Pool):
        executor.kill()
