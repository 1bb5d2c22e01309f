"""Python's garbage collector, which must not run while the engine is timed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the garbage collector from running in the block, so that its work does not count as the engine's.

    What was left before the block, for example by Numba's compiler, may take the collector 0.1 s. It runs after the
    block. Blocks may be nested. The collector serves all threads: of two threads' blocks, the first to end lets it run
    again, so that blocks which overlap without a gap do not keep it from running for good.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:  # after Ctrl-C, too
        if was_enabled:
            gc.enable()
