"""Which runs of models are worth more seeds: those that come close to the best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from rlccfr.catalog import Cell
from rlccfr.envs.measurement import Budget, Request
from rlccfr.envs.reward import PRESETS, mean_reward
from rlccfr.envs.store import Store
from rlccfr.envs.sweep.plan import Job, Limits
from rlccfr.envs.table import TableEvaluator

PARTS = (1, 10, 100)
"""Of a run's seconds, the budgets that closeness is asked for."""


def close_calls(planned: Sequence[Job], store: Store, seeds: Iterable[int], within: float) -> list[Job]:
    """Further runs of those algorithms with models whose mean reward is near the best of their game.

    Near under any preset and any of the budgets that a run's curve is read for, by the runs that there are.

    Args:
        planned: runs that the store has; one without a record is passed over.
        seeds: that close algorithms are to have in all.
        within: how much mean reward may be missing.
    """
    cells: dict[tuple[str, Limits], dict[Cell, Job]] = {}
    for job in planned:
        if store.get(job.id) is not None:
            cells.setdefault((job.game, job.limits), {})[job.cell] = job
    table, there, wanted = TableEvaluator(store), set(planned), list(seeds)
    found = []
    for (game, limits), jobs in cells.items():
        close = set(_close(table, game, list(jobs), limits, within))
        more = (Job(game, cell, seed, limits) for cell, job in jobs.items() if job.learns and cell in close
                for seed in wanted)  # fmt: skip
        found += [job for job in more if job not in there]
    return found


def _close(table: TableEvaluator, game: str, cells: Sequence[Cell], limits: Limits, within: float) -> Iterator[Cell]:
    budgets = [Budget("iterations", limits.iterations)]
    budgets += [Budget("seconds", limits.seconds / part) for part in PARTS if limits.seconds]
    for budget in budgets:
        runs = {
            cell: [table.measure(Request(game, (cell,), budget, seed=seed)) for seed in table.seeds(game, cell)]
            for cell in cells
        }
        for preset in PRESETS.values():
            rewards = {
                cell: math.fsum(mean_reward(run, preset) for run in own) / len(own) for cell, own in runs.items()
            }
            best = max(rewards.values())
            yield from (cell for cell, reward in rewards.items() if reward >= best - within)
