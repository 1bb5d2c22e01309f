"""One run of a sweep in a worker process: limited in time and memory, with its speed compared with plain CFR's."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import multiprocessing.process
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pandas as pd

from rlccfr.envs.measuring.evaluator import Status
from rlccfr.envs.measuring.record import FIRST_SECONDS, make_record
from rlccfr.envs.measuring.timing import (
    LEAST_SECONDS,
    Beside,
    Part,
    ReferenceClock,
    Timing,
    compare,
    measured_solver,
    time_again,
)
from rlccfr.envs.sweeping.plan import Job
from rlccfr.errors import ComponentError
from rlccfr.game import Game
from rlccfr.games.compiled_games import compiled
from rlccfr.plugins import Loaded
from rlccfr.result import POINTS_PER_DECADE, CurvePoint, RunResult
from rlccfr.solver import Solver

AGAIN = 0.05
"""Duration of a run's second timing, as a share of the run's engine CPU seconds."""

AGREEMENT = 1.25
"""Largest ratio of two throughputs that count as equal."""

MOST_TIMINGS = 3
"""Largest number of second timings of a run; if none agrees with the first, the run itself is repeated."""

MOST_RUNS = 3
"""Largest number of times that a run is performed; after the last, its timings are recorded even if they disagree."""

_limiting = threading.Lock()
"""Lock held by the thread that has set this process's memory limit."""


class _TookTooLongError(Exception):
    """A run has taken more CPU seconds than its limits allow."""


def prepare(cores: Any = None, loaded: Loaded | None = None) -> None:
    """Make this process a worker, which uses one thread on one core and ends with the process that started it.

    Args:
        cores: queue with a core's number for each worker; None to leave the choice of cores to the system.
        loaded: plugins and files to load, for components in addition to the library's own.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    if cores is not None and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(Exception):  # a container may forbid it
            os.sched_setaffinity(0, {cores.get(timeout=10)})
    if loaded is not None:
        loaded.again()
    if parent := multiprocessing.parent_process():
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    """End this process with its parent; a pool's worker would otherwise wait for work forever."""
    parent.join()
    os._exit(1)


def measure(job: Job) -> dict[str, Any]:
    """Perform a run and return its record; a run that fails is recorded with its error and the curve so far."""
    failure: tuple[Status, Exception]
    solver: Solver | None = None
    try:
        if job.learns:
            import torch

            torch.set_num_threads(1)
        with _memory_limit(job.limits.megabytes):
            solver = measured_solver(job.game, job.cell, job.seed)
            record = _measured(job, solver)
            for _ in range(MOST_RUNS - 1):
                if not was_disturbed(record):
                    break
                solver = measured_solver(job.game, job.cell, job.seed)
                record = _measured(job, solver)
            return record
    except _TookTooLongError as error:
        failure = "timeout", error
    except MemoryError as error:
        failure = "out_of_memory", error
    except (ImportError, ComponentError) as error:
        failure = "unavailable", error
    except Exception as error:  # a component's failure is a result and must not end the sweep
        is_out_of_memory = "can't allocate memory" in str(error)  # PyTorch then raises RuntimeError
        failure = "out_of_memory" if is_out_of_memory else "failed", error
    status, caught = failure
    points = solver._curve if solver is not None else []
    return make_record(
        job.request(), job.id, status, curve=pd.DataFrame(points, columns=CurvePoint._fields),
        error=f"{type(caught).__name__}: {caught}", traceback="".join(traceback.format_exception(caught)),
    )  # fmt: skip


def _measured(job: Job, solver: Solver) -> dict[str, Any]:
    """Return the record of a run on a new solver, with its speed compared with plain CFR's.

    Raises:
        ArithmeticError: the result is not finite.
        _TookTooLongError: the run's time is up.
    """
    clock = _clock(compiled(job.game), threading.get_ident())
    check_time = _deadline(job.limits.timeout)
    # Plain CFR gets its first slice here, before the run, and further ones during the run.
    beside = Beside(clock.slice)

    def progress(share: float) -> None:
        check_time(share)
        beside.go_on(solver.cpu_seconds)

    result = _run(job, solver, progress)
    if not math.isfinite(result.exploitability):
        raise ArithmeticError(f"the average policy's exploitability is {result.exploitability}")
    part = Part(solver.update_rule, solver.sampler, solver.abstraction, result.iterations)
    timing = compare(result, beside.total, clock, [part], job.seed)
    numbers: dict[str, float | None] = {
        "exploitability": result.exploitability,
        "nash_conv": result.nash_conv,
        "throughput": timing.throughput,
        "reference_throughput": timing.reference_throughput,
        "throughput_again": _second_throughput(job, part, timing),
        "cpu_seconds": result.cpu_seconds,
        "nodes_touched": result.nodes_touched,
        "iterations": result.iterations,
        "timed_runs": timing.runs,
    }
    # The record's budget is what the run performed, which may be more than the planned iterations.
    request = job.request(result.iterations)
    return make_record(request, job.id, "ok", numbers=numbers, curve=result.curve)


def _run(job: Job, solver: Solver, progress: Callable[[float], None]) -> RunResult:
    """Perform the run; a tabular run also gets curve points at ten CPU times per decade, besides the usual ones."""
    limits = job.limits
    if job.learns:
        # Iterations first: the total number depends on timing only if these end before the least seconds have passed.
        result = solver.run(iterations=limits.iterations, progress=progress)
        seconds_left = limits.seconds - result.cpu_seconds
        return solver.run(seconds=seconds_left, progress=progress) if seconds_left > 0 else result

    # Run for the least seconds, with a stop, and so a point of the curve, at each of the CPU times.
    result = solver.run(iterations=1)
    point = 0
    while result.cpu_seconds < limits.seconds:
        stop_at = min(FIRST_SECONDS * 10 ** (point / POINTS_PER_DECADE), limits.seconds)
        if stop_at > result.cpu_seconds:
            result = solver.run(seconds=stop_at - result.cpu_seconds, progress=progress)
        point += 1

    # Run to the least iterations, then to the further ones unless they take too long.
    if result.iterations < limits.iterations:
        result = solver.run(iterations=limits.iterations - result.iterations, progress=progress)
    iterations_left = limits.goal(result.cpu_seconds / result.iterations) - result.iterations
    return solver.run(iterations=iterations_left, progress=progress) if iterations_left > 0 else result


def was_disturbed(record: Mapping[str, Any]) -> bool:
    """Return whether the two timings of a deterministic run disagree, because other work slowed one of them.

    A deterministic algorithm is chosen by its first timing and judged by its second, so one outlier would decide a
    recommendation. An algorithm that draws at random has several runs, and its timings vary with its draws.
    """
    second_throughput = record["throughput_again"]
    if second_throughput is None or not record["deterministic"]:
        return False
    return not _agree(record["throughput"], second_throughput)


def _agree(first: float, second: float) -> bool:
    """Return whether two throughputs agree."""
    return max(first, second) <= AGREEMENT * min(first, second)


def seconds_again(seconds: float) -> float:
    """Return the CPU seconds that the second timing of a run takes if the run took ``seconds``."""
    return max(LEAST_SECONDS, AGAIN * seconds)


def _second_throughput(job: Job, part: Part, timing: Timing) -> float | None:
    """Return a second measurement of the throughput, on new tables; None for algorithms that fit models (too slow).

    The second measurement is repeated until it agrees with the first, up to :data:`MOST_TIMINGS` times in all.
    """
    if job.learns:
        return None
    # A small part of a long run is enough to time it again.
    seconds = seconds_again(part.iterations / timing.throughput)
    iterations = max(1, min(part.iterations, round(seconds * timing.throughput)))
    throughput = 0.0
    for _ in range(MOST_TIMINGS):
        _, timed = time_again(compiled(job.game), [part._replace(iterations=iterations)], job.seed)
        throughput = timed.throughput
        if _agree(timing.throughput, throughput):
            break
    return throughput


@cache
def _clock(tree: Game, thread: int) -> ReferenceClock:
    """Return the clock of a thread; each thread has its own, because a clock has its own engine."""
    return ReferenceClock(tree)


def _deadline(seconds: float) -> Callable[[float], None]:
    """Return a function for a run to call repeatedly; it raises after ``seconds`` more CPU seconds of this process."""
    end = time.process_time() + seconds

    def check(share: float) -> None:
        if time.process_time() > end:
            raise _TookTooLongError(f"stopped after {seconds:g} CPU seconds, with {share:.0%} of the run done")

    return check


@contextlib.contextmanager
def _memory_limit(megabytes: int) -> Iterator[None]:
    """Raise MemoryError if the process allocates more than ``megabytes`` in addition to its present data.

    Some systems do not support such a limit; on these, nothing is raised. The limit holds for the whole process: if
    several threads run at a time, the first one sets the limit.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _process_limit(megabytes):
            yield
    finally:
        _limiting.release()


@contextlib.contextmanager
def _process_limit(megabytes: int) -> Iterator[None]:
    """Limit the memory that this process may take in addition to its present data, and lift the limit afterwards."""
    try:
        import resource

        with open("/proc/self/status") as status:
            used = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
    except (ImportError, OSError, StopIteration):
        yield
        return
    soft_before, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
    limit = used + megabytes * 2**20
    if hard_limit >= 0:  # a negative one means no limit
        limit = min(limit, hard_limit)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard_limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft_before, hard_limit))
