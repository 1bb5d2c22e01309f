from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "helpers"))

os.environ["RLCCFR_CACHE"] = tempfile.mkdtemp(prefix="rlccfr-test-cache-")  # not the user's

PASSED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--figures", help="folder for the figures that verification tests record; tests with one are done")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    return report


@pytest.fixture
def heeds_ctrl_c() -> Iterator[None]:
    """A test runner that was started in the background ignores Ctrl-C, and so would the processes that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Iterator[Callable[..., None]]:
    """``figures(title, rows, note)`` keeps a table (a list of dicts) for docs/verification.md.

    A test that fails leaves its table too, marked. One that passed is not run again, unless it compares times: a
    machine may have been quiet by luck.
    """
    folder = request.config.getoption("--figures")
    path = Path(folder or ".") / f"{request.node.name}.json"
    kept: dict[str, Any] = {}

    def keep(title: str, rows: list[dict], note: str = "") -> None:
        kept.update(test=request.node.nodeid, title=title, note=note, rows=rows)

    timed = request.node.get_closest_marker("alone") is not None
    if folder and not timed and path.exists() and json.loads(path.read_text())["passed"]:
        pytest.skip("it passed on these sources, and its figures are recorded; remove them to run it again")
    yield keep
    if folder and kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"passed": request.node.stash.get(PASSED, False), **kept}))


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """``run("solve", "kuhn")`` gives exit code, stdout and stderr; in a directory of its own."""
    from rlccfr.cli import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as exit:
            main(arguments)
        captured = capsys.readouterr()
        return exit.value.code, captured.out, captured.err

    return call
