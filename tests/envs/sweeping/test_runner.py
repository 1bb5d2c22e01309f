from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import CancelledError, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Store, StoreError
from rlccfr.envs.sweeping import runner
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.runner import TRIES, Runner, left_to_do
from rlccfr.envs.sweeping.unfinished import take_over
from rlccfr.envs.sweeping.worker import measure
from rlccfr.games.compiled_games import compiled

LIMITS = Limits(iterations=5, seconds=0)
SMALL = Catalog(("cfr", "cfr_plus"), ("external", "none"), ("none",))


def processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, multiprocessing.get_context("fork"))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.mark.slow
def test_each_run_is_kept_and_reported_once_and_none_runs_again(store):
    planned = jobs({"kuhn": (0, 1)}, SMALL, limits=LIMITS)
    reported = []
    Runner(store, lambda: ThreadPoolExecutor(2), 2, lambda job, record: reported.append(job)).run(planned)
    assert sorted(reported, key=str) == sorted(planned, key=str)
    assert set(store.ids()) == {job.id for job in planned}
    assert left_to_do(planned, store) == []
    assert all(record["status"] == "ok" for record in store.records())


@pytest.mark.slow
@pytest.mark.parametrize("retried", [False, True])
def test_what_another_sweep_has_measured_meanwhile_is_reported_and_not_run_again(store, monkeypatch, retried):
    """The first run writes the second one's record, as another process would; failed ones are there to begin with."""
    planned, run = jobs({"kuhn": (0, 1)}, SMALL, limits=LIMITS), []
    if retried:
        for job in planned:
            store.put({**measure(job), "status": "failed"})

    def measured(job):
        run.append(job)
        store.put(measure(planned[1]))
        return measure(job)

    monkeypatch.setattr(runner, "measure", measured)
    reported = []
    one_at_a_time = 0.5  # twice as many runs are handed over at a time
    sweep = Runner(store, lambda: ThreadPoolExecutor(1), one_at_a_time, lambda job, record: reported.append(job))
    sweep.run(left_to_do(planned, store, retry_failed=retried))
    assert run == [planned[0], *planned[2:]]
    assert sorted(reported, key=str) == sorted(planned, key=str)
    assert {record["status"] for record in store.records()} == {"ok"}


@pytest.mark.slow
def test_what_another_sweep_measured_before_the_first_run_is_not_run_again(store, monkeypatch):
    """Between the list of what is left and the first run lies the pilot, which may take minutes."""
    planned, run = jobs({"kuhn": (0, 1)}, SMALL, limits=LIMITS), []
    left = left_to_do(planned, store)
    store.put(measure(planned[0]))
    monkeypatch.setattr(runner, "measure", lambda job: run.append(job) or measure(job))
    Runner(store, lambda: ThreadPoolExecutor(1), 1, lambda job, record: None).run(left)
    assert run == planned[1:]


class Deadly:
    """Measurement that kills its process at one algorithm, at most ``deaths`` times."""

    def __init__(self, folder: Path, deaths: int) -> None:
        self.folder, self.deaths = folder, deaths

    def __call__(self, job: Job):
        if job.cell.update_rule == "cfr_plus" and len(list(self.folder.glob("death-*"))) < self.deaths:
            (self.folder / f"death-{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return measure(job)


@pytest.mark.parametrize("deaths", [pytest.param(1, marks=pytest.mark.slow), 99])
def test_a_killed_worker_costs_what_was_under_way_at_most(store, tmp_path, monkeypatch, deaths):
    monkeypatch.setattr(runner, "measure", Deadly(tmp_path, deaths))
    planned = jobs({"kuhn": (0, 1)}, SMALL, limits=LIMITS)
    Runner(store, processes, 2, lambda job, record: None).run(planned)
    status = {job: store.get(job.id)["status"] for job in planned}
    if deaths == 1:
        assert set(status.values()) == {"ok"}
        return
    killers = [job for job in planned if job.cell.update_rule == "cfr_plus"]
    assert all((status[job] == "failed") == (job in killers) for job in planned)
    assert f"killed {TRIES} times" in store.get(killers[0].id)["error"]
    assert left_to_do(planned, store) == []
    assert left_to_do(planned, store, retry_failed=True) == killers


class KilledWorker(Exception):
    """Dask's error has this name."""


@pytest.mark.parametrize("lost", [KilledWorker("job", "worker", 3), CancelledError(), KeyboardInterrupt()])
def test_an_error_of_a_worker_is_told_as_itself_and_only_a_loss_is_tried_again(store, monkeypatch, lost):
    planned = jobs({"kuhn": (0,)}, SMALL, limits=LIMITS)[:3]
    errors = {planned[0]: ModuleNotFoundError("No module named 'my_plugin'"), planned[1]: lost}
    begun = []

    def failing(job):
        begun.append(job)
        if job in errors:
            raise errors[job]
        return measure(job)

    monkeypatch.setattr(runner, "measure", failing)
    Runner(store, lambda: ThreadPoolExecutor(1), 1, lambda job, record: None).run(planned)
    failed, killed, whole = (store.get(job.id) for job in planned)
    assert failed["error"] == "the run's worker raised ModuleNotFoundError: No module named 'my_plugin'"
    assert "Traceback" in failed["traceback"]
    assert f"killed {TRIES} times" in killed["error"]
    assert [record["status"] for record in (failed, killed, whole)] == ["failed", "failed", "ok"]
    assert (begun.count(planned[0]), begun.count(planned[1])) == (1, TRIES)


@pytest.mark.slow
def test_a_full_disk_ends_the_sweep_in_one_line_and_the_next_goes_on(store, monkeypatch):
    planned = jobs({"kuhn": (0, 1)}, SMALL, limits=LIMITS)
    written, put = [], Store.put

    def full(self, record):
        if len(written) == 2:
            raise StoreError("can't write (No space left on device)")
        written.append(record["cell_id"])
        put(self, record)

    monkeypatch.setattr(Store, "put", full)
    sweep = Runner(store, lambda: ThreadPoolExecutor(1), 1, lambda job, record: None)
    with pytest.raises(StoreError, match="No space"):
        sweep.run(planned)
    monkeypatch.undo()
    left = left_to_do(planned, store)
    assert len(left) == len(planned) - 2
    sweep.run(left)
    assert left_to_do(planned, store) == []


@pytest.mark.slow
def test_runs_of_a_file_are_taken_over(store, tmp_path):
    job = Job("kuhn", Cell("cfr", "none", "none"), 0, LIMITS)
    store.put(measure(job))
    other = Store(tmp_path / "other")
    assert take_over(store.compact(tmp_path / "runs.parquet"), [job], other) == 1
    assert other.get(job.id) == store.get(job.id)
    assert take_over(tmp_path / "runs.parquet", [job], other) == 0
    assert left_to_do([job], other) == []
    with pytest.raises(StoreError, match="written with --small"):
        take_over(store.compact(tmp_path / "small.parquet", small=True), [job], other)


@pytest.mark.slow
def test_another_processors_runs_count_as_done(store, tmp_path):
    planned = jobs({"kuhn": (0, 1)}, SMALL, limits=LIMITS)
    for job in planned[:3]:
        store.put(measure(job))
    store.put({**measure(planned[3]), "engine_version": "0/0"})
    file = store.compact(tmp_path / "runs.parquet")
    here, planned = Store(tmp_path / "here"), [replace(job, processor="another processor") for job in planned]
    take_over(file, planned, here)
    assert left_to_do(planned, here) == planned[3:]  # the fourth was made by another engine version
    assert here.get(planned[0].id)["processor"] != "another processor"
    longer = [replace(job, limits=replace(LIMITS, iterations=50)) for job in planned]
    take_over(file, longer, here)
    assert left_to_do(longer, here) == longer  # the recorded runs are too short for them


def test_another_processors_runs_count_as_done_only_if_they_went_as_far(store, tmp_path):
    """A run that would continue to further iterations is done if the recorded one did, or would take too long to."""
    short = Job("kuhn", Cell("cfr", "none", "none"), 0, LIMITS)
    record = measure(short)
    store.put(record)
    slow = {**record, "cell_id": "1" * 20, "game": "leduc", **made_for("leduc")}
    slow["curve"] = {**record["curve"], "cpu_seconds": [float(seconds) for seconds in (100, 200, 300, 400, 500)]}
    store.put(slow)
    file = store.compact(tmp_path / "runs.parquet")
    further = replace(LIMITS, further=50)
    wanted = [replace(short, game=game, limits=further, processor="another processor") for game in ("kuhn", "leduc")]
    here = Store(tmp_path / "here")
    take_over(file, wanted, here)
    assert left_to_do(wanted, here) == wanted[:1]
    store.put(measure(replace(short, limits=further)))
    take_over(store.compact(tmp_path / "runs.parquet"), wanted, here)
    assert left_to_do(wanted, here) == []


def made_for(game):
    tree = compiled(game)
    return {"openspiel_name": tree.full_name, "game_hash": tree.content_hash}


def test_what_ends_while_the_others_are_given_up_is_kept(store, monkeypatch):
    """The first run can't be written. The second, under way at that time, is completed and kept."""
    planned = jobs({"kuhn": (0,)}, SMALL, limits=LIMITS)[:2]
    second, put = threading.Event(), Store.put

    def slow(job):
        if job == planned[1]:
            second.wait(10)
        return measure(job)

    def failing(self, record):
        if record["cell_id"] == planned[0].id:
            second.set()
            raise StoreError("can't write")
        put(self, record)

    monkeypatch.setattr(runner, "measure", slow)
    monkeypatch.setattr(Store, "put", failing)
    with pytest.raises(StoreError):
        Runner(store, lambda: ThreadPoolExecutor(2), 2, lambda job, record: None).run(planned)
    assert store.ids() == [planned[1].id]


def test_runs_are_loaded_as_a_table(store, tmp_path):
    import rlccfr

    store.put(measure(Job("kuhn", Cell("cfr", "none", "none"), 0, LIMITS)))
    for source in (store, store.path, store.compact(tmp_path / "runs.parquet")):
        frame = rlccfr.load_results(source)
        assert frame["update_rule"].tolist() == ["cfr"]
        assert list(frame["curve_iteration"][0]) == [1, 2, 3, 4, 5]
    with pytest.raises(StoreError, match="no table at"):
        rlccfr.load_results(tmp_path / "nowhere.parquet")
