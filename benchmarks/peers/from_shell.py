"""Solves a game to a target from the shell: ``from_shell.py TARGET JOB ARGUMENT...``, by a peer's Python.

The jobs are those of ``server.py``, which stands beside this file. It prints the exploitability that was reached.
"""

from __future__ import annotations

import sys

from server import JOBS  # type: ignore[import-not-found]  # of the same folder, which Python finds for a script

ITERATIONS = 50
"""Iterations between two evaluations."""


def main() -> None:
    """Run the job until its exploitability is at most the target."""
    target, name, *arguments = sys.argv[1:]
    job = JOBS[name](*arguments)
    while True:
        job.step(ITERATIONS)
        exploitability = job.exploitability()
        if exploitability <= float(target):
            break
    print(exploitability)


if __name__ == "__main__":
    main()
