"""Running an experiment: cases that were measured are kept, so that a run may be stopped and go on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
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


def measure(
    experiment: Experiment, store: Path, quick: bool, report: Callable[[float, str], None] | None = None
) -> pd.DataFrame:
    """Measure the cases that a store lacks, keep each as soon as it is measured, and return the rows of all cases.

    Cases with other settings, or measured by another version of the engine, are measured again; the store keeps the old
    ones too.

    Args:
        store: directory of the file with the measured cases.
        report: function called before each case with the share done and the case's key.

    Raises:
        RLCCFRError: the file can't be read or written, or another process is measuring into the store.
    """
    path, cases = kept_at(experiment, store, quick), experiment.cases(quick)
    require_writable(path)
    with held(store / experiment.id):
        kept = _kept(path)
        for done, case in enumerate(cases):
            if report:
                report(done / len(cases), case.key)
            if _identity(case) in kept:
                continue
            key, settings, engine = _identity(case)
            one = {"case": key, "settings": settings, "engine": engine, "processor": processor_model()}
            kept[key, settings, engine] = {**one, "rows": list(case.measure())}
            write_atomically(path, "".join(f"{_line(one)}\n" for one in kept.values()).encode(), RLCCFRError)
    return _rows(cases, kept)


def stored(experiment: Experiment, store: Path) -> pd.DataFrame | None:
    """Return the rows of a full run that a store has; None if it lacks some case.

    Raises:
        RLCCFRError: the file can't be read.
    """
    cases, kept = experiment.cases(False), _kept(kept_at(experiment, store, False))
    return _rows(cases, kept) if all(_identity(case) in kept for case in cases) else None


def _identity(case: Case) -> tuple[str, str, str]:
    """Return the case's key and settings, and the version of the engine."""
    return case.key, case.settings, engine_version()


def _rows(cases: Sequence[Case], kept: Mapping[tuple[str, str, str], Any]) -> pd.DataFrame:
    """Return the rows of cases, with the case's key and processor."""
    found = [kept[_identity(case)] for case in cases]
    return pd.DataFrame(
        [{"case": one["case"], "processor": one["processor"], **row} for one in found for row in one["rows"]]
    )


def _kept(path: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return all cases in a file, by key, settings and version of the engine.

    Raises:
        RLCCFRError: the file can't be read.
    """
    if not path.exists():
        return {}
    try:
        found = [_case(line) for line in path.read_text().splitlines()]
        return {(one["case"], one["settings"], one["engine"]): one for one in found}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RLCCFRError(f"{path} can't be read ({first_line(error)}): delete it to measure again") from None


def _line(case: dict[str, Any]) -> str:
    return as_json({**case, "checksum": checksum(case)})


def _case(line: str) -> dict[str, Any]:
    """Return the case that a line holds; a changed line raises a ValueError."""
    case: dict[str, Any] = json.loads(line)
    if "checksum" not in case:
        raise ValueError("a line has no checksum, so an earlier version wrote it")
    if case.pop("checksum") != checksum(case):
        raise ValueError("a line is not as it was written")
    return case


def kept_at(experiment: Experiment, store: Path, quick: bool) -> Path:
    """Return the path of the file that keeps an experiment's cases."""
    return store / f"{experiment.id}{'-quick' * quick}.jsonl"


def page_of(experiment: Experiment, out: Path, quick: bool) -> Path:
    """Return the path of an experiment's page: in a directory, or for a quick run in ``quick`` there.

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
        *["This is a quick run, of a small part, with few iterations and seeds: it shows that all works.", ""] * quick,
        *experiment.page(rows.copy(), path.parent, quick),
    ]
    if not quick:
        lines += ["", "## What is said, and what is found here", ""]
        lines += table(COLUMNS, [claim.row for claim in experiment.claims(rows.copy())])
    write_atomically(path, ("\n".join(lines) + "\n").encode(), RLCCFRError)
    return path


def write_claims(store: Path, out: Path) -> Path:
    """Write a page of all that the sources say, from the full runs that a store has, and return its path.

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
        "of seeds, and what stands in for the source's game or algorithm. Each page says more of what was run.",
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
    here = Path(rlccfr.__file__).parent
    git = ["git", "-C", str(here), "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = ""
    return f"rlccfr {rlccfr.__version__}{f', commit {commit}' if commit else ''}"
