"""Scores of picks: regret, normalised score and closed gap, and their means with intervals.

All are computed from R̄, the mean of the three agents' rewards (:func:`rlccfr.envs.reward.mean_reward`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rlccfr.errors import RLCCFRError

RESOLVED = 3.0
"""Number of standard errors by which the virtual best must beat the single best for a closed gap to mean anything."""


def regret(pick: float, virtual_best: float) -> float:
    """Return R̄ of the virtual best solver (VBS) minus R̄ of the pick.

    The VBS is the best on the choosing runs, so regret is negative if the pick does better on the judging runs. It can
    also be negative for a pick that has not converged, since the VBS is chosen among algorithms that have converged.
    """
    return virtual_best - pick


def normalised_score(pick: float, mean: float, virtual_best: float) -> float:
    """Return (R̄(pick) - mean R̄) / (R̄(VBS) - mean R̄): 1 for the VBS, 0 on average for a random pick.

    R̄ is the mean of the three agents' rewards. The result is NaN if the virtual best solver (VBS) is no better than
    the mean of all algorithms: then there is nothing to choose.

    Args:
        pick, virtual_best: R̄ of the two on one game.
        mean: R̄ averaged over all algorithms of the catalog on the same game.

    Examples:
        >>> normalised_score(0.75, mean=0.5, virtual_best=1.0)
        0.5
    """
    if virtual_best <= mean:
        return math.nan
    return (pick - mean) / (virtual_best - mean)


def closed_gap(pick: float, single_best: float, virtual_best: float, standard_error: float = 0.0) -> float:
    """Return the share of the gap between the single best and the virtual best solver that a pick closes.

    Args:
        pick, single_best, virtual_best: mean reward R̄ of the three on one game.
        standard_error: standard error of ``virtual_best - single_best``.

    Returns:
        1 for the virtual best, 0 for the single best, negative for a pick below the single best; NaN unless the gap
        exceeds three standard errors.

    Examples:
        >>> closed_gap(0.75, single_best=0.5, virtual_best=1.0)
        0.5
    """
    gap = virtual_best - single_best
    if not gap > RESOLVED * standard_error:  # also if the error is NaN
        return math.nan
    return (pick - single_best) / gap


def interquartile_mean(scores: ArrayLike) -> float:
    """Return the mean of the scores without their lowest and highest quarters.

    A quarter is rounded down to whole scores.

    Args:
        scores: array of any shape.

    Raises:
        RLCCFRError: there are no scores.

    Examples:
        >>> interquartile_mean([0.0, 0.5, 0.7, 100.0])
        0.6
    """
    values = np.asarray(scores, dtype=np.float64).ravel()
    if not values.size:
        raise RLCCFRError("no scores to average: give at least one")
    from scipy import stats  # takes a second to import

    return float(stats.trim_mean(values, 0.25))


def bootstrap_interval(
    strata: Sequence[ArrayLike],
    statistic: Callable[[np.ndarray], float] = interquartile_mean,
    *,
    level: float = 0.95,
    repetitions: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Return a percentile interval of a stratified bootstrap, which resamples runs within each game, never across.

    Args:
        strata: scores of the runs of each game; the numbers of runs may differ.
        statistic: function of all resampled scores together, shape (number of runs,).
        level: nominal probability that the interval contains the true value.
        repetitions: number of resamples.
        seed: seed of the resamples.

    Returns:
        Lower and upper end of the interval.

    Raises:
        RLCCFRError: no games, a game without a run, or a level outside (0, 1).
    """
    groups = [np.asarray(stratum, dtype=np.float64).ravel() for stratum in strata]
    if not groups or any(group.size == 0 for group in groups):
        raise RLCCFRError("an interval needs at least one game, and at least one run of each")
    if not 0 < level < 1:
        raise RLCCFRError(f"level must lie between 0 and 1, not {level!r}")
    generator = np.random.default_rng(seed)
    statistics = []
    for _ in range(repetitions):
        resampled = [generator.choice(group, group.size) for group in groups]
        statistics.append(statistic(np.concatenate(resampled)))
    low, high = np.quantile(statistics, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
