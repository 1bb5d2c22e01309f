"""Work that is killed, starved or crowded loses nothing and ends as if it had been left alone."""

from __future__ import annotations

import csv
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from support import engine_state

from rlccfr import Solver
from rlccfr.agents import SelectorTeam
from rlccfr.catalog import Catalog
from rlccfr.envs import Store
from rlccfr.errors import RLCCFRError
from rlccfr.files import LOCK
from rlccfr.games.names import load_game

KILLS = 10
SOAK = 15 * 60
"""Duration of the soak test in seconds."""


def rlccfr(folder: Path, *arguments: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "rlccfr", *arguments]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options
    )


def finished(process: subprocess.Popen) -> None:
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def killed_after_a_change(process: subprocess.Popen, path: Path, seconds: float) -> bool:
    """Kill a process some seconds after its next write to a file; return whether it was still running."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    while process.poll() is None and (not path.exists() or path.stat().st_mtime_ns == before):
        time.sleep(0.01)
    time.sleep(seconds)
    alive = process.poll() is None
    process.kill()
    process.communicate()
    return alive


@pytest.mark.verify
@pytest.mark.parametrize(
    ("update_rule", "sampler"), [("dcfr", "none"), ("cfr_plus", "external"), ("deep_cfr(preset='sweep')", "external")]
)
def test_a_killed_run_goes_on_from_its_checkpoint(tmp_path, figures, update_rule, sampler):
    """After the kills, the run's state equals that of an undisturbed run with as many iterations."""
    path, moments, reached = tmp_path / "run.npz", random.Random(update_rule), []
    options = ["--checkpoint", str(path), "--checkpoint-every", "0.1", "--seconds", "60"]
    for _ in range(KILLS):
        process = rlccfr(tmp_path, "solve", "leduc", "--update-rule", update_rule, "--sampler", sampler, *options)
        assert killed_after_a_change(process, path, moments.random())
        reached.append(Solver.load(path).result().iterations)
    ours, theirs = Solver.load(path), Solver(load_game("leduc"), update_rule, sampler)
    theirs.run(iterations=reached[-1])
    ours, theirs = engine_state(ours), engine_state(theirs)
    equal = [name for name in theirs if np.array_equal(ours[name], theirs[name])]
    row = {"iterations at the first": reached[0], "at the last": reached[-1]}
    row |= {"tables": len(theirs), "equal": len(equal)}
    figures(f"A run killed {KILLS} times: {update_rule} x {sampler}", [row])
    assert reached == sorted(reached)
    assert reached[-1] > reached[0]
    assert len(equal) == len(theirs)


def iterations_in(path: Path) -> int:
    """Return the number of iterations of a saved run over a public tree, without reading its tables."""
    with np.load(path) as archive:
        return int(archive["counts"][0])


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


@pytest.mark.verify
def test_a_killed_training_ends_like_one_left_alone(tmp_path, figures):
    """The reward weights count exploitability alone, so that both runs learn from the same numbers."""
    train = ("train", "kuhn", "--catalog", "tabular", "--iterations", "300", "--evaluations", "30", "--store", "store")
    finished(rlccfr(tmp_path, *train, "--out", "alone", "--store", "other"))
    moments, kept, path = random.Random(0), [], tmp_path / "killed" / "team.npz"
    for _ in range(KILLS):
        process = rlccfr(tmp_path, *train, "--out", "killed")
        if not killed_after_a_change(process, path, moments.random()):
            assert process.returncode == 0
            break
        kept.append(SelectorTeam.load(path).evaluations)
    finished(rlccfr(tmp_path, *train, "--out", "killed"))
    teams = [SelectorTeam.load(tmp_path / name) for name in ("alone", "killed")]
    states = [[selector.state() for selector in team.selectors] for team in teams]
    equal = [np.array_equal(one[name], other[name]) for one, other in zip(*states, strict=True) for name in one]
    logs = [rows(tmp_path / name / "training.csv") for name in ("alone", "killed")]
    figures(
        f"A training run killed {len(kept)} times",
        [{"evaluations at the kills": " ".join(map(str, kept)), "arrays of weights": len(equal), "equal": sum(equal)}],
    )
    assert kept == sorted(kept)
    assert kept
    assert all(equal)
    assert logs[0] == logs[1]
    assert Store(tmp_path / "store").ids() == Store(tmp_path / "other").ids()


def rows(path: Path) -> list[dict[str, str]]:
    """Return a log's rows without throughput, which differs each time."""
    with path.open() as file:
        return [{name: value for name, value in row.items() if name != "throughput"} for row in csv.DictReader(file)]


SWEEP = ("sweep", "kuhn", "--catalog", "tabular", "--seeds", "2", "--iterations", "300", "--seconds", "0", "--no-pilot",
         "--workers", "1")  # fmt: skip


def measured(store: Path) -> pd.DataFrame:
    names = ["game", "update_rule", "sampler", "abstraction", "seed", "status", "exploitability", "nodes_touched"]
    return Store(store).frame()[names].sort_values(names[:5], ignore_index=True)


@pytest.mark.verify
def test_two_sweeps_may_share_a_store(tmp_path, figures):
    finished(rlccfr(tmp_path, *SWEEP, "--store", "alone"))
    both = [rlccfr(tmp_path, *SWEEP, "--store", "shared") for _ in range(2)]
    for process in both:
        finished(process)
    expected, found = measured(tmp_path / "alone"), measured(tmp_path / "shared")
    left = [path.name for path in (tmp_path / "shared").iterdir() if path.suffix != ".json" and path.name != LOCK]
    equal = int((expected == found).all(axis=1).sum())
    figures(
        "Two simultaneous sweeps on one store", [{"runs": len(expected), "equal": equal, "other files left": len(left)}]
    )
    pd.testing.assert_frame_equal(expected, found)
    assert left == []


@pytest.mark.verify
def test_a_full_disk_costs_nothing_that_was_written(tmp_path, figures):
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", disk]).returncode:
        pytest.skip("a small disk can't be mounted here")
    try:
        process = rlccfr(tmp_path, *SWEEP, "--store", str(disk / "store"))
        _, errors = process.communicate()
        kept = measured(disk / "store")
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        finished(rlccfr(tmp_path, *SWEEP, "--store", str(disk / "store")))
        found = measured(disk / "store")
    finally:
        subprocess.run(["umount", disk], check=True)
    finished(rlccfr(tmp_path, *SWEEP, "--store", "alone"))
    message = errors.strip().splitlines()[-1].replace(str(disk), "disk")
    row = {"exit code": process.returncode, "says": message, "runs kept": len(kept), "of": len(found)}
    figures("A sweep onto a disk that fills up", [row])
    assert process.returncode == 1
    assert message.startswith("error: ")
    assert 0 < len(kept) < len(found)
    pd.testing.assert_frame_equal(found, measured(tmp_path / "alone"))


@pytest.mark.verify
def test_a_soak_of_random_algorithms_stays_within_its_memory(figures):
    """Random algorithms run on small games for 15 minutes; the second half needs no more memory than the first."""
    cells, draws = list(Catalog.extended().with_networks("sweep")), random.Random(0)
    names = ("kuhn", "leduc", "goofspiel", "liars_dice(numdice=1,dice_sides=4)", "kuhn(cards=7)")
    games, begin, runs, failed, peaks = [load_game(name) for name in names], time.monotonic(), 0, 0, [0.0, 0.0]
    while (passed := time.monotonic() - begin) < SOAK:
        solver = Solver(draws.choice(games), *draws.choice(cells), seed=draws.randrange(2**32))
        try:
            result = solver.run(seconds=draws.uniform(0.01, 1.0))
            assert 0 <= result.exploitability + 1e-9 <= solver.game.utility_range + 2e-9
        except RLCCFRError:
            failed += 1
        runs += 1
        half = int(passed > SOAK / 2)
        peaks[half] = max(peaks[half], resident())
    row = {"minutes": SOAK / 60, "runs": runs, "failed": failed}
    figures("A soak test of random algorithms", [{**row, "MiB, first half at most": peaks[0], "second half": peaks[1]}])
    assert failed == 0
    # Both halves draw from one distribution, so without a leak either peak may be the higher. A tenth is allowed for
    # memory that allocators keep.
    assert peaks[1] <= 1.1 * peaks[0]


def resident() -> float:
    """Return the MiB of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


@pytest.mark.verify
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_an_interrupt_at_any_moment_of_a_sweep_is_heeded(tmp_path, figures):
    """After one Ctrl-C there is one line of error, and the same command continues from what was measured."""
    moments, rows = random.Random(0), []
    for number in range(KILLS):
        store = tmp_path / f"store-{number}"
        process = rlccfr(tmp_path, *SWEEP, "--store", str(store), start_new_session=True)
        time.sleep(moments.uniform(1, 8))  # Python itself takes the first half second
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        rows.append({"exit code": process.returncode, "runs kept": len(Store(store))})
        assert process.returncode in (0, 130)
        told = [line for line in errors.splitlines() if "of 208 runs" not in line]  # its progress
        assert process.returncode == 0 or len(told) == 1, errors
        finished(rlccfr(tmp_path, *SWEEP, "--store", str(store)))
        rows[-1]["in the end"] = len(Store(store))
    figures(f"A sweep interrupted {KILLS} times", rows)
    assert 130 in {row["exit code"] for row in rows}
    assert {row["in the end"] for row in rows} == {208}
