"""What PyTorch keeps for the whole process, set for a while: its number of threads and the random generators."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


class _Blocks(threading.local):
    """The blocks of :func:`one_thread` that are open in the current Python thread.

    Attributes:
        depth: their number, since blocks may be nested.
        count_before: PyTorch's number of threads outside them.
    """

    depth: int = 0
    count_before: int = 1


_blocks = _Blocks()
_lock = threading.Lock()
_thread_counts_before: list[int] = []
"""PyTorch's number of threads at the beginning of each outermost block that is open in some Python thread."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use only one thread inside the ``with`` block.

    For matrices this small, a second thread costs more than it saves, and CPU time is measured for one thread only.

    PyTorch keeps a number of threads for each Python thread. A new Python thread gets the number that was set last, in
    whatever thread. So a block that begins while another Python thread is inside one may find 1; it then restores the
    number that the first of these blocks has found.
    """
    if _blocks.depth == 0:
        with _lock:
            own_count = torch.get_num_threads()
            is_inherited = own_count == 1 and bool(_thread_counts_before)
            _blocks.count_before = _thread_counts_before[0] if is_inherited else own_count
            _thread_counts_before.append(_blocks.count_before)
            torch.set_num_threads(1)
    _blocks.depth += 1
    try:
        yield
    finally:
        _blocks.depth -= 1
        if _blocks.depth == 0:
            with _lock:
                _thread_counts_before.remove(_blocks.count_before)
                torch.set_num_threads(_blocks.count_before)


@contextmanager
def contained_randomness(seed: int | None = None) -> Iterator[None]:
    """Restore the global random generators of PyTorch, NumPy and Python after the ``with`` block.

    Libraries for learning draw from these generators, and seed them.

    Args:
        seed: seed of all three generators inside the block, less than 2^32; None to leave them as they are.
    """
    numpy_state = np.random.get_state()
    python_state = random.getstate()
    try:
        with torch.random.fork_rng(devices=[]):
            if seed is not None:
                torch.manual_seed(seed)
                np.random.seed(seed)
                random.seed(seed)
            yield
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)
