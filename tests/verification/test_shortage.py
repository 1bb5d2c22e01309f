"""What runs out of disk or memory, or sees the clock jump, says so in one line and loses nothing."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import SHORT_SWEEP, TRAIN, fault, finished, iterations_in, measured, rlccfr

from rlccfr.archives import read_archive

WRITES = {
    "a run": ("solve", "leduc", "--checkpoint", "run.npz", "--iterations", "30"),
    "a policy": ("solve", "leduc", "--policy", "policy.json", "--iterations", "30"),
    "a page": ("explore", "../policy.npz", "page.html"),
    "a team": (*TRAIN, "--evaluations", "4", "--out", "team", "--store", "../trained"),
    "a controller": ("train", "kuhn", "--control", "--members", "1", "--workers", "1", "--rounds", "6", "--out", "."),
}
"""Commands that write one result."""


@contextlib.contextmanager
def disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a small disk."""
    place = folder / "disk"
    place.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place]).returncode:
        pytest.skip("a small disk can't be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def fill(place: Path) -> Path:
    """Write a file until its disk is full."""
    with contextlib.suppress(OSError), (place / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))
    return place / "filler"


def content(place: Path) -> dict[str, bytes]:
    """Return all files that are results, by name."""
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.suffix in (".npz", ".json", ".html")}


@pytest.mark.verify
@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk_leaves_the_earlier_file(tmp_path, figures, name):
    """The command runs, runs again on a full disk, and once more when there is room again."""
    finished(rlccfr(tmp_path, "solve", "leduc", "--policy", "policy.npz", "--iterations", "10"))
    again = ("--fresh",) if name in ("a team", "a controller") else ()
    with disk(tmp_path, "32m") as place:
        finished(rlccfr(place, *WRITES[name]))
        before, filler = content(place), fill(place)
        process = rlccfr(place, *WRITES[name])
        _, errors = process.communicate()
        kept = content(place) == before
        filler.unlink()
        finished(rlccfr(place, *WRITES[name], *again))
    row = {"exit code": process.returncode, "says": fault(errors), "earlier files kept": kept}
    figures(f"A disk that is full when {name} is written", [row])
    assert kept
    assert before
    assert process.returncode == 1, errors
    assert "No space left" in row["says"]


@pytest.mark.verify
def test_a_sweep_onto_a_disk_that_fills_up_goes_on_when_there_is_room(tmp_path, figures):
    with disk(tmp_path, "512k") as place:
        process = rlccfr(tmp_path, *SHORT_SWEEP, "--store", str(place / "store"))
        _, errors = process.communicate()
        kept = measured(place / "store")
        subprocess.run(["mount", "-o", "remount,size=64m", place], check=True)
        finished(rlccfr(tmp_path, *SHORT_SWEEP, "--store", str(place / "store")))
        found = measured(place / "store")
    finished(rlccfr(tmp_path, *SHORT_SWEEP, "--store", "alone"))
    message = errors.strip().splitlines()[-1].replace(str(place), "disk")
    row = {"exit code": process.returncode, "says": message, "runs kept": len(kept), "of": len(found)}
    figures("A sweep onto a disk that fills up", [row])
    assert process.returncode == 1
    assert message.startswith("error: ")
    assert 0 < len(kept) < len(found)
    pd.testing.assert_frame_equal(found, measured(tmp_path / "alone"))


GIGABYTES = (0.2, 0.5, 0.75, 0.9, 1.1, 1.3, 1.5, 1.8, 2.2, 3.0)
"""Limits of the address space, from what no library loads in to what is enough."""

STARVED = {
    "solve": ("solve", "leduc", "--iterations", "30"),
    "solve hold'em": ("solve", "holdem(ranks=7)", "--iterations", "3"),
    "explore": ("explore", "policy.npz", "page.html"),
    "recommend": ("recommend", "leduc"),
    "train": (*TRAIN, "--evaluations", "3", "--out", "team", "--fresh"),
}


@pytest.mark.verify
@pytest.mark.parametrize("name", STARVED)
def test_a_limit_of_memory_is_told_in_one_line(tmp_path, figures, name):
    """The limit is that of ``ulimit -v``. A C++ library may end the process by itself."""
    finished(rlccfr(tmp_path, "solve", "leduc", "--policy", "policy.npz", "--iterations", "10"))
    rows = []
    for limit in GIGABYTES:
        size = int(limit * 1e9)
        process = rlccfr(
            tmp_path, *STARVED[name], preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_AS, (size, size))
        )
        _, errors = process.communicate(timeout=300)
        rows.append({"GB": limit, "exit code": process.returncode, "says": fault(errors)[:150]})
        assert process.returncode in (0, 1, -6), errors
        assert bool(process.returncode) == bool(rows[-1]["says"]), errors
    figures(f"Little memory: {name}", rows)
    assert rows[0]["exit code"] == 1
    assert rows[-1]["exit code"] == 0
    assert max(row["GB"] for row in rows if row["exit code"]) < 2.5


CGROUP = Path("/sys/fs/cgroup/memory")


@contextlib.contextmanager
def container(megabytes: int) -> Iterator[Path]:
    """Make a control group with a limit of memory, in which processes beyond it are killed."""
    group = CGROUP / f"rlccfr-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(megabytes * 2**20))
    except OSError:
        pytest.skip("control groups can't be made here")
    try:
        yield group
    finally:
        group.rmdir()


@pytest.mark.verify
def test_a_container_that_kills_a_run_leaves_its_checkpoint(tmp_path, figures):
    """A run is refused if its tables don't fit into the container; one that grows is killed, and goes on elsewhere."""
    path = tmp_path / "run.npz"
    solve = ("solve", "holdem(ranks=7)", "--checkpoint", str(path), "--checkpoint-every", "0.1", "--iterations")
    finished(rlccfr(tmp_path, *solve, "5"))
    kept = iterations_in(path)
    with container(320) as group:
        enter = f"open({str(group / 'cgroup.procs')!r}, 'w').write('0')"
        refused = rlccfr(tmp_path, "solve", "holdem", "--iterations", "1", before=enter)
        _, errors = refused.communicate(timeout=300)
        killed = rlccfr(tmp_path, *solve, "100000", before=f"{enter}\n{HUNGRY}")
        killed.communicate(timeout=300)
    reached = iterations_in(path)
    finished(rlccfr(tmp_path, *solve, "1"))
    row = {"refused": errors.strip().splitlines()[-1], "signal": -killed.returncode, "iterations before": kept}
    figures("A container with 320 MiB", [{**row, "kept": reached, "in the end": iterations_in(path)}])
    assert refused.returncode == 1
    assert "GB are available" in row["refused"]
    assert killed.returncode == -9
    assert kept < reached < iterations_in(path)


HUNGRY = """
import os, threading, time
def eat():
    begin = os.stat("run.npz").st_mtime_ns
    while os.stat("run.npz").st_mtime_ns == begin:
        time.sleep(0.1)
    kept = [bytearray(2**20) for _ in range(2000)]
threading.Thread(target=eat, daemon=True).start()
"""
"""Take more and more memory, once there is a new checkpoint."""


JUMPS = """
import random, time
draws, steady = random.Random(0), time.time
time.time = lambda: steady() + draws.choice((-1, 1)) * draws.choice((0, 3600, 86400, 10**9))
"""


def is_same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Return whether two arrays are equal bit by bit; NaN stands for what a controller has not seen yet."""
    return (ours.dtype, ours.shape, ours.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())


@pytest.mark.verify
def test_a_clock_that_jumps_changes_nothing(tmp_path, figures):
    """The system's clock is seen to jump by an hour, a day or decades, back and forth, at every look."""
    commands = {
        "sweep": (*SHORT_SWEEP, "--store", "store"),
        "train": (*TRAIN, "--evaluations", "8", "--out", "team", "--store", "trained"),
        "solve": ("solve", "leduc", "--checkpoint", "run.npz", "--checkpoint-every", "0.01", "--iterations", "200"),
    }
    for name, before in (("steady", ""), ("jumping", JUMPS)):
        (tmp_path / name).mkdir()
        for arguments in commands.values():
            finished(rlccfr(tmp_path / name, *arguments, before=before))
    steady, jumping = tmp_path / "steady", tmp_path / "jumping"
    pd.testing.assert_frame_equal(measured(steady / "store"), measured(jumping / "store"))
    equal = {"sweep": len(measured(steady / "store"))}
    for name, path in (("train", "team/team.npz"), ("solve", "run.npz")):
        ours, theirs = read_archive(steady / path), read_archive(jumping / path)
        assert ours.keys() == theirs.keys()
        alike = [key for key in ours if is_same(ours[key], theirs[key])]
        equal[name] = len(alike)
        assert set(ours) - set(alike) <= {"header", "experience/entries"}  # they have CPU seconds and throughput
    figures("A clock that jumps", [{f"{name}: runs or arrays that are equal": count for name, count in equal.items()}])
