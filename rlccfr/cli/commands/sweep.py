"""``rlccfr sweep``."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rlccfr.cli.console import RUNS, CatalogName, Interrupted, Json, load, print_json, print_table, progress, stderr
from rlccfr.errors import BudgetError, RLCCFRError, first_line, whole_number

if TYPE_CHECKING:
    from rlccfr.envs.measuring.store import Store
    from rlccfr.envs.sweep.plan import Job

GAMES = ("kuhn", "leduc", "goofspiel", "royal")
LINE_EVERY = 60.0
"""Seconds between lines on progress where there is no terminal."""


def sweep(
    games: Annotated[list[str] | None, typer.Argument(help="Names or OpenSpiel strings. [the paper's four]")] = None,
    families: Annotated[
        str | None,
        typer.Option(help="Instead of games: members of the families, those for 'train', 'validation' or 'test'."),
    ] = None,
    catalog: CatalogName = "paper",
    networks: Annotated[str, typer.Option(help="Preset of the deep rules' networks.")] = "sweep",
    seeds: Annotated[int, typer.Option(help="Engine seeds of each tabular algorithm that draws at random.")] = 5,
    model_seeds: Annotated[int, typer.Option(help="Of each algorithm that fits models.")] = 2,
    close: Annotated[
        float, typer.Option(help="As many seeds as --seeds where a model's reward comes so close to the best.")
    ] = 0.0,
    iterations: Annotated[int, typer.Option(help="Least iterations of a run.")] = 1_000,
    seconds: Annotated[float, typer.Option(help="Least engine CPU seconds of a run.")] = 1.0,
    timeout: Annotated[float, typer.Option(help="CPU seconds after which a run is given up.")] = 1_800.0,
    megabytes: Annotated[int, typer.Option(help="Memory that a run may allocate.")] = 4_096,
    workers: Annotated[int, typer.Option(help="Processes. [one a physical core]")] = 0,
    dask: Annotated[str | None, typer.Option(help="Run on a Dask cluster: its address, or 'local'.")] = None,
    store: Annotated[Path, typer.Option(help="Directory that keeps every run.")] = RUNS / "sweep",
    status: Annotated[
        bool, typer.Option("--status", help="Say what is done and what is left, and run nothing.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what did not end well.")] = False,
    pilot: Annotated[
        bool, typer.Option(help="Estimate first, from a hundredth of each run, how long it takes.")
    ] = True,
    compact: Annotated[Path | None, typer.Option(help="Afterwards write all runs to a Parquet file.")] = None,
    small: Annotated[
        bool, typer.Option("--small", help="With shorter curves in single precision, to publish.")
    ] = False,
    take: Annotated[Path | None, typer.Option("--import", help="Take over the runs of such a file first.")] = None,
    json: Json = False,
) -> None:
    """Measure every algorithm of a catalog on each game.

    Each run's curve tells what any shorter budget would have reached. A sweep that was stopped, by whatever, goes on
    with the same command.
    """
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.envs.measuring.store import Store
    from rlccfr.envs.sweep.close import close_calls
    from rlccfr.envs.sweep.handover import take_over
    from rlccfr.envs.sweep.plan import Limits, jobs
    from rlccfr.envs.sweep.runner import left_to_do

    names = _members(families) if families is not None else games or list(GAMES)
    whole_number(seeds, "seeds", 1, BudgetError)
    whole_number(model_seeds, "model-seeds", 1, BudgetError)
    whole_number(workers, "workers", 0, BudgetError)
    for game in names:
        load(game)
    limits = Limits(iterations, seconds, timeout, megabytes)
    planned = jobs(
        {game: range(seeds) for game in names},
        parse_catalog(catalog).with_networks(networks),
        range(model_seeds),
        limits,
    )
    kept = Store(store, create=not status)
    if take is not None:
        _say(f"{take_over(take, planned, kept):,} runs taken over from {take}")
    todo = left_to_do(planned, kept, retry_failed=retry_failed)
    if not status and todo:
        _run(todo, kept, workers, dask, pilot)
    if close > 0:
        more = close_calls(planned, kept, range(seeds), close)
        planned += more
        todo = left_to_do(more, kept, retry_failed=retry_failed)
        if not status and todo:
            _say(f"{len(todo):,} more runs of models close to the best")
            _run(todo, kept, workers, dask, pilot)
    _tell(planned, kept, json)
    if compact is not None:
        _say(f"written to {kept.compact(compact, small=small)}")


def _members(which: str) -> list[str]:
    from rlccfr.catalog.families import TEST, TRAIN, VALIDATION

    members = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
    if which not in members:
        raise RLCCFRError(f"--families takes 'train', 'validation' or 'test', not {which!r}")
    return list(members[which])


def _say(text: str) -> None:
    """On the way, so to stderr: what is asked for is the table at the end."""
    print(text, file=sys.stderr, flush=True)


def _run(todo: Sequence[Job], store: Store, workers: int, dask: str | None, pilot: bool) -> None:
    from rlccfr.envs.sweep.cores import physical_cores
    from rlccfr.envs.sweep.runner import Runner

    count = workers or len(physical_cores())
    if pilot:
        hours = _estimate(todo) / 3600 / count
        _say(f"{len(todo):,} runs, about {hours:.1f} hours with {count} workers, by a hundredth of each")
    with _cluster(dask, count) as (make, threads), _progress(len(todo)) as report:
        try:
            Runner(store, make, threads, report).run(todo)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; the same command goes on from there") from None


def _estimate(todo: Sequence[Job]) -> float:
    """CPU seconds of all these runs."""
    from rlccfr.envs.sweep.estimate import cost_of

    kinds = Counter((job.game, job.cell) for job in todo)
    one = {(job.game, job.cell): job for job in todo}
    total = 0.0
    with progress("estimating") as report:
        for done, (kind, count) in enumerate(kinds.items(), start=1):
            try:
                total += count * sum(cost_of(one[kind]))
            except RLCCFRError:  # it can't run here, which the sweep will record
                continue
            except Exception:  # a broken plug-in: for all that is known it takes as long as it may
                total += count * one[kind].limits.timeout
            report(done / len(kinds))
    return total


def _pool(workers: int) -> Executor:
    """Processes, each pinned to a core while there are enough of them."""
    import multiprocessing

    from rlccfr.envs.sweep.cores import physical_cores
    from rlccfr.envs.sweep.worker import prepare
    from rlccfr.plugins import loaded

    context = multiprocessing.get_context("spawn")
    cores = physical_cores()
    own = context.Queue() if workers <= len(cores) else None
    if own:
        for core in cores:
            own.put(core)
    return ProcessPoolExecutor(workers, context, initializer=prepare, initargs=(own, loaded))


@contextmanager
def _cluster(dask: str | None, workers: int) -> Iterator[tuple[Callable[[], Executor], int]]:
    """How to make an executor, and how many runs it makes at a time: of processes here, or of a Dask cluster."""
    if dask is None:
        yield lambda: _pool(workers), workers
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise RLCCFRError("a sweep on Dask needs the extra: pip install 'rlccfr[dask]'") from None
    from rlccfr.envs.sweep.worker import prepare
    from rlccfr.plugins import loaded

    local = (
        LocalCluster(n_workers=workers, threads_per_worker=1)  # type: ignore[no-untyped-call]
        if dask == "local"
        else nullcontext(dask)
    )
    try:
        with local as cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
            client.run(prepare, None, loaded)
            yield client.get_executor, sum(client.nthreads().values())
    except OSError as error:
        raise RLCCFRError(f"there is no Dask scheduler at {dask}: {first_line(error)}") from None


@contextmanager
def _progress(total: int) -> Iterator[Any]:
    """A live line on a terminal, else one a minute: runs done and failed, and the time left at this rate."""
    begin, said, done, failed = time.monotonic(), time.monotonic(), 0, 0

    def words() -> str:
        rate = done / (time.monotonic() - begin)
        return f"{failed:,} failed, {60 * rate:.3g} a minute, {(total - done) / rate / 60:.0f} min left"

    bar = Progress(
        TextColumn("sweep"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
        console=stderr, disable=not stderr.is_terminal,
    )  # fmt: skip
    with bar:
        task = bar.add_task("", total=total)

        def report(job: Job, record: dict[str, Any]) -> None:
            nonlocal done, failed, said
            done, failed = done + 1, failed + (record["status"] != "ok")
            bar.update(task, completed=done, description=words())
            if not stderr.is_terminal and time.monotonic() - said > LINE_EVERY:
                said = time.monotonic()
                _say(f"{done:,} of {total:,} runs, {words()}")

        yield report


def _tell(planned: Sequence[Job], store: Store, json: bool) -> None:
    """How many runs of each game have which status."""
    found: dict[str, Counter[str]] = {job.game: Counter() for job in planned}
    for job in planned:
        record = store.get(job.id)
        found[job.game]["missing" if record is None else record["status"]] += 1
    if json:
        print_json({game: dict(counts) for game, counts in found.items()})
        return
    statuses = sorted({status for counts in found.values() for status in counts})
    print_table(("game", *statuses), [(game, *(counts[s] for s in statuses)) for game, counts in found.items()])
