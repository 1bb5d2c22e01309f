"""The long suite: ``python tests/verify.py`` runs it and writes docs/verification.md and docs/reliability.md.

It can be stopped and started again: a test that passed on these sources is not run again, unless it compares times. A
failed test also leaves its table; failures stand at the top of each document. Two tests run at a time, except for those
that compare times.
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

ROOT = Path(__file__).parent.parent
ORDER = ("samplers", "convergence", "learning", "speed", "test_team")
RELIABILITY = ("test_damage", "test_reliability", "test_sweep")
"""Test modules whose figures go to docs/reliability.md."""

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


def write_reports(folder: Path) -> None:
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    records.sort(key=lambda r: next((k for k, word in enumerate(ORDER) if word in r["test"]), len(ORDER)))
    injected = [record for record in records if any(name in record["test"] for name in RELIABILITY)]
    write_report(folder, "verification.md", "Verification", [record for record in records if record not in injected])
    if injected:
        write_report(folder, "reliability.md", "Reliability: what was killed, damaged, starved and crowded", injected)


def write_report(folder: Path, name: str, title: str, records: list[dict]) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    lines = [
        f"# {title}",
        "",
        "Written by `make verify`; not edited by hand. "
        f"Commit {commit.stdout.strip()}, sources {folder.name}, {date.today()}, "
        f"Python {platform.python_version()}, {platform.machine()}, one thread.",
    ]
    failed = [record for record in records if not record["passed"]]
    lines += ["", f"{len(records) - len(failed)} checks passed, {len(failed)} failed."]
    for record in failed + [record for record in records if record["passed"]]:
        verdict = "passed" if record["passed"] else "**FAILED**"
        lines += ["", f"## {record['title']}", "", f"`{record['test']}`: {verdict}", ""]
        lines += [record["note"], ""] if record["note"] else []
        lines += table(record["rows"])
    (ROOT / "docs" / name).write_text("\n".join(lines) + "\n")


def main() -> int:
    folder = ROOT / "runs" / "verification" / sources_hash()
    command = [sys.executable, "-m", "pytest", "-v", f"--figures={folder}", *sys.argv[1:]]
    codes = []
    for selection in (["-m", "verify and alone"], ["-m", "verify and not alone", "-n", "2"]):
        codes.append(subprocess.run([*command, *selection], cwd=ROOT).returncode)
        if folder.exists():
            write_reports(folder)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
