"""Sweeps that are killed, and sweeps on Dask, give the same measurements as undisturbed ones."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from rlccfr.catalog import Catalog
from rlccfr.envs import Store
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.runner import Runner

KILLS = 10
FIXED = ("game", "update_rule", "sampler", "abstraction", "seed", "status", "exploitability", "nash_conv",
         "iterations", "nodes_touched", "curve_iteration", "curve_nodes", "curve_exploitability")  # fmt: skip


def command(folder: Path) -> list[str]:
    options = "--catalog tabular --seeds 3 --iterations 3000 --seconds 0 --no-pilot --workers 2"
    places = ["--store", str(folder / "store"), "--compact", str(folder / "runs.parquet")]
    return [sys.executable, "-m", "rlccfr", "sweep", "goofspiel", *options.split(), *places]


def fixed(folder: Path) -> list[tuple]:
    frame = pd.read_parquet(folder / "runs.parquet")
    frame = frame.sort_values(["game", "update_rule", "sampler", "abstraction", "seed"])
    return [tuple(map(str, row)) for row in frame[list(FIXED)].to_numpy().tolist()]


@pytest.mark.verify
def test_a_dask_cluster_measures_what_processes_do_and_may_lose_a_worker(tmp_path, figures):
    from distributed import Client, LocalCluster

    planned = jobs({"goofspiel": (0, 1)}, Catalog.tabular(), limits=Limits(iterations=300, seconds=0))
    alone, shared = Store(tmp_path / "alone"), Store(tmp_path / "shared")
    Runner(alone, lambda: ProcessPoolExecutor(2, multiprocessing.get_context("spawn")), 2, lambda *_: None).run(planned)
    done = []
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:

        def report(job: Job, record: dict) -> None:
            done.append(job)
            if len(done) == len(planned) // 3:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        Runner(shared, client.get_executor, 2, report).run(planned)
    names = ("status", "exploitability", "iterations", "nodes_touched")
    pairs = [[[store.get(job.id)[name] for name in names] for store in (alone, shared)] for job in planned]
    figures("A sweep on Dask compared with one in processes", [
        {"runs": len(planned), "reported": len(done), "equal": sum(one == other for one, other in pairs)}
    ])  # fmt: skip
    assert all(one == other for one, other in pairs)
    assert sorted(done, key=str) == sorted(planned, key=str)


@pytest.mark.verify
def test_a_sweep_killed_ten_times_ends_like_one_left_alone(tmp_path, figures):
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    subprocess.run(command(undisturbed), check=True, capture_output=True)
    moments, kept = random.Random(0), []
    store = killed / "store"
    for _ in range(KILLS):
        process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len(list(store.glob("*.json")))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(list(store.glob("*.json"))) <= before and process.poll() is None:
            time.sleep(0.05)
        time.sleep(moments.random())
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kept.append(len(list(store.glob("*.json"))))
    subprocess.run(command(killed), check=True, capture_output=True)
    ours, theirs = fixed(killed), fixed(undisturbed)
    figures(
        "A sweep killed ten times", [{"kill": k + 1, "runs kept": n, "of": len(theirs)} for k, n in enumerate(kept)]
    )
    assert ours == theirs
    assert kept == sorted(kept)
    assert kept[0] < len(theirs)
