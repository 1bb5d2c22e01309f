"""The team's exploration without its networks, a baseline that shows what the three DQNs add."""

from __future__ import annotations

import numpy as np

from rlccfr.agents.baselines.best import virtual_best
from rlccfr.agents.baselines.task import SearchResult, Task
from rlccfr.agents.team.exploration import Triple, next_to_measure
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.reward import Worth
from rlccfr.errors import RLCCFRError, whole_number

VERSION = 2
"""Version of this search. Raise it when the same seed and measurements would give another choice."""


def search_without_networks(task: Task, *, evaluations: int, seed: int = 0) -> SearchResult:
    """Measure algorithms in the order of a team's exploration, and recommend the best of them.

    Each component is tried once. Then single agents deviate from the best algorithm measured so far, which takes the
    place of the greedy triple of the Q-networks.

    Args:
        evaluations: number of algorithms to measure; all available ones if there are fewer.
        seed: seed of the random draws.

    Raises:
        RLCCFRError: fewer than one evaluation.
    """
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    catalog = task.catalog
    epsilon = Hyperparameters().epsilon
    available = np.zeros(catalog.shape, np.bool_)
    for cell in task.available:
        available[catalog.index(cell)] = True
    generator = np.random.default_rng(seed)
    measured: dict[Cell, list[Measurement]] = {}
    worths: dict[Triple, Worth] = {}

    def best_measured(picks: tuple[int, ...]) -> np.ndarray:
        """Return 1 for the component of the best measured algorithm and 0 for the others, in place of Q-values."""
        best = max(worths, key=worths.__getitem__)
        return np.asarray(np.arange(catalog.shape[len(picks)]) == best[len(picks)])

    for _ in range(min(evaluations, int(available.sum()))):
        triple = next_to_measure(best_measured, worths, available, epsilon, generator)
        cell = catalog.cell(*triple)
        measured[cell] = task.measure(cell)
        worths[triple] = task.worths({cell: measured[cell]})[cell]
    return SearchResult(virtual_best(task.worths(measured)), measured)
