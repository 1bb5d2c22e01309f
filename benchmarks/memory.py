"""The memory that a process has taken."""

from __future__ import annotations

from pathlib import Path


def peak_bytes() -> float:
    """Return the peak memory of this process in bytes; NaN if the system does not report it."""
    try:  # resource.getrusage would also count what the parent process held
        status = Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024.0
