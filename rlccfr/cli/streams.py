"""Standard output and error that never end a command by a traceback: closed, full, or of another alphabet."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


def mend_streams() -> None:
    """Open closed streams to nowhere, and let the others replace characters that they can't encode."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _nowhere(number))
        elif isinstance(stream, io.TextIOWrapper) and stream.errors != "backslashreplace":
            stream.reconfigure(errors="replace")


def _nowhere(number: int) -> io.TextIOWrapper:
    """Return a stream to nowhere, on the descriptor ``number`` if it is free: C++ libraries write to it, too."""
    opened = os.open(os.devnull, os.O_RDWR)
    if opened != number and _is_free(number):
        os.dup2(opened, number)
        os.close(opened)
        opened = number
    os.set_inheritable(opened, True)  # workers would find it closed again
    return open(opened, "w")


def _is_free(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def discard_output() -> None:
    """Send what stdout still holds to nowhere, so that Python does not complain of it again when it ends."""
    with suppress(OSError, ValueError):  # a stream without a descriptor, such as a test's
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
