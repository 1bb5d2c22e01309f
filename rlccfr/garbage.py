"""Python's garbage collector, which must not run while the engine is timed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the garbage collector from running in the block, so that its time does not count as the engine's.

    Garbage from before the block, for example of Numba's compiler, may take the collector 0.1 s. The collector may run
    again after the block. Blocks may be nested. All threads share the collector: if two threads' blocks overlap, the
    collector may run again when the block that began first ends. Otherwise, blocks that keep overlapping would never
    let the collector run.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:  # after Ctrl-C, too
        if was_enabled:
            gc.enable()
