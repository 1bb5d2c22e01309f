"""Work that is killed at any moment goes on where it was, and ends as if it had been left alone."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import SHORT_SWEEP, TRAIN, finished, iterations_in, killed_after_a_change, rlccfr
from support import engine_state

from rlccfr import Solver
from rlccfr.agents import SelectorTeam
from rlccfr.archives import read_archive
from rlccfr.envs import Store
from rlccfr.games.names import load_game

KILLS, EACH = {False: 10, True: 200}, 10
"""Number of kills per command, and at scale; and most kills of one training."""

RUNS = [
    ("leduc", "dcfr", "none"),
    ("leduc", "cfr_plus", "external"),
    ("leduc", "deep_cfr(preset='sweep')", "external"),
    ("holdem(ranks=7)", "pdcfr_plus", "none"),
]


@pytest.mark.verify
@pytest.mark.parametrize(("game", "update_rule", "sampler"), RUNS)
def test_a_killed_run_goes_on_from_its_checkpoint(tmp_path, figures, at_scale, game, update_rule, sampler):
    """After the kills, the run's state equals that of an undisturbed run with as many iterations."""
    path, moments, reached = tmp_path / "run.npz", random.Random(update_rule), []
    options = ["--checkpoint", str(path), "--checkpoint-every", "0.1", "--seconds", "3600"]
    kills = KILLS[at_scale] // 2
    for _ in range(kills):
        process = rlccfr(tmp_path, "solve", game, "--update-rule", update_rule, "--sampler", sampler, *options)
        assert killed_after_a_change(process, path, moments.random() / 2)
        reached.append(iterations_in(path))
    ours, theirs = Solver.load(path), Solver(load_game(game), update_rule, sampler)
    theirs.run(iterations=reached[-1], curve=False)
    ours, theirs = engine_state(ours), engine_state(theirs)
    equal = [name for name in theirs if np.array_equal(ours[name], theirs[name])]
    row = {"iterations at the first": reached[0], "at the last": reached[-1]}
    row |= {"tables": len(theirs), "equal": len(equal), "MB": path.stat().st_size / 1e6}
    figures(f"A run killed {kills} times: {update_rule} x {sampler} on {game}", [row])
    assert reached == sorted(reached)
    assert reached[-1] > reached[0]
    assert len(equal) == len(theirs)


def killed_times(start: Callable[[], subprocess.Popen], path: Path, reached: Callable[[], int]) -> list[int]:
    """Start a training again and again, and kill it after it has saved; return what each had reached."""
    moments, kept = random.Random(0), list[int]()
    while len(kept) < EACH and killed_after_a_change(start(), path, moments.random() / 2):
        kept.append(reached())
    assert kept == sorted(kept)
    return kept


@pytest.mark.verify
def test_killed_trainings_end_like_those_left_alone(tmp_path, figures, at_scale):
    """The reward weights count exploitability alone, so that both runs learn from the same numbers."""
    kills, arrays, equal = 0, 0, 0
    for seed in range(KILLS[at_scale] // EACH):
        train = (*TRAIN, "--evaluations", "30", "--seed", str(seed))
        folders = [tmp_path / f"{name}-{seed}" for name in ("alone", "killed")]
        finished(rlccfr(tmp_path, *train, "--out", str(folders[0]), "--store", "other"))
        again = partial(rlccfr, tmp_path, *train, "--out", str(folders[1]), "--store", "store")
        path = folders[1] / "team.npz"
        kills += len(killed_times(again, path, lambda path=path: SelectorTeam.load(path).evaluations))
        finished(again())
        states = [[selector.state() for selector in SelectorTeam.load(folder).selectors] for folder in folders]
        same = [np.array_equal(one[name], other[name]) for one, other in zip(*states, strict=True) for name in one]
        arrays, equal = arrays + len(same), equal + sum(same)
        assert rows(folders[0] / "training.csv") == rows(folders[1] / "training.csv")
    row = {"trainings": KILLS[at_scale] // EACH, "kills": kills, "arrays of weights": arrays, "equal": equal}
    figures("Trainings of teams that were killed", [row])
    assert kills >= KILLS[at_scale] / 2
    assert equal == arrays
    assert Store(tmp_path / "store").ids() == Store(tmp_path / "other").ids()


def rows(path: Path) -> list[dict[str, str]]:
    """Return a log's rows without throughput, which differs each time."""
    with path.open() as file:
        return [{name: value for name, value in row.items() if name != "throughput"} for row in csv.DictReader(file)]


SAVED_OFTEN = "import rlccfr.agents.control.train as train; train.SAVE_EVERY = 0.1"


@pytest.mark.verify
def test_killed_trainings_of_controllers_end_like_those_left_alone(tmp_path, figures, at_scale):
    kills, arrays, equal = 0, 0, 0
    control = ("train", "kuhn", "--control", "--members", "1", "--workers", "1", "--rounds", "100")
    for seed in range(KILLS[at_scale] // EACH):
        folders = [tmp_path / f"{name}-{seed}" for name in ("alone", "killed")]
        finished(rlccfr(tmp_path, *control, "--seed", str(seed), "--out", str(folders[0])))
        train = (*control, "--seed", str(seed), "--out", str(folders[1]))
        path = folders[1] / "member-0" / "training.npz"
        again = partial(rlccfr, tmp_path, *train, before=SAVED_OFTEN)
        kills += len(killed_times(again, path, lambda path=path: rounds_in(path)))
        finished(again())
        alone, killed = (read_archive(folder / "controller.npz") for folder in folders)
        same = [np.array_equal(alone[name], killed[name]) for name in alone if name != "header"]
        arrays, equal = arrays + len(same), equal + sum(same)
    row = {"trainings": KILLS[at_scale] // EACH, "kills": kills, "arrays of weights": arrays, "equal": equal}
    figures("Trainings of controllers that were killed", [row])
    assert kills >= KILLS[at_scale] / 2
    assert equal == arrays


def rounds_in(path: Path) -> int:
    return int(json.loads(str(read_archive(path)["counts"]))["done"])


FIXED = ("game", "update_rule", "sampler", "abstraction", "seed", "status", "exploitability", "nash_conv",
         "iterations", "nodes_touched", "curve_iteration", "curve_nodes", "curve_exploitability")  # fmt: skip


def sweep(folder: Path, kills: int) -> list[str]:
    options = f"--catalog tabular --seeds {3 + kills // 10} --iterations 3000 --seconds 0 --no-pilot --workers 2"
    places = ["--store", str(folder / "store"), "--compact", str(folder / "runs.parquet")]
    return [sys.executable, "-m", "rlccfr", "sweep", "goofspiel", *options.split(), *places]


def fixed(folder: Path) -> list[tuple]:
    frame = pd.read_parquet(folder / "runs.parquet")
    frame = frame.sort_values(["game", "update_rule", "sampler", "abstraction", "seed"])
    return [tuple(map(str, row)) for row in frame[list(FIXED)].to_numpy().tolist()]


@pytest.mark.verify
def test_a_killed_sweep_ends_like_one_left_alone(tmp_path, figures, at_scale):
    kills = KILLS[at_scale]
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    subprocess.run(sweep(undisturbed, kills), check=True, capture_output=True)
    moments, kept = random.Random(0), []
    store = killed / "store"
    while len(kept) < kills:
        process = subprocess.Popen(sweep(killed, kills), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len(list(store.glob("*.json")))
        while len(list(store.glob("*.json"))) <= before and process.poll() is None:
            time.sleep(0.02)
        time.sleep(moments.random() / 2)
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        kept.append(len(list(store.glob("*.json"))))
    subprocess.run(sweep(killed, kills), check=True, capture_output=True)
    ours, theirs = fixed(killed), fixed(undisturbed)
    row = {"runs kept at the first": kept[0], "at the last": kept[-1], "of": len(theirs)}
    equal = sum(one == other for one, other in zip(ours, theirs, strict=True))
    figures(f"A sweep killed {len(kept)} times", [{**row, "equal": equal}])
    assert ours == theirs
    assert kept == sorted(kept)
    assert len(kept) >= kills / 2


@pytest.mark.verify
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_an_interrupt_at_any_moment_of_a_sweep_is_heeded(tmp_path, figures):
    """After one Ctrl-C there is one line of error, and the same command continues from what was measured."""
    moments, rows = random.Random(0), []
    for number in range(KILLS[False]):
        store = tmp_path / f"store-{number}"
        process = rlccfr(tmp_path, *SHORT_SWEEP, "--store", str(store), start_new_session=True)
        time.sleep(moments.uniform(1, 8))  # Python itself takes the first half second
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        rows.append({"exit code": process.returncode, "runs kept": len(Store(store))})
        assert process.returncode in (0, 130)
        told = [line for line in errors.splitlines() if "of 208 runs" not in line]  # its progress
        assert process.returncode == 0 or len(told) == 1, errors
        finished(rlccfr(tmp_path, *SHORT_SWEEP, "--store", str(store)))
        rows[-1]["in the end"] = len(Store(store))
    figures(f"A sweep interrupted {len(rows)} times", rows)
    assert 130 in {row["exit code"] for row in rows}
    assert {row["in the end"] for row in rows} == {208}
