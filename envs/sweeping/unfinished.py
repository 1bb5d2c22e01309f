"""An unfinished sweep: the runs that it lacks, the settings with which it was begun, and runs from another machine.

The settings are inferred from the sweep's records. Runs from another machine are copied under this machine's ids, so
they count as done. When a sweep continues, :func:`rlccfr.envs.sweeping.runner.left_to_do` skips the runs that are done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product, starmap
from pathlib import Path
from statistics import mode
from typing import Any

from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.provenance import engine_version
from rlccfr.envs.measuring.record import SMALL
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.shorter_budgets import covers
from rlccfr.envs.measuring.store import Store, StoreError
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.sweeping.plan import FURTHER, Job, Limits, jobs
from rlccfr.envs.sweeping.sweep import SweepPlan
from rlccfr.games.compiled_games import compiled

PROBED = 50
"""Largest number of recorded runs by whose ids the limits of a sweep are inferred."""


@dataclass(frozen=True)
class Missing:
    """The number of a sweep's runs that are missing, and the settings with which the sweep was begun.

    Attributes:
        runs: number of missing runs.
        total: number of all runs.
        seeds: number of engine seeds per tabular algorithm that draws at random.
        model_seeds: number of engine seeds per algorithm that fits models.
        limits: limits of the recorded runs; None if they are not known.
    """

    runs: int
    total: int
    seeds: int
    model_seeds: int
    limits: Limits | None


def missing_runs(table: TableEvaluator, games: Sequence[str], catalog: Catalog) -> Missing:
    """Count the planned runs that a sweep of a catalog on the given games still lacks, and infer the sweep's settings.

    The numbers of seeds are inferred from the recorded runs; without any, they are the defaults of :class:`SweepPlan`.
    """
    # Algorithms that draw at random are those for which a run with seed 1 is planned.
    second_runs = [job for job in jobs(dict.fromkeys(games, range(2)), catalog) if job.seed == 1]
    recorded_seeds = [(job.learns, table.seeds(job.game, job.cell)) for job in second_runs]
    seeds = _common_seeds([recorded for learns, recorded in recorded_seeds if not learns and recorded])
    # Algorithms with models that are close to the best got more seeds than the others, so the mode is used.
    seed_counts = [len(recorded) for learns, recorded in recorded_seeds if learns and recorded]
    model_seeds = min(mode(seed_counts) if seed_counts else SweepPlan.model_seeds, seeds)
    planned = jobs(dict.fromkeys(games, range(seeds)), catalog, range(model_seeds))
    recorded_jobs = [job for job in planned if job.seed in table.seeds(job.game, job.cell)]
    return Missing(
        runs=len(planned) - len(recorded_jobs),
        total=len(planned),
        seeds=seeds,
        model_seeds=model_seeds,
        limits=_limits(table, recorded_jobs[:PROBED]),
    )


def _common_seeds(recorded_seeds: Sequence[Sequence[int]]) -> int:
    """Return the number of engine seeds of a sweep's tabular algorithms, inferred from the recorded runs.

    The number is 1 plus the largest seed that at least a quarter of the algorithms with runs have. Algorithms close to
    the best got further seeds, but such algorithms are fewer than a quarter.

    Args:
        recorded_seeds: seeds of the recorded runs, for each algorithm that has such runs.
    """
    counts = Counter(seed for seeds in recorded_seeds for seed in seeds)
    common_seeds = [seed for seed, count in counts.items() if 4 * count >= len(recorded_seeds)]
    return max(common_seeds) + 1 if common_seeds else SweepPlan.seeds


def _limits(table: TableEvaluator, recorded: Iterable[Job]) -> Limits | None:
    """Return the limits of recorded runs, found by trial; None if no candidate matches.

    A record does not include its limits, but its id depends on them. The candidates are all combinations of these:
    the default iterations, or the fewest of a recorded run; the default seconds, or 0; no further iterations, or those
    of `make measure`.
    """
    recorded = list(recorded)
    recorded_ids = set(table.ids())
    iterations = [table.run(job.game, job.cell, job.seed)["iterations"] for job in recorded]
    fewest = min((count for count in iterations if count), default=Limits.iterations)  # a failed run has none
    candidates = product(dict.fromkeys((Limits.iterations, fewest)), (Limits.seconds, 0.0), (0, FURTHER))
    for limits in starmap(Limits, candidates):
        if any(Job(job.game, job.cell, job.seed, limits).id in recorded_ids for job in recorded):
            return limits
    return None


def take_over(path: str | Path, planned: Iterable[Job], store: Store) -> int:
    """Copy from a file of :meth:`Store.compact` the runs that a store lacks; return the number of records written.

    A run is copied under its id in the file. A planned run also counts as done if another processor performed it with
    the same engine, game, seed and components for at least as long; its record names that processor. A failed run from
    another processor never stands in for a planned one, which is then performed here. A failed run with the id of a
    planned one is copied; a sweep then repeats it only if told to repeat failed runs.

    Args:
        path: the file.
        planned: runs of this machine's sweep.
        store: store of this machine's sweep.

    Raises:
        StoreError: the file is missing or damaged, or was written with ``--small``, which leaves out points of curves.
    """
    frame = load_results(path)
    if frame.attrs.get(SMALL):
        raise StoreError(f"{path} was written with --small, so its curves lack points; write it without --small")
    table = TableEvaluator(frame)
    copied = 0
    # The runs of the file under their own ids.
    for cell_id in table.ids():
        if store.get(cell_id) is None:
            store.put(table.record(cell_id))
            copied += 1
    # Runs from another processor, copied once more under this sweep's ids.
    for job in planned:
        if store.get(job.id) is None and (record := _equivalent_run(job, table)) is not None:
            store.put({**record, "cell_id": job.id})
            copied += 1
    return copied


def _equivalent_run(job: Job, table: TableEvaluator) -> dict[str, Any] | None:
    """Return the record of another machine's run that can take the place of a job's run; None without such a run."""
    if job.seed not in table.seeds(job.game, job.cell):
        return None
    record = table.run(job.game, job.cell, job.seed)
    if record["engine_version"] != engine_version() or record["game_hash"] != compiled(job.game).content_hash:
        return None
    if not covers(record, Budget("iterations", job.limits.iterations)):
        return None
    if not job.learns:
        # At the recorded run's speed, this run would continue to so many iterations.
        curve = record["curve"]
        goal = job.limits.goal(curve["cpu_seconds"][-1] / curve["iteration"][-1])
        if not covers(record, Budget("iterations", goal)):
            return None
    if job.limits.seconds and not covers(record, Budget("seconds", job.limits.seconds)):
        return None
    return record
