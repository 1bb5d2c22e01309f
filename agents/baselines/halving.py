"""Successive halving: run all algorithms briefly, and the better ones for longer.

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
from rlccfr.envs.reward import Worth
from rlccfr.errors import RLCCFRError, whole_number

VERSION = 2
"""Version of successive halving. Raise it when the same seed and measurements would give another choice."""

ETA = 3
"""Largest factor by which a rung may reduce the number of algorithms."""

ROUNDING = 1e-9
"""Tolerance for a number of algorithms that rounding left just below a whole number."""


@dataclass(frozen=True)
class Halving:
    """The result of successive halving.

    Attributes:
        cell: recommendation, the best algorithm of the last rung.
        spent: number of whole budgets spent; each algorithm counts once, with its longest run's share of the budget.
        cpu_seconds: engine CPU seconds of the algorithms' longest runs, which include their shorter runs.
        rungs: number of algorithms and budget of each rung.
    """

    cell: Cell
    spent: float
    cpu_seconds: float
    rungs: tuple[tuple[int, Budget], ...]


def successive_halving(task: Task, *, evaluations: int, seed: int = 0) -> Halving:
    """Measure the available algorithms under a part of the budget, and fewer and fewer of them for longer.

    All rungs together take at most ``evaluations`` whole budgets, or slightly more where parts are rounded to whole
    iterations. The last rung has the whole budget.

    Args:
        evaluations: number of whole budgets to spend.
        seed: seed of the draw of algorithms, if there are too many to start them all.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    available = task.available
    ladder = _ladder(len(available), evaluations)
    drawn = np.random.default_rng(seed).choice(len(available), ladder[0][0], replace=False)
    cells = [available[index] for index in sorted(drawn)]
    longest: dict[Cell, list[Measurement]] = {}
    rungs, worths, spent = [], dict[Cell, Worth](), dict[Cell, float]()
    for survivors, part in ladder:
        if worths:
            cells = sorted(cells, key=worths.__getitem__, reverse=True)  # stable: ties keep the catalog's order
        cells = cells[:survivors]
        shorter = _part(task.budget, part)
        measured = {cell: task.measure(cell, shorter) for cell in cells}
        worths = task.worths(measured)
        longest |= measured
        spent |= dict.fromkeys(cells, shorter.amount / task.budget.amount)
        rungs.append((len(cells), shorter))
    return Halving(virtual_best(worths), math.fsum(spent.values()), total_cpu_seconds(longest), tuple(rungs))


def _ladder(cells: int, evaluations: int) -> list[tuple[int, float]]:
    """Return each rung's number of algorithms, and the share of the budget that these have run by its end.

    Runs go on from rung to rung, and each rung has the same share of the evaluations. So as the number of algorithms
    falls by a factor, the part of the budget that each of them runs in a rung grows by that factor. With more rungs,
    the shares are smaller and the first rung is shorter. The number of rungs is the smallest with which the first rung
    can hold all algorithms and the factor is at most :data:`ETA`. If even one rung per evaluation is too few, some
    algorithms are left out.
    """

    def lasts(factor: float, rungs: int) -> float:
        """Return the length of the whole budget, in units of the first rung's length."""
        return math.fsum(factor**rung for rung in range(rungs))

    wanted = cells / evaluations  # times the number of rungs: that many first rungs must fit into the budget
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
