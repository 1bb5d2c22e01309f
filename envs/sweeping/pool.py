"""The processes of a sweep, which leave Ctrl-C to the process that started them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from rlccfr.envs.sweeping.cores import physical_cores
from rlccfr.envs.sweeping.worker import prepare
from rlccfr.interrupts import uninterrupted
from rlccfr.plugins import loaded


class Pool(ProcessPoolExecutor):
    """Worker processes, each pinned to a core while there are enough cores."""

    def __init__(self, workers: int) -> None:
        context, cores = _Context(), physical_cores()
        own = context.Queue() if workers <= len(cores) else None
        if own:
            for core in cores:
                own.put(core)
        self._started = context.started
        super().__init__(workers, context, initializer=prepare, initargs=(own, loaded))

    def kill(self) -> None:
        """End all workers at once, whatever they do, and wait until they are gone."""
        with uninterrupted():
            for worker in self._started:
                if worker.is_alive():
                    worker.kill()
            self.shutdown(cancel_futures=True)


class _Worker(SpawnProcess):
    def start(self) -> None:
        with uninterrupted(), _interrupts_blocked():  # a half-started worker would end with a traceback
            super().start()


class _Context(SpawnContext):
    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Worker] = []

    def Process(self, *arguments: Any, **options: Any) -> _Worker:  # type: ignore[override]
        worker = _Worker(*arguments, **options)
        self.started.append(worker)
        return worker


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Have processes that are started here never see Ctrl-C: they inherit which signals are blocked.

    A worker that set this itself could do so only after it has imported Python's libraries and this one.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
