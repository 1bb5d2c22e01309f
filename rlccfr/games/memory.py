"""The memory that is left, so that work which can't fit is refused before it makes the machine swap."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
CONTAINERS = (  # a container's limit, what it uses, and the name of what it would give back: versions 2 and 1
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)


def available_memory() -> int | None:
    """Return the bytes that this process may still take without swapping, or None where the system does not say."""
    return min([*_system(), *_container()], default=None)


def _system() -> Iterator[int]:
    """Yield what the machine has left."""
    try:
        yield _named(MEMINFO, "MemAvailable:") * 1024
    except (OSError, ValueError):
        if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
            yield os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _container() -> Iterator[int]:
    """Yield what the container has left, if it has a limit."""
    for limit, used, cache in CONTAINERS:
        try:
            free = int((CGROUP / limit).read_text()) - int((CGROUP / used).read_text())
            yield free + _named((CGROUP / limit).with_name("memory.stat"), cache)
        except (OSError, ValueError):  # not in a container, or in one without a limit, which is the word max
            continue


def _named(path: Path, name: str) -> int:
    """Return the number behind a name in a file of names and numbers."""
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    raise ValueError(f"{path} has no {name}")
