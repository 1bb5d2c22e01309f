"""The tabular update rules of the paper's catalog.

They use the library's convention that the newest regrets and the newest policy have weight 1. Multiplying the earlier
sum by (t-1)/t is the same as giving iteration t the weight t. ``t`` counts from 1.
"""

from __future__ import annotations

from math import exp

import numpy as np

from rlccfr.catalog.sources import BROWN_SANDHOLM_2019, LI_ECFR_2020, RLCCFR, XU_IJCAI_2024
from rlccfr.components import Guarantee, Schedule, UpdateRule, always
from rlccfr.errors import ComponentError
from rlccfr.registry import update_rule

UNDER_SAMPLING = "floors and discounts under sampling: by this library's own derivation only"
"""Reason why a rule has no published theorem for samplers."""


def proved(theorem: str) -> Guarantee:
    """Return the guarantee of a rule with a theorem for exact passes only."""
    return Guarantee(exact=theorem, sampled_open=UNDER_SAMPLING)


def decay(gamma: float) -> Schedule:
    """Return the schedule ((t-1)/t)^gamma, which gives iteration t the weight t^gamma."""
    return lambda t: ((t - 1.0) / t) ** gamma


def discount(exponent: float, offset: float = 1.0) -> Schedule:
    """Return the schedule d(t-1) = (t-1)^e / ((t-1)^e + offset), with 0 at t = 1; e is ``exponent``."""

    def schedule(t: np.ndarray) -> np.ndarray:
        # Computed as 1 / (1 + offset (t-1)^-e), whose power may round to 0 but never overflows for e >= 0.
        return np.where(t > 1, 1.0 / (1.0 + offset * np.maximum(t - 1, 1.0) ** -exponent), 0.0)

    return schedule


@update_rule(
    "cfr",
    source="Zinkevich et al., Regret minimization in games with incomplete information, NIPS 2007, (7)-(8)",
    guarantee=Guarantee(exact="Zinkevich et al. 2007", sampled="Lanctot et al. 2009, for unbiased bounded estimates"),
    aliases=("vanilla CFR", "vanilla", "tabular CFR"),
)
def cfr() -> UpdateRule:
    """CFR: R <- R + r; uniform average."""
    return UpdateRule()


@update_rule(
    "cfr_plus",
    source="Tammelin, Solving large imperfect information games using CFR+, 2014, section 3",
    guarantee=proved("Brown and Sandholm 2019, theorem 1, for any non-decreasing average weights"),
    aliases=("CFR+",),
)
def cfr_plus(gamma: float = 1.0) -> UpdateRule:
    """CFR+: R <- max(R + r, 0); average weights t^gamma.

    Differs from the source in setting negative regrets to 0 once the regrets of all histories of an infoset have been
    added, instead of after each history, and in having no averaging delay.
    """
    return UpdateRule(floor=0.0, average_decay=decay(gamma))


@update_rule(
    "lcfr",
    source=f"{BROWN_SANDHOLM_2019}, section 3 (linear CFR)",
    guarantee=proved("Brown and Sandholm 2019: at most 2/sqrt 3 of CFR's bound"),
    aliases=("linear CFR", "linear"),
)
def lcfr() -> UpdateRule:
    """Linear CFR: R <- (t-1)/t R + r; average weights t."""
    return UpdateRule(positive_discount=decay(1.0), negative_discount=decay(1.0), average_decay=decay(1.0))


@update_rule(
    "lcfr_plus",
    source=f"{BROWN_SANDHOLM_2019}, section 3 (LCFR+)",
    guarantee=proved("Brown and Sandholm 2019, as linear CFR"),
    aliases=("LCFR+", "linear CFR+"),
)
def lcfr_plus(gamma: float = 1.0) -> UpdateRule:
    """Linear CFR+: R <- max((t-1)/t R + r, 0); average weights t^gamma."""
    return UpdateRule(positive_discount=decay(1.0), negative_discount=decay(1.0), floor=0.0, average_decay=decay(gamma))


@update_rule(
    "dcfr",
    source=f"{BROWN_SANDHOLM_2019}, section 3 (DCFR)",
    bounds={"beta": (-5.0, 5.0)},
    guarantee=proved("Brown and Sandholm 2019"),
    aliases=("discounted CFR", "discounted"),
)
def dcfr(alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> UpdateRule:
    """Discounted CFR: R <- D R + r, D = d(t-1, alpha) where R > 0, else d(t-1, beta); average weights t^gamma.

    d(k, e) = k^e / (k^e + 1). beta = 0 halves negative regrets at every iteration.
    """
    return UpdateRule(positive_discount=discount(alpha), negative_discount=discount(beta), average_decay=decay(gamma))


@update_rule(
    "dcfr_plus",
    source=f"{XU_IJCAI_2024}, (8)",
    guarantee=proved("Xu et al., IJCAI 2024, by weighted regrets"),
    aliases=("DCFR+", "discounted CFR+"),
)
def dcfr_plus(alpha: float = 1.5, c: float = 1.0, gamma: float = 4.0) -> UpdateRule:
    """Discounted CFR+: R <- max(R k^alpha / (k^alpha + c) + r, 0) with k = t - 1; average weights t^gamma.

    c = 1 as printed in the source; its published code uses 1.5.
    """
    return UpdateRule(positive_discount=discount(alpha, c), floor=0.0, average_decay=decay(gamma))


# Columns of ECFR's tables.
REGRETS = 0  # sum of instantaneous regrets
REACH = 1  # sum of the masses, by which instantaneous regrets are weighted
LOG_WEIGHT = 2  # log W


def weigh_by_mean_advantage(instant_regret, mass, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Multiply r by W = exp(kappa clip(m / utility_range, -1, 1)), and then update W.

    m is the action's mean advantage over the iterations before this one.
    """
    for a in range(len(instant_regret)):
        weight = exp(state[a, LOG_WEIGHT])
        state[a, REGRETS] += instant_regret[a]
        state[a, REACH] += mass
        if state[a, REACH] > 0.0:
            advantage = state[a, REGRETS] / (state[a, REACH] * utility_range)
            state[a, LOG_WEIGHT] = parameters[0] * min(max(advantage, -1.0), 1.0)
        instant_regret[a] *= weight


def match_weighted_regrets(row, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set the policy proportional to W R+, or uniform if no regret is positive."""
    total = 0.0
    for a in range(len(row)):
        row[a] = exp(state[a, LOG_WEIGHT]) * max(row[a], 0.0)
        total += row[a]
    for a in range(len(row)):
        row[a] = row[a] / total if total > 0.0 else 1.0 / len(row)


def weigh_by_own_advantage(instant_regret, mass, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set r to W r, where W = exp(L), and L is r - mean r, clipped at +-10; negative r may be set to W beta instead.

    The first parameter is beta; the second is 1 if negative r are set to W beta, else 0. The average uses the newest W;
    for player 1, this is the W of the previous iteration.
    """
    mean = 0.0
    for a in range(len(instant_regret)):
        mean += instant_regret[a] / len(instant_regret)
    for a in range(len(instant_regret)):
        state[a, 0] = exp(min(max(instant_regret[a] - mean, -10.0), 10.0))
        replaced = instant_regret[a] < 0.0 and parameters[1] > 0.0
        instant_regret[a] = state[a, 0] * (parameters[0] if replaced else instant_regret[a])


def _exponential(mode: str, kappa: float, beta: float, floor: float, gamma: float) -> UpdateRule:
    """Return exponential CFR in one of its three forms; see :func:`ecfr`.

    Raises:
        ComponentError: an unknown mode.
    """
    if mode == "sound":
        return UpdateRule(
            floor=floor,
            average_decay=decay(gamma),
            reweight=weigh_by_mean_advantage,
            policy_map=match_weighted_regrets,
            parameters=(always(kappa),),
            arrays=("advantage_sum", "advantage_mass", "log_weight"),
            uses_mass=True,
            symmetric=True,
        )
    if mode in ("rlccfr", "published"):
        return UpdateRule(
            floor=floor,
            average_decay=decay(gamma),
            reweight=weigh_by_own_advantage,
            parameters=(always(beta), always(float(mode == "published"))),
            arrays=("published_weight",),
            average_weight="published_weight",
            exact_only=True,
            symmetric=True,
        )
    raise ComponentError(f"mode must be 'sound', 'rlccfr' or 'published', not {mode!r}")


_EXPONENTIAL_BOUNDS = {"kappa": (0.0, 20.0), "beta": (-1.0, 0.0)}
_DERIVED_HERE = Guarantee(exact_open="O(1/sqrt T) by this library's own derivation only", sampled_open=UNDER_SAMPLING)


@update_rule(
    "ecfr",
    source=f"{LI_ECFR_2020}; mode='rlccfr': {RLCCFR}, theorem 3 and table 3",
    bounds=_EXPONENTIAL_BOUNDS,
    guarantee=_DERIVED_HERE,
    aliases=("exponential CFR", "exponential"),
)
def ecfr(mode: str = "sound", kappa: float = 5.0, beta: float = -1e-4) -> UpdateRule:
    """Exponential CFR: R <- R + W r; policy in proportion to W R+; uniform average.

    W = exp(kappa m / payoff range), where m is the action's mean advantage over the past iterations. Since W is fixed
    before r is seen, the regret stays O(sqrt T), even with sampled r. Two other modes have no guarantee, and need exact
    passes. Their W comes from the r of the same iteration: W = exp(L), where L is r - mean r over the actions, clipped
    at +-10; and the average policy is weighted by W. mode="rlccfr" is the form of Keshavarzi, Navidi and Tefagh:
    R <- R + W r. mode="published" is the form of Li et al.: the same, but R <- R + W beta where r is negative. Only the
    abstract of Li et al. and later accounts were available.
    """
    return _exponential(mode, kappa, beta, -np.inf, 0.0)


@update_rule(
    "ecfr_plus",
    source=f"{LI_ECFR_2020}, with the floor of CFR+",
    bounds=_EXPONENTIAL_BOUNDS,
    guarantee=_DERIVED_HERE,
    aliases=("ECFR+", "exponential CFR+"),
)
def ecfr_plus(mode: str = "sound", kappa: float = 5.0, beta: float = -1e-4) -> UpdateRule:
    """Exponential CFR+: ecfr with R <- max(R + W r, 0) and average weights t."""
    return _exponential(mode, kappa, beta, 0.0, 1.0)
