"""Threads that share exact passes, whatever these go over; this module loads no kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np

from rlccfr.interrupts import uninterrupted

PADDING = 16
"""Number of doubles between arrays of different threads: two cache lines, since processors fetch lines in pairs."""


class Workers:
    """Threads that call one function at the same time, each for its own share of the work.

    The calls wait for each other. So all threads are started at once, and Ctrl-C is held back until all calls have
    returned: a thread that is missing would leave the others waiting for ever.

    Args:
        shares: the share of each thread.

    Raises:
        RuntimeError: a thread can't be started.
    """

    def __init__(self, shares: Sequence[Any]) -> None:
        self._shares = shares
        self._pool = ThreadPoolExecutor(len(shares) - 1, thread_name_prefix="rlccfr")
        all_started = Barrier(len(shares))  # a pool starts a thread only if none is free
        with uninterrupted():
            try:
                for _ in shares[1:]:
                    self._pool.submit(all_started.wait)
            except RuntimeError:
                all_started.abort()
                raise
            all_started.wait()

    def run(self, call: Callable[[Any], None]) -> None:
        """Call a function with each share, and wait until all calls have returned."""
        with uninterrupted():
            futures = [self._pool.submit(call, share) for share in self._shares[1:]]
            call(self._shares[0])
            for future in futures:
                future.result()


def assigned(time: np.ndarray, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Give each part of the work to the thread with the least work so far, beginning with the largest part.

    Args:
        time: (parts,) predicted time of each part.
        threads: number of threads.

    Returns:
        (parts,) the thread of each part; and (threads,) the predicted time of each thread.
    """
    thread = np.empty(len(time), np.int64)
    loads = np.zeros(threads)
    for part in np.argsort(-time, kind="stable"):
        thread[part] = loads.argmin()
        loads[thread[part]] += time[part]
    return thread, loads


def pairs_of_cuts(deepest: int) -> list[tuple[int, int]]:
    """Return the pairs of levels at which the players may be cut: all pairs that differ by at most 1.

    Args:
        deepest: the deepest level of either player.
    """
    return [
        (level_0, level_1)
        for level_0 in range(deepest + 1)
        for level_1 in (level_0 - 1, level_0, level_0 + 1)
        if 0 <= level_1 <= deepest
    ]


def padded_zeros(size: int) -> np.ndarray:
    """Return zeros, (size,), that share no cache line with another array.

    Two threads that write to one line, each at its own place, wait for each other at each access.
    """
    return np.zeros(size + 2 * PADDING)[PADDING : PADDING + size]
