"""Successive halving: all cells for a moment, the better ones for longer.

Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter optimization, AISTATS 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from rlccfr.agents.baselines.best import virtual_best
from rlccfr.agents.baselines.task import Task, total_cpu_seconds
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.request import Budget
from rlccfr.errors import RLCCFRError, whole_number

VERSION = 1
"""Version of successive halving. Raise it when the same seed and measurements would give another choice."""

ETA = 3
"""Of the cells no fewer than one in so many go on."""

ROUNDING = 1e-9
"""So that a share of a whole number of cells, short of it by rounding, is that number."""


@dataclass(frozen=True)
class Halving:
    """What successive halving recommends.

    Attributes:
        cell: the best of the last rung.
        spent: of whole budgets; what a cell ran for counts as the part of one that it is, once.
        cpu_seconds: engine CPU seconds of each cell's longest run, which its shorter ones were parts of.
        rungs: (cells, budget) of each.
    """

    cell: Cell
    spent: float
    cpu_seconds: float
    rungs: tuple[tuple[int, Budget], ...]


def successive_halving(task: Task, *, evaluations: int, seed: int = 0) -> Halving:
    """Measure every cell that can run here for a part of the budget, and fewer and fewer of them for longer.

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
    longest: dict[Cell, list[Measurement]] = {}
    rungs, rewards, spent = [], dict[Cell, float](), dict[Cell, float]()
    for survivors, part in ladder:
        if rewards:
            cells = sorted(cells, key=rewards.__getitem__, reverse=True)  # stable: of equals the catalog's first
        cells = cells[:survivors]
        shorter = _part(task.budget, part)
        measured = {cell: task.measure(cell, shorter) for cell in cells}
        rewards = task.rewards(measured)
        longest |= measured
        spent |= dict.fromkeys(cells, shorter.amount / task.budget.amount)
        rungs.append((len(cells), shorter))
    return Halving(virtual_best(rewards), math.fsum(spent.values()), total_cpu_seconds(longest), tuple(rungs))


def _ladder(cells: int, evaluations: int) -> list[tuple[int, float]]:
    """For each rung how many cells it has, and for what part of the budget they have run by its end.

    Runs go on from rung to rung. Each rung has the same share of the evaluations; so as cells become fewer by a factor,
    what they run in a rung grows by it. With more rungs the shares are smaller and the first is shorter; so the fewest
    are taken with which the first can have all cells and the factor is at most :data:`ETA`. Where even a rung for each
    evaluation is too few, cells are left out from the start.
    """

    def lasts(factor: float, rungs: int) -> float:
        """The whole budget, in what the first rung runs."""
        return math.fsum(factor**rung for rung in range(rungs))

    wanted = cells / evaluations  # times the number of rungs: that many first rungs must be no longer than the budget
    rungs = next((n for n in range(1, evaluations) if wanted * n <= lasts(ETA, n)), evaluations)
    factor = float(ETA)
    if rungs > 1 and wanted * rungs < lasts(ETA, rungs):
        factor = brentq(lambda one: lasts(one, rungs) - wanted * rungs, 1.0, ETA)
    begin = evaluations / rungs * lasts(factor, rungs)
    return [
        (min(cells, math.floor(begin / factor**rung + ROUNDING)), lasts(factor, rung + 1) / lasts(factor, rungs))
        for rung in range(rungs)
    ]


def _part(budget: Budget, part: float) -> Budget:
    amount = budget.amount * part
    return Budget(budget.unit, amount if budget.unit == "seconds" else max(1, round(amount)))
