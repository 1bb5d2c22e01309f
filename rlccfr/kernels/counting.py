"""Counting of the kernels that a process compiles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from rlccfr.kernels.cache import KernelCache


class _Names(event.Listener):
    """Listener that notes the name of each kernel as its compilation ends."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        pass

    def on_end(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if isinstance(dispatcher._cache, KernelCache):  # others are inlined, and compiled with each kernel
            self.names.append(dispatcher.py_func.__name__)


@contextmanager
def compiled_kernels() -> Iterator[list[str]]:
    """Yield a list of the kernels that are compiled in the block; those that are loaded from disk are not in it."""
    listener = _Names()
    with event.install_listener("numba:compile", listener):
        yield listener.names
