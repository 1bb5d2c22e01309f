"""Random search, and what it typically finds."""

from __future__ import annotations

import numpy as np

from rlccfr.agents.baselines.best import virtual_best
from rlccfr.agents.baselines.task import Rewards, SearchResult, Task
from rlccfr.catalog import Cell
from rlccfr.errors import RLCCFRError, whole_number

VERSION = 1
"""Version of random search. Raise it when the same seed and measurements would give another choice."""


def random_search(task: Task, *, evaluations: int, seed: int = 0) -> SearchResult:
    """Measure distinct cells drawn at random among those that can run here; recommend the best of them.

    Args:
        evaluations: cells to draw; all that there are if they are fewer.
        seed: of the draw.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    available = task.available
    count = min(evaluations, len(available))
    drawn = np.random.default_rng(seed).choice(len(available), count, replace=False)
    cells = [available[int(index)] for index in drawn]
    measured = {cell: task.measure(cell) for cell in cells}
    return SearchResult(virtual_best(task.rewards(measured)), measured)


def median_search(rewards: Rewards, evaluations: int, seed: int = 0, searches: int = 1001) -> Cell:
    """What random search typically finds: of so many searches the one with the median reward.

    Args:
        rewards: R-bar of every cell.
        evaluations: cells that a search draws.
    """
    cells, values = list(rewards), np.array(list(rewards.values()))
    generator = np.random.default_rng(seed)
    count = min(evaluations, len(cells))
    drawn = [generator.choice(len(cells), count, replace=False) for _ in range(searches)]
    found = sorted((int(one[np.argmax(values[one])]) for one in drawn), key=lambda index: float(values[index]))
    return cells[found[len(found) // 2]]
