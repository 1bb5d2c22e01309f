from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError, process
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from rlccfr.envs.sweeping.pool import Pool, physical_cores

SWEEP = ("sweep", "kuhn", "--catalog", "tabular", "--seconds", "600", "--no-pilot", "--workers", "2")


def blocked() -> set[signal.Signals]:
    return signal.pthread_sigmask(signal.SIG_BLOCK, set())


@pytest.mark.slow
def test_workers_are_born_deaf_to_ctrl_c_and_their_parent_is_not():
    pool, before = Pool(1), blocked()
    try:
        assert signal.SIGINT in pool.submit(blocked).result()
        assert blocked() == before
    finally:
        pool.kill()


@pytest.mark.slow
def test_workers_that_are_killed_leave_nothing_to_wait_for():
    pool = Pool(1)
    pool.submit(os.getpid).result()
    endless = pool.submit(time.sleep, 3600)
    pool.kill()
    with pytest.raises((BrokenProcessPool, CancelledError)):
        endless.result()


@pytest.mark.slow
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_while_the_pools_thread_starts_leaves_a_pool_that_can_be_killed(monkeypatch):
    start = process._ExecutorManagerThread.start

    def interrupted(thread):
        signal.raise_signal(signal.SIGINT)
        start(thread)

    monkeypatch.setattr(process._ExecutorManagerThread, "start", interrupted)
    pool = Pool(1)
    with pytest.raises(KeyboardInterrupt):
        pool.submit(os.getpid)
    pool.kill()


def workers_of(group: int) -> list[int]:
    """Return the process ids of the workers that the leader of a process group has started so far."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(path.name)) == group and b"spawn_main" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:  # the process has ended
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are listed as Linux does")
@pytest.mark.usefixtures("heeds_ctrl_c")
@pytest.mark.slow
def test_ctrl_c_while_workers_start_is_one_line(tmp_path):
    """A terminal sends the signal to the whole process group, while the workers are still importing."""
    command = [sys.executable, "-m", "rlccfr", *SWEEP]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None and not workers_of(process.pid):
        time.sleep(0.01)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    err = process.communicate(timeout=120)[1]
    assert (process.returncode, err) == (130, "error: interrupted; the same command continues from there\n")
    assert workers_of(process.pid) == []


def test_ctrl_c_while_the_command_line_is_imported_is_one_line():
    code = """
import sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name in ("rlccfr.cli", "gymnasium", "numpy"):
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder)
from rlccfr.__main__ import main
main()
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (130, "error: interrupted\n")


def test_of_a_cores_threads_one_is_taken(monkeypatch):
    siblings = {"cpu0": "0,2", "cpu1": "1,3", "cpu2": "0,2", "cpu3": "1,3"}

    def read(path, *_, **__):
        if (name := path.parent.parent.name) in siblings:
            return siblings[name]
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 0, 1, 2, 5}, raising=False)
    assert physical_cores() == [0, 1, 5]  # the system has no information on core 5


def test_where_there_is_no_affinity_all_processors_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert physical_cores() == [0, 1, 2]
