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
from rlccfr.experiments.experiment import Experiment
from rlccfr.experiments.pages import table
from rlccfr.files import as_json, require_writable, write_atomically


def measure(
    experiment: Experiment, store: Path, quick: bool, report: Callable[[float, str], None] | None = None
) -> pd.DataFrame:
    """Measure the cases that a store lacks, keep each as soon as it is measured, and return the rows of all cases.

    Cases that another version of the engine has measured are measured again.

    Args:
        store: directory of the file with the measured cases.
        report: function called before each case with the share done and the case's key.

    Raises:
        RLCCFRError: the file can't be read or written.
    """
    path, cases = kept_at(experiment, store, quick), experiment.cases(quick)
    require_writable(path)
    known = _known(path)
    for done, case in enumerate(cases):
        if report:
            report(done / len(cases), case.key)
        if case.key not in known:
            made = {"case": case.key, "rows": list(case.measure()), "engine": engine_version()}
            known[case.key] = {**made, "processor": processor_model()}
            write_atomically(path, "".join(f"{as_json(one)}\n" for one in known.values()).encode(), RLCCFRError)
    return _rows([case.key for case in cases], known)


def stored(experiment: Experiment, store: Path) -> pd.DataFrame | None:
    """Return the rows of a full run that a store has; None if it lacks some case.

    Raises:
        RLCCFRError: the file can't be read.
    """
    keys, known = [case.key for case in experiment.cases(False)], _known(kept_at(experiment, store, False))
    return _rows(keys, known) if known.keys() >= set(keys) else None


def _rows(keys: Sequence[str], known: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of cases, with the case's key and processor."""
    rows = [{"case": key, "processor": known[key]["processor"], **row} for key in keys for row in known[key]["rows"]]
    return pd.DataFrame(rows)


def kept_at(experiment: Experiment, store: Path, quick: bool) -> Path:
    """Return the path of the file that keeps an experiment's cases."""
    return store / f"{experiment.id}{'-quick' * quick}.jsonl"


def write_page(experiment: Experiment, rows: pd.DataFrame, out: Path, quick: bool) -> Path:
    """Write an experiment's page and pictures into a directory, or into ``quick`` there, and return the page's path.

    Raises:
        RLCCFRError: a file can't be written.
    """
    folder = out / "quick" if quick else out
    path = folder / f"{experiment.id}.md"
    require_writable(path)
    command = f"rlccfr reproduce {experiment.id}{' --quick' * quick}"
    processors = " and ".join(rows["processor"].unique())
    lines = [
        f"# {experiment.title}",
        "",
        f"Written by `{command}`, {version()}, from runs on {processors}; not edited by hand.",
        "",
        f"Source: {experiment.source}.",
        "",
        *experiment.page(rows.copy(), folder, quick),
        "",
        "## What is said, and what is found here",
        "",
        *table(("said", "here", "figures"), experiment.claims(rows.copy())),
    ]
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
        "its 95 % interval, which has to lie on one side of 1; each page says what was run.",
    ]
    for id in EXPERIMENTS:
        experiment = load_experiment(id)
        rows = stored(experiment, store)
        lines += ["", f"## {experiment.title}", "", f"{experiment.source}: `rlccfr reproduce {id}`.", ""]
        if rows is None:
            lines += ["This experiment has not been run in full yet."]
        else:
            lines += [f"[The page]({id}.md) has the figures.", ""]
            lines += table(("said", "here", "figures"), experiment.claims(rows))
    write_atomically(path, ("\n".join(lines) + "\n").encode(), RLCCFRError)
    return path


def version() -> str:
    """Return the version of the library, and the commit if it runs from a repository."""
    here = Path(rlccfr.__file__).parent
    git = ["git", "-C", str(here), "log", "-1", "--format=%h", "--", "."]
    try:
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = ""
    return f"rlccfr {rlccfr.__version__}{f', commit {commit}' if commit else ''}"


def _known(path: Path) -> dict[str, dict[str, Any]]:
    """Return the cases in a file that this version of the engine has measured, by their keys.

    Raises:
        RLCCFRError: the file can't be read.
    """
    if not path.exists():
        return {}
    try:
        found = [json.loads(line) for line in path.read_text().splitlines()]
        return {one["case"]: one for one in found if one["engine"] == engine_version()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RLCCFRError(f"{path} can't be read ({first_line(error)}): delete it to measure again") from None
