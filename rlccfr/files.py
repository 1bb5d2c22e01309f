"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from rlccfr.errors import CheckpointError, RLCCFRError


def write_atomically(
    path: Path, data: bytes, failure: type[RLCCFRError] = CheckpointError, *, trial: bool = False
) -> None:
    """Write a file under a temporary name, then rename it: readers see the old file or the new one, never a part.

    A device or a pipe is written to as it is, because a rename would put a file in its place.

    Args:
        path: the file; its folder is made if need be.
        data: content of the file.
        failure: class of the error.
        trial: only check that the file can be written, without renaming.

    Raises:
        RLCCFRError: the file can't be written.
    """
    temporary = path.parent / f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        if _is_special(path):
            _write_through(path, data, trial=trial)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:  # not by tempfile, whose files only their owner may read
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not trial:
            os.replace(temporary, path)
            _sync(path.parent)
        elif path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a directory")
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            if path.parent.is_file():
                raise failure(f"can't write {path}: {path.parent} is a file; name a directory") from None
            raise failure(f"can't write {path} ({error.strerror}); check space and permissions") from None
        raise
    if trial:
        temporary.unlink()


def _is_special(path: Path) -> bool:
    """Return whether the path, links followed, is a device, a pipe or a socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _write_through(path: Path, data: bytes, *, trial: bool) -> None:
    """Write to a device or a pipe; a trial only asks for permission, because to open a pipe may block."""
    if not trial:
        path.write_bytes(data)
    elif not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _sync(folder: Path) -> None:
    """Make a renaming survive a power cut, on systems that let folders be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def require_writable(path: Path) -> None:
    """Check, before the work begins, that its result can be written to a file.

    Raises:
        RLCCFRError: the file can't be written.
    """
    write_atomically(path, b"", RLCCFRError, trial=True)


def as_json(value: Any) -> str:
    """Return a value as JSON with sorted keys: equal values give equal strings."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def none_for_nan(value: Any) -> Any:
    """Return a value that JSON can hold: None for a float that is not finite, everything else as it is."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
