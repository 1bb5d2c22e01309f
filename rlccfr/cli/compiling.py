"""Compilation of all kernels ahead of time, on all cores, for ``rlccfr doctor --compile``.

Kernels are compiled at their first use, which takes a single process minutes for all of them. Here, jobs compile them
side by side. A job begins once other jobs have compiled all kernels that it uses. So no process waits for another
process to compile kernels that both need.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import multiprocessing
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rlccfr.errors import RLCCFRError, what_failed
from rlccfr.interrupts import interrupts_blocked, uninterrupted

if TYPE_CHECKING:
    from rlccfr.games.public.view import PublicGame

MOST_WORKERS = 8
"""Largest number of processes; more would wait for the longest chain of jobs."""

SECONDS = {
    "rlccfr.kernels.walks.sampled_iterations": 20,
    "rlccfr.kernels.passes.threaded_iterations": 16,
    "rlccfr.kernels.passes.exact_iterations": 11,
    "rlccfr.kernels.control.controlled_iterations": 9,
    "rlccfr.kernels.control.observed_runs": 9,
    "rlccfr.kernels.walks.estimates": 8,
    "rlccfr.kernels.walks.quick_iterations": 7,
    "rlccfr.kernels.passes.sequence_form": 6,
}
"""About how many seconds the kernels of a module take on one core; modules that are not listed take a few seconds."""

SIGNED = re.compile(r"^@(kernel|released)\(types", re.MULTILINE)
"""Pattern that finds the decorator of a kernel with a signature."""

TINY = "holdem(ranks=3,suits=2,private=1,flop=1)"
"""Game with a public tree, hands, and public chance outcomes, on which kernels are compiled."""

TINY_IN_BUCKETS = "holdem(ranks=3,suits=2,private=1,flop=1,buckets=2)"
"""The game of :data:`TINY`, in buckets."""

FLAT_RUNS: tuple[Mapping[str, Any], ...] = (
    {"update_rule": "cfr"},
    {"update_rule": "cfr", "sampler": "outcome"},
    {"update_rule": "cfr", "sampler": "variance_reduced"},
    {"update_rule": "cfr", "abstraction": "cfr_br"},
    {"update_rule": "controlled"},
    {"update_rule": "deep_cfr(preset='sweep')", "sampler": "external"},
    {"update_rule": "dcfr", "blend": True},
)
"""Runs that together call all small compiled functions between Python and the kernels."""


KINDS = {
    "trees": "games that are stored as trees of histories",
    "public": "games with public trees",
    "draws": "games with public trees whose cards are drawn, as by the sampler public_chance",
    "responses": "buckets on public trees, against best responses in the game itself",
    "buckets": "hold'em in buckets",
    "large": "games with public trees of two million table entries or more, whose tables have 32 or 16 bits",
}
"""Kinds of kernels by the games that need them."""


class Job(NamedTuple):
    """Kernels that are compiled by one process, one after another.

    Attributes:
        kind: which of :data:`KINDS` needs them.
        compile: function that compiles them, or loads them from disk.
        arguments: its arguments.
        seconds: about how many seconds this takes on one core. Of the jobs that may begin, the longest goes first.
        after: names of the jobs that must end first.
    """

    kind: str
    compile: Callable[..., None]
    arguments: tuple[Any, ...]
    seconds: float
    after: frozenset[str] = frozenset()


def all_jobs() -> dict[str, Job]:
    """Return all jobs by name; together, they compile the kernels of all algorithms on all forms of games."""
    jobs = _module_jobs()
    modules = frozenset(jobs)
    jobs["algorithms"] = Job("trees", _compile_algorithms, (), 20, modules)
    for kind in ("public", "large"):
        is_large = kind == "large"
        values = f"values, {kind}"
        passes = f"passes, {kind}"
        buckets = f"buckets, {kind}"
        responds = "large" if is_large else "responses"
        draws = "large" if is_large else "draws"
        against_responses = (is_large, "none", "equity(buckets=2,respond=True)")
        after_values = frozenset({values})
        jobs[values] = Job(kind, _compile_values, (is_large,), 30)
        jobs[f"values of actions, {kind}"] = Job(kind, _compile_action_values, (is_large,), 13, after_values)
        jobs[f"threads, {kind}"] = Job(kind, _compile_threads, (is_large,), 11, after_values)
        jobs[passes] = Job(kind, _run_tiny, (is_large,), 16, after_values | modules)
        with_blends = (is_large, "none", "none", True)
        jobs[f"blends, {kind}"] = Job(kind, _run_tiny, with_blends, 4, frozenset({passes}))
        jobs[f"draws, {kind}"] = Job(draws, _run_tiny, (is_large, "public_chance"), 30, frozenset({passes}))
        jobs[buckets] = Job(kind, _run_tiny, (is_large, "none", "equity(buckets=2)"), 5, after_values | modules)
        jobs[f"responses, {kind}"] = Job(responds, _run_tiny, against_responses, 26, frozenset({buckets}))
    for dtype in ("float64", "float32"):
        jobs[f"bucket histories, {dtype}"] = Job("buckets", _run_in_buckets, (dtype,), 6, modules)
    jobs["passes, 16 bits"] = Job("large", _run_tiny, (True, "none", "none", False, "int16"), 46, modules)
    jobs["threads, 16 bits"] = Job("large", _compile_threads, (True, "int16"), 11, frozenset({"passes, 16 bits"}))
    return jobs


def jobs_for(kinds: Collection[str]) -> dict[str, Job]:
    """Return the jobs of some kinds, and the jobs that must end before them, by name."""
    jobs = all_jobs()
    waiting = [name for name, job in jobs.items() if job.kind in kinds]
    selected: dict[str, Job] = {}
    while waiting:
        name = waiting.pop()
        if name not in selected:
            selected[name] = jobs[name]
            waiting += jobs[name].after
    return selected


def _module_jobs() -> dict[str, Job]:
    """Return a job for each module of kernels with signatures; importing the module compiles these kernels."""
    from rlccfr import kernels
    from rlccfr.kernels.cache import PACKAGE, sources_of

    folder = Path(kernels.__file__).parent
    name_of = {
        path: ".".join(("rlccfr", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in folder.rglob("*.py")
        if SIGNED.search(path.read_text(encoding="utf-8"))
    }
    return {
        name: Job(
            kind="trees",
            compile=_import_module,
            arguments=(name,),
            seconds=SECONDS.get(name, 3),
            # The kernels that a module imports must be compiled first, so that no two processes compile them.
            after=frozenset(name_of[source] for source in sources_of(path) if source != path and source in name_of),
        )
        for path, name in name_of.items()
    }


def compile_kernels(kinds: Collection[str], report: Callable[..., None]) -> int:
    """Compile all kernels of some kinds that are not on disk yet, and return the number of kernels compiled.

    Args:
        kinds: keys of :data:`KINDS`.
        report: called with the share done: the expected time of the jobs that have ended, divided by that of all jobs.

    Raises:
        RLCCFRError: a kernel can't be compiled, or a process was killed.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = min(cores, MOST_WORKERS)
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    try:
        return run_jobs(jobs_for(kinds), executor, workers, report)
    except BaseException:
        # The shutdown below waits for running jobs, and a job may compile for most of a minute.
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def run_jobs(jobs: Mapping[str, Job], executor: Executor, workers: int, report: Callable[..., None]) -> int:
    """Run jobs side by side, each after those that it needs, and return the number of kernels compiled.

    Args:
        jobs: the jobs by name.
        executor: runs :func:`perform`.
        workers: number of jobs that run at once.
        report: called with the share done.

    Raises:
        RLCCFRError: a job failed.
    """
    order = TopologicalSorter({name: job.after for name, job in jobs.items()})
    order.prepare()
    total_seconds = sum(job.seconds for job in jobs.values())
    seconds_done = 0.0
    num_compiled = 0
    waiting: list[str] = []
    running: dict[Future[int], str] = {}
    while order.is_active():
        waiting += order.get_ready()
        # The longest job is taken first, from the end, so that it does not run alone when all others are done.
        waiting.sort(key=lambda name: jobs[name].seconds)
        while waiting and len(running) < workers:
            name = waiting.pop()
            with uninterrupted(), interrupts_blocked():  # only this process handles Ctrl-C
                running[executor.submit(perform, jobs[name])] = name
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            name = running.pop(future)
            try:
                num_compiled += future.result()
            except Exception as error:  # whatever a compiler, or the end of a process, raises
                raise RLCCFRError(f"the kernels of {name} can't be compiled: {what_failed(error)}") from error
            order.done(name)
            seconds_done += jobs[name].seconds
        report(seconds_done / total_seconds)
    return num_compiled


def perform(job: Job) -> int:
    """Do a job, and return the number of kernels that it has compiled; nothing is printed."""
    from rlccfr.kernels.counting import compiled_kernels

    with compiled_kernels() as names, contextlib.redirect_stderr(io.StringIO()):
        job.compile(*job.arguments)
    return len(names)


def _import_module(name: str) -> None:
    importlib.import_module(name)


@contextlib.contextmanager
def _tiny_game(is_large: bool) -> Iterator[PublicGame]:
    """Yield a small game with a public tree.

    Args:
        is_large: whether its tables are in single precision, as those of large games are.
    """
    from rlccfr.games.names import load_game
    from rlccfr.games.public import view

    least_large = view.LARGE
    # A small game that counts as large has the tables' types of a large one, for which kernels are compiled.
    view.LARGE = 1 if is_large else least_large
    try:
        yield load_game(TINY)
    finally:
        view.LARGE = least_large


def _compile_values(is_large: bool) -> None:
    import numpy as np

    from rlccfr.engine.public.evaluation import public_values

    with _tiny_game(is_large) as game:
        public_values(game, np.zeros(game.num_sequences, game.dtype))


def _compile_action_values(is_large: bool) -> None:
    import numpy as np

    from rlccfr.engine.public.evaluation import public_action_values

    with _tiny_game(is_large) as game:
        public_action_values(game, np.zeros(game.num_sequences, game.dtype))


def _compile_threads(is_large: bool, dtype: Literal["int16"] | None = None) -> None:
    import numpy as np

    from rlccfr.components.schedules import SCHEDULE_COLUMNS
    from rlccfr.engine.public.public_crew import PublicCrew
    from rlccfr.engine.public.public_state import PublicState

    with _tiny_game(is_large) as game:
        state = PublicState.at_start(game, 0, dtype)
        PublicCrew(game, state.dtype, 2).compile(state.tables, np.zeros((2, len(SCHEDULE_COLUMNS)), state.dtype))


def _run_tiny(
    is_large: bool,
    sampler: str = "none",
    abstraction: str = "none",
    blend: bool = False,
    dtype: Literal["int16"] | None = None,
) -> None:
    """Run an iteration over a public tree, and switch the sampler off, which applies the discounts that are pending."""
    from rlccfr.solver import Solver

    with _tiny_game(is_large) as game:
        solver = Solver(game, "cfr", sampler, abstraction, blend=blend, dtype=dtype)
        solver.run(iterations=1)
        if sampler != "none":
            solver.switch(sampler="none")


def _run_in_buckets(dtype: Literal["float32", "float64"]) -> None:
    """Run an iteration over bucket histories, and evaluate the policies."""
    from rlccfr.games.names import load_game
    from rlccfr.solver import Solver

    Solver(load_game(TINY_IN_BUCKETS), "cfr", dtype=dtype).run(iterations=1)


def _compile_algorithms() -> None:
    """Compile the plain functions of all components, and all other functions that :data:`FLAT_RUNS` call."""
    from rlccfr.games.names import load_game
    from rlccfr.kernels import plain_functions
    from rlccfr.registry import samplers, update_rules
    from rlccfr.solver import Solver

    for rule in (entry.make() for entry in update_rules):
        plain_functions.reweight_functions(rule.reweight)
        plain_functions.policy_map_function(rule.policy_map)
        plain_functions.regularise_function(rule.regularise)
    for sampler in (entry.make() for entry in samplers):
        plain_functions.inclusion_function(sampler.inclusion)
        plain_functions.mixture_function(sampler.mixture)
    for run in FLAT_RUNS:
        Solver(load_game("kuhn"), **run).run(iterations=4)
