"""The long suite: ``python tests/verify.py`` runs it and writes docs/verification.md.

With ``--at-scale`` it damages, kills and soaks many times as much, and nothing else, and writes docs/reliability.md.
It can be stopped and started again: a test that passed on these sources is not run again, unless it compares times. A
failed test also leaves its table; failures stand at the top of each document. Several tests run at a time, except for
those that compare times.
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
from typing import NamedTuple

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

SOURCES = ("rlccfr", "catalog", "envs", "agents", "benchmarks", "tests")


def sources() -> Iterator[Path]:
    """Yield all files that the figures can depend on: code and data of the package, benchmarks and long tests."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            shipped = path.parent.name == "data" and path.is_file()
            if not shipped and path.suffix != ".py":
                continue
            if folder != "tests" or "helpers" in path.parts or "pytest.mark.verify" in path.read_text():
                yield path


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


def write_report(folder: Path, report: Report) -> None:
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    order = report.order
    records.sort(key=lambda r: next((k for k, word in enumerate(order) if word in r["test"]), len(order)))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    lines = [
        f"# {report.title}",
        "",
        f"Written by `{report.command}`; not edited by hand. "
        f"Commit {commit.stdout.strip()}, sources {folder.name.partition('-')[0]}, {date.today()}, "
        f"Python {platform.python_version()}, {platform.machine()}, one thread.",
    ]
    failed = [record for record in records if not record["passed"]]
    lines += ["", f"{len(records) - len(failed)} checks passed, {len(failed)} failed."]
    for record in failed + [record for record in records if record["passed"]]:
        verdict = "passed" if record["passed"] else "**FAILED**"
        lines += ["", f"## {record['title']}", "", f"`{record['test']}`: {verdict}", ""]
        lines += [record["note"], ""] if record["note"] else []
        lines += table(record["rows"])
    (ROOT / "docs" / report.page).write_text("\n".join(lines) + "\n")


def main() -> int:
    options, at_scale = sys.argv[1:], "--at-scale" in sys.argv
    report = AT_SCALE if at_scale else LONG
    folder = ROOT / "runs" / "verification" / f"{sources_hash()}{'-at-scale' * at_scale}"
    modules = [f"tests/verification/test_{name}.py" for name in RELIABILITY] if at_scale else []
    command = [sys.executable, "-m", "pytest", "-v", f"--figures={folder}", *options, *modules]
    together = ["-m", "verify and not alone", "-n", report.processes]
    codes = []
    for selection in [together] if at_scale else [["-m", "verify and alone"], together]:
        codes.append(subprocess.run([*command, *selection], cwd=ROOT).returncode)
        if folder.exists():
            write_report(folder, report)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
