"""Files that are written whole or not at all, and files and directories that only one process at a time may change."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import math
import os
import platform
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from rlccfr.errors import CheckpointError, InUseError, RLCCFRError

LOCK = ".rlccfr.lock"
"""Name of the lock file in a held directory; for a held file, suffix of the name of the lock file beside it."""

HOLDER = ".rlccfr.holder"
"""Name of the file that describes the process with the lock; for a held file, a suffix as for :data:`LOCK`."""

LEFT_BEHIND = 3600
"""Age in seconds, counted from its last change, above which a temporary file counts as left by a killed process."""


def refuse_devices(file: BinaryIO) -> None:
    """Raise an error if an open file is a device, such as ``/dev/zero``: reading it may never end.

    Raises:
        OSError: the file is a device.
    """
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a device, not a file")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: the file can't be read, or is a device.
    """
    with path.open("rb") as file:
        refuse_devices(file)
        return file.read()


def write_atomically(
    path: Path, data: bytes, failure: type[RLCCFRError] = CheckpointError, *, trial: bool = False
) -> None:
    """Write a file as :func:`written_atomically` does.

    Args:
        path: the file.
        data: content of the file.
        failure, trial: see :func:`written_atomically`.

    Raises:
        RLCCFRError: the file can't be written; the error is of the class ``failure``.
    """
    with written_atomically(path, failure, trial=trial) as file:
        file.write(data)


@contextlib.contextmanager
def written_atomically(
    path: Path, failure: type[RLCCFRError] = CheckpointError, *, trial: bool = False
) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``path`` when the block ends: readers see the old file or the new one.

    A device or a pipe is written to directly, because a rename would put a file in its place. The block should only
    write, since every OSError in it counts as a failure to write.

    Args:
        path: the file; its folder is made if necessary.
        failure: class of the error that is raised.
        trial: whether only to check that the file can be written. The file then stays as it is, but its folder is made.

    Yields:
        The open temporary file; for a device or a pipe, a buffer that is written to it when the block ends.

    Raises:
        RLCCFRError: the file can't be written; the error is of the class ``failure``.
    """
    # In the same folder, since a rename works only within one file system.
    temporary = path.parent / f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        if _is_special(path):
            content = io.BytesIO()
            yield content
            _write_through(path, content.getbuffer(), trial=trial)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:  # not by tempfile, whose files only their owner may read
            yield file
            # The content must be on the disk before the name points to it: a power failure could leave an empty file.
            file.flush()
            os.fsync(file.fileno())
        if not trial:
            os.replace(temporary, path)
            _sync(path.parent)
        elif path.is_dir():
            # A trial renames nothing, so it must raise the error that the rename would raise.
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    except OSError as error:
        _remove(temporary)
        if path.parent.is_file():
            raise failure(f"can't write {path}: {path.parent} is a file; name a directory") from None
        if path.is_dir():
            raise failure(f"can't write {path}: it is a directory; name a file") from None
        raise failure(f"can't write {path} ({error.strerror}); check space and permissions") from None
    except BaseException:
        # Ctrl-C, or an error of the caller's block: the unfinished file must not stay behind.
        _remove(temporary)
        raise
    if trial:
        temporary.unlink()


def _remove(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        temporary.unlink()


def discard_leftovers(path: Path) -> None:
    """Remove old temporary files that :func:`written_atomically` made for ``path`` before its process was killed."""
    temporary_name = re.compile(rf"\.{re.escape(path.name)}\.\d+\.[0-9a-f]{{8}}")
    with contextlib.suppress(OSError):
        for neighbour in path.parent.iterdir():
            if temporary_name.fullmatch(neighbour.name) and time.time() - neighbour.stat().st_mtime > LEFT_BEHIND:
                neighbour.unlink()


def _is_special(path: Path) -> bool:
    """Return whether the path, links followed, is a device, a pipe or a socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _write_through(path: Path, data: bytes | memoryview, *, trial: bool) -> None:
    """Write to a device or a pipe; a trial only checks the permission, because opening a pipe may block."""
    if not trial:
        path.write_bytes(data)
    elif not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _sync(folder: Path) -> None:
    """Make sure that a rename in a folder survives a power failure, on systems where folders can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def require_writable(path: Path) -> None:
    """Check that a file can be written, before the work that produces its content begins.

    Raises:
        RLCCFRError: the file can't be written.
    """
    write_atomically(path, b"", RLCCFRError, trial=True)


class _Place(NamedTuple):
    """A directory or file that one process holds, and the two files that mark it as held.

    Attributes:
        path: the directory or file.
        kind: ``directory`` or ``file``, for messages.
        lock: the file that is locked.
        holder: the file that names the process.
    """

    path: Path
    kind: str
    lock: Path
    holder: Path


@contextlib.contextmanager
def held(directory: Path) -> Iterator[None]:
    """Keep other processes out of a directory until the block ends; blocks of one thread may be nested.

    The operating system releases the lock of a process that ends, however it ends. If the file system does not support
    locks, the block runs without one.

    Args:
        directory: directory to hold. If it does not exist, it is made, and removed afterwards if it is then empty.

    Raises:
        InUseError: another process or thread holds the directory.
        RLCCFRError: the directory can't be written to, or its lock belongs to another user.
    """
    absolute = directory.resolve()
    place = _Place(directory, "directory", absolute / LOCK, absolute / HOLDER)
    with _held(place, is_new=not directory.exists()):
        yield


@contextlib.contextmanager
def held_file(path: Path) -> Iterator[None]:
    """Keep other processes from writing a file until the block ends, as :func:`held` does for a directory.

    Two hidden files beside the file contain the lock and a description of its holder. The lock file is not removed,
    because another process may be waiting for it. A device or a pipe is not locked.

    Args:
        path: the file, which need not exist.

    Raises:
        InUseError: another process or thread holds the file.
        RLCCFRError: its folder can't be written to, or its lock belongs to another user.
    """
    if _is_special(path):
        yield
        return
    with _held(_place_of(path)):
        yield


@contextlib.contextmanager
def not_held_by_others(path: Path) -> Iterator[None]:
    """Run a block that writes a file, after a check that no other process holds the file.

    The file is held during the block only if it already has a lock file; otherwise, none is made.

    Raises:
        InUseError: another process holds the file.
    """
    with held_file(path) if _place_of(path).lock.exists() else contextlib.nullcontext():
        yield


def _place_of(path: Path) -> _Place:
    """Return the place of a file: the file, and the two hidden files beside it that mark it as held."""
    absolute = path.resolve()
    lock = absolute.parent / f".{absolute.name}{LOCK}"
    holder = absolute.parent / f".{absolute.name}{HOLDER}"
    return _Place(path, "file", lock, holder)


@contextlib.contextmanager
def _held(place: _Place, *, is_new: bool = False) -> Iterator[None]:
    """Hold a place until the block ends.

    Args:
        place: the place.
        is_new: whether the place is a directory that does not exist yet.
    """
    from filelock import FileLock, Timeout

    require_writable(place.lock)
    lock = FileLock(str(place.lock), timeout=0, is_singleton=True)
    is_nested = lock.is_locked  # this thread holds it already
    try:
        lock.acquire()
    except Timeout:
        raise InUseError(place.path, _holder(place), place.kind) from None
    except PermissionError:
        raise RLCCFRError(f"{place.lock} belongs to another user: delete it, or name another {place.kind}") from None
    except (OSError, NotImplementedError):  # the file system has no locks
        yield
        return
    try:
        if not is_nested:
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            _write_holder(place, f"process {os.getpid()} on {platform.node()}, since {since}")
        yield
    finally:
        if not is_nested:
            _leave(place, is_new)
        lock.release()


def _holder(place: _Place) -> str:
    """Return a description of the process that holds a place, for messages."""
    try:
        text = place.holder.read_text(errors="replace")
    except OSError:  # the process has not written it yet
        text = ""
    return "".join(sign for sign in text if sign.isprintable())[:200] or "another process"


def _write_holder(place: _Place, text: str) -> None:
    with contextlib.suppress(RLCCFRError):  # a full disk: the lock holds without this file
        write_atomically(place.holder, text.encode())


def _leave(place: _Place, is_new: bool) -> None:
    """Remove the files that :func:`_held` wrote, except for a lock that other processes may be waiting for."""
    with contextlib.suppress(OSError):
        place.holder.unlink(missing_ok=True)
        directory = place.lock.parent
        if is_new and [path.name for path in directory.iterdir()] == [LOCK]:
            place.lock.unlink()
            directory.rmdir()


def as_json(value: Any) -> str:
    """Return a value as compact JSON with sorted keys; values of types that JSON lacks are converted by ``str``.

    Dicts that differ only in the order of their keys give equal strings.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def checksum(value: Any) -> str:
    """Return a checksum, 64 hexadecimal digits, of a value that JSON can hold."""
    return hashlib.sha256(as_json(value).encode()).hexdigest()


def none_for_nan(value: Any) -> Any:
    """Return None for a float that is not finite, which JSON can't hold; return any other value as it is."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; an ``object_pairs_hook`` for :func:`json.loads`.

    Raises:
        ValueError: a key is repeated.
    """
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated!r} is repeated")
    return table
