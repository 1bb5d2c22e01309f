"""Several processes may work on the same files: each result is whole, and none is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor

import pandas as pd
import pytest
from commands import SHORT_SWEEP, TRAIN, finished, iterations_in, measured, rlccfr

from rlccfr import Solver
from rlccfr.catalog import Catalog
from rlccfr.envs import Store
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.runner import Runner
from rlccfr.files import LOCK


@pytest.mark.verify
def test_two_sweeps_may_share_a_store(tmp_path, figures):
    finished(rlccfr(tmp_path, *SHORT_SWEEP, "--store", "alone"))
    both = [rlccfr(tmp_path, *SHORT_SWEEP, "--store", "shared") for _ in range(2)]
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
def test_of_two_trainings_in_one_directory_the_second_is_refused(tmp_path, figures):
    train = (*TRAIN, "--evaluations", "40", "--out", "team")
    both = [rlccfr(tmp_path, *train) for _ in range(2)]
    errors = [process.communicate()[1].strip() for process in both]
    codes = [process.returncode for process in both]
    finished(rlccfr(tmp_path, *train))
    says = next((error for code, error in zip(codes, errors, strict=True) if code), "")
    figures("Two trainings in one directory", [{"exit codes": sorted(codes), "says": says.replace(str(tmp_path), "")}])
    assert sorted(codes) == [0, 1]
    assert len(says.splitlines()) == 1
    assert "in use" in says


@pytest.mark.verify
def test_a_checkpoint_that_two_runs_write_is_whole_at_every_moment(tmp_path, figures):
    """The second run is refused, since it would drop what the first has done; a later one goes on from there."""
    path, reads = tmp_path / "run.npz", 0
    finished(rlccfr(tmp_path, "solve", "leduc", "--checkpoint", "run.npz", "--iterations", "5"))
    often = ("solve", "leduc", "--checkpoint", "run.npz", "--checkpoint-every", "0.01", "--seconds", "10")
    both = [rlccfr(tmp_path, *often) for _ in range(2)]
    while any(process.poll() is None for process in both):
        assert iterations_in(path) >= 5
        reads += 1
    errors = [process.communicate()[1] for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 1], errors
    says = errors[codes.index(1)].strip()
    reached = iterations_in(path)
    finished(rlccfr(tmp_path, "solve", "leduc", "--checkpoint", "run.npz", "--iterations", "5"))
    left = {one.name for one in tmp_path.iterdir()} - {path.name, f".{path.name}{LOCK}"}
    gone_on = Solver.load(path).result().iterations
    row = {"exit codes": sorted(codes), "says": says, "whole at each of these reads": reads, "iterations": reached}
    figures("Two runs with one checkpoint", [row | {"after five more": gone_on}])
    assert len(says.splitlines()) == 1
    assert "in use" in says
    assert reached > 5
    assert gone_on == reached + 5
    assert reads > 100
    assert left == set()


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
