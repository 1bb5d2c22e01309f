"""Running an experiment: each measured case is stored in a file, so that a run can be stopped and resumed.

The file has a line of JSON per case: its key, the digest of its settings, the engine's version, the processor, its
rows, and a checksum.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import rlccfr
from rlccfr.envs.measuring.provenance import engine_version, processor_model
from rlccfr.errors import RLCCFRError, first_line
from rlccfr.experiments import EXPERIMENTS, load_experiment
from rlccfr.experiments.experiment import COLUMNS, Case, Experiment
from rlccfr.experiments.pages import table
from rlccfr.files import as_json, checksum, held, require_writable, write_atomically

Identity = tuple[str, str, str]
"""The identity of a measured case: its key, the digest of its settings, and the engine's version."""

Measured = dict[str, Any]
"""A measured case as in the file, without the checksum."""


def measure(
    experiment: Experiment, store: Path, quick: bool, report: Callable[[float, str], None] | None = None
) -> pd.DataFrame:
    """Measure the cases that a store lacks, store each at once, and return the rows of all cases.

    A case is measured again if its settings or the engine's version have changed; the store keeps the old rows, too.

    Args:
        experiment: the experiment.
        store: directory of the file with the measured cases.
        quick: whether to make a quick run.
        report: function called before each case with the share that is done and the case's key.

    Raises:
        RLCCFRError: the file can't be read or written, another process is measuring into the store, or a file that a
            case reads can't be downloaded.
    """
    path = cases_file(experiment, store, quick)
    cases = experiment.cases(quick)
    # If the file can't be written, the error comes before an hour's work, not after it.
    require_writable(path)
    with held(store / experiment.id):
        measured = _read(path)
        _require_files(case for case in cases if _identity(case) not in measured)
        for done, case in enumerate(cases):
            if report:
                report(done / len(cases), case.key)
            if _identity(case) in measured:
                continue
            key, settings, engine = _identity(case)
            stamp = {"case": key, "settings": settings, "engine": engine, "processor": processor_model()}
            measured[key, settings, engine] = {**stamp, "rows": list(case.measure())}
            # The whole file is written after each case, so that no measured case is lost if the run is stopped.
            write_atomically(path, "".join(f"{_line(entry)}\n" for entry in measured.values()).encode(), RLCCFRError)
    return _rows(cases, measured)


def _require_files(cases: Iterable[Case]) -> None:
    """Download the cases' files that are not on this machine, so that a missing file does not stop a run halfway.

    Raises:
        RLCCFRError: a file can't be downloaded, or differs from the file that was published.
    """
    for file in dict.fromkeys(file for case in cases for file in case.files):
        file.read()


def stored(experiment: Experiment, store: Path) -> pd.DataFrame | None:
    """Return the rows of a full run from a store; None if the store lacks a case.

    Raises:
        RLCCFRError: the file can't be read.
    """
    cases = experiment.cases(False)
    measured = _read(cases_file(experiment, store, False))
    return _rows(cases, measured) if all(_identity(case) in measured for case in cases) else None


def _identity(case: Case) -> Identity:
    return case.key, case.settings, engine_version()


def _rows(cases: Sequence[Case], measured: Mapping[Identity, Measured]) -> pd.DataFrame:
    """Return the rows of cases, each with its case's key and processor."""
    rows = []
    for case in cases:
        entry = measured[_identity(case)]
        rows += [{"case": entry["case"], "processor": entry["processor"], **row} for row in entry["rows"]]
    return pd.DataFrame(rows)


def _read(path: Path) -> dict[Identity, Measured]:
    """Return all cases in a file.

    Raises:
        RLCCFRError: the file can't be read.
    """
    if not path.exists():
        return {}
    try:
        entries = [_case(line) for line in path.read_text().splitlines()]
        return {(entry["case"], entry["settings"], entry["engine"]): entry for entry in entries}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RLCCFRError(f"{path} can't be read ({first_line(error)}): delete it to measure again") from None


def _line(case: Measured) -> str:
    return as_json({**case, "checksum": checksum(case)})


def _case(line: str) -> Measured:
    """Return the case in a line of the file.

    Raises:
        ValueError: the line has changed since it was written.
    """
    case: Measured = json.loads(line)
    if "checksum" not in case:
        raise ValueError("a line has no checksum, so an earlier version wrote it")
    if case.pop("checksum") != checksum(case):
        raise ValueError("a line has changed since it was written")
    return case


def cases_file(experiment: Experiment, store: Path, quick: bool) -> Path:
    """Return the path of the file with an experiment's measured cases."""
    return store / f"{experiment.id}{'-quick' * quick}.jsonl"


def page_of(experiment: Experiment, out: Path, quick: bool) -> Path:
    """Return the path of an experiment's page in the directory ``out``; a quick run's is in the subdirectory ``quick``.

    Raises:
        RLCCFRError: the page can't be written.
    """
    path = (out / "quick" if quick else out) / f"{experiment.id}.md"
    require_writable(path)
    return path


def write_page(experiment: Experiment, rows: pd.DataFrame, out: Path, quick: bool) -> Path:
    """Write an experiment's page and pictures, and return the page's path; see :func:`page_of`.

    Raises:
        RLCCFRError: a file can't be written.
    """
    path = page_of(experiment, out, quick)
    command = f"rlccfr reproduce {experiment.id}{' --quick' * quick}"
    processors = " and ".join(rows["processor"].unique())
    lines = [
        f"# {experiment.title}",
        "",
        f"Written by `{command}`, {version()}, from runs on {processors}; not edited by hand.",
        "",
        f"Source: {experiment.source}.",
        "",
        *["This is a quick run of a small part, with few iterations and seeds. It shows that all works.", ""] * quick,
        *experiment.page(rows.copy(), path.parent, quick),
    ]
    # A quick run is too short for verdicts.
    if not quick:
        lines += ["", "## What is said, and what is found here", ""]
        lines += table(COLUMNS, [claim.row for claim in experiment.claims(rows.copy())])
    write_atomically(path, ("\n".join(lines) + "\n").encode(), RLCCFRError)
    return path


def write_claims(store: Path, out: Path) -> Path:
    """Write a page with the claims of all sources, judged by the full runs in a store, and return its path.

    Raises:
        RLCCFRError: a file can't be read or written.
    """
    path = out / "claims.md"
    require_writable(path)
    lines = [
        "# What the papers say, and what is found here",
        "",
        f"Written by `rlccfr reproduce claims`, {version()}; not edited by hand. A claim about a ratio is judged by "
        "its 95 % interval, which has to lie on one side of 1. Each verdict names the games that were run, the number "
        "of seeds, and what stands in for the source's game or algorithm. Each page says more about what was run.",
    ]
    for id in EXPERIMENTS:
        experiment = load_experiment(id)
        rows = stored(experiment, store)
        lines += ["", f"## {experiment.title}", "", f"{experiment.source}: `rlccfr reproduce {id}`.", ""]
        if rows is None:
            lines += ["This experiment has not been run in full yet."]
        else:
            lines += [f"[The page]({id}.md) has the figures.", ""]
            lines += table(COLUMNS, [claim.row for claim in experiment.claims(rows)])
    write_atomically(path, ("\n".join(lines) + "\n").encode(), RLCCFRError)
    return path


def version() -> str:
    """Return the version of the library, and the commit if it runs from a repository."""
    package = Path(rlccfr.__file__).parent
    git = ["git", "-C", str(package), "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = ""
    number = f"rlccfr {rlccfr.__version__}"
    return f"{number}, commit {commit}" if commit else number
