"""The long suite: ``python tests/verify.py`` runs it and writes docs/verification.md.

It can be stopped and started again: a test whose figures are recorded for this state of the sources is not run
again. Figures are recorded before a test's last assertions, so a failing test leaves its table, and the suite
fails.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parent.parent
ORDER = ("samplers", "convergence", "speed", "test_team")


def sources_hash() -> str:
    digest = hashlib.sha256()
    for folder in ("rlccfr", "catalog", "envs", "agents", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def table(rows: list[dict]) -> list[str]:
    columns = list(rows[0])
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()) for row in rows]
    return [f"| {line} |" for line in lines]


def write_report(folder: Path) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    lines = [
        "# Verification",
        "",
        "Written by `make verify`; not edited by hand. "
        f"Commit {commit.stdout.strip()}, sources {folder.name}, {date.today()}, "
        f"Python {platform.python_version()}, {platform.machine()}, one thread.",
    ]
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    records.sort(key=lambda r: next((k for k, word in enumerate(ORDER) if word in r["test"]), len(ORDER)))
    for record in records:
        lines += ["", f"## {record['title']}", "", f"`{record['test']}`", ""]
        lines += [record["note"], ""] if record["note"] else []
        lines += table(record["rows"])
    (ROOT / "docs" / "verification.md").write_text("\n".join(lines) + "\n")


def main() -> int:
    folder = ROOT / "runs" / "verification" / sources_hash()
    command = [sys.executable, "-m", "pytest", "-m", "verify", "-v", f"--figures={folder}", *sys.argv[1:]]
    code = subprocess.run(command, cwd=ROOT).returncode
    if folder.exists():
        write_report(folder)
    return code


if __name__ == "__main__":
    sys.exit(main())
