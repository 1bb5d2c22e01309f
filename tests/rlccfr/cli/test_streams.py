"""Streams that are full, closed or of another encoding: at most one line of error, and never a traceback."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

FULL = "/dev/full"
NO_SPACE = "(No space left on device); check space and permissions\n"

needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="this system has no device that is always full")


def shell(line: str, folder) -> subprocess.CompletedProcess:
    """Run a line in a shell, where $R is the command."""
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "R": f"{sys.executable} -m rlccfr"},
    )  # fmt: skip


@needs_full
@pytest.mark.parametrize(
    "command",
    [
        "solve kuhn --json",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("games", "games --json", "--version", "--help")),
    ],
)
def test_output_to_a_full_device_is_one_line(tmp_path, command):
    found = shell(f"$R {command} > {FULL}", tmp_path)
    assert (found.returncode, found.stderr) == (1, f"error: can't write the output {NO_SPACE}")


@pytest.mark.slow
@needs_full
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("solve kuhn --policy", "full.csv"),
        ("solve kuhn --curve", "full.csv"),
        ("results table kuhn --out", "full.json"),
    ],
)
def test_a_file_on_a_full_device_is_one_line_and_the_device_stays(tmp_path, command, name):
    (tmp_path / name).symlink_to(FULL)  # a link, so that no mistake can remove the machine's device
    found = shell(f"$R {command} {name}", tmp_path)
    lines = [line for line in found.stderr.splitlines() if " passed" not in line]  # progress, on a busy machine
    assert (found.returncode, lines) == (1, [f"error: can't write {name} {NO_SPACE.rstrip()}"])
    assert (tmp_path / name).is_symlink()


@pytest.mark.slow
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = shell("cat pipe > read & $R solve kuhn --iterations 5 --curve pipe && wait", tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert (tmp_path / "read").read_text().startswith("iteration,nodes,")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["head -1", "true"])
def test_a_reader_that_has_read_enough_is_no_failure(tmp_path, reader):
    found = shell(f"{{ $R solve kuhn --update-rule cfr --iterations 5; echo $? >&2; }} | {reader}", tmp_path)
    assert found.stderr == "0\n"


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", "2>&- 0<&-"])
def test_a_closed_stderr_is_no_matter(tmp_path, closed):
    found = shell(f"$R solve kuhn --iterations 5 {closed}", tmp_path)
    assert found.returncode == 0
    assert "exploitability" in found.stdout
    found = shell(f"$R solve kunn {closed}", tmp_path)
    assert (found.returncode, found.stdout) == (1, "")  # the error can't be written, and stdout is not the place for it


@pytest.mark.slow
def test_all_streams_closed_is_no_matter(tmp_path):
    line = "$R solve kuhn --iterations 5 --curve curve.csv >&- 2>&- 0<&-"
    assert shell(line, tmp_path).returncode == 0
    assert (tmp_path / "curve.csv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", [("solve", "kuhn", "--iterations", "5"), ("results", "table", "kuhn")])
def test_a_narrow_terminal_of_ascii_gets_its_tables(tmp_path, command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm", "COLUMNS": "20", "LINES": "40", "PYTHONIOENCODING": "ascii"}
        os.execv(sys.executable, [sys.executable, "-m", "rlccfr", *command])
    written = b""
    while True:
        try:
            written += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"Traceback" not in written
