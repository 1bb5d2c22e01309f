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
from rlccfr.envs.measuring.shorter_budgets import TINY
from rlccfr.errors import RLCCFRError

MOST_EXACT = 5
"""Largest number of seeds for which all resamples are enumerated: 5 seeds have 3,125."""

RESAMPLES = 10_000
"""Number of random resamples if there are more than :data:`MOST_EXACT` seeds."""


def tied_set(
    rewards: Mapping[Cell, Sequence[float]],
    best_of: Collection[Cell] | None = None,
    *,
    level: float = 0.05,
    seed: int = 0,
) -> frozenset[Cell]:
    """Return the best algorithm and those not significantly worse, by a paired bootstrap with Holm's correction.

    The bootstrap resamples seeds. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 1979. An algorithm that is worse with every seed counts as significantly worse, even with only three
    seeds and however small the differences.

    Args:
        rewards: mean reward R̄ of each algorithm by seed; a single value counts for every seed.
        best_of: algorithms among which the best is sought; by default all. Leave out those that draw at random and
            have a single value.
        level: family-wise significance level of all comparisons.
        seed: seed of the resamples, if there are too many to enumerate.

    Raises:
        RLCCFRError: there are no algorithms, or the algorithms with more than one value have different numbers of them.

    Examples:
        >>> from rlccfr.catalog import Cell
        >>> dcfr, cfr = Cell("dcfr", "none", "none"), Cell("cfr", "none", "none")
        >>> [str(cell) for cell in tied_set({dcfr: [0.9, 0.8, 0.9], cfr: [0.7, 0.6, 0.8]})]
        ['dcfr x none x none']
    """
    if not rewards:
        raise RLCCFRError("no algorithms to compare: measure some first")
    seed_count = max(map(len, rewards.values()))
    if any(len(values) not in (1, seed_count) for values in rewards.values()):
        raise RLCCFRError("compared algorithms need the same engine seeds, or one seed if they draw nothing at random")
    by_seed = {cell: np.broadcast_to(np.asarray(values, dtype=float), seed_count) for cell, values in rewards.items()}
    candidates = by_seed.keys() if best_of is None else by_seed.keys() & set(best_of)
    best = max((cell for cell in by_seed if cell in candidates), key=lambda cell: float(by_seed[cell].mean()))

    # An algorithm's p-value is the share of resamples of seeds in which it is at least as good as the best one.
    resamples = _resamples(seed_count, seed)
    p_values = {
        cell: float(((by_seed[best] - values)[resamples].mean(axis=1) <= 0).mean())
        for cell, values in by_seed.items()
        if cell != best
    }

    # Holm's correction: test the least p-value at level / n, the next at level / (n - 1), until one is not significant.
    significantly_worse = set()
    for rank, cell in enumerate(sorted(p_values, key=p_values.__getitem__)):
        if p_values[cell] > level / (len(p_values) - rank):
            break
        significantly_worse.add(cell)
    return frozenset(by_seed.keys() - significantly_worse)


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

    Returns:
        Indices, shape (points on the front,).

    Examples:
        >>> pareto_front([1, 2, 3], [10, 5, 20])
        array([0, 2])
    """
    costs = np.asarray(costs, dtype=float)
    gains = np.asarray(gains, dtype=float)
    front = []
    largest_gain = -math.inf
    # In order of cost, a point is on the front if it gains more than all before it; of equal costs, the largest gain
    # first.
    for index in np.lexsort((-gains, costs)):
        if gains[index] > largest_gain:
            front.append(int(index))
            largest_gain = gains[index]
    return np.array(front, dtype=int)


def main_effects(rewards: Mapping[Cell, float]) -> pd.DataFrame:
    """Return each component's average effect: the mean reward of the algorithms that have it, less the mean of all.

    Args:
        rewards: R̄, the mean of the three agents' rewards, of each algorithm; at least one.

    Returns:
        Rows (axis, component, effect, cells), by axis, in the order of ``rewards``; ``cells`` is the number of
        algorithms that have the component.
    """
    mean = math.fsum(rewards.values()) / len(rewards)
    rows = []
    for axis in AXES:
        rewards_by_id: dict[str, list[float]] = defaultdict(list)
        for cell, reward in rewards.items():
            rewards_by_id[getattr(cell, axis)].append(reward)
        for id, values in rewards_by_id.items():
            rows.append((axis, id, math.fsum(values) / len(values) - mean, len(values)))
    return pd.DataFrame(rows, columns=["axis", "component", "effect", "cells"])


def performance_profile(scores: ArrayLike, thresholds: ArrayLike) -> np.ndarray:
    """Return the share of scores strictly above each threshold.

    Agarwal et al., Deep reinforcement learning at the edge of the statistical precipice, NeurIPS 2021.

    Args:
        scores: array of any shape; at least one score.
        thresholds: array of any shape, which is also the shape of the result.

    Examples:
        >>> performance_profile([0.2, 0.6, 0.9, 1.0], [0.5, 0.9])
        array([0.75, 0.25])
    """
    values = np.sort(np.asarray(scores, dtype=float), axis=None)
    above = len(values) - np.searchsorted(values, np.asarray(thresholds, dtype=float), side="right")
    return np.asarray(above / len(values))


def seconds_to(curve: Mapping[str, Sequence[float]], exploitability: float) -> float:
    """Return the engine CPU seconds until a run's average policy reaches an exploitability; infinite if it never does.

    Between two points of the curve, the logarithm of the CPU seconds is assumed to be linear in the logarithm of the
    exploitability.

    Args:
        curve: lists ``cpu_seconds`` and ``exploitability``, with one value per point.
        exploitability: exploitability to reach, in the game's units.

    Examples:
        >>> curve = {"cpu_seconds": [1.0, 10.0, 100.0], "exploitability": [0.4, 0.1, 0.001]}
        >>> round(seconds_to(curve, 0.01), 3)
        31.623
    """
    exploitabilities = np.maximum(np.asarray(curve["exploitability"], dtype=float), TINY)
    reached = np.flatnonzero(exploitabilities <= exploitability)
    if not len(reached):
        return math.inf
    seconds = np.asarray(curve["cpu_seconds"], dtype=float)
    first = int(reached[0])
    if first == 0 or exploitabilities[first] == exploitability:
        return float(seconds[first])
    segment = [first, first - 1]  # in this order the exploitabilities rise, as np.interp requires
    log_target = math.log(max(exploitability, TINY))
    return float(np.exp(np.interp(log_target, np.log(exploitabilities[segment]), np.log(seconds[segment]))))
