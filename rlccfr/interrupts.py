"""Protection of work that Ctrl-C must not cut short."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


def is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error is Ctrl-C, or was caused by it: libraries may turn it into an error of their own.

    An error that is merely raised while Ctrl-C is handled does not count, except for a failed import.
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

    Libraries call ``exec`` on texts while they load. If Ctrl-C leaves such a call, CPython notes that nothing handled
    it, and ends the process by a signal in place of its exit code. The next ``exec`` of a text clears the note.
    """
    exec("")


when_held: list[Callable[[], None]] = []
"""Functions that are called when Ctrl-C is held back and a second one would take effect at once."""


@contextmanager
def uninterrupted(*, unless_repeated: bool = False) -> Iterator[None]:
    """Hold Ctrl-C back until the block ends, so that tables and counts stay in step; then let it take effect.

    Args:
        unless_repeated: whether a second Ctrl-C takes effect at once, for blocks that may take long. What the block
            changes is then left half done.
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
    """Block Ctrl-C for processes that are started in the block; they inherit the blocked signals.

    A worker could block Ctrl-C by itself only after it has imported Python's libraries and this one. On Windows,
    nothing is blocked.
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
