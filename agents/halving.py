"""Successive halving: all cells for a moment, the better ones for longer.

Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter optimization, AISTATS 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlccfr.agents.baselines import Rewards, Task, total_cpu_seconds, virtual_best
from rlccfr.catalog import Cell
from rlccfr.envs.measurement import Budget
from rlccfr.errors import RLCCFRError, whole_number

ETA = 3
"""Of the cells no fewer than one in so many go on, for no more than so many times the budget."""

ROUNDING = 1e-9
"""So that a share of a whole number of cells, short of it by rounding, is that number."""


@dataclass(frozen=True)
class Halving:
    """What successive halving recommends.

    Attributes:
        cell: the best of the last rung.
        spent: of whole budgets, the shorter ones counted as the part of one that they are.
        cpu_seconds: engine CPU seconds of all runs.
        rungs: (cells, budget) of each.
    """

    cell: Cell
    spent: float
    cpu_seconds: float
    rungs: tuple[tuple[int, Budget], ...]


def successive_halving(task: Task, *, evaluations: int, seed: int = 0) -> Halving:
    """Measure every cell that can run here under a part of the budget, and fewer and fewer under more of it.

    All rungs together take at most ``evaluations`` whole budgets, or little more where parts are rounded to whole
    iterations; the last rung has the whole budget.

    Args:
        seed: of the draw of cells where there are too many to begin with all.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    available = task.available
    ladder = _ladder(len(available), evaluations)
    drawn = np.random.default_rng(seed).choice(len(available), ladder[0][0], replace=False)
    cells = [available[index] for index in sorted(drawn)]
    spent, seconds, rungs = 0.0, 0.0, []
    rewards: Rewards = {}
    for survivors, part in ladder:
        if rewards:
            cells = sorted(cells, key=rewards.__getitem__, reverse=True)  # stable: of equals the catalog's first
        cells = cells[:survivors]
        shorter = _part(task.budget, part)
        measured = {cell: task.measure(cell, shorter) for cell in cells}
        rewards = task.rewards(measured)
        spent += len(cells) * shorter.amount / task.budget.amount
        seconds += total_cpu_seconds(measured)
        rungs.append((len(cells), shorter))
    return Halving(virtual_best(rewards), spent, seconds, tuple(rungs))


def _ladder(cells: int, evaluations: int) -> list[tuple[int, float]]:
    """For each rung how many cells it has, and into how many parts it divides the budget.

    Each rung has the same share of the evaluations, and the parts fall geometrically to one. With more rungs a share
    is smaller and the first rung shorter; so the fewest are taken with which the first can have all cells and no step
    exceeds :data:`ETA`. Where even a rung for each evaluation is too few, cells are left out from the start.
    """
    rungs = next((n for n in range(1, evaluations) if cells * n / evaluations <= ETA ** (n - 1)), evaluations)
    share = evaluations / rungs
    first = min(max(cells / share, 1.0), ETA ** (rungs - 1))
    parts = [first ** (1 - rung / max(1, rungs - 1)) for rung in range(rungs)]
    return [(min(cells, math.floor(share * part + ROUNDING)), part) for part in parts]


def _part(budget: Budget, parts: float) -> Budget:
    amount = budget.amount / parts
    return Budget(budget.unit, amount if budget.unit == "seconds" else max(1, round(amount)))
