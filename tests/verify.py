"""The long suites: ``python -m tests.verify`` runs one and writes docs/verification.md.

With ``--at-scale`` it damages, kills and soaks many times as much, and nothing else, and writes docs/reliability.md.
It can be stopped and started again: a test that passed on the same sources is not run again, unless it compares times.
Several tests run at a time, except for those that compare times.

The last result of each test is kept in benchmarks/results, with its table; a failed test also leaves one. Once these
files are committed, another machine can continue. A page counts the results, tells of each failed check what it missed,
and names the commits of results from earlier sources.

Two commands run no test. ``--so-far`` keeps the results that a suite has written so far, even one that is still
running, and writes the page. ``--table PATTERN`` prints the tables of the checks whose name or title contains a text.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
        order: words in the names of test modules, by which they are ordered.
        processes: number of tests that run at a time, except for those that compare times.
    """

    page: str
    title: str
    command: str
    order: tuple[str, ...]
    processes: str

    @property
    def results(self) -> Path:
        """Path of the file with the suite's last results, a line of JSON each."""
        return (RESULTS / self.page).with_suffix(".jsonl")


LONG = Report("verification.md", "Verification", "make verify", ORDER, "2")
AT_SCALE = Report(
    "reliability.md", "Reliability: what was damaged, killed, starved and crowded", "make reliability",
    tuple(f"test_{name}" for name in RELIABILITY), "4",
)  # fmt: skip

RESULTS = ROOT / "benchmarks" / "results"
FOLDERS = ("rlccfr", "catalog", "envs", "agents")
"""Folders whose files every result can depend on."""

Result = dict[str, Any]
"""Last result of a test: ``test`` (pytest's name of it), ``passed``, ``title``, ``note``, ``rows`` (the table), perhaps
``summary`` (the figure that decides, with its gate), ``sources`` (a hash), ``commit``, ``at`` (the time, UTC), and
``seconds`` (how long it took, beside the tests that ran at the same time; not in results from before 2026-11-28)."""


@cache
def shared_hash() -> str:
    """Return a hash of what every result depends on: the package, the fixtures, the versions of dependencies."""
    files = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*")) if path.is_file()]
    sources = [path for path in files if "__pycache__" not in path.parts]
    return _digest([*sources, ROOT / "tests" / "conftest.py", ROOT / "constraints.txt"])


def inputs(module: Path) -> Iterator[Path]:
    """Yield what else a test module's results depend on: itself, helpers and benchmarks that it imports, their data."""
    benchmarks = {f"benchmarks.{path.stem}": path for path in (ROOT / "benchmarks").glob("*.py")}
    importable = {path.stem: path for path in (ROOT / "tests" / "helpers").glob("*.py")} | benchmarks
    reached = {module}
    unread = [module]
    while unread:
        new = {importable[name] for name in imported(unread.pop(), importable)} - reached
        reached |= new
        unread += new
    yield from sorted(reached)
    if reached & set(benchmarks.values()):
        # A suite's own results are no input: they would change by its running.
        suites = {report.results for report in (LONG, AT_SCALE)}
        yield from (path for path in sorted(RESULTS.glob("*.*")) if path not in suites)
    if "overview.md" in module.read_text():
        yield ROOT / "docs" / "overview.md"


def sources_hash(test: str) -> str:
    """Return a hash of all that a test's result can depend on, as it was when this was first asked for its module."""
    return _module_hash(module_of(test))


def module_of(test: str) -> str:
    """Return the path of a test's module, from the root of the repository."""
    return test.partition("::")[0]


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
    sources = [*FOLDERS, "tests", "benchmarks/*.py", "constraints.txt"]
    difference = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *sources], cwd=ROOT, capture_output=True)
    return head.stdout.strip() + "+edits" * (difference.returncode == 1)


def result_file(folder: Path, test: str) -> Path:
    """Return where a suite writes the result of a test."""
    return folder / f"{test.removeprefix('tests/').replace('/', '.')}.json"


def kept_in(path: Path) -> list[Result]:
    """Return the results in a file under version control."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def written_to(folder: Path) -> list[Result]:
    """Return the results that a suite has written."""
    return [json.loads(path.read_text()) for path in folder.glob("*.json")]


def newest(folder: Path, path: Path, present: dict[str, str]) -> dict[str, Result]:
    """Return the last result of each test; one of the present sources comes before any of other sources.

    Of two results at the same time, the one under version control counts.

    Args:
        folder: folder of the results that a suite has written.
        path: file of the results under version control.
        present: hash of the present sources by test; other tests are left out.
    """
    results = [result for result in (*written_to(folder), *kept_in(path)) if result["test"] in present]
    results.sort(key=lambda result: (result["test"], is_present(result, present), result["at"]))
    return {result["test"]: result for result in results}


def is_present(result: Result, present: dict[str, str]) -> bool:
    """Return whether a result was made from the present sources."""
    return result["sources"] == present[result["test"]]


def restore(folder: Path, path: Path, present: dict[str, str]) -> None:
    """Write the last results, kept or written, to the folder of a suite."""
    for test, result in newest(folder, path, present).items():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(result_file(folder, test), json.dumps(result).encode())


def keep(folder: Path, path: Path, present: dict[str, str]) -> list[Result]:
    """Return the last result of each test, and keep them; those of tests that no longer exist are dropped."""
    results = list(newest(folder, path, present).values())
    if results:
        write_atomically(path, "".join(f"{json.dumps(result)}\n" for result in results).encode())
    return results


def collected(command: list[str]) -> set[str]:
    """Return the names of the tests that a pytest command would run; exit if it can't tell."""
    listing = subprocess.run([*command, "--collect-only", "-q"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode:
        sys.exit(f"the tests could not be collected:\n{listing.stdout}{listing.stderr}")
    return {line for line in listing.stdout.splitlines() if line.startswith("tests/") and "::" in line}


def write_report(report: Report, results: list[Result], present: dict[str, str]) -> None:
    """Write a suite's page of one screen: counts, what failed, and a line for each test module.

    Args:
        results: last result of each test that has one.
        present: hash of the present sources by test.
    """
    failed = [result for result in results if not result["passed"]]
    earlier = Counter(result["commit"] for result in results if not is_present(result, present))
    missing = Counter(module_of(test) for test in present.keys() - {result["test"] for result in results})
    lines = [
        f"# {report.title}",
        "",
        f"Written by `{report.command}`; not edited by hand. Commit {commit()}, {date.today()}, "
        f"Python {platform.python_version()}, {platform.machine()}, one thread.",
        "",
        f"{len(results) - len(failed)} checks passed, {len(failed)} failed.",
    ]
    if earlier:
        commits = ", ".join(f"{name} ({count})" for name, count in earlier.most_common())
        lines += ["", f"Made from earlier sources: {earlier.total()}.", "", f"They were made on the commits {commits}."]
    if missing:
        lines += ["", f"Without a result (not run, or skipped): {missing.total()}."]
    file = report.results.name
    lines += [
        "",
        f"Each check has a line in [{file}](../benchmarks/results/{file}): its table, commit and time. "
        "`python -m tests.verify --table PATTERN` prints the tables of the checks whose name or title contains a text.",
    ]
    if failed:
        lines += ["", "## Failed", "", *(f"- {_failure(result)}" for result in failed)]
    lines += ["", "## All checks", "", *_by_module(report, results, missing)]
    (ROOT / "docs" / report.page).write_text("\n".join(lines) + "\n")


def _failure(result: Result) -> str:
    """Return what a failed check is about, what decided, and its test."""
    summary = result.get("summary")
    return f"**{result['title']}**{f': {summary}' if summary else ''} (`{result['test']}`)"


def _by_module(report: Report, results: Sequence[Result], missing: Counter[str]) -> list[str]:
    """Return a table of test modules, in a report's order: what each checks, and its numbers of results."""
    passed = Counter(module_of(result["test"]) for result in results if result["passed"])
    failed = Counter(module_of(result["test"]) for result in results if not result["passed"])

    def place(module: str) -> tuple[int, str]:
        words = report.order
        return next((k for k, word in enumerate(words) if word in module), len(words)), module

    seconds: Counter[str] = Counter()
    for result in results:
        if "seconds" in result:
            seconds[module_of(result["test"])] += result["seconds"]
    rows = []
    for module in sorted({*passed, *failed, *missing}, key=place):
        row = {"what is checked": _subject(module), "tests": f"`{module}`"}
        row |= {"passed": passed[module], "failed": failed[module]}
        if seconds:
            row["minutes"] = round(seconds[module] / 60, 1) if module in seconds else "not known"
        rows.append(row | ({"without a result": missing[module]} if missing else {}))
    return table(rows)


def _subject(module: str) -> str:
    """Return the first sentence of a test module, or its name if it has no docstring."""
    docstring = ast.get_docstring(ast.parse((ROOT / module).read_text()))
    words = Path(module).stem.removeprefix("test_").replace("_", " ")
    return docstring.splitlines()[0].rstrip(".") if docstring else words


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of a Markdown table."""
    columns = list(rows[0])
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()) for row in rows]
    return [f"| {line} |" for line in lines]


def tables(pattern: str) -> Iterator[str]:
    """Yield the lines of the checks, of both suites, whose name or title contains a text: verdict, note and table."""
    for report in (LONG, AT_SCALE):
        for result in kept_in(report.results):
            if pattern.lower() not in f"{result['test']}\n{result['title']}".lower():
                continue
            verdict = "passed" if result["passed"] else "**FAILED**"
            yield from (f"## {result['title']}", "")
            yield f"`{result['test']}`: {verdict} on commit {result['commit']}, {result['at'][:10]}"
            for text in (result.get("summary"), result["note"]):
                yield from ("", text) if text else ()
            yield from ("", *table(result["rows"])) if result["rows"] else ()
            yield ""


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.verify", description=__doc__, allow_abbrev=False)
    parser.add_argument("--at-scale", action="store_true", help="the suite of docs/reliability.md")
    parser.add_argument("--so-far", action="store_true", help="run no test: write the page from the results so far")
    parser.add_argument("--table", metavar="PATTERN", help="run no test: print the tables of the checks that match")
    options, for_pytest = parser.parse_known_args()
    if options.table is not None:
        lines = list(tables(options.table))
        print("\n".join(lines) if lines else f"no check's name or title contains {options.table!r}")
        return int(not lines)
    if options.at_scale:
        report, folder = AT_SCALE, ROOT / "runs" / "verification-at-scale"
        modules = [f"tests/verification/test_{name}.py" for name in RELIABILITY]
        for_pytest += ["--at-scale"]
    else:
        report, folder = LONG, ROOT / "runs" / "verification"
        modules = []

    # Tests that compare times run first and alone: others at the same time would slow one side of a comparison.
    command = [sys.executable, "-m", "pytest"]
    selections = [["-m", "verify and not alone", "-n", report.processes]]
    if not options.at_scale:
        selections.insert(0, ["-m", "verify and alone", "-n", "1"])
    tests = [test for selection in selections for test in collected([*command, *modules, *selection])]
    present = {test: sources_hash(test) for test in tests}

    command += ["-v", f"--results={folder}", *for_pytest, *modules]
    codes = []
    if not options.so_far:
        restore(folder, report.results, present)
    try:
        if not options.so_far:
            for selection in selections:
                codes.append(subprocess.run([*command, *selection], cwd=ROOT).returncode)
    finally:
        # A run that is interrupted keeps what it has so far.
        results = keep(folder, report.results, present)
        counts = Counter(is_present(result, present) for result in results)
        print(
            f"Results of {len(present)} tests: {counts[True]} of the present sources, {counts[False]} of earlier ones"
        )
        for test in sorted(present.keys() - {result["test"] for result in results}):
            print(f"Without a result (not run, or skipped): {test}")
    write_report(report, results, present)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
