"""``rlccfr sweep``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import RUNS, CatalogName, Interrupted, Json, load, print_json, print_table
from rlccfr.cli.measured_games import say_failures
from rlccfr.cli.progress import duration, progress
from rlccfr.errors import BudgetError, RLCCFRError, whole_number

if TYPE_CHECKING:
    from rlccfr.envs.measuring.store import Store
    from rlccfr.envs.sweeping.executors import Executors
    from rlccfr.envs.sweeping.plan import Job
    from rlccfr.envs.sweeping.runner import Report
    from rlccfr.envs.sweeping.sweep import SweepPlan

GAMES = ("kuhn", "leduc", "goofspiel", "royal")
"""The paper's four games, which are measured by default."""


def sweep(
    games: Annotated[list[str] | None, typer.Argument(help="Names or OpenSpiel strings. [the paper's four]")] = None,
    families: Annotated[
        str | None,
        typer.Option(help="Measure members of the families instead: those for 'train', 'validation' or 'test'."),
    ] = None,
    catalog: CatalogName = "paper",
    networks: Annotated[str, typer.Option(help="Preset of the deep rules' networks.")] = "sweep",
    seeds: Annotated[int, typer.Option(help="Engine seeds of each tabular algorithm that draws at random.")] = 5,
    model_seeds: Annotated[int, typer.Option(help="Engine seeds of each algorithm that fits models.")] = 2,
    close: Annotated[
        float,
        typer.Option(help="Give an algorithm that draws at random more seeds if its reward is this close to the best."),
    ] = 0.0,
    close_seeds: Annotated[int, typer.Option(help="Engine seeds of an algorithm close to the best. [as --seeds]")] = 0,
    iterations: Annotated[int, typer.Option(help="Least iterations of a run.")] = 1_000,
    seconds: Annotated[float, typer.Option(help="Least engine CPU seconds of a run.")] = 1.0,
    further: Annotated[
        int, typer.Option(help="Continue to this many iterations in all if they take at most a CPU minute.")
    ] = 0,
    timeout: Annotated[float, typer.Option(help="CPU seconds after which a run is given up.")] = 1_800.0,
    megabytes: Annotated[int, typer.Option(help="Memory that a run may allocate.")] = 4_096,
    workers: Annotated[int, typer.Option(help="Processes. [one per physical core]")] = 0,
    dask: Annotated[
        str | None, typer.Option(help="Run on a Dask cluster: its address, or 'local' for one on this machine alone.")
    ] = None,
    store: Annotated[Path, typer.Option(help="Directory that keeps every run.")] = RUNS / "sweep",
    status: Annotated[
        bool, typer.Option("--status", help="Say what is done and what is left, and run nothing.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Repeat runs that failed.")] = False,
    pilot: Annotated[
        bool, typer.Option(help="Estimate first, from a hundredth of each run, how long it takes.")
    ] = True,
    compact: Annotated[Path | None, typer.Option(help="Afterwards write all runs to a Parquet file.")] = None,
    small: Annotated[
        bool, typer.Option("--small", help="Shorten curves and use single precision, to publish.")
    ] = False,
    take: Annotated[
        Path | None, typer.Option("--import", help="First take over the runs of a file that --compact wrote.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure every algorithm of a catalog on each game.

    Each run's curve tells what any shorter budget would have reached. The same command resumes a
    sweep that was stopped. A second sweep on the same store shares the runs that both plan.
    """
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.envs.measuring.store import Store
    from rlccfr.envs.sweeping.plan import Limits
    from rlccfr.envs.sweeping.resuming import take_over
    from rlccfr.envs.sweeping.sweep import SweepPlan, statuses

    names = _members(families) if families is not None else games or list(GAMES)
    whole_number(workers, "workers", 0, BudgetError)
    for game in names:
        load(game)
    limits = Limits(iterations, seconds, further, timeout, megabytes)
    algorithms = parse_catalog(catalog).with_networks(networks)
    plan = SweepPlan(names, algorithms, seeds, model_seeds, close, limits, close_seeds)
    jobs = plan.jobs()
    records = Store(store, create=not status)
    if take is not None:
        _say(f"{take_over(take, jobs, records):,} runs taken over from {take}")
    if status:
        jobs += plan.more_jobs(records, jobs)
    else:
        run = partial(_run, store=records, workers=workers, dask=dask, pilot=pilot)
        jobs += _measure(plan, jobs, records, retry_failed, run)
    counts_by_game = statuses(jobs, records)
    _print_counts(counts_by_game, json)
    if not {status for counts in counts_by_game.values() for status in counts} <= {"ok", "missing"}:
        say_failures(record for job in jobs if (record := records.get(job.id)) is not None)
    if compact is not None:
        _say(f"written to {records.compact(compact, small=small)}")


def _members(which: str) -> list[str]:
    """Return the games of the families for training, validation or test."""
    from rlccfr.catalog.families import TEST, TRAIN, VALIDATION

    members = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
    if which not in members:
        raise RLCCFRError(f"--families takes 'train', 'validation' or 'test', not {which!r}")
    return list(members[which])


def _say(text: str) -> None:
    """Print a message on stderr; stdout is for the table at the end."""
    print(text, file=sys.stderr, flush=True)


def _measure(
    plan: SweepPlan, jobs: list[Job], store: Store, retry_failed: bool, run: Callable[[list[Job]], None]
) -> list[Job]:
    """Run the jobs that are not done, then those of algorithms that have turned out to be close to the best.

    Args:
        plan: plan of the sweep.
        jobs: the jobs to run first.
        store: store of all records.
        retry_failed: whether jobs that have failed are run again.
        run: function that runs jobs.

    Returns:
        The jobs of algorithms close to the best.
    """
    from rlccfr.envs.sweeping.runner import left_to_do
    from rlccfr.envs.sweeping.sweep import sharing

    with sharing(store, _say) as in_order:
        if todo := left_to_do(jobs, store, retry_failed=retry_failed):
            run(in_order(todo))
        close_jobs = plan.more_jobs(store, jobs)
        if todo := left_to_do(close_jobs, store, retry_failed=retry_failed):
            _say(f"{len(todo):,} more runs of algorithms close to the best")
            run(in_order(todo))
    return close_jobs


def _run(jobs: Sequence[Job], store: Store, workers: int, dask: str | None, pilot: bool) -> None:
    """Run jobs, on this machine or a Dask cluster.

    Args:
        jobs: the jobs.
        store: store of all records.
        workers: number of processes; 0 for one per physical core.
        dask: address of a Dask cluster, ``local``, or None for none.
        pilot: whether to estimate first how long they take.
    """
    from rlccfr.envs.sweeping.estimate import total_cost
    from rlccfr.envs.sweeping.executors import processes
    from rlccfr.envs.sweeping.runner import Runner

    cluster = nullcontext(processes(workers)) if dask is None else _connected(dask, workers)
    with cluster as executors:
        if pilot:
            with progress("estimating") as report:
                time_needed = duration(total_cost(jobs, report) / executors.workers)
            _say(
                f"{len(jobs):,} runs, about {time_needed} with {executors.workers} workers, estimated from a 1 % trial "
                "of each run"
            )
        with progress("measuring") as report:
            runner = Runner(store, executors.make, executors.workers, _counting(len(jobs), report))
            try:
                runner.run(jobs)
            except KeyboardInterrupt:
                raise Interrupted("interrupted; the same command goes on from there") from None


@contextmanager
def _connected(dask: str, workers: int) -> Iterator[Executors]:
    """Connect to a Dask cluster; print the address of a local cluster's dashboard."""
    from rlccfr.envs.sweeping.executors import dask_cluster

    with ExitStack() as stack:
        with progress(f"connecting to Dask at {dask}"):
            executors = stack.enter_context(dask_cluster(dask, workers))
        if executors.dashboard is not None:
            _say(f"Dask's dashboard: {executors.dashboard}")
        yield executors


def _counting(total: int, show: Callable[..., None]) -> Report:
    """Return a function that is called after each run, and shows how many runs are done and how many have failed."""
    num_done = 0
    num_failed = 0

    def report(job: Job, record: Mapping[str, Any]) -> None:
        nonlocal num_done, num_failed
        num_done += 1
        if record["status"] != "ok":
            num_failed += 1
        show(num_done / total, f"{num_done:,} of {total:,} runs, {num_failed:,} failed")

    return report


def _print_counts(counts_by_game: Mapping[str, Mapping[str, int]], json: bool) -> None:
    """Print the number of runs of each game by status."""
    if json:
        print_json(counts_by_game)
        return
    statuses = sorted({status for counts in counts_by_game.values() for status in counts})
    rows = [(game, *(counts.get(status, 0) for status in statuses)) for game, counts in counts_by_game.items()]
    print_table(("game", *statuses), rows)
