"""Time as a user feels it: whole commands from the shell, beside those of peers for the same job.

``python -m benchmarks.waiting --install`` also installs the package and its peers into new environments. That time
depends on the network and on pip's cache, so it is not part of ``make bench``.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import THREAD_VARIABLES
from benchmarks.compiled import GAMES, spiel
from benchmarks.peers import environments, game_files

RLCCFR = [sys.executable, "-m", "rlccfr"]
TARGET = "1e-3"
FROM_SHELL = Path(__file__).parent / "peers" / "from_shell.py"
ROOT = Path(__file__).parent.parent
PACKAGES = ("rlccfr", "catalog", "envs", "agents")

UNSET_VARIABLES = ("PYTHONDONTWRITEBYTECODE", *THREAD_VARIABLES)
"""Environment variables that are removed before a command runs, since its user does not set them."""


class Times(NamedTuple):
    """Seconds that a command took; the CPU time is that of all its processes."""

    wall: float
    cpu: float


def times(command: Sequence[str], runs: int = 3, **environment: str) -> Times:
    """Run a command as its user would, and return its times: those of the run with the least CPU time."""
    # What :mod:`benchmarks` sets for its own process must not reach the command, and modules are compiled only once.
    users_environment = {name: value for name, value in os.environ.items() if name not in UNSET_VARIABLES}
    found = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**users_environment, **environment})
        wall = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(Times(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return min(found, key=lambda one: one.cpu)


def waits(folder: Path) -> list[tuple[str, Times, str]]:
    """Return this package's jobs: what each is, its times, and its target.

    Args:
        folder: an empty folder, for caches and stores.
    """
    load = [sys.executable, "-c", "import sys, rlccfr; rlccfr.load_game(sys.argv[1])"]
    found = [
        ("`rlccfr --help`", times([*RLCCFR, "--help"]), "0.5 s"),
        ("`import rlccfr; rlccfr.Solver`", times([sys.executable, "-c", "import rlccfr; rlccfr.Solver"]), "0.8 s"),
    ]
    first = [*RLCCFR, "solve", "kuhn", "--iterations", "1"]
    found.append(("`rlccfr solve kuhn` on a new machine", times(first, 1, NUMBA_CACHE_DIR=str(folder / "n")), "20 s"))
    found.append(("the same again", times(first), ""))
    precise = [*RLCCFR, "solve", "leduc", "--target", "1e-6"]
    new_cache = str(folder / "l")
    found.append(
        ("`rlccfr solve leduc --target 1e-6` on a new machine", times(precise, 1, NUMBA_CACHE_DIR=new_cache), "")
    )
    found.append(("the same again", times(precise), "0.8 CPU s"))
    for game in ("royal", "liars_dice"):
        command = [*load, GAMES[game]]
        cache = str(folder / game)
        found.append((f"load {GAMES[game]}, first time", times(command, 1, RLCCFR_CACHE=cache), ""))
        found.append((f"load {GAMES[game]}, later", times(command, RLCCFR_CACHE=cache), ""))
    sweep = [*RLCCFR, "sweep", "leduc", "--iterations", "100", "--seeds", "1", "--store", str(folder / "store")]
    found.append(("`rlccfr sweep leduc`, 336 algorithms, 100 iterations each", times(sweep, 1), ""))
    report = [*RLCCFR, "results", "report", str(folder / "report.html")]
    found.append(("`rlccfr results report`", times(report), ""))
    return found


def races() -> list[tuple[str, str, Times | str]]:
    """Return the times to solve Leduc and Liar's dice to :data:`TARGET` from the shell: game, library, times or error.

    The peers run CFR+ and are evaluated after every 50 iterations.
    """
    found: list[tuple[str, str, Times | str]] = []
    for game in ("leduc", "liars_dice"):
        found.append((game, "rlccfr", times([*RLCCFR, "solve", GAMES[game], "--target", TARGET])))
        jobs = {
            "openspiel": ["openspiel", str(spiel(game)), "CFRPlusSolver", "evaluate_and_update_policy"],
            "liteefg": ["liteefg", str(game_files.for_liteefg(game)), "CFRplus", "Enumerate", "linear-avg-iterate"],
            "noregret": ["noregret", str(game_files.for_noregret(game)), "FloatingPointKernel"],
        }
        for name, job in jobs.items():
            if reason := environments.why_missing(name):
                found.append((game, name, reason))
                continue
            command = [str(environments.python_of(name)), str(FROM_SHELL), TARGET, *job]
            try:
                found.append((game, name, times(command, 1)))
            except subprocess.CalledProcessError as error:
                found.append((game, name, error.stderr.decode().strip().splitlines()[-1]))
    return found


def report() -> list[str]:
    """Return the tables as Markdown."""
    for package in PACKAGES:  # as pip does when it installs a package
        compileall.compile_dir(str(ROOT / package), quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        own = waits(Path(folder))
    lines = ["| | seconds | CPU seconds | target |", "|---|---|---|---|"]
    lines += [f"| {title} | {found.wall:.2f} | {found.cpu:.2f} | {target} |" for title, found, target in own]
    lines += ["", f"To an exploitability of {TARGET}, from the shell; the time includes starting and loading:", ""]
    lines += ["| game | library | seconds | CPU seconds |", "|---|---|---|---|"]
    for game, name, found in races():
        times_or_error = found if isinstance(found, str) else f"{found.wall:.2f} | {found.cpu:.2f}"
        lines.append(f"| {game} | {name} | {times_or_error} |")
    return lines


def installations() -> list[str]:
    """Return the times to install this package, and its peers' newest releases, into new environments, as Markdown."""
    lines = ["| `pip install` | seconds | CPU seconds |", "|---|---|---|"]
    for title, requirement in (("rlccfr", str(ROOT)), ("OpenSpiel", "open_spiel"), ("LiteEFG", "LiteEFG")):
        with tempfile.TemporaryDirectory() as folder:
            times([sys.executable, "-m", "venv", folder], 1)
            found = times([f"{folder}/bin/python", "-m", "pip", "install", "-q", requirement], 1)
        lines.append(f"| {title} | {found.wall:.0f} | {found.cpu:.0f} |")
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waiting", description=__doc__)
    parser.add_argument("--install", action="store_true", help="install packages, too")
    print("\n".join(installations() if parser.parse_args().install else report()))
