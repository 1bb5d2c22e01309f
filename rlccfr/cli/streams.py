"""Standard output and error that never cause a traceback, even if closed, full or of a narrow encoding."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


def mend_streams() -> None:
    """Replace closed streams with the null device, and let the others replace characters that they can't encode."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _null_stream(number))
        elif isinstance(stream, io.TextIOWrapper) and stream.errors != "backslashreplace":
            stream.reconfigure(errors="replace")


def _null_stream(number: int) -> io.TextIOWrapper:
    """Return a stream to the null device, on descriptor ``number`` if that is free: C++ libraries write to it."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    if descriptor != number and _is_free(number):
        os.dup2(descriptor, number)
        os.close(descriptor)
        descriptor = number
    os.set_inheritable(descriptor, True)  # otherwise workers would find it closed
    return open(descriptor, "w")


def _is_free(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def discard_output() -> None:
    """Discard what stdout still holds, so that Python does not report the error again at exit."""
    with suppress(OSError, ValueError):  # a stream without a descriptor, such as a test's
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)
