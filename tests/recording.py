"""A pytest plugin for the long suites: each test leaves its result in a file, and what passed is not run again."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rlccfr.files import write_atomically
from tests.verify import commit, result_file, sources_hash


class Recording:
    """Skips tests that passed on the same sources, and writes the result of each other test.

    A test has failed if its process was killed, or if its fixtures fail before or after it. One that is interrupted or
    skipped leaves its earlier result alone. With several processes, the one that started the others writes.

    Args:
        folder: folder of the results.
        writes: whether this process writes results.
    """

    def __init__(self, folder: Path, writes: bool) -> None:
        self._folder, self._writes, self._commit = folder, writes, commit()
        self._outcomes: dict[str, set[str]] = {}
        self._seconds: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip a test that passed, unless it compares times: the machine may have been idle by luck."""
        path = result_file(self._folder, item.nodeid)
        if item.get_closest_marker("alone") is None and path.exists():
            result = json.loads(path.read_text())
            if result["passed"] and result["sources"] == sources_hash(item.nodeid):
                pytest.skip(f"it passed on these sources; to run it again, remove {path}")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the hashes before the first test, since what is edited from now on is not what is tested."""
        for item in session.items:
            sources_hash(item.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Do the same in the process that starts the others, which collects nothing itself."""
        for id in ids:
            sources_hash(id)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a test's result when it is over; "???" is the phase of a test whose process was killed.

        The property ``figures`` of a report is a table with its title, note and summary, in JSON.
        """
        if not self._writes:
            return
        self._seconds[report.nodeid] += report.duration
        outcomes = self._outcomes.setdefault(report.nodeid, set())
        if report.failed or report.when == "call":
            outcomes.add(report.outcome)
        if report.when in ("teardown", "???") and outcomes & {"passed", "failed"}:
            self._write(report, passed="failed" not in outcomes)

    def _write(self, report: pytest.TestReport, passed: bool) -> None:
        figures = {"title": report.nodeid.rpartition("::")[2], "note": "", "rows": []}
        figures |= json.loads(dict(report.user_properties).get("figures", "{}"))
        stamp: dict[str, str | float] = {"sources": sources_hash(report.nodeid), "commit": self._commit}
        stamp["at"] = datetime.now(UTC).isoformat(timespec="seconds")
        stamp["seconds"] = round(self._seconds[report.nodeid], 1)
        path = result_file(self._folder, report.nodeid)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps({"passed": passed, "test": report.nodeid, **figures, **stamp}).encode())
