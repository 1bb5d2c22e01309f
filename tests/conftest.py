from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "helpers"))

os.environ["RLCCFR_CACHE"] = tempfile.mkdtemp(prefix="rlccfr-test-cache-")  # not the user's

OUTCOME = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--at-scale", action="store_true", help="damage, kill and soak many times as much")
    parser.addoption("--figures", help="folder for the figures that verification tests record; tests with one are done")
    parser.addoption("--stamp", default="{}", help="JSON object that joins each of these records")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if report.when == "call" or report.failed:
        item.stash[OUTCOME] = report.outcome
    return report


@pytest.fixture
def heeds_ctrl_c() -> Iterator[None]:
    """Heed Ctrl-C: a test runner started in the background ignores it, and so would the processes that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def at_scale(request: pytest.FixtureRequest) -> bool:
    """Whether to damage, kill and soak as much as docs/reliability.md tells."""
    return bool(request.config.getoption("--at-scale"))


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Iterator[Callable[..., None]]:
    """Function ``figures(title, rows, note)`` that keeps a table (a list of dicts) for docs/verification.md or
    reliability.md.

    A failed test also leaves its table, marked as failed; a test that keeps no figures leaves a record without one. A
    test that passed is not run again, unless it compares times: the machine may have been quiet by luck.
    """
    folder = request.config.getoption("--figures")
    path = Path(folder or ".") / f"{request.node.name}.json"
    kept: dict[str, Any] = {}

    def keep(title: str, rows: list[dict], note: str = "") -> None:
        kept.update(test=request.node.nodeid, title=title, note=note, rows=rows)

    timed = request.node.get_closest_marker("alone") is not None
    if folder and not timed and path.exists() and json.loads(path.read_text())["passed"]:
        pytest.skip(f"it passed on these sources; to run it again, remove {path} and its line in benchmarks/results")
    yield keep
    outcome = request.node.stash.get(OUTCOME, "interrupted")
    if folder and outcome in ("passed", "failed"):
        from rlccfr.files import write_atomically

        if not kept:
            keep(request.node.name, [])
        kept.update(json.loads(request.config.getoption("--stamp")), at=datetime.now(UTC).isoformat(timespec="seconds"))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps({"passed": outcome == "passed", **kept}).encode())


@pytest.fixture(autouse=True)
def recorded(request: pytest.FixtureRequest) -> None:
    """Let every long test leave a record."""
    if request.config.getoption("--figures") and request.node.get_closest_marker("verify"):
        request.getfixturevalue("figures")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Function that runs a command in a new directory: ``run("solve", "kuhn")`` returns exit code, stdout, stderr.

    Progress lines are off.
    """
    from rlccfr.cli import main, progress

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "FIRST_LINE", threading.TIMEOUT_MAX)  # a slow machine must not change what is written

    def call(*arguments):
        with pytest.raises(SystemExit) as exit:
            main(arguments)
        captured = capsys.readouterr()
        return exit.value.code, captured.out, captured.err

    return call
