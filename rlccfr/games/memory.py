"""The memory that is available, so that work that can't fit raises an error before it makes the machine swap."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PROC = Path("/proc")
"""Where Linux reports on processes and memory."""

CGROUPS = Path("/sys/fs/cgroup")
"""Where Linux reports on control groups, which containers use."""


class Container(NamedTuple):
    """Names in one version of Linux's control groups.

    Attributes:
        folder: folder below :data:`CGROUPS`.
        limit: name of the file with the memory limit.
        used: name of the file with the memory in use.
        prefix: prefix of the counters in ``memory.stat``.
    """

    folder: str
    limit: str
    used: str
    prefix: str


VERSIONS = {
    "": Container("", "memory.max", "memory.current", ""),
    "memory": Container("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
}
"""The names in version 2 and in version 1 of control groups.

A key is the list of controllers that ``/proc/self/cgroup`` shows for a group of this version.
"""

RECLAIMABLE = ("inactive_file", "active_file", "slab_reclaimable")
"""Counters of memory in use that the system frees on demand; version 1 of control groups does not count slabs."""


def gigabytes(size: int) -> str:
    """Return a number of bytes as a string, such as ``1.44 GB``."""
    return f"{size / 1e9:,.0f} GB" if size >= 1e11 else f"{size / 1e9:.3g} GB"


def return_freed_memory() -> None:
    """Give the memory that this process has freed back to the system, if its C library can do so.

    GNU's library keeps freed memory for later, in pieces that large arrays can't use. While a large game
    is built, about a tenth as much memory is freed as the game's tables take afterwards.
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # no such function, or a library can be opened only by its name
        return
    trim(ctypes.c_size_t(0))


def available_memory() -> int | None:
    """Return the bytes that this process can still use without swapping, or None if the system does not say."""
    return min([*_system(), *_containers()], default=None)


def _system() -> Iterator[int]:
    """Yield the bytes of memory that are available on the machine, if the system reports them."""
    try:
        yield _numbers(PROC / "meminfo")["MemAvailable:"] * 1024
    except (OSError, KeyError):
        if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
            yield os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _containers() -> Iterator[int]:
    """Yield, for each control group of this process with a memory limit, the bytes that are still free."""
    try:
        groups = [line.split(":", 2) for line in (PROC / "self" / "cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, inner in groups:
        if (version := VERSIONS.get(controllers)) is None:
            continue
        # The limits of the groups around this one apply, too.
        path = PurePosixPath(inner)
        for group in (path, *path.parents):
            folder = CGROUPS / version.folder / group.relative_to("/")
            try:
                free = int((folder / version.limit).read_text()) - int((folder / version.used).read_text())
                counts = _numbers(folder / "memory.stat")
            except (OSError, ValueError):  # no limit (the file says "max"), or not visible from inside the container
                continue
            # Cached files count as used memory, but are freed on demand.
            yield free + sum(counts.get(version.prefix + name, 0) for name in RECLAIMABLE)


def _numbers(path: Path) -> dict[str, int]:
    """Read a file that has a name and a number on each line, and return the numbers by name."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1}
