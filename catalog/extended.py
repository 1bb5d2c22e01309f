"""Update rules and samplers beyond the paper's catalog, written with only the public interface."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from rlccfr.catalog.samplers import UNBIASED
from rlccfr.catalog.sources import (
    FARINA_2021,
    FREUND_1999,
    LANCTOT_2009,
    LI_ICLR_2020,
    MEYER_2021,
    RLCCFR,
    XU_IJCAI_2024,
    ZHANG_2024,
)
from rlccfr.catalog.update_rules import UNDER_SAMPLING, decay, discount, proved
from rlccfr.components import UNIT, Guarantee, Sampler, Schedule, UpdateRule
from rlccfr.errors import ComponentError
from rlccfr.registry import sampler, update_rule

_EXPLORATION = {"exploration": (0.05, 1.0)}
_HORIZON = {"horizon": (1, 10**12)}  # schedules divide by it
_SEARCHED = Guarantee(exact_open="schedules found by search; no theorem", sampled_open=UNDER_SAMPLING)


@update_rule(
    "pcfr_plus",
    source=f"{FARINA_2021}, section 5 (PCFR+)",
    guarantee=proved("Farina et al. 2021"),
    aliases=("PCFR+", "predictive CFR+"),
)
def pcfr_plus(gamma: float = 2.0) -> UpdateRule:
    """Predictive CFR+: R <- max(R + r, 0); policy in proportion to max(R + r, 0), where r counts again.

    Average weights t^gamma; in the source, t^2. With samplers, r is an estimate, so that the prediction is noisy.
    """
    return UpdateRule(floor=0.0, average_decay=decay(gamma), prediction=UNIT)


@update_rule(
    "pdcfr_plus",
    source=f"{XU_IJCAI_2024}, (11)",
    guarantee=proved("Xu et al., IJCAI 2024, by weighted regrets"),
    aliases=("PDCFR+", "predictive discounted CFR+"),
)
def pdcfr_plus(alpha: float = 2.3, gamma: float = 5.0) -> UpdateRule:
    """Predictive discounted CFR+: R <- max(D R + r, 0); policy in proportion to max(D' R + r, 0).

    D = d(t-1, alpha) and D' = d(t, alpha) with d as in dcfr; average weights t^gamma.
    """
    return UpdateRule(positive_discount=discount(alpha), floor=0.0, average_decay=decay(gamma), prediction=UNIT)


def linear_ramp(first: float, last: float, horizon: int) -> Schedule:
    """Return the schedule that moves linearly from ``first`` to ``last`` over the horizon, and then stays constant."""
    return lambda t: first + (last - first) * np.minimum((t - 1.0) / horizon, 1.0)


def scheduled_decay(gamma: Schedule) -> Schedule:
    """Return the schedule ((t-1)/t)^gamma(t)."""
    return lambda t: ((t - 1.0) / t) ** gamma(t)


def scheduled_discount(exponent: Schedule) -> Schedule:
    """Return the schedule (t-1)^e / ((t-1)^e + 1) with e = exponent(t); 0 at t = 1."""
    return lambda t: np.where(t > 1, 1.0 / (1.0 + np.maximum(t - 1.0, 1.0) ** -exponent(t)), 0.0)


@update_rule(
    "hs_pcfr_plus",
    source=f"{ZHANG_2024}, section 4 (HS-PCFR+(30))",
    bounds=_HORIZON,
    guarantee=_SEARCHED,
    aliases=("HS-PCFR+",),
)
def hs_pcfr_plus(gamma: float = 30.0, horizon: int = 1000) -> UpdateRule:
    """PCFR+ whose decay of the average, ((t-1)/t)^g, has an exponent g that falls from gamma by 5 over the horizon."""
    weights = scheduled_decay(linear_ramp(gamma, gamma - 5.0, horizon))
    return UpdateRule(floor=0.0, average_decay=weights, prediction=UNIT)


@update_rule(
    "hs_dcfr",
    source=f"{ZHANG_2024}, section 4 (HS-DCFR(30))",
    bounds=_HORIZON,
    guarantee=_SEARCHED,
    aliases=("HS-DCFR",),
)
def hs_dcfr(gamma: float = 30.0, horizon: int = 1000) -> UpdateRule:
    """DCFR whose exponents move linearly over the horizon: alpha from 1 to 4, beta from -1 to -3, gamma down by 5."""
    return UpdateRule(
        positive_discount=scheduled_discount(linear_ramp(1.0, 4.0, horizon)),
        negative_discount=scheduled_discount(linear_ramp(-1.0, -3.0, horizon)),
        average_decay=scheduled_decay(linear_ramp(gamma, gamma - 5.0, horizon)),
    )


def weigh_exponentially(row, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set the policy proportional to exp(eta R), with eta = scale sqrt(8 ln A / t) / utility range for A actions."""
    best = row[0]  # the largest R, which is subtracted so that no exponential overflows
    for a in range(len(row)):
        best = max(best, row[a])
    rate = parameters[0] * sqrt(8.0 * log(len(row)) / parameters[1]) / utility_range
    total = 0.0
    for a in range(len(row)):
        row[a] = exp(rate * (row[a] - best))
        total += row[a]
    for a in range(len(row)):
        row[a] /= total


@update_rule(
    "hedge",
    source=f"{FREUND_1999}; rate by Cesa-Bianchi and Lugosi, Prediction, learning and games, 2006, section 2.3",
    guarantee=proved("Cesa-Bianchi and Lugosi 2006, section 2.3, at every infoset"),
    aliases=("multiplicative weights", "CFR-Hedge"),
)
def hedge(scale: float = 1.0) -> UpdateRule:
    """Hedge at every infoset: policy in proportion to exp(eta R), eta = scale sqrt(8 ln A / t) / payoff range.

    With samplers, an infoset keeps the rate of its last visit.
    """
    return UpdateRule(policy_map=weigh_exponentially, parameters=(lambda t: scale, lambda t: t), symmetric=True)


@sampler(
    "robust_k", source=f"{LI_ICLR_2020}, section 4 (robust sampling)", guarantee=UNBIASED, aliases=("robust sampling",)
)
def robust_k(k: int = 1) -> Sampler:
    """A uniformly drawn subset of k of the traverser's actions at each infoset; otherwise as external sampling.

    At an infoset with at most k actions, all of them are visited.
    """
    if k < 1:
        raise ComponentError(f"k must be at least 1, not {k!r}")
    return Sampler(traverser="subset", subset_size=k)


def all_by_schedule(policy, count, visits, parameters):  # type: ignore[no-untyped-def]
    """Return the scheduled probability of external sampling, which is the same at every infoset."""
    return parameters[0]


def linear_share(horizon: int) -> Schedule:
    """Return the schedule max(1 - t/T, 0) of the share of external walks; T is the horizon, and t counts from 0."""
    return lambda t: np.maximum(1.0 - (t - 1.0) / horizon, 0.0)


def halving_share(half_life: float) -> Schedule:
    """Return the schedule 2^(-t/H) of the share of external walks; H is the half-life, and t counts from 0."""
    return lambda t: 2.0 ** (-(t - 1.0) / half_life)


def _mixed(share: Schedule, exploration: float, per_node: bool) -> Sampler:
    """Return a mix of external and outcome sampling, in which ``share`` is the probability of external sampling."""
    return Sampler(
        traverser="one",
        exploration=exploration,
        mixture=all_by_schedule,
        one_draw=not per_node,
        parameters=(share,),
    )


@sampler(
    "mixed_linear",
    source=f"{MEYER_2021}, sections 5.1 and 5.2",
    bounds={**_EXPLORATION, **_HORIZON},
    guarantee=UNBIASED,
)
def mixed_linear(exploration: float = 0.6, horizon: int = 1000, per_node: bool = False) -> Sampler:
    """External sampling with probability 1 - t/T, else outcome sampling.

    The choice between the two is drawn once per walk or, with per_node, at every node. T is the horizon, and t counts
    from 0. In the source, outcome sampling is on-policy (exploration 0): actions of probability 0 are never sampled
    again, which biases the estimates. Here, the least exploration is 0.05.
    """
    return _mixed(linear_share(horizon), exploration, per_node)


@sampler(
    "mixed_exponential",
    source=f"{MEYER_2021}, section 5.2",
    bounds={**_EXPLORATION, "half_life": (1e-3, 1e12)},
    guarantee=UNBIASED,
)
def mixed_exponential(exploration: float = 0.6, half_life: float = 16.0, per_node: bool = False) -> Sampler:
    """External sampling with probability 2^(-t/H), else outcome sampling.

    The choice between the two is drawn once per walk or, with per_node, at every node. H is half_life, and t counts
    from 0. Differs from the source in exploration, as mixed_linear does.
    """
    return _mixed(halving_share(half_life), exploration, per_node)


@sampler(
    "mixed_internal",
    source=f"{RLCCFR}, algorithm 1 (its share rho); external sampling: {LANCTOT_2009}, section 3.2",
    bounds={**_EXPLORATION, "rho": (0.0, 1.0)},
    guarantee=UNBIASED,
)
def mixed_internal(rho: float = 0.5, exploration: float = 0.6) -> Sampler:
    """External sampling with probability rho, else internal sampling; drawn once per walk.

    Internal sampling is interpreted as the opposite of external sampling: one of the traverser's actions, drawn from
    exploration x uniform + (1 - exploration) x policy; all actions of the opponent, and all chance outcomes. rho=1 is
    external sampling.
    """
    return Sampler(internal_share=1.0 - rho, exploration=exploration)


def all_by_locus(policy, count, visits, parameters):  # type: ignore[no-untyped-def]
    """Return the probability of external sampling: 1 - P(c < largest average probability) P(confident).

    The cut-off c has the distribution Beta(60, 10), whose distribution function is a binomial sum, since the parameters
    are whole: I_x(60, 10) = sum over j >= 60 of C(69, j) x^j (1-x)^(69-j). P(confident) is 1 at an infoset with more
    visits than the second parameter; at other infosets it is the first parameter, a value of :func:`confidence`.
    """
    total = 0.0
    largest = 0.0
    for a in range(len(count)):
        total += count[a]
        largest = max(largest, count[a])
    if total <= 0.0:
        return 1.0
    x = largest / total
    # The binomial sum, from its last term, x^69, down to j = 60.
    below = 0.0
    term = x**69
    for j in range(69, 59, -1):
        below += term
        if x > 0.0:
            term *= (1.0 - x) / x * j / (70.0 - j)
    confident = 1.0 if visits > parameters[1] else parameters[0]
    return 1.0 - below * confident


def confidence(horizon: int, half_life: float) -> Schedule:
    """Return the schedule 1 - 2^(-t/H) until t = T/2, and 1 after that.

    T is the horizon, H is the half-life, and t counts from 0.
    """
    return lambda t: np.where(t - 1.0 > horizon / 2, 1.0, 1.0 - 2.0 ** (-(t - 1.0) / half_life))


@sampler(
    "mixed_locus",
    source=f"{MEYER_2021}, section 5.3",
    bounds={**_EXPLORATION, "half_life": (1e-3, 1e12)},
    guarantee=UNBIASED,
)
def mixed_locus(
    exploration: float = 0.6, horizon: int = 1000, half_life: float = 16.0, visits: float = 100.0
) -> Sampler:
    """Outcome sampling where the average policy is nearly pure and well known, external sampling elsewhere.

    The average policy is nearly pure if its largest probability exceeds a cut-off drawn from Beta(60, 10). It counts as
    well known by any of three criteria: after half the horizon; with probability 1 - 2^(-t/H), where H is half_life and
    t counts from 0; or at an infoset with more than ``visits`` visits. Differs from the source in three points: the
    source tries each criterion alone, makes the random draw of the second once per iteration (here at every node), and
    has on-policy outcome sampling, as in mixed_linear.
    """
    return Sampler(
        traverser="one",
        exploration=exploration,
        mixture=all_by_locus,
        parameters=(confidence(horizon, half_life), visits),
    )
