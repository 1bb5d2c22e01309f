"""Worker processes of a sweep; only the process that started them handles Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any

from rlccfr.envs.sweeping.worker import prepare
from rlccfr.interrupts import interrupts_blocked, uninterrupted
from rlccfr.plugins import loaded


def physical_cores() -> list[int]:
    """Return one processor number per physical core that this process may run on; if unknown, all processors'."""
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))
    cores: dict[str, int] = {}
    for number in sorted(os.sched_getaffinity(0)):
        path = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        try:
            siblings = path.read_text()
        except OSError:
            siblings = f"{number}"
        # Two runs on threads of one core would slow each other down, so the first thread stands for the core.
        cores.setdefault(siblings, number)
    return sorted(cores.values())


class Pool(ProcessPoolExecutor):
    """Worker processes, each pinned to a core if there are enough cores.

    Args:
        workers: number of processes.
    """

    def __init__(self, workers: int) -> None:
        context = _Context()
        cores = physical_cores()
        queue = None
        if workers <= len(cores):
            queue = context.Queue()  # from which each worker takes its core
            for core in cores:
                queue.put(core)
        self._started_workers = context.started_workers
        super().__init__(workers, context, initializer=prepare, initargs=(queue, loaded))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with uninterrupted():  # the first call starts a thread, which can't be joined if its start is interrupted
            return super().submit(fn, *args, **kwargs)

    def kill(self) -> None:
        """Kill all workers at once, busy or not, and wait until they have ended."""
        with uninterrupted():
            for worker in self._started_workers:
                if worker.is_alive():
                    worker.kill()
            self.shutdown(cancel_futures=True)


class _Worker(SpawnProcess):
    """A worker whose start Ctrl-C does not interrupt."""

    def start(self) -> None:
        with uninterrupted(), interrupts_blocked():  # a half-started worker would end with a traceback
            super().start()


class _Context(SpawnContext):
    """A context of multiprocessing that remembers the workers it has started, so that they can be killed."""

    def __init__(self) -> None:
        super().__init__()
        self.started_workers: list[_Worker] = []

    def Process(self, *arguments: Any, **options: Any) -> _Worker:  # type: ignore[override]
        worker = _Worker(*arguments, **options)
        self.started_workers.append(worker)
        return worker
