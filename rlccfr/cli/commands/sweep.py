"""``rlccfr sweep``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from rlccfr.cli.checks import at_least, require_folder
from rlccfr.cli.command import option, rare
from rlccfr.cli.console import RUNS, Interrupted, load, print_json, print_table
from rlccfr.cli.measured_games import say_failures
from rlccfr.cli.options import CATALOG, Json
from rlccfr.cli.progress import duration, progress
from rlccfr.errors import RLCCFRError
from rlccfr.files import require_writable

if TYPE_CHECKING:
    from rlccfr.envs.measuring.store import Store
    from rlccfr.envs.sweeping.executors import Executors
    from rlccfr.envs.sweeping.plan import Job
    from rlccfr.envs.sweeping.runner import Report
    from rlccfr.envs.sweeping.sweep import SweepPlan

GAMES = ("kuhn", "leduc", "goofspiel", "royal")
"""The paper's four games, which are measured by default."""


@dataclass(frozen=True)
class PlanOptions:
    """What to measure."""

    TITLE: ClassVar[str] = "What to measure"
    families: str | None = option(None, "Measure a family instead: train, validation or test.")
    catalog: str | None = option(None, f"{CATALOG} [what fits the games]")
    networks: str = option("sweep", "Preset of the deep rules' networks.")
    seeds: int = option(5, "Number of engine seeds for algorithms that draw at random.", callback=at_least(1))
    model_seeds: int = option(2, "Number of engine seeds for algorithms that fit models.", callback=at_least(1))
    close: float = rare(0.0, "Run more seeds if the reward is this close to the best. [0]")
    close_seeds: int = rare(0, "Number of engine seeds for close algorithms. [as --seeds]", callback=at_least(0))

    def games(self, names: list[str] | None) -> list[str]:
        """Return the games to measure: those of ``families`` if given, else ``names`` or, by default, the paper's.

        Raises:
            RLCCFRError: there are ``names`` and ``families``, or ``families`` is not train, validation or test.
        """
        if self.families is None:
            return names or list(GAMES)
        if names:
            raise RLCCFRError("--families names the games to measure: leave out the games, or --families")
        from rlccfr.catalog.families import TEST, TRAIN, VALIDATION

        games = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
        if self.families not in games:
            raise RLCCFRError(f"--families takes 'train', 'validation' or 'test', not {self.families!r}")
        return list(games[self.families])


@dataclass(frozen=True)
class LimitOptions:
    """How long each run lasts."""

    TITLE: ClassVar[str] = "Each run"
    iterations: int = option(1_000, "Minimum number of iterations.", callback=at_least(1))
    seconds: float = option(1.0, "Minimum number of engine CPU seconds.")
    further: int = option(
        0, "Continue tabular runs to this many iterations if that takes at most a CPU minute.", callback=at_least(0)
    )
    timeout: float = rare(1_800.0, "CPU seconds after which a run is stopped as failed. [1800]")
    megabytes: int = rare(4_096, "Memory that a run may allocate, in MB. [4096]")


@dataclass(frozen=True)
class WorkerOptions:
    """Where the runs take place."""

    TITLE: ClassVar[str] = "Where to run, and what to keep"
    workers: int = option(0, "Processes; 0 for one per physical core.", callback=at_least(0))
    dask: str | None = option(None, "Address of a Dask cluster, or 'local' to start one here.")
    pilot: bool = rare(True, "no: do not first estimate how long the sweep takes. [yes]")


@dataclass(frozen=True)
class StoreOptions:
    """What is kept, and what is repeated."""

    TITLE: ClassVar[str] = WorkerOptions.TITLE
    store: Path = option(RUNS / "sweep", "Directory that keeps every run.")
    compact: Path | None = option(None, "At the end, write all runs to a Parquet file.")
    small: bool = rare(False, "yes: leave out points of curves in the --compact file. [no]", "--small/--no-small")
    take: Path | None = rare(None, "First import the runs in a file that --compact wrote.", "--import")
    retry_failed: bool = rare(False, "yes: repeat runs that failed. [no]", "--retry-failed/--no-retry-failed")


def sweep(
    plan: PlanOptions,
    limits: LimitOptions,
    where: WorkerOptions,
    storage: StoreOptions,
    games: Annotated[list[str] | None, typer.Argument(help="Names or OpenSpiel strings. [the paper's four]")] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Say what is done and what is left, and run nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Measure every algorithm of a catalog on each game.

    Each run's curve tells what any shorter budget would have reached. The same command resumes a sweep that was
    stopped. A second sweep on the same store reuses the runs that both sweeps need.
    """
    from rlccfr.envs.measuring.store import Store
    from rlccfr.envs.sweeping.sweep import statuses
    from rlccfr.envs.sweeping.unfinished import take_over

    # Compile every game now: a misspelt name must not end a sweep after hours.
    games_to_measure = plan.games(games)
    for game in games_to_measure:
        _check_values_known(load(game))

    sweep_plan = _plan(games_to_measure, plan, limits)
    jobs = sweep_plan.jobs()
    records = Store(storage.store, create=not status)
    if storage.compact is not None:  # at the end of a long sweep, it would be too late
        require_folder(storage.compact)
        require_writable(storage.compact)
    if storage.take is not None:
        _say(f"{take_over(storage.take, jobs, records):,} runs imported from {storage.take}")
    if status:
        jobs += sweep_plan.more_jobs(records, jobs)
    else:
        jobs += _measure(sweep_plan, jobs, records, storage.retry_failed, partial(_run, store=records, where=where))

    counts_by_game = statuses(jobs, records)
    _print_counts(counts_by_game, json)
    if not {status for counts in counts_by_game.values() for status in counts} <= {"ok", "missing"}:
        # A failed run is a result, too: say why, and end as usual.
        say_failures(record for job in jobs if (record := records.get(job.id)) is not None)
    if storage.compact is not None:
        _say(f"written to {records.compact(storage.compact, small=storage.small)}")


def _check_values_known(game: Any) -> None:
    """Check that the exploitability of a game's policies can be measured.

    Raises:
        RLCCFRError: it can't.
    """
    from rlccfr.game import policy_class

    if not policy_class(game).are_values_known(game):
        raise RLCCFRError(
            f"exploitability is not known in {game.name!r}, which can't be compiled, so its runs can't be measured: "
            "choose another game"
        )


def _plan(games: list[str], options: PlanOptions, limits: LimitOptions) -> SweepPlan:
    """Return the plan of a sweep."""
    from rlccfr.envs.catalog_text import default_catalog
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.envs.sweeping.plan import Limits
    from rlccfr.envs.sweeping.sweep import SweepPlan

    limits_of_runs = Limits(limits.iterations, limits.seconds, limits.further, limits.timeout, limits.megabytes)
    algorithms = parse_catalog(options.catalog or default_catalog(games)).with_networks(options.networks)
    return SweepPlan(
        games, algorithms, options.seeds, options.model_seeds, options.close, limits_of_runs, options.close_seeds
    )


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
        The further jobs, of algorithms close to the best.
    """
    from rlccfr.envs.sweeping.runner import left_to_do
    from rlccfr.envs.sweeping.sweep import sharing

    with sharing(store, _say) as in_order:
        if todo := left_to_do(jobs, store, retry_failed=retry_failed):
            run(in_order(todo))
        # Which algorithms are close to the best is known only now.
        close_jobs = plan.more_jobs(store, jobs)
        if todo := left_to_do(close_jobs, store, retry_failed=retry_failed):
            _say(f"{len(todo):,} more runs of algorithms close to the best")
            run(in_order(todo))
    return close_jobs


def _run(jobs: Sequence[Job], store: Store, where: WorkerOptions) -> None:
    """Run jobs on this machine or a Dask cluster, and keep their records in a store."""
    from rlccfr.envs.sweeping.estimate import total_cost
    from rlccfr.envs.sweeping.executors import processes
    from rlccfr.envs.sweeping.runner import Runner

    # Connect first: a cluster that is missing must not be noticed only after the estimate.
    cluster = nullcontext(processes(where.workers)) if where.dask is None else _connected(where.dask, where.workers)
    with cluster as executors:
        if where.pilot:
            workers = "1 worker" if executors.workers == 1 else f"{executors.workers} workers"
            with progress("estimating") as report:
                time_needed = duration(total_cost(jobs, report) / executors.workers)
            _say(f"{len(jobs):,} runs, {time_needed} with {workers}, estimated from a 1 % trial of each run")
        with progress("measuring") as report:
            runner = Runner(store, executors.make, executors.workers, _counting(len(jobs), report))
            try:
                runner.run(jobs)
            except KeyboardInterrupt:
                raise Interrupted("interrupted; the same command continues from there") from None


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
