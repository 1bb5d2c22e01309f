"""The command line in processes of its own, to be killed, starved and crowded."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

from rlccfr.archives import opened_archive
from rlccfr.envs import Store

SHORT_SWEEP = ("sweep", "kuhn", "--catalog", "tabular", "--seeds", "2", "--iterations", "300", "--seconds", "0",
               "--no-pilot", "--workers", "1")  # fmt: skip
TRAIN = ("train", "kuhn", "--catalog", "tabular", "--iterations", "300")


def rlccfr(folder: Path, *arguments: str, before: str = "", **options) -> subprocess.Popen:
    """Start a command in a folder, after a line of Python if one is given."""
    start = (
        ["-c", f"{before}\nimport sys\nfrom rlccfr.cli import main\nmain(sys.argv[1:])"] if before else ["-m", "rlccfr"]
    )
    return subprocess.Popen(
        [sys.executable, *start, *arguments], cwd=folder, text=True,
        **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **options},
    )  # fmt: skip


def finished(process: subprocess.Popen) -> None:
    _, errors = process.communicate()
    assert process.returncode == 0, errors


FAULTS = ("error: ", "LLVM ERROR: ", "terminate called ")
"""Beginnings of an error's line; with the last two, the compiler or another C++ library has ended the process."""


def fault(errors: str) -> str:
    """Return the one line of error in what a process told on its way, or nothing."""
    assert "Traceback" not in errors, errors
    found = [line for line in errors.splitlines() if line.startswith(FAULTS)]
    assert len(found) <= 1, errors
    return "".join(found)


def killed_after_a_change(process: subprocess.Popen, path: Path, seconds: float) -> bool:
    """Kill a process some seconds after its next write to a file; return whether it was still running."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    while process.poll() is None and (not path.exists() or path.stat().st_mtime_ns == before):
        time.sleep(0.01)
    time.sleep(seconds)
    alive = process.poll() is None
    process.kill()
    process.communicate()
    return alive


def iterations_in(path: Path) -> int:
    """Return the number of iterations of a saved run, without reading its tables."""
    with opened_archive(path) as archive:
        return int(archive["counts"][0])


def measured(store: Path) -> pd.DataFrame:
    """Return the parts of a store's measurements that do not depend on time, in order."""
    names = ["game", "update_rule", "sampler", "abstraction", "seed", "status", "exploitability", "nodes_touched"]
    return Store(store).frame()[names].sort_values(names[:5], ignore_index=True)
