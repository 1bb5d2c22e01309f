"""The virtual environments of the peers: what they hold, how they are made, and whether newer releases are out."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from packaging.version import Version

FOLDER = Path(__file__).parents[2] / ".venv-peers"
"""Folder of the environments."""

ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    "openspiel": ("open_spiel",),
    "openspiel-jax": ("open_spiel", "jax", "chex"),
    "liteefg": ("LiteEFG",),
    "noregret": ("noregret", "mkl"),
    "nashbench": ("nashbench",),
}
"""The packages of each environment, by its name; the first is the peer. noregret's MKL kernel needs ``mkl``."""

PYTHONS = ("python3.14", "python3.13", "python3.12")
"""Commands for the Pythons that are tried, the newest first."""

ERROR = "error.txt"
"""File, in an environment's folder, with the reason why it could not be made."""

COMPLETE = "complete.txt"
"""File that is written last, so that an environment whose installation was interrupted counts as missing."""


def python_of(name: str) -> Path:
    """Return the path of an environment's interpreter."""
    return FOLDER / name / "bin" / "python"


def why_missing(name: str) -> str | None:
    """Return why an environment can't be used; None if it can."""
    error = FOLDER / name / ERROR
    if error.exists():
        return error.read_text().strip()
    return None if (FOLDER / name / COMPLETE).exists() else "not installed; run `python -m benchmarks.peers`"


def newest_python() -> str | None:
    """Return the command for the newest of :data:`PYTHONS` that runs here; None if there is none."""
    for command in PYTHONS:
        path = shutil.which(command)
        # A wrapper of a version manager may be on the path although its Python is not selected.
        if path and subprocess.run([path, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0:
            return path
    return None


def install(name: str, python: str) -> str | None:
    """Make an environment anew, with the newest releases; return the error if that fails."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    install_packages = [str(python_of(name)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([python, "-m", "venv", str(folder)], [*install_packages, *ENVIRONMENTS[name]]):
        process = subprocess.run(command, capture_output=True, text=True)
        if process.returncode:
            lines = [
                line for line in (process.stderr or process.stdout).splitlines() if line.startswith(("ERROR", "Error"))
            ]
            reason = lines[0] if lines else f"{' '.join(command[1:3])} ended with status {process.returncode}"
            (folder / ERROR).write_text(reason)
            return reason
    (folder / COMPLETE).touch()
    return None


def versions(name: str) -> dict[str, str]:
    """Return the versions of an environment's packages and of its Python, by their names."""
    program = (
        "import importlib.metadata as m, json, platform, sys; "
        "print(json.dumps({n: m.version(n) for n in sys.argv[1:]} | {'Python': platform.python_version()}))"
    )
    command = [str(python_of(name)), "-c", program, *ENVIRONMENTS[name]]
    version_of: dict[str, str] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return version_of


def newer_releases(names: Sequence[str]) -> list[str]:
    """Return a sentence for each peer of which the package index has a newer release than its environment.

    Pre-releases count, too. The newest release may need another Python or contradict other packages, so
    :func:`install` may not have taken it.
    """
    sentences = []
    for name in names:
        peer = ENVIRONMENTS[name][0]
        command = [str(python_of(name)), "-m", "pip", "index", "versions", peer, "--disable-pip-version-check"]
        listing = subprocess.run([*command, "--pre", "--ignore-requires-python"], capture_output=True, text=True)
        newest = re.match(r"\S+ \(([^)]+)\)", listing.stdout)
        measured = versions(name)[peer]
        if newest is None:
            sentences.append(f"The package index did not tell the newest release of {peer}; {measured} was measured.")
        elif Version(newest[1]) > Version(measured):
            sentences.append(f"{peer} {newest[1]} is out; {measured} was measured.")
    return sentences


def main(python: str | None) -> int:
    """Make all environments, and say what each one holds; return the exit status.

    Args:
        python: command for the Python to use; None for the newest.
    """
    python = python or newest_python()
    if python is None:
        print(f"none of {', '.join(PYTHONS)} runs here: name one with --python", file=sys.stderr)
        return 1
    for name in ENVIRONMENTS:
        error = install(name, python)
        if error is None:
            held = ", ".join(f"{package} {version}" for package, version in versions(name).items())
            print(f"{name}: {held}", flush=True)
        else:
            print(f"{name} could not be installed: {error}", file=sys.stderr, flush=True)
    return 0
