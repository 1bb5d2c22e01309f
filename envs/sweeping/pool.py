"""Worker processes of a sweep; only the process that started them handles Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from rlccfr.envs.sweeping.cores import physical_cores
from rlccfr.envs.sweeping.worker import prepare
from rlccfr.interrupts import interrupts_blocked, uninterrupted
from rlccfr.plugins import loaded


class Pool(ProcessPoolExecutor):
    """Worker processes, each pinned to a core if there are enough cores."""

    def __init__(self, workers: int) -> None:
        context, cores = _Context(), physical_cores()
        own = context.Queue() if workers <= len(cores) else None
        if own:
            for core in cores:
                own.put(core)
        self._started = context.started
        super().__init__(workers, context, initializer=prepare, initargs=(own, loaded))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with uninterrupted():  # the thread that the first call starts can't be joined if its start is cut short
            return super().submit(fn, *args, **kwargs)

    def kill(self) -> None:
        """Kill all workers at once, busy or not, and wait until they have ended."""
        with uninterrupted():
            for worker in self._started:
                if worker.is_alive():
                    worker.kill()
            self.shutdown(cancel_futures=True)


class _Worker(SpawnProcess):
    def start(self) -> None:
        with uninterrupted(), interrupts_blocked():  # a half-started worker would end with a traceback
            super().start()


class _Context(SpawnContext):
    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Worker] = []

    def Process(self, *arguments: Any, **options: Any) -> _Worker:  # type: ignore[override]
        worker = _Worker(*arguments, **options)
        self.started.append(worker)
        return worker
