"""A sweep on a cluster, simulated on this machine: ``python -m benchmarks.cluster > docs/cluster.md``.

The coordinator of a sweep sends runs to workers, and keeps their records. Here, 64 Dask workers are threads that return
the record of one real run at once, or after a pause. So what is measured is the most that the coordinator, Dask's
scheduler and the store can do; the cluster's network and file system are not. The page also says how soon a flop is
solved on many cores (:mod:`benchmarks.flop_threads`).
"""

from __future__ import annotations

import tempfile
import time
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks import flop_threads
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.sweeping.plan import Job, Limits
from rlccfr.envs.sweeping.runner import Runner, left_to_do
from rlccfr.envs.sweeping.worker import measure

WORKERS = 64
RUNS = 4_000
PAUSES = (0.0, 1.0)
"""Seconds that a simulated run takes."""
LARGE = 100_000
"""Runs of the sweep for which times are predicted."""
RUN_SECONDS = (1.0, 10.0, 100.0)
"""Seconds of its runs."""


class Simulated(NamedTuple):
    """A simulated sweep."""

    pause: float
    runs: int
    wall: float
    cpu_seconds: float  # of coordinator, scheduler and workers, which are one process


def simulate(pause: float, planned: list[Job], record: dict[str, Any], folder: str) -> Simulated:
    """Run a sweep whose workers return a record after a pause."""
    from distributed import Client, LocalCluster

    def pretended(job: Job) -> dict[str, Any]:
        time.sleep(pause)
        return {**record, "cell_id": job.id}

    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit=None
        ) as cluster,
        Client(cluster) as client,
        patch("rlccfr.envs.sweeping.runner.measure", pretended),
    ):
        runner = Runner(Store(folder), client.get_executor, WORKERS, lambda job, kept: None)
        begin = time.perf_counter()
        before = time.process_time()
        runner.run(planned)
        return Simulated(pause, len(planned), time.perf_counter() - begin, time.process_time() - before)


def writes(record: dict[str, Any], folder: str, count: int = RUNS) -> tuple[float, float, int]:
    """Return records written per second, records looked up per second, and the bytes of a record."""
    store = Store(folder)
    begin = time.perf_counter()
    for number in range(count):
        store.put({**record, "cell_id": f"{number:020x}"})
    written = count / (time.perf_counter() - begin)
    begin = time.perf_counter()
    for number in range(count):
        assert store.get(f"{number:020x}") is not None
    found = count / (time.perf_counter() - begin)
    size = next(store.path.glob("*.json")).stat().st_size
    return written, found, size


def report() -> list[str]:
    """Return the page as Markdown."""
    planned = [Job("kuhn", Cell("cfr", "external", "none"), seed, Limits()) for seed in range(RUNS)]
    record = measure(planned[0])
    with tempfile.TemporaryDirectory() as folder:
        written, found, size = writes(record, folder)
    simulated = []
    for pause in PAUSES:
        part = planned if pause == 0.0 else planned[: 8 * WORKERS]
        with tempfile.TemporaryDirectory() as folder:
            simulated.append(simulate(pause, part, record, folder))
            assert not left_to_do(part, Store(folder))
    most = simulated[0].runs / simulated[0].wall
    lines = [
        "# A sweep on a cluster",
        "",
        "Written by `python -m benchmarks.cluster`; not edited by hand. The workers are simulated: "
        f"{WORKERS} Dask workers in one process return a real run's record, at once or after a pause. Network and file "
        f"system of a cluster are not measured. Measured on {processor_model()}.",
        "",
        "| | |",
        "|---|---|",
        f"| a record, bytes | {size:,} |",
        f"| records written per second, one after another | {written:,.0f} |",
        f"| records looked up per second | {found:,.0f} |",
        f"| runs per second through Dask and the store, {WORKERS} workers that return at once | {most:,.0f} |",
        f"| CPU seconds of coordinator, scheduler and workers per run | {simulated[0].cpu_seconds / RUNS:.4f} |",
    ]
    for one in simulated[1:]:
        ideal = one.runs * one.pause / WORKERS
        lines.append(
            f"| {one.runs:,} runs of {one.pause:g} s: share of the workers' time in which they measure | "
            f"{ideal / one.wall:.0%} |"
        )
    lines += [
        "",
        f"## A sweep of {LARGE:,} runs",
        "",
        f"Its store takes {LARGE * size / 1e6:,.0f} MB, and looking up all records, as when it is resumed, takes "
        f"{LARGE / found:.0f} seconds. Predicted from the rates above:",
        "",
        "| seconds of a run | workers that the coordinator keeps busy | hours with 64 workers |",
        "|---|---|---|",
    ]
    lines += [
        f"| {seconds:g} | {most * seconds:,.0f} | {LARGE * max(seconds / WORKERS, 1 / most) / 3600:.1f} |"
        for seconds in RUN_SECONDS
    ]
    lines += ["", "## A flop of hold'em on one machine with many cores", "", *flop_threads.report(), "", *ADVICE]
    return lines


ADVICE = (
    "## What to change on a cluster",
    "",
    "1. Install the package with the extra `dask` on each node, in the same version. Let all workers have the kind of "
    "processor that the coordinator has: a record names only that one, and speeds on other processors differ, because "
    "caches and vector registers do.",
    "2. Start `dask scheduler` on one node, and on each node one worker for each physical core, with one thread: "
    "`dask worker ADDRESS --nworkers 16 --nthreads 1`. Two runs on one core would disturb each other's times.",
    "3. Run `rlccfr doctor --compile` once for each kind of processor, on a file system that its nodes share or on "
    "each node, so that workers do not all compile the kernels at once.",
    "4. Start the sweep where the store is, with `--dask ADDRESS`. Only this process writes records; workers need no "
    "access to the store. The same command continues a sweep that was stopped.",
    "5. `rlccfr sweep --compact FILE` writes the records to one file, in far less space.",
)

if __name__ == "__main__":
    print("\n".join(report()))
