"""Successive halving: all cells for a moment, the better ones for longer.

Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter optimization, AISTATS 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlccfr.agents.baselines import Rewards, Task, total_cpu_seconds, virtual_best
from rlccfr.catalog import Cell
from rlccfr.envs.measurement import Budget
from rlccfr.errors import RLCCFRError, whole_number

ETA = 3
"""Of the cells one in so many goes on, for so many times the budget."""


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

    What all rungs take together is at most ``evaluations`` whole budgets, or little more where these are few; the last
    rung has the whole budget.

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


def _ladder(cells: int, evaluations: int) -> list[tuple[int, int]]:
    """For each rung how many cells it has, and into how many parts it divides the budget.

    A rung costs what the others do. With more rungs each costs less, but the first is shorter; the fewest that
    ``evaluations`` pay for are taken. Where even the most do not, cells are left out from the start.
    """
    rungs = 1
    while rungs * cells / ETA ** (rungs - 1) > evaluations and ETA ** (rungs - 1) < cells:
        rungs += 1
    first = min(cells, int(evaluations * ETA ** (rungs - 1) / rungs))
    return [(max(1, first // ETA**rung), ETA ** (rungs - 1 - rung)) for rung in range(rungs)]


def _part(budget: Budget, parts: int) -> Budget:
    amount = budget.amount / parts
    return Budget(budget.unit, amount if budget.unit == "seconds" else max(1, round(amount)))
