"""Where a measurement comes from: engine version, processor, library versions."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata
from pathlib import Path

import rlccfr

ENGINE_VERSION = 2
"""Raise it when a change of the engine alters results or speed: recorded measurements then no longer match."""

NUMBERS = ("cpu family", "model", "stepping", "CPU implementer", "CPU variant", "CPU part", "CPU revision")
"""By which Linux tells processors apart: the first three of x86, the others of ARM."""

LIBRARIES = ("numpy", "numba", "open_spiel", "torch", "pandas", "gymnasium")


def engine_version() -> str:
    """Version of the library and of its engine, for example ``"0.1.0/1"``."""
    return f"{rlccfr.__version__}/{ENGINE_VERSION}"


@cache
def processor_model() -> str:
    """The processor's name, as far as the system tells, and its numbers: virtual machines have one name for many."""
    try:
        first, *_ = Path("/proc/cpuinfo").read_text().split("\n\n")
    except OSError:
        first = ""
    told = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}
    name = told.get("model name") or platform.processor() or platform.machine() or "unknown"
    numbers = ", ".join(f"{key} {told[key]}" for key in NUMBERS if key in told)
    return f"{name} ({numbers})" if numbers else name


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version())]
    for name in LIBRARIES:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return tuple(found)


def library_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that a measurement depends on."""
    return dict(_versions())
