"""The provenance of a measurement: engine version, processor, library versions."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata
from pathlib import Path

import rlccfr

ENGINE_VERSION = 3
"""Version of the engine. Raise it when a change alters results or speed; recorded measurements then no longer match."""

TIMING_VERSION = 2
"""Version of the second timing of short runs. Raise it when this timing changes; live evaluators then measure again."""

NUMBERS = ("cpu family", "model", "stepping", "CPU implementer", "CPU variant", "CPU part", "CPU revision")
"""Fields by which Linux distinguishes processors: the first three on x86, the others on ARM."""

LIBRARIES = ("numpy", "numba", "open_spiel", "torch", "pandas", "gymnasium")
"""Libraries whose versions a record holds."""


def engine_version() -> str:
    """Return the versions of the library and of its engine, for example ``"0.1.0/1"``."""
    return f"{rlccfr.__version__}/{ENGINE_VERSION}"


@cache
def processor_model() -> str:
    """Return the processor's name and, if known, its model numbers, since virtual processors often share a name."""
    try:
        first, *_ = Path("/proc/cpuinfo").read_text().split("\n\n")
    except OSError:
        first = ""
    fields = {}
    for line in first.splitlines():
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()
    name = fields.get("model name") or platform.processor() or platform.machine() or "unknown"
    numbers = ", ".join(f"{key} {fields[key]}" for key in NUMBERS if key in fields)
    return f"{name} ({numbers})" if numbers else name


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """Return the names and versions of :func:`library_versions`, as a tuple, since a cached dict could be changed."""
    versions = [("python", platform.python_version())]
    for name in LIBRARIES:
        try:
            versions.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return tuple(versions)


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that a measurement depends on."""
    return dict(_versions())
