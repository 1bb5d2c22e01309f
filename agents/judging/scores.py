"""How good a pick is: regret, normalised score, closed gap, and their means with intervals.

All of it is on R-bar, the mean of the three agents' rewards (:func:`rlccfr.envs.reward.mean_reward`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from rlccfr.errors import RLCCFRError

RESOLVED = 3.0
"""Standard errors by which the virtual best must beat the single best before a closed gap means anything."""


def regret(pick: float, virtual_best: float) -> float:
    """R-bar of the virtual best solver minus that of the pick: 0 for the virtual best.

    Negative where the pick does better on the runs that judge than what was best on those that were chosen by.
    """
    return virtual_best - pick


def normalised_score(pick: float, mean: float, virtual_best: float) -> float:
    """(R(pick) - mean R) / (R(VBS) - mean R): 1 for the virtual best, 0 for a cell drawn at random, on average.

    NaN where the virtual best is no better than the mean, so that there is nothing to choose.

    Args:
        mean: R-bar averaged over all cells of the catalog on the same game.
    """
    return (pick - mean) / (virtual_best - mean) if virtual_best > mean else math.nan


def closed_gap(pick: float, single_best: float, virtual_best: float, standard_error: float = 0.0) -> float:
    """The share of the way from the single best solver to the virtual best that a pick goes.

    Args:
        pick, single_best, virtual_best: R-bar of the three on one game.
        standard_error: of ``virtual_best - single_best``.

    Returns:
        1 for the virtual best, 0 for the single best, negative below it; NaN unless the gap exceeds three
        standard errors.
    """
    gap = virtual_best - single_best
    return (pick - single_best) / gap if gap > RESOLVED * standard_error else math.nan


def interquartile_mean(scores: ArrayLike) -> float:
    """The mean of what is left when the lowest and the highest quarter are dropped.

    A quarter is rounded down to whole scores.

    Raises:
        RLCCFRError: there are no scores.
    """
    values = np.asarray(scores, dtype=np.float64).ravel()
    if not values.size:
        raise RLCCFRError("no scores to average: give at least one")
    return float(stats.trim_mean(values, 0.25))


def bootstrap_interval(
    strata: Sequence[ArrayLike],
    statistic: Callable[[np.ndarray], float] = interquartile_mean,
    *,
    level: float = 0.95,
    repetitions: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Stratified percentile bootstrap: runs are resampled within each game, never across games.

    Args:
        strata: for each game the scores of its runs; the numbers of runs may differ.
        statistic: of all resampled scores together, shape (number of runs,).

    Returns:
        The interval's ends.

    Raises:
        RLCCFRError: a game without a run, or a level outside (0, 1).
    """
    groups = [np.asarray(stratum, dtype=np.float64).ravel() for stratum in strata]
    if not groups or any(group.size == 0 for group in groups):
        raise RLCCFRError("an interval needs at least one game, and at least one run of each")
    if not 0 < level < 1:
        raise RLCCFRError(f"level must lie between 0 and 1, not {level!r}")
    generator = np.random.default_rng(seed)
    draws = [
        statistic(np.concatenate([generator.choice(group, group.size) for group in groups])) for _ in range(repetitions)
    ]
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
