"""The memory that is left, so that work which can't fit is refused before it makes the machine swap."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PROC = Path("/proc")
"""Where Linux tells of processes and of memory."""

CGROUPS = Path("/sys/fs/cgroup")
"""Where Linux tells of containers: its control groups."""


class Container(NamedTuple):
    """Folder, names of files and prefix of counters in one version of Linux's control groups."""

    folder: str
    limit: str
    used: str
    prefix: str


VERSIONS = {
    "": Container("", "memory.max", "memory.current", ""),
    "memory": Container("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
}
"""Containers of version 2 and of version 1, by the controllers that /proc/self/cgroup names."""

RECLAIMABLE = ("inactive_file", "active_file", "slab_reclaimable")
"""Counters of memory in use that the system gives back on demand; version 1 has none of slabs."""


def gigabytes(size: int) -> str:
    """Return a number of bytes as text, such as ``1.44 GB``."""
    return f"{size / 1e9:,.0f} GB" if size >= 1e11 else f"{size / 1e9:.3g} GB"


def available_memory() -> int | None:
    """Return the bytes that this process may still take without swapping, or None if the system does not say."""
    return min([*_system(), *_containers()], default=None)


def _system() -> Iterator[int]:
    """Yield the bytes of memory that the machine has left, if the system says so."""
    try:
        yield _numbers(PROC / "meminfo")["MemAvailable:"] * 1024
    except (OSError, KeyError):
        if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
            yield os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _containers() -> Iterator[int]:
    """Yield the bytes of memory that each container around this process has left, if it has a limit."""
    try:
        groups = [line.split(":", 2) for line in (PROC / "self" / "cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, inner in groups:
        if (version := VERSIONS.get(controllers)) is None:
            continue
        # A limit of any group around this one holds, too.
        path = PurePosixPath(inner)
        for group in (path, *path.parents):
            folder = CGROUPS / version.folder / group.relative_to("/")
            try:
                free = int((folder / version.limit).read_text()) - int((folder / version.used).read_text())
                counts = _numbers(folder / "memory.stat")
            except (OSError, ValueError):  # without a limit, which is the word max, or not visible from inside
                continue
            # Files in the cache count as used, but are given back.
            yield free + sum(counts.get(version.prefix + name, 0) for name in RECLAIMABLE)


def _numbers(path: Path) -> dict[str, int]:
    """Return the numbers of a file that has a name and a number per line."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1}
