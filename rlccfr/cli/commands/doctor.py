"""``rlccfr doctor``."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Collection
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from rlccfr.cli.console import print_json, print_table
from rlccfr.cli.options import Json
from rlccfr.cli.progress import duration, progress
from rlccfr.errors import RLCCFRError, what_failed

EXTRAS = {
    "report": ("plotly", "report pages of measurements"),
    "dask": ("distributed", "sweeps on several machines"),
    "aslib": ("liac-arff", "measurements in ASlib's format"),
    "dac": ("DACBench", "steering runs as a benchmark of DACBench"),
    "gambit": ("pygambit", "Gambit's own solvers, for games that this library writes"),
    "tensorboard": ("tensorboard", "training curves"),
}
"""For each extra, the Python distribution that it installs, and what it is for."""

LEAST_DISK = 500_000_000
"""Bytes of free disk space below which the doctor warns: the cache of large games may take as much."""

LEAST_MEMORY = 1_000_000_000
"""Bytes of free memory below which the doctor warns: about as much as two processes with PyTorch take."""


class Finding(NamedTuple):
    """One line of the report.

    Attributes:
        what: what was looked at.
        found: what was found.
        advice: what to do; empty if all is well.
    """

    what: str
    found: str
    advice: str = ""


def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="First delete all cached games, tables and compiled kernels.")
    ] = False,
    compile: Annotated[
        bool, typer.Option("--compile", help="First compile all kernels, on all cores, so that no later run waits.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Compile only this kind: trees, public, draws, responses, buckets or large; may be repeated."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Tell what this installation has and lacks, and what to do.

    Ends with an error if a small run fails.
    """
    if only and not compile:
        raise RLCCFRError("--only selects the kernels that --compile compiles: give both options")
    if clear_cache:
        _clear()
    findings = [_compilation(only or ())] if compile else []
    # Each examination may fail in a broken installation; the others should still report.
    for examine in (_versions, _kernels, _cache, _machine, _extras):
        findings += _findings_of(examine)
    trial, failure = _trial()
    findings.append(trial)
    if json:
        print_json([finding._asdict() for finding in findings])
    else:
        print_table(("", "", "advice"), findings)
    if failure is not None:
        raise RLCCFRError(f"a run of ten iterations on Kuhn poker fails: {what_failed(failure)}") from failure


def _clear() -> None:
    """Delete all cached games, tables and compiled kernels."""
    from rlccfr.games.cache import kept_files
    from rlccfr.kernels.cache import kernels_folder

    for path in kept_files():
        path.unlink(missing_ok=True)
    shutil.rmtree(kernels_folder(), ignore_errors=True)


def _compilation(only: Collection[str]) -> Finding:
    """Compile the kernels that are not compiled yet, and return a finding with their number.

    Args:
        only: kinds of kernels; all kinds if empty.

    Raises:
        RLCCFRError: there is no such kind, or a kernel can't be compiled.
    """
    from rlccfr.cli.compiling import KINDS, compile_kernels
    from rlccfr.kernels.jit import UNJITTED

    for kind in only:
        if kind not in KINDS:
            raise RLCCFRError(f"--only takes {', '.join(KINDS)}, not {kind!r}")
    if UNJITTED:
        return Finding("compilation", "none, because NUMBA_DISABLE_JIT is set", "unset NUMBA_DISABLE_JIT")
    begin = time.monotonic()
    with progress("compiling kernels") as report:
        count = compile_kernels(only or KINDS, report)
    if not count:
        return Finding("compilation", "nothing to do: all kernels were compiled before")
    return Finding("compilation", f"{count} kernels compiled in {duration(time.monotonic() - begin)}")


def _findings_of(examine: Callable[[], list[Finding]]) -> list[Finding]:
    """Return an examination's findings; if it fails, a finding that says so."""
    try:
        return examine()
    except Exception as error:  # whatever a broken installation raises
        what = examine.__name__.strip("_")
        return [
            Finding(what, f"can't be determined: {what_failed(error)}", "install rlccfr again in a new environment")
        ]


def _trial() -> tuple[Finding, Exception | None]:
    """Solve a small game; return a finding, and the error if the run failed."""
    try:
        from rlccfr.games.names import load_game
        from rlccfr.solver import Solver

        result = Solver(load_game("kuhn")).run(iterations=10)
    except Exception as error:  # whatever a broken installation raises
        return Finding("trial run", "failed", "install rlccfr again in a new environment"), error
    return Finding("trial run", f"Kuhn poker to {result.exploitability:.3g} in 10 iterations"), None


def _versions() -> list[Finding]:
    from rlccfr.envs.measuring.provenance import engine_version, library_versions, processor_model

    return [
        Finding("rlccfr", engine_version().split("/")[0], ""),
        Finding("engine", engine_version().split("/")[1], ""),
        *(Finding(name, version) for name, version in library_versions().items()),
        Finding("stable_baselines3", metadata.version("stable_baselines3")),
        Finding("installed in", str(Path(str(resources.files("rlccfr"))).parent)),
        Finding("processor", processor_model()),
    ]


def _kernels() -> list[Finding]:
    from rlccfr.kernels import EVALUATION, PASSES, PUBLIC, WALKS, is_compiled
    from rlccfr.kernels.cache import kernels_folder
    from rlccfr.kernels.jit import UNJITTED

    if UNJITTED:
        return [Finding("kernels", "not compiled", "unset NUMBA_DISABLE_JIT: runs are thousands of times slower")]
    kinds = {"games as trees": EVALUATION, "passes over infosets": PASSES, "walks": WALKS, "public trees": PUBLIC}
    compiled = [use for use, kernels in kinds.items() if is_compiled(kernels)]
    state = f"compiled for {', '.join(compiled)}" if compiled else "not compiled yet"
    advice = (
        "" if len(compiled) == len(kinds) else "the others are compiled at first use, or now by rlccfr doctor --compile"
    )
    return [Finding("kernels", f"{state}, in {kernels_folder()}", advice)]


def _cache() -> list[Finding]:
    from rlccfr.games.cache import MOST_BYTES, cache_folder, kept_files
    from rlccfr.games.memory import gigabytes

    folder = cache_folder()
    size = sum(path.stat().st_size for path in kept_files())
    # The folder is made when it is first needed; until then, its nearest existing parent tells what is possible.
    existing = next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
    free = shutil.disk_usage(existing).free
    advice = ""
    if not os.access(existing, os.W_OK):
        advice = "large games are compiled each time: set RLCCFR_CACHE to a folder that you may write to"
    elif free < LEAST_DISK:
        advice = "free some disk space, or set RLCCFR_CACHE to a folder on another disk"
    state = f"{gigabytes(size)} of at most {gigabytes(MOST_BYTES)} in {folder}, {gigabytes(free)} of disk free"
    return [Finding("kept on disk", state, advice)]


def _machine() -> list[Finding]:
    from rlccfr.games.memory import available_memory, gigabytes

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = available_memory()
    is_low = memory is not None and memory < LEAST_MEMORY
    return [
        Finding("cores", str(cores), "" if cores > 1 else "a sweep will have one worker"),
        Finding(
            "memory left",
            "unknown" if memory is None else gigabytes(memory),
            "close other programs: a process with PyTorch takes about half a gigabyte" if is_low else "",
        ),
        Finding("encoding", sys.stdout.encoding or "unknown"),
    ]


def _extras() -> list[Finding]:
    return [_extra(extra, name, use) for extra, (name, use) in EXTRAS.items()]


def _extra(extra: str, name: str, use: str) -> Finding:
    what = f"extra {extra}"
    try:
        return Finding(what, f"{name} {metadata.version(name)}, for {use}")
    except metadata.PackageNotFoundError:
        early = "--pre " if extra == "gambit" else ""  # released versions have no wheels for Linux
        return Finding(what, f"missing, for {use}", f"pip install {early}'rlccfr[{extra}]'")
