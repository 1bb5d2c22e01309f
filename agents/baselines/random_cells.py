"""Random search, and its typical result."""

from __future__ import annotations

import numpy as np

from rlccfr.agents.baselines.best import virtual_best
from rlccfr.agents.baselines.task import SearchResult, Task, Worths
from rlccfr.catalog import Cell
from rlccfr.errors import RLCCFRError, whole_number

VERSION = 2
"""Version of random search. Raise it when the same seed and measurements would give another choice."""


def random_search(task: Task, *, evaluations: int, seed: int = 0) -> SearchResult:
    """Measure distinct available algorithms, drawn at random, and recommend the best of them.

    Args:
        evaluations: number of algorithms to draw; all available ones if there are fewer.
        seed: seed of the draw.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    available = task.available
    count = min(evaluations, len(available))
    drawn = np.random.default_rng(seed).choice(len(available), count, replace=False)
    cells = [available[int(index)] for index in drawn]
    measurements = {cell: task.measure(cell) for cell in cells}
    return SearchResult(virtual_best(task.worths(measurements)), measurements)


def median_search(worths: Worths, evaluations: int, seed: int = 0, searches: int = 1001) -> Cell:
    """Return the typical result of random search: of the results of many searches, the one with the median worth.

    Args:
        worths: worth of every algorithm (:class:`rlccfr.envs.reward.Worth`).
        evaluations: number of algorithms that a search draws.
        seed: seed of the draws.
        searches: number of searches.
    """
    cells = list(worths)
    # Worths are pairs: their ranks, equal for equal worths, are numbers that NumPy can compare.
    rank_of = {worth: rank for rank, worth in enumerate(sorted(set(worths.values())))}
    ranks = np.array([rank_of[worth] for worth in worths.values()])
    generator = np.random.default_rng(seed)
    count = min(evaluations, len(cells))
    samples = [generator.choice(len(cells), count, replace=False) for _ in range(searches)]
    best_indices = [int(sample[np.argmax(ranks[sample])]) for sample in samples]
    best_indices.sort(key=lambda index: int(ranks[index]))
    return cells[best_indices[len(best_indices) // 2]]
