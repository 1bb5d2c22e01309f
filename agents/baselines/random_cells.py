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
    measured = {cell: task.measure(cell) for cell in cells}
    return SearchResult(virtual_best(task.worths(measured)), measured)


def median_search(worths: Worths, evaluations: int, seed: int = 0, searches: int = 1001) -> Cell:
    """Return the typical result of random search: of the algorithms found by many searches, that of median worth.

    Args:
        worths: worth of every algorithm.
        evaluations: number of algorithms that a search draws.
        seed: seed of the draws.
        searches: number of searches.
    """
    cells = list(worths)
    places = {worth: place for place, worth in enumerate(sorted(set(worths.values())))}
    values = np.array([places[worth] for worth in worths.values()])
    generator = np.random.default_rng(seed)
    count = min(evaluations, len(cells))
    drawn = [generator.choice(len(cells), count, replace=False) for _ in range(searches)]
    found = sorted((int(one[np.argmax(values[one])]) for one in drawn), key=lambda index: int(values[index]))
    return cells[found[len(found) // 2]]
