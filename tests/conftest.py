from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "helpers"))

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # beside another process, threads of linear algebra wait for each other

GAMES = tempfile.mkdtemp(prefix="rlccfr-test-cache-")
os.environ["RLCCFR_CACHE"] = GAMES  # not the user's


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--at-scale", action="store_true", help="damage, kill and soak many times as much")
    parser.addoption("--results", type=Path, help="folder for results of long tests; what passed is not run again")


def pytest_configure(config: pytest.Config) -> None:
    if folder := config.getoption("--results"):
        from tests.recording import Recording

        config.pluginmanager.register(Recording(folder, writes=not hasattr(config, "workerinput")))


def pytest_unconfigure() -> None:
    shutil.rmtree(GAMES, ignore_errors=True)


@pytest.fixture
def heeds_ctrl_c() -> Iterator[None]:
    """Heed Ctrl-C: a test runner started in the background ignores it, and so would the processes that it starts.

    No garbage is collected meanwhile: an interrupt that arrives while an object is finalized is reported and lost.
    """
    gc.collect()
    gc.disable()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
    gc.enable()


@pytest.fixture
def at_scale(request: pytest.FixtureRequest) -> bool:
    """Whether to damage, kill and soak as much as docs/reliability.md tells."""
    return bool(request.config.getoption("--at-scale"))


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Function ``figures(title, rows, note, summary)`` that keeps a table (a list of dicts) with a long test's result;
    a failed test also leaves its table.

    The summary is one line with the figure that decides and its gate: docs/verification.md and reliability.md show it
    if the test fails.
    """

    def keep(title: str, rows: list[dict], note: str = "", summary: str = "") -> None:
        texts = {"title": title, "note": note} | ({"summary": summary} if summary else {})
        request.node.user_properties.append(("figures", json.dumps(texts | {"rows": rows})))

    return keep


@pytest.fixture
def own_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test register components, and load files with components, which no other test sees."""
    from rlccfr import plugins
    from rlccfr.registry import REGISTRIES

    for registry in REGISTRIES:
        tuple(registry)  # the library's own components are registered first
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.setattr(plugins, "loaded", plugins.Loaded())


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
