"""Statistics of measured algorithms: ties with the best, trade-offs, effects of components, times to a target."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.curve import TINY
from rlccfr.errors import RLCCFRError

MOST_EXACT = 5
"""Largest number of seeds for which all resamples are enumerated: 5 seeds have 3,125."""

RESAMPLES = 10_000


def tied_set(
    rewards: Mapping[Cell, Sequence[float]],
    best_of: Collection[Cell] | None = None,
    *,
    level: float = 0.05,
    seed: int = 0,
) -> frozenset[Cell]:
    """Return the best algorithm and those not significantly worse: paired bootstrap over seeds, Holm's correction.

    Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 1979. An
    algorithm that is worse with every seed counts as worse, even with only three seeds and however small the
    differences.

    Args:
        rewards: R̄ of each algorithm by seed; a single value counts for every seed.
        best_of: algorithms among which the best is sought; by default all. Leave out those that draw at random and
            have a single value.
        level: significance level of the family of all comparisons.
        seed: seed of the resamples, if there are too many to take all.

    Raises:
        RLCCFRError: there are no algorithms, or the algorithms with more than one value have different numbers of them.
    """
    if not rewards:
        raise RLCCFRError("no algorithms to compare: measure some first")
    seeds = max(map(len, rewards.values()))
    if any(len(values) not in (1, seeds) for values in rewards.values()):
        raise RLCCFRError("compared algorithms need the same engine seeds, or one seed if they draw nothing at random")
    table = {cell: np.broadcast_to(np.asarray(values, dtype=float), seeds) for cell, values in rewards.items()}
    among = table.keys() if best_of is None else table.keys() & set(best_of)
    best = max((cell for cell in table if cell in among), key=lambda cell: float(table[cell].mean()))
    draws = _resamples(seeds, seed)
    chances = {
        cell: float(((table[best] - values)[draws].mean(axis=1) <= 0).mean())
        for cell, values in table.items()
        if cell != best
    }
    rejected = set()
    for rank, cell in enumerate(sorted(chances, key=chances.__getitem__)):
        if chances[cell] > level / (len(chances) - rank):
            break
        rejected.add(cell)
    return frozenset(table.keys() - rejected)


def _resamples(count: int, seed: int) -> np.ndarray:
    """Return resamples as indices, shape (resamples, count): all of them for few values, random ones for many."""
    if count <= MOST_EXACT:
        return np.array(list(itertools.product(range(count), repeat=count)))
    return np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))


def pareto_front(costs: ArrayLike, gains: ArrayLike) -> np.ndarray:
    """Return the indices, by rising cost, of the points that no other point beats; of equal points, only the first.

    A point beats another if it costs at most as much, gains at least as much, and is better in one of the two.

    Args:
        costs: shape (n,) array of costs, such as exploitability.
        gains: shape (n,) array of gains, such as throughput.
    """
    costs, gains = np.asarray(costs, dtype=float), np.asarray(gains, dtype=float)
    front, most = [], -math.inf
    for index in np.lexsort((-gains, costs)):
        if gains[index] > most:
            front.append(int(index))
            most = gains[index]
    return np.array(front, dtype=int)


def main_effects(rewards: Mapping[Cell, float]) -> pd.DataFrame:
    """Return each component's average effect: the mean reward of the algorithms that have it, less the mean of all.

    Args:
        rewards: R̄ of each algorithm; at least one.

    Returns:
        Rows (axis, component, effect, cells), by axis, in the order of ``rewards``; ``cells`` counts the algorithms.
    """
    mean = math.fsum(rewards.values()) / len(rewards)
    rows = []
    for axis in AXES:
        groups: dict[str, list[float]] = defaultdict(list)
        for cell, reward in rewards.items():
            groups[getattr(cell, axis)].append(reward)
        rows += [(axis, id, math.fsum(found) / len(found) - mean, len(found)) for id, found in groups.items()]
    return pd.DataFrame(rows, columns=["axis", "component", "effect", "cells"])


def performance_profile(scores: ArrayLike, thresholds: ArrayLike) -> np.ndarray:
    """Return the share of scores strictly above each threshold.

    Agarwal et al., Deep reinforcement learning at the edge of the statistical precipice, NeurIPS 2021.

    Args:
        scores: array of any shape; at least one score.
        thresholds: array of any shape, which is also the shape of the result.
    """
    values = np.sort(np.asarray(scores, dtype=float), axis=None)
    above = len(values) - np.searchsorted(values, np.asarray(thresholds, dtype=float), side="right")
    return np.asarray(above / len(values))


def seconds_to(curve: Mapping[str, Sequence[float]], exploitability: float) -> float:
    """Return the engine CPU seconds until a run's average policy reaches an exploitability; infinite if it never does.

    Between two points of the curve, the logarithm of the CPU seconds is taken to be linear in that of the
    exploitability.

    Args:
        curve: lists ``cpu_seconds`` and ``exploitability``, with one value per point.
        exploitability: exploitability to reach, in the game's units.
    """
    found = np.maximum(np.asarray(curve["exploitability"], dtype=float), TINY)
    there = np.flatnonzero(found <= exploitability)
    if not len(there):
        return math.inf
    seconds = np.asarray(curve["cpu_seconds"], dtype=float)
    index = int(there[0])
    if index == 0 or found[index] == exploitability:
        return float(seconds[index])
    ends = np.log(found[[index, index - 1]])  # rising, as np.interp requires
    return float(np.exp(np.interp(math.log(max(exploitability, TINY)), ends, np.log(seconds[[index, index - 1]]))))
