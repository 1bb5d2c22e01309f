"""Update rules that adapt their steps to the regrets that an infoset has seen.

Each rule keeps numbers of its own at every infoset, in the tables that the rule names in ``arrays``. A number that
belongs to an infoset as a whole is repeated in the row of each action, so that permuting the actions does not change
it. Plain functions can't call each other, so some lines appear in two functions.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from rlccfr.catalog.extended import linear_ramp
from rlccfr.catalog.scheduled import late_decay
from rlccfr.catalog.sources import LI_2026, MENG_AAAI_2026, XU_IJCAI_2024
from rlccfr.catalog.update_rules import decay, discount, proved
from rlccfr.components import UNIT, Guarantee, Schedule, UpdateRule
from rlccfr.registry import update_rule

MOST_ASYMMETRY = 5.0
"""Largest asymmetry of APCFR+."""

# Columns of the tables of APCFR+ and APDCFR+.
INSTANT_REGRET = 0  # r of the newest iteration
CHANGES = 1  # sum over iterations of |r - r of the iteration before|^2
STEPS = 2  # sum over iterations of |R after - R before|^2


def sum_changes_and_steps(instant_regret, mass, state, parameters, utility_range, regret):  # type: ignore[no-untyped-def]
    """Add |r - last r|^2 and |R after - R before|^2 to an infoset's two sums, where R after is max(D R + r, 0).

    Args:
        parameters: D of this iteration.
        regret: R before this iteration.
    """
    changes = 0.0
    steps = 0.0
    for a in range(len(instant_regret)):
        new_regret = max(parameters[0] * regret[a] + instant_regret[a], 0.0)
        # The last r must be read before the newest one replaces it.
        changes += (instant_regret[a] - state[a, INSTANT_REGRET]) ** 2
        steps += (new_regret - regret[a]) ** 2
        state[a, INSTANT_REGRET] = instant_regret[a]
    # The sums belong to the infoset as a whole, so the row of each action gets both.
    for a in range(len(instant_regret)):
        state[a, CHANGES] += changes
        state[a, STEPS] += steps


def match_damped_prediction(row, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set the policy proportional to max(D R + r / (1 + a), 0) with the asymmetry a = sqrt(changes / steps).

    Changes and steps are the two sums of :func:`sum_changes_and_steps`; a is at most :data:`MOST_ASYMMETRY`.

    Args:
        row: R, overwritten by the policy.
        parameters: D of the iteration that plays the policy.
    """
    changes = 0.0
    steps = 0.0
    for a in range(len(row)):  # the sums are equal in all rows
        changes = max(changes, state[a, CHANGES])
        steps = max(steps, state[a, STEPS])
    asymmetry = min(sqrt(changes / steps), MOST_ASYMMETRY) if steps > 0.0 else MOST_ASYMMETRY
    total = 0.0
    for a in range(len(row)):
        row[a] = max(parameters[0] * row[a] + state[a, INSTANT_REGRET] / (1.0 + asymmetry), 0.0)
        total += row[a]
    for a in range(len(row)):
        row[a] = row[a] / total if total > 0.0 else 1.0 / len(row)


def _asymmetric(regret_discount: Schedule, gamma: float) -> UpdateRule:
    """Return predictive CFR+ with discounted regrets and with the asymmetry a of APCFR+."""
    return UpdateRule(
        positive_discount=regret_discount,
        floor=0.0,
        average_decay=decay(gamma),
        reweight=sum_changes_and_steps,
        policy_map=match_damped_prediction,
        parameters=(regret_discount,),
        arrays=("instant_regret", "changes", "steps"),
        exact_only=True,
        symmetric=True,
    )


@update_rule(
    "apcfr_plus",
    source=f"{MENG_AAAI_2026} (APCFR+)",
    guarantee=proved("Meng et al., AAAI 2026"),
    aliases=("APCFR+", "asymmetric PCFR+"),
)
def apcfr_plus(gamma: float = 2.0) -> UpdateRule:
    """Asymmetric PCFR+: R <- max(R + r, 0); policy in proportion to max(R + r / (1 + a), 0).

    a = sqrt(sum of |r - last r|^2 / sum of |R - last R|^2), at most 5, over an infoset's iterations: the worse the last
    r predicts the next, the less it counts. Average weights t^gamma.
    """
    return _asymmetric(UNIT, gamma)


@update_rule(
    "apdcfr_plus",
    source=f"this library's combination of PDCFR+ ({XU_IJCAI_2024}, (11)) and APCFR+ ({MENG_AAAI_2026})",
    guarantee=Guarantee(exact_open="no theorem for this combination"),
    aliases=("APDCFR+", "asymmetric PDCFR+"),
)
def apdcfr_plus(alpha: float = 2.3, gamma: float = 5.0) -> UpdateRule:
    """Asymmetric PDCFR+: R <- max(D R + r, 0); policy in proportion to max(D' R + r / (1 + a), 0).

    D = d(t-1, alpha) and D' = d(t, alpha) with d as in dcfr, a as in apcfr_plus; average weights t^gamma. Meng et al.
    name this rule, but the appendix that defines it was not available. So the rule is derived here.
    """
    return _asymmetric(discount(alpha), gamma)


# Columns of VAD-CFR's tables.
BOOSTED_REGRET = 0  # r, times VAD_BOOST where it is positive
VOLATILITY = 1  # running mean of the largest |r|
POLICY_WEIGHT = 2  # weight of the policy in the average, without the factor t^2

# Places in VAD-CFR's parameters.
ITERATION = 0
OPTIMISM_SPAN = 1  # iterations after which optimism is halved
PAYOFF_RANGE = 2  # regrets are in units in which payoffs have this range; 0 for the game's own units

VAD_BOOST = 1.1
VAD_LEAST_REGRET = -20.0
VAD_POWER = 1.5


def discount_by_volatility(instant_regret, mass, state, parameters, utility_range, regret):  # type: ignore[no-untyped-def]
    """Change r so that R plus the new r is the next R of VAD-CFR, which discounts R by the infoset's volatility.

    The source's listing also bounds alpha, beta, gamma and the square root, but these bounds have no effect.
    """
    t = parameters[ITERATION]
    unit = utility_range / parameters[PAYOFF_RANGE] if parameters[PAYOFF_RANGE] > 0.0 else 1.0
    # 1. Volatility: a running mean of the largest instantaneous regret.
    largest = 0.0
    average = 0.0
    for a in range(len(instant_regret)):
        largest = max(largest, abs(instant_regret[a]) / unit)
        average = max(average, state[a, VOLATILITY])  # equal in all rows
    average = largest if t == 1.0 else 0.1 * largest + 0.9 * average
    volatility = min(1.0, average / 2.0)
    # 2. The more volatile the regrets, the more of the past is forgotten.
    alpha = 1.5 - 0.5 * volatility
    beta = -0.1 - 0.5 * volatility
    # 3. The policy's weight in the average, which depends on the newest regrets; its factor t^2 is the rule's decay.
    gamma = 2.0 + 1.5 * min(1.0, largest / 2.0)
    weight = t ** (gamma - 2.0) / (1.0 + largest**1.5) * sqrt(1.0 + largest / 2.0)
    # 4. Regrets, bounded from below.
    for a in range(len(instant_regret)):
        kept = 1.0 / (1.0 + t ** -(alpha if regret[a] >= 0.0 else beta))
        boosted = instant_regret[a] * (VAD_BOOST if instant_regret[a] > 0.0 else 1.0)
        new_regret = max(kept * regret[a] + boosted, VAD_LEAST_REGRET * unit)
        instant_regret[a] = new_regret - regret[a]
        state[a, BOOSTED_REGRET] = boosted
        state[a, VOLATILITY] = average
        state[a, POLICY_WEIGHT] = weight


def match_volatile_regrets(row, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set the policy proportional to max(D R + o r, 0)^1.5, with an optimism o that falls over time.

    D and o are D' and o of :func:`vad_cfr`.

    Args:
        row: R, overwritten by the policy.
        parameters: those of iteration t + 1, which plays the policy.
    """
    # The policy is played one iteration after its regrets: its parameters are those of t + 1, the regrets those of t.
    t = parameters[ITERATION] - 1.0
    average = 0.0
    for a in range(len(row)):
        average = max(average, state[a, VOLATILITY])
    volatility = min(1.0, average / 2.0)
    alpha = 1.5 - 0.5 * volatility
    beta = -0.1 - 0.5 * volatility
    optimism = (1.0 - 0.5 * volatility) / (1.0 + (t - 1.0) / parameters[OPTIMISM_SPAN])
    largest = 0.0
    for a in range(len(row)):
        # The first policy, made before any iteration, has no regrets to discount.
        if t >= 1.0:
            kept = 1.0 / (1.0 + t ** -(alpha if row[a] >= 0.0 else beta))
            row[a] = kept * row[a] + optimism * state[a, BOOSTED_REGRET]
        row[a] = max(row[a], 0.0)
        largest = max(largest, row[a])
    total = 0.0
    for a in range(len(row)):
        # Relative to the largest entry, which changes no policy, so that no power overflows.
        row[a] = (row[a] / largest) ** VAD_POWER if largest > 0.0 else 1.0
        total += row[a]
    for a in range(len(row)):
        row[a] /= total


FOUND_BY_SEARCH = Guarantee(exact_open="found by a search over code; no theorem")


@update_rule(
    "vad_cfr",
    source=f"{LI_2026}, appendix, listing 5",
    bounds={"horizon": (2, 10**12), "payoff_range": (0.0, 1e12)},
    guarantee=FOUND_BY_SEARCH,
    aliases=("VAD-CFR", "volatility-adaptive discounted CFR"),
)
def vad_cfr(horizon: int = 1000, payoff_range: float = 4.0) -> UpdateRule:
    """Volatility-adaptive discounted CFR: R <- max(D R + r, -20); policy in proportion to max(D' R + o r, 0)^1.5.

    Here r stands for the instantaneous regret, times 1.1 where it is positive. m is the largest absolute instantaneous
    regret at an infoset, without that factor; E is its running mean, E <- 0.1 m + 0.9 E; and v = min(1, E/2). With d as
    in dcfr, D = d(t, 1.5 - v/2) where R >= 0, else d(t, -0.1 - v/2). D' is the same with the new R, and
    o = (1 - v/2) / (1 + 10 (t - 1) / horizon). The average begins after half the horizon, and is the newest policy
    until then, so set horizon to the run's number of iterations. The weights of the average are
    t^g (1 + m/2)^0.5 / (1 + m^1.5), with g = 2 + 1.5 min(1, m/2) and the newest m. All regrets, and so the constants,
    are in units in which the game's payoffs have the range payoff_range; payoff_range=0 stands for the game's own
    units, as published. The source shares one E among all infosets; here, each infoset has its own.
    """
    return UpdateRule(
        average_decay=late_decay(2.0, horizon // 2),
        reweight=discount_by_volatility,
        policy_map=match_volatile_regrets,
        parameters=(lambda t: t, lambda t: horizon / 10.0, lambda t: payoff_range),
        arrays=("boosted_regret", "volatility", "policy_weight"),
        average_weight="policy_weight",
        exact_only=True,
        symmetric=True,
    )


# Column of AOD-CFR's table.
TREND = 0  # running mean of R


def weigh_by_signs(instant_regret, mass, state, parameters, utility_range, regret):  # type: ignore[no-untyped-def]
    """Multiply r by a weight that depends on the signs of R and r, and add R to the running mean of R."""
    for a in range(len(instant_regret)):
        # The running mean takes in R as it was before this iteration.
        state[a, TREND] = 0.1 * regret[a] + 0.9 * state[a, TREND]
        weight = 1.0
        if regret[a] > 0.0 and instant_regret[a] > 0.0:
            weight = 1.1
        elif regret[a] > 0.0 and instant_regret[a] < 0.0:
            weight = 0.9
        elif regret[a] < 0.0 and instant_regret[a] > 0.0:
            weight = 0.7
        elif regret[a] < 0.0 and instant_regret[a] < 0.0:
            weight = 1.2
        instant_regret[a] *= weight


def match_trend(row, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set the policy proportional to max(R + (R - S) / 2, 0)^2, where S is the running mean of R."""
    largest = 0.0
    for a in range(len(row)):
        row[a] = max(1.5 * row[a] - 0.5 * state[a, TREND], 0.0)
        largest = max(largest, row[a])
    total = 0.0
    for a in range(len(row)):
        # Relative to the largest entry, which changes no policy, so that no square overflows.
        row[a] = (row[a] / largest) ** 2 if largest > 0.0 else 1.0
        total += row[a]
    for a in range(len(row)):
        row[a] /= total


def _moving_discount(first: float, last: float, horizon: int) -> Schedule:
    """Return the schedule t^e / (t^e + 1), whose exponent e moves linearly from ``first`` to ``last``.

    e moves during the first half of the horizon, and then stays constant. The published rule has t here, where
    ``scheduled_discount`` has t - 1.
    """
    exponent = linear_ramp(first, last, horizon // 2)
    return lambda t: 1.0 / (1.0 + t ** -exponent(t))


def _compounded_decay(horizon: int) -> Schedule:
    """Return the ``average_decay`` that is equivalent to the published S <- d(t, g) S + t^g policy.

    S is the policy sum; here it is divided by t^g, so that the newest policy has weight 1. g moves linearly from 1 to 5
    in the first half of the horizon.
    """
    gamma = linear_ramp(1.0, 5.0, horizon // 2)
    kept = _moving_discount(1.0, 5.0, horizon)

    def schedule(t: np.ndarray) -> np.ndarray:
        # With d = kept(t) and h = g of t - 1, S / t^g keeps the share d (t-1)^h / t^g of its last value.
        before = np.maximum(t - 1.0, 1.0)
        log_ratio = gamma(before) * np.log(before) - gamma(t) * np.log(t)
        return np.where(t > 1, kept(t) * np.exp(log_ratio), 0.0)

    return schedule


@update_rule(
    "aod_cfr",
    source=f"{LI_2026}, appendix, listing 7",
    bounds={"horizon": (2, 10**12)},
    guarantee=FOUND_BY_SEARCH,
    aliases=("AOD-CFR", "asymmetric optimistic discounted CFR"),
)
def aod_cfr(horizon: int = 1000) -> UpdateRule:
    """Asymmetric optimistic discounted CFR: R <- D R + c r; policy in proportion to max(R + (R - S) / 2, 0)^2.

    S is a running mean of R: in each iteration, S <- 0.1 R + 0.9 S before R changes. p moves linearly from 0 to 1 in
    the first half of the horizon. With d as in dcfr, D is d(t, 1 + 1.5 p) where R > 0, else d(t, (1 - p) / 2). c is 1.1
    where R > 0 and r > 0, 0.9 where R > 0 > r, 0.7 where R < 0 < r, 1.2 where both are negative, else 1. The policy sum
    is multiplied by d(t, 1 + 4 p) before the policy is added with the weight t^(1 + 4 p).
    """
    return UpdateRule(
        positive_discount=_moving_discount(1.0, 2.5, horizon),
        negative_discount=_moving_discount(0.5, 0.0, horizon),
        average_decay=_compounded_decay(horizon),
        reweight=weigh_by_signs,
        policy_map=match_trend,
        arrays=("trend",),
        exact_only=True,
        symmetric=True,
    )
