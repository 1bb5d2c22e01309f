"""The choice of algorithms that get more seeds, because they are close to the best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rlccfr.catalog import Cell
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.record import to_frame
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS, costs
from rlccfr.envs.sweeping.plan import Job, Limits

PARTS = (1, 10, 100)
"""Divisors of a run's seconds; the quotients are the budgets under which closeness is checked."""


def close_calls(planned: Sequence[Job], store: Store, seeds: Iterable[int], within: float) -> list[Job]:
    """Return further runs of the algorithms that draw at random and whose R̄ is close to the best on their game.

    The best is the algorithm that would be recommended: one that has converged, if any has. It is enough to be close
    under one preset's reward weights and one of these budgets: the parts of the least seconds
    (:data:`PARTS`), and the least iterations unless that is a single one, after which nothing can be told apart. Only
    runs on record count.

    Args:
        planned: runs to judge by; those without a record in the store are skipped.
        seeds: all engine seeds that close algorithms are to have.
        within: largest shortfall of R̄ from the best.
    """
    measured: dict[tuple[str, Limits], dict[Cell, list[Job]]] = {}
    records = []
    for job in planned:
        if (record := store.get(job.id)) is not None:
            records.append(record)
            measured.setdefault((job.game, job.limits), {}).setdefault(job.cell, []).append(job)
    table, there, wanted = TableEvaluator(to_frame(records, curves=True)), set(planned), list(seeds)
    found = []
    for (game, limits), runs in measured.items():
        close, tree = set(_close(table, runs, limits, within)), compiled(game)
        drawing = (cell for cell in runs if cell in close and not is_deterministic((cell,), tree))
        more = (Job(game, cell, seed, limits) for cell in drawing for seed in wanted)
        found += [job for job in more if job not in there]
    return found


def _close(table: TableEvaluator, jobs: Mapping[Cell, Sequence[Job]], limits: Limits, within: float) -> Iterator[Cell]:
    """Yield the close algorithms, judged by the planned seeds alone: seeds added earlier must not change the choice."""
    budgets = [Budget("iterations", limits.iterations)] if limits.iterations > 1 else []
    budgets += [Budget("seconds", limits.seconds / part) for part in PARTS if limits.seconds]
    for budget in budgets:
        runs = {
            cell: [table.measure(Request(job.game, (cell,), budget, seed=job.seed)) for job in own]
            for cell, own in jobs.items()
        }
        for preset in PRESETS.values():
            worths = {cell: preset.worth([costs(run) for run in own]) for cell, own in runs.items()}
            best = max(worths.values())
            yield from (cell for cell, worth in worths.items() if worth.reward >= best.reward - within)
