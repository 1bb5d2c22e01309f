"""The waiting time before the first iteration: help, import, and the first compilation on a fresh machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

HELP = [sys.executable, "-m", "rlccfr", "--help"]
IMPORT = [sys.executable, "-c", "import rlccfr; rlccfr.Solver"]
SOLVE = [sys.executable, "-m", "rlccfr", "solve", "kuhn", "--iterations", "1"]


def seconds(command: list[str], **environment: str) -> float:
    """Return wall-clock seconds: the fastest of three runs, or one run if the environment makes it compile."""
    found = []
    for _ in range(1 if environment else 3):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
        found.append(time.perf_counter() - begin)
    return min(found)


def report() -> list[str]:
    """Return the table as Markdown."""
    with tempfile.TemporaryDirectory() as empty:
        compiling = seconds(SOLVE, NUMBA_CACHE_DIR=empty)
    solving = seconds(SOLVE)
    rows = [
        ("`rlccfr --help`", seconds(HELP), 0.5),
        ("`import rlccfr; rlccfr.Solver`, compiled before", seconds(IMPORT), 0.8),
        ("first compilation of the kernels", compiling - solving, 20),
    ]
    lines = [f"| {title} | {found:.2f} | {target:g} |" for title, found, target in rows]
    return ["| | seconds | target |", "|---|---|---|", *lines]


if __name__ == "__main__":
    print("\n".join(report()))
