"""Checkpoints of gigabytes: a run that is killed while it iterates or writes goes on from the last whole one."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import IO
from zipfile import ZipFile

import numpy as np
import pytest
from commands import finished, iterations_in, killed_after_a_change, rlccfr


def last_exploitability(path: Path) -> float:
    with np.load(path) as archive:
        return json.loads(str(archive["header"]))["curve"][-1][3]


def equal_tables(one: Path, other: Path) -> dict[str, bool]:
    """Return whether the arrays of two checkpoints are equal, by name; they are read piece by piece."""
    with ZipFile(one) as ours, ZipFile(other) as theirs:
        names = [name for name in ours.namelist() if name != "header.npy"]
        assert set(names) == set(theirs.namelist()) - {"header.npy"}
        return {name: equal_streams(ours.open(name), theirs.open(name)) for name in names}


def equal_streams(one: IO[bytes], other: IO[bytes]) -> bool:
    while (piece := one.read(2**24)) == other.read(2**24):
        if not piece:
            return True
    return False


def killed_while_iterating(process: subprocess.Popen, path: Path) -> None:
    """Kill a process when it has replaced its checkpoint and iterates again."""
    assert killed_after_a_change(process, path, 0.3)
    assert not temporary(process, path)


def killed_while_writing(process: subprocess.Popen, path: Path) -> None:
    """Kill a process when it has written half of a new checkpoint."""
    half = path.stat().st_size / 2
    while process.poll() is None and not any(one.stat().st_size > half for one in temporary(process, path)):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    (left,) = temporary(process, path)
    assert half < left.stat().st_size < 2 * half
    left.unlink()


def temporary(process: subprocess.Popen, path: Path) -> list[Path]:
    return list(path.parent.glob(f".{path.name}.{process.pid}.*"))


@pytest.mark.verify
@pytest.mark.parametrize("game", ["flop_holdem", "holdem(raises=4,opening=4)"])
def test_a_killed_run_with_large_tables_goes_on_from_its_checkpoint(tmp_path, figures, game):
    """After the kills, the three tables equal those of an undisturbed run with as many iterations."""
    path, alone = tmp_path / "run.npz", tmp_path / "alone.npz"
    solve, kept = ("solve", game, "--update-rule", "pdcfr_plus"), []
    kept_every_5 = ("--checkpoint", str(path), "--checkpoint-every", "5")
    try:
        finished(rlccfr(tmp_path, *solve, "--checkpoint", str(path), "--iterations", "3"))
        for killed in (killed_while_iterating, killed_while_writing):
            process = rlccfr(tmp_path, *solve, *kept_every_5, "--iterations", "1000")
            killed(process, path)
            kept.append(iterations_in(path))
        size = path.stat().st_size
        finished(rlccfr(tmp_path, *solve, "--checkpoint", str(path), "--iterations", "1"))
        reached = iterations_in(path)
        finished(rlccfr(tmp_path, *solve, "--checkpoint", str(alone), "--iterations", str(reached)))
        equal = equal_tables(path, alone)
        ends = [last_exploitability(one) for one in (path, alone)]
    finally:
        for left in (path, alone):
            left.unlink(missing_ok=True)
    row = {"GB": size / 1e9, "iterations kept when killed while iterating": kept[0], "while writing": kept[1]}
    row |= {"in the end": reached, "tables": len(equal), "equal": sum(equal.values())}
    figures(f"A run with large tables killed twice: {game}", [row])
    assert 3 < kept[0] == kept[1] == reached - 1
    assert all(equal.values())
    assert ends[0] == ends[1]
