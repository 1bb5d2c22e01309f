"""The long suite: ``python tests/verify.py`` runs it and writes docs/verification.md.

With ``--at-scale`` it damages, kills and soaks many times as much, and nothing else, and writes docs/reliability.md.
It can be stopped and started again: a test that passed on these sources is not run again, unless it compares times. A
failed test also leaves its table; failures stand at the top of each document. Several tests run at a time, except for
those that compare times.

The last record of each test is kept in benchmarks/results: once these are committed, another machine can continue. A
page names the commit of each record that was made from other sources. ``--so-far`` runs nothing: it keeps the records
that a suite has written so far, also while this runs, and writes the page from what there is.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from rlccfr.files import write_atomically

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
SOURCES = ("rlccfr", "catalog", "envs", "agents", "benchmarks", "tests")
READ = ("constraints.txt", "docs/overview.md", "benchmarks/results/*.csv", "benchmarks/results/*.json")
"""Further files that long tests read."""

Record = dict[str, Any]


def sources() -> Iterator[Path]:
    """Yield all files that the figures can depend on: code and data of the package, benchmarks and long tests.

    This file is left out: it only runs the tests and keeps their records.
    """
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            shipped = path.parent.name == "data" and path.is_file()
            if (not shipped and path.suffix != ".py") or path == Path(__file__):
                continue
            if folder != "tests" or "helpers" in path.parts or "pytest.mark.verify" in path.read_text():
                yield path
    for pattern in READ:
        yield from sorted(ROOT.glob(pattern))


def sources_hash() -> str:
    """Return a hash of all :func:`sources`, under which a stopped suite finds the tests that passed."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def table(rows: list[dict]) -> list[str]:
    columns = list(rows[0])
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()) for row in rows]
    return [f"| {line} |" for line in lines]


def kept_in(path: Path) -> dict[str, Record]:
    """Return the records in a file under version control, keyed by test name."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {record["test"]: record for record in map(json.loads, lines)}


def restore(folder: Path, path: Path, present: str) -> None:
    """Write the kept records of these sources to the folder of a suite, unless it has newer ones."""
    for record in kept_in(path).values():
        own = folder / f"{record['test'].rpartition('::')[2]}.json"
        newer = not own.exists() or json.loads(own.read_text())["at"] < record["at"]
        if record["sources"] == present and newer:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(own, json.dumps(record).encode())


def keep(folder: Path, path: Path, tests: set[str]) -> list[Record]:
    """Return the newest record of each test, and keep them; drop those of tests that no longer exist."""
    records = kept_in(path)
    for record in (json.loads(one.read_text()) for one in folder.glob("*.json")):
        if record["test"] not in records or records[record["test"]]["at"] <= record["at"]:
            records[record["test"]] = record
    newest = [records[test] for test in sorted(records.keys() & tests)]
    if newest:
        write_atomically(path, "".join(f"{json.dumps(record)}\n" for record in newest).encode())
    return newest


def commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def collected(command: list[str]) -> set[str]:
    """Return the names of the tests that a pytest command would run; exit if it can't tell."""
    found = subprocess.run([*command, "--collect-only", "-q"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"the tests could not be collected:\n{found.stdout}{found.stderr}")
    return {line for line in found.stdout.splitlines() if line.startswith("tests/") and "::" in line}


def write_report(report: Report, present: str, records: list[Record], missing: set[str]) -> None:
    order = report.order
    records.sort(key=lambda r: next((k for k, word in enumerate(order) if word in r["test"]), len(order)))
    lines = [
        f"# {report.title}",
        "",
        f"Written by `{report.command}`; not edited by hand. Commit {commit()}, sources {present}, {date.today()}, "
        f"Python {platform.python_version()}, {platform.machine()}, one thread.",
    ]
    failed = [record for record in records if not record["passed"]]
    other = sum(record["sources"] != present for record in records)
    lines += ["", f"{len(records) - len(failed)} checks passed, {len(failed)} failed."]
    lines += ["", f"Made from other sources, as each entry says with its commit: {other}."] if other else []
    lines += ["", "Without a record (not run, skipped, or not set up):", ""] if missing else []
    lines += [f"- `{test}`" for test in sorted(missing)]
    for record in failed + [record for record in records if record["passed"]]:
        verdict = "passed" if record["passed"] else "**FAILED**"
        where = f" on commit {record['commit']}, {record['at'][:10]}" * (record["sources"] != present)
        lines += ["", f"## {record['title']}", "", f"`{record['test']}`: {verdict}{where}"]
        lines += ["", record["note"]] if record["note"] else []
        lines += ["", *table(record["rows"])] if record["rows"] else []
    (ROOT / "docs" / report.page).write_text("\n".join(lines) + "\n")


def main() -> int:
    options, so_far = [option for option in sys.argv[1:] if option != "--so-far"], "--so-far" in sys.argv
    at_scale, present = "--at-scale" in options, sources_hash()
    report = AT_SCALE if at_scale else LONG
    folder = ROOT / "runs" / "verification" / f"{present}{'-at-scale' * at_scale}"
    path = (RESULTS / report.page).with_suffix(".jsonl")
    modules = [f"tests/verification/test_{name}.py" for name in RELIABILITY] if at_scale else []
    command = [sys.executable, "-m", "pytest"]
    together = ["-m", "verify and not alone", "-n", report.processes]
    selections = [together] if at_scale else [["-m", "verify and alone"], together]
    tests = {test for one in selections for test in collected([*command, *modules, *one])}
    stamp = json.dumps({"sources": present, "commit": commit()})
    command += ["-v", f"--figures={folder}", f"--stamp={stamp}", *options, *modules]
    codes = []
    if not so_far:
        restore(folder, path, present)
    try:
        codes += [subprocess.run([*command, *one], cwd=ROOT).returncode for one in selections if not so_far]
    finally:
        records = keep(folder, path, tests)
        print(f"{len(records)} of {len(tests)} tests have a record in {path.relative_to(ROOT)}; sources {present}")
    write_report(report, present, records, tests - {record["test"] for record in records})
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
