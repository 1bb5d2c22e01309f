"""The processor cores that workers are pinned to."""

from __future__ import annotations

import os
from pathlib import Path


def physical_cores() -> list[int]:
    """Return one processor number per physical core that this process may run on; all processors if unknown."""
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))
    cores: dict[str, int] = {}
    for number in sorted(os.sched_getaffinity(0)):
        path = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        try:
            siblings = path.read_text()
        except OSError:
            siblings = f"{number}"
        cores.setdefault(siblings, number)
    return sorted(cores.values())
