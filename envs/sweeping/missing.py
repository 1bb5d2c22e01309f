"""Runs that an unfinished sweep lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product, starmap
from statistics import mode

from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.sweeping.plan import FURTHER, Job, Limits, jobs
from rlccfr.envs.sweeping.sweep import SweepPlan

PROBED = 50
"""Largest number of recorded runs whose ids are compared with those under candidate limits."""


@dataclass(frozen=True)
class Missing:
    """Number of a sweep's runs that are missing, and the settings that the sweep was begun with.

    Attributes:
        runs, total: numbers of missing runs and of all runs.
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
    """Count the runs that a sweep of a catalog has planned and still lacks on some games, and infer its settings.

    The numbers of seeds are inferred from the recorded runs; without any, the defaults of :class:`SweepPlan` apply.
    """
    drawing = [job for job in jobs(dict.fromkeys(games, range(2)), catalog) if job.seed == 1]
    recorded = [(job.learns, table.seeds(job.game, job.cell)) for job in drawing]
    seeds = _common([found for learns, found in recorded if not learns and found])
    models = [len(found) for learns, found in recorded if learns and found]
    model_seeds = min(mode(models) if models else SweepPlan.model_seeds, seeds)  # close calls have more
    planned = jobs(dict.fromkeys(games, range(seeds)), catalog, range(model_seeds))
    there = [job for job in planned if job.seed in table.seeds(job.game, job.cell)]
    return Missing(len(planned) - len(there), len(planned), seeds, model_seeds, _limits(table, there[:PROBED]))


def _common(recorded: Sequence[Sequence[int]]) -> int:
    """Return how many seeds tabular algorithms have: up to the largest that a quarter of those with any run have.

    Fewer have the seeds that only algorithms close to the best got.
    """
    counts = Counter(seed for seeds in recorded for seed in seeds)
    return max((seed + 1 for seed, count in counts.items() if 4 * count >= len(recorded)), default=SweepPlan.seeds)


def _limits(table: TableEvaluator, recorded: Iterable[Job]) -> Limits | None:
    """Return the limits of recorded runs, found by trial; None if no candidate matches.

    A record does not hold its limits, but its id depends on them. The candidates combine the default iterations, or the
    fewest iterations of a recorded run, with the default seconds or 0, and with the further iterations of `make
    measure` or none.
    """
    recorded, known = list(recorded), set(table.ids())
    made = [table.run(job.game, job.cell, job.seed)["iterations"] for job in recorded]
    least = min((iterations for iterations in made if iterations), default=Limits.iterations)
    candidates = product(dict.fromkeys((Limits.iterations, least)), (Limits.seconds, 0.0), (0, FURTHER))
    for limits in starmap(Limits, candidates):
        if any(Job(job.game, job.cell, job.seed, limits).id in known for job in recorded):
            return limits
    return None
