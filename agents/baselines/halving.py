"""Successive halving: run all algorithms briefly, then the better ones for longer.

Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter optimization, AISTATS 2016.

A *ladder* gives, for each rung, the number of algorithms in it, and the share of the budget that each of them has run
by the end of the rung. Runs continue from rung to rung.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rlccfr.agents.baselines.task import Task, total_cpu_seconds
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.request import Budget
from rlccfr.errors import RLCCFRError, whole_number

VERSION = 2
"""Version of successive halving. Raise it when the same seed and measurements would give another choice."""

ETA = 3
"""Largest factor by which a rung may reduce the number of algorithms."""

Ladder = Sequence[tuple[int, float]]
"""For each rung, the number of its algorithms, and the share of the budget that each has run by the rung's end."""

ROUNDING = 1e-9
"""Tolerance for a number of algorithms that lies just below a whole number because of rounding."""


@dataclass(frozen=True)
class Halving:
    """The result of successive halving.

    Attributes:
        cell: recommendation, the best algorithm of the last rung.
        spent: number of whole budgets spent; each algorithm counts once, with its longest run's share of the budget.
        cpu_seconds: engine CPU seconds of the algorithms' longest runs, which include their shorter runs.
        rungs: number of algorithms and budget of each rung.
        longest_runs: each algorithm's longest measurements, one per engine seed, and their budget; ordered from the
            last rung to the first, and within a rung from best to worst.
    """

    cell: Cell
    spent: float
    cpu_seconds: float
    rungs: tuple[tuple[int, Budget], ...]
    longest_runs: dict[Cell, tuple[Sequence[Measurement], Budget]]


def successive_halving(task: Task, *, evaluations: int, seed: int = 0) -> Halving:
    """Measure the available algorithms under a part of the budget, then fewer and fewer of them for longer.

    All rungs together take at most ``evaluations`` whole budgets, or slightly more where parts are rounded to whole
    iterations. In the last rung, each algorithm has the whole budget.

    Args:
        evaluations: number of whole budgets to spend.
        seed: seed of the draw of algorithms, if there are too many to start all of them.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    available = task.available
    ladder = _ladder(len(available), evaluations)
    drawn = np.random.default_rng(seed).choice(len(available), ladder[0][0], replace=False)
    return climb(task, [available[index] for index in sorted(drawn)], ladder)


def climb(
    task: Task, algorithms: Sequence[Cell], ladder: Ladder, progress: Callable[[float], None] | None = None
) -> Halving:
    """Run algorithms rung by rung; after each rung of a ladder, the better ones continue.

    Args:
        algorithms: the algorithms of the first rung; of those that do equally well, the earlier ones continue.
        ladder: number of algorithms, and share of the budget, by rung; see :data:`Ladder`.
        progress: function called after each run with the share of all runs that is done.
    """
    ranked = list(algorithms)
    longest_runs: dict[Cell, tuple[Sequence[Measurement], Budget]] = {}
    rungs = []
    # Runs continue from rung to rung, so a rung costs only the difference between its share and the earlier one.
    lengths = [share - earlier for (_, share), (_, earlier) in zip(ladder, [(0, 0.0), *ladder], strict=False)]
    total = math.fsum(min(count, len(ranked)) * length for (count, _), length in zip(ladder, lengths, strict=True))
    done = 0.0
    for (count, share), length in zip(ladder, lengths, strict=True):
        participants = ranked[:count]
        budget = share_of(task.budget, share)
        runs: dict[Cell, list[Measurement]] = {}
        for cell in participants:
            runs[cell] = task.measure(cell, budget)
            done += length / total
            if progress is not None:
                progress(min(done, 1.0))
        worths = task.worths(runs)
        ranked = sorted(participants, key=worths.__getitem__, reverse=True)  # stable: of equals, the earlier continue
        # The runs of this rung come before those that ended in an earlier one.
        ended = {cell: run for cell, run in longest_runs.items() if cell not in runs}
        longest_runs = {cell: (runs[cell], budget) for cell in ranked} | ended
        rungs.append((len(participants), budget))
    return Halving(
        cell=ranked[0],
        spent=math.fsum(budget.amount / task.budget.amount for _, budget in longest_runs.values()),
        cpu_seconds=total_cpu_seconds({cell: runs for cell, (runs, _) in longest_runs.items()}),
        rungs=tuple(rungs),
        longest_runs=longest_runs,
    )


def equal_rungs(counts: Sequence[int], total: float) -> list[tuple[int, float]]:
    """Return a ladder in which each rung spends the same share of the budget, summed over the rung's algorithms.

    Args:
        counts: number of algorithms in each rung.
        total: share of the budget that all rungs spend together; it may exceed 1.

    Examples:
        >>> equal_rungs((4, 2), 1.0)
        [(4, 0.125), (2, 0.375)]
    """
    lengths = [total / len(counts) / count for count in counts]
    return [(count, math.fsum(lengths[: rung + 1])) for rung, count in enumerate(counts)]


def _ladder(cell_count: int, evaluations: int) -> list[tuple[int, float]]:
    """Return the ladder on which ``cell_count`` algorithms spend ``evaluations`` whole budgets.

    Every rung has the same share of the evaluations. So if the number of algorithms is divided by some factor from one
    rung to the next, the part of the budget that each algorithm runs in a rung is multiplied by the same factor. The
    more rungs, the shorter the runs of the first rung. The ladder has the least number of rungs with which the first
    rung can hold all algorithms while the factor is at most :data:`ETA`. This number is at most ``evaluations``; if
    more rungs would be needed, some algorithms are left out.
    """

    def length(factor: float, rung_count: int) -> float:
        """Return how long an algorithm has run after ``rung_count`` rungs, in units of its run in the first rung."""
        return math.fsum(factor**rung for rung in range(rung_count))

    # The first rung has the evaluations divided by the number of rungs, and each algorithm in it takes 1 / length of a
    # budget. So all algorithms fit into it if cell_count / evaluations * rung_count <= length.
    cells_per_evaluation = cell_count / evaluations
    rung_count = next((n for n in range(1, evaluations) if cells_per_evaluation * n <= length(ETA, n)), evaluations)
    factor = float(ETA)
    if rung_count > 1 and cells_per_evaluation * rung_count < length(ETA, rung_count):
        # A smaller factor suffices: the one with which the first rung holds all algorithms and no more.
        from scipy.optimize import brentq  # takes a quarter of a second to import

        factor = brentq(lambda x: length(x, rung_count) - cells_per_evaluation * rung_count, 1.0, ETA)
    first_count = evaluations / rung_count * length(factor, rung_count)
    ladder = []
    for rung in range(rung_count):
        count = min(cell_count, math.floor(first_count / factor**rung + ROUNDING))
        ladder.append((count, length(factor, rung + 1) / length(factor, rung_count)))
    return ladder


def share_of(budget: Budget, share: float) -> Budget:
    """Return a share of a budget; a share of iterations or nodes is rounded to a whole number of at least 1."""
    amount = budget.amount * share
    return Budget(budget.unit, amount if budget.unit == "seconds" else max(1, round(amount)))
