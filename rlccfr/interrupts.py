"""Protection of work that Ctrl-C must not cut short."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


def is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error is Ctrl-C, or was caused by it: libraries may turn Ctrl-C into an error of their own.

    An error that is raised while Ctrl-C is being handled, without being caused by it, counts only if it is an
    ``ImportError``.
    """
    seen: set[int] = set()  # an error may be its own cause
    while error is not None and id(error) not in seen and not isinstance(error, KeyboardInterrupt):
        seen.add(id(error))
        error = error.__cause__ or (error.__context__ if isinstance(error, ImportError) else None)
    return isinstance(error, KeyboardInterrupt)


def raise_if_interrupt(error: BaseException) -> None:
    """Raise ``KeyboardInterrupt`` if an error was caused by Ctrl-C."""
    if is_interrupt(error):
        raise KeyboardInterrupt from error


def settle_interrupt() -> None:
    """Let the process end with its own exit code after Ctrl-C.

    Libraries call ``exec`` on strings while they load. If Ctrl-C ends such a call, CPython records it as unhandled, and
    ends the process by a signal instead of by its exit code. The next ``exec`` of a string clears the record.
    """
    exec("")


when_held: list[Callable[[], None]] = []
"""Functions that are called when Ctrl-C is held back in a block of :func:`uninterrupted` with ``unless_repeated``."""


@contextmanager
def uninterrupted(*, unless_repeated: bool = False) -> Iterator[None]:
    """Hold Ctrl-C back until the block ends, so that tables and counts stay consistent; then let it take effect.

    Args:
        unless_repeated: whether a second Ctrl-C takes effect at once, for blocks that may take long. The block's
            changes are then left incomplete.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:  # None: not installed from Python
        yield
        return
    held: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        held.append(number)
        if unless_repeated and len(held) > 1:
            held.clear()
            raise KeyboardInterrupt
        for tell in when_held if unless_repeated else ():
            tell()

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C for processes that are started in the block; they inherit the set of blocked signals.

    A worker that blocked Ctrl-C by itself could do so only after it had imported Python's libraries and this one. On
    Windows, nothing is blocked.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # starting it later, with the first process, would unblock Ctrl-C again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
