"""The long suites: ``python -m tests.verify`` runs one and writes docs/verification.md.

With ``--at-scale`` it damages, kills and soaks many times as much, and nothing else, and writes docs/reliability.md.
It can be stopped and started again: a test that passed on the same sources is not run again, unless it compares times.
A failed test also leaves its table; failures stand at the top of each document. Several tests run at a time, except for
those that compare times.

The last result of each test is kept in benchmarks/results: once these files are committed, another machine can
continue. A page names the commit of each result that was made from other sources. With ``--so-far`` it runs no test: it
keeps the results that a suite has written so far, even one that is still running, and writes the page.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rlccfr.files import write_atomically
from tests.helpers.imports import imported

ROOT = Path(__file__).parent.parent
ORDER = ("samplers", "convergence", "learning", "speed", "test_team")
RELIABILITY = ("damage", "kills", "large_kills", "shortage", "writers", "soak")
"""What the test modules at scale are about; docs/reliability.md tells in this order."""


class Report(NamedTuple):
    """A page, the command that writes it, and how its tests are run.

    Attributes:
        order: words in the names of tests, by which they are ordered.
        processes: number of tests that run at a time, except for those that compare times.
    """

    page: str
    title: str
    command: str
    order: tuple[str, ...]
    processes: str


LONG = Report("verification.md", "Verification", "make verify", ORDER, "2")
AT_SCALE = Report(
    "reliability.md", "Reliability: what was damaged, killed, starved and crowded", "make reliability",
    tuple(f"test_{name}" for name in RELIABILITY), "4",
)  # fmt: skip

RESULTS = ROOT / "benchmarks" / "results"
FOLDERS = ("rlccfr", "catalog", "envs", "agents")
"""Folders whose files every result can depend on."""

Result = dict[str, Any]


@cache
def shared_hash() -> str:
    """Return a hash of what every result depends on: the package, the fixtures, the versions of dependencies."""
    files = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*")) if path.is_file()]
    kept = [path for path in files if "__pycache__" not in path.parts]
    return _digest([*kept, ROOT / "tests" / "conftest.py", ROOT / "constraints.txt"])


def inputs(module: Path) -> Iterator[Path]:
    """Yield what else a test module's results depend on: itself, helpers and benchmarks that it imports, their data."""
    known = {path.stem: path for path in (ROOT / "tests" / "helpers").glob("*.py")}
    benchmarks = {f"benchmarks.{path.stem}": path for path in (ROOT / "benchmarks").glob("*.py")}
    known |= benchmarks
    found, left = {module}, [module]
    while left:
        others = {known[name] for name in imported(left.pop(), known)} - found
        found |= others
        left += others
    yield from sorted(found)
    if found & set(benchmarks.values()):
        suites = {(RESULTS / report.page).with_suffix(".jsonl") for report in (LONG, AT_SCALE)}
        yield from (path for path in sorted(RESULTS.glob("*.*")) if path not in suites)
    if "overview.md" in module.read_text():
        yield ROOT / "docs" / "overview.md"


def sources_hash(test: str) -> str:
    """Return a hash of all that a test's result can depend on, as it was when this was first asked for its module."""
    return _module_hash(test.partition("::")[0])


@cache
def _module_hash(module: str) -> str:
    return hashlib.sha256(f"{shared_hash()} {_digest(inputs(ROOT / module))}".encode()).hexdigest()[:12]


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def commit() -> str:
    """Return the commit that is checked out, marked if what tests depend on has been edited since."""
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    depended = [*FOLDERS, "tests", "benchmarks/*.py", "constraints.txt"]
    edited = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *depended], cwd=ROOT, capture_output=True)
    return head.stdout.strip() + "+edits" * (edited.returncode == 1)


def result_file(folder: Path, test: str) -> Path:
    """Return where a suite writes the result of a test."""
    return folder / f"{test.removeprefix('tests/').replace('/', '.')}.json"


def kept_in(path: Path) -> list[Result]:
    """Return the results in a file under version control."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def written_to(folder: Path) -> list[Result]:
    """Return the results that a suite has written."""
    return [json.loads(path.read_text()) for path in folder.glob("*.json")]


def newest(results: Iterable[Result], present: dict[str, str]) -> dict[str, Result]:
    """Return the last result of each test; one of the present sources comes before any of other sources.

    Args:
        present: hash of the present sources by test; other tests are left out.
    """
    known = [one for one in results if one["test"] in present]
    known.sort(key=lambda one: (one["test"], one["sources"] == present[one["test"]], one["at"]))
    return {one["test"]: one for one in known}


def restore(folder: Path, path: Path, present: dict[str, str]) -> None:
    """Write the last results, kept or written, to the folder of a suite."""
    for test, one in newest([*kept_in(path), *written_to(folder)], present).items():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(result_file(folder, test), json.dumps(one).encode())


def keep(folder: Path, path: Path, present: dict[str, str]) -> list[Result]:
    """Return the last result of each test, and keep them; those of tests that no longer exist are dropped."""
    found = list(newest([*kept_in(path), *written_to(folder)], present).values())
    if found:
        write_atomically(path, "".join(f"{json.dumps(one)}\n" for one in found).encode())
    return found


def table(rows: list[dict]) -> list[str]:
    columns = list(rows[0])
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()) for row in rows]
    return [f"| {line} |" for line in lines]


def collected(command: list[str]) -> set[str]:
    """Return the names of the tests that a pytest command would run; exit if it can't tell."""
    found = subprocess.run([*command, "--collect-only", "-q"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"the tests could not be collected:\n{found.stdout}{found.stderr}")
    return {line for line in found.stdout.splitlines() if line.startswith("tests/") and "::" in line}


def write_report(report: Report, results: list[Result], present: dict[str, str]) -> None:
    """Write a suite's page: failures first, then by what the tests are about."""
    order = report.order
    results.sort(key=lambda r: next((k for k, word in enumerate(order) if word in r["test"]), len(order)))
    lines = [
        f"# {report.title}",
        "",
        f"Written by `{report.command}`; not edited by hand. Commit {commit()}, {date.today()}, "
        f"Python {platform.python_version()}, {platform.machine()}, one thread.",
    ]
    failed = [one for one in results if not one["passed"]]
    others = [one for one in results if one["sources"] != present[one["test"]]]
    missing = sorted(present.keys() - {one["test"] for one in results})
    lines += ["", f"{len(results) - len(failed)} checks passed, {len(failed)} failed."]
    lines += ["", f"Made from earlier sources, whose commit each of these names: {len(others)}."] if others else []
    lines += ["", f"Without a result (not run, or skipped): {len(missing)}.", ""] if missing else []
    lines += [f"- `{test}`" for test in missing]
    for one in failed + [one for one in results if one["passed"]]:
        verdict = "passed" if one["passed"] else "**FAILED**"
        where = f" on commit {one['commit']}, {one['at'][:10]}" * (one in others)
        lines += ["", f"## {one['title']}", "", f"`{one['test']}`: {verdict}{where}"]
        lines += ["", one["note"]] if one["note"] else []
        lines += ["", *table(one["rows"])] if one["rows"] else []
    (ROOT / "docs" / report.page).write_text("\n".join(lines) + "\n")


def main() -> int:
    options, so_far = [option for option in sys.argv[1:] if option != "--so-far"], "--so-far" in sys.argv
    at_scale = "--at-scale" in options
    report = AT_SCALE if at_scale else LONG
    folder = ROOT / "runs" / f"verification{'-at-scale' * at_scale}"
    path = (RESULTS / report.page).with_suffix(".jsonl")
    modules = [f"tests/verification/test_{name}.py" for name in RELIABILITY] if at_scale else []
    command = [sys.executable, "-m", "pytest"]
    together = ["-m", "verify and not alone", "-n", report.processes]
    selections = [together] if at_scale else [["-m", "verify and alone", "-n", "1"], together]
    tests = [test for one in selections for test in collected([*command, *modules, *one])]
    present = {test: sources_hash(test) for test in tests}
    command += ["-v", f"--results={folder}", *options, *modules]
    codes = []
    if not so_far:
        restore(folder, path, present)
    try:
        codes += [subprocess.run([*command, *one], cwd=ROOT).returncode for one in selections if not so_far]
    finally:
        results = keep(folder, path, present)
        counts = Counter(one["sources"] == present[one["test"]] for one in results)
        print(
            f"Results of {len(present)} tests: {counts[True]} of the present sources, {counts[False]} of earlier ones"
        )
    write_report(report, results, present)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
