"""Update rules whose last policy converges, so that no average is needed."""

from __future__ import annotations

import numpy as np

from rlccfr.catalog.sources import MENG_NEURIPS_2025
from rlccfr.catalog.update_rules import UNDER_SAMPLING
from rlccfr.components import ZERO, Guarantee, UpdateRule
from rlccfr.registry import update_rule

# Columns of RTCFR+'s tables.
REFERENCE_REACH = 0  # the player's own reach of the action under the reference policy
HAS_REFERENCE = 1  # 1 once there is a reference policy

# Places in RTCFR+'s parameters.
RENEWAL = 0  # 1 in iterations whose policy becomes the reference, else 0
REGULARISATION = 1  # mu
PAYOFF_RANGE = 2  # mu is in units in which payoffs have this range; 0 for the game's own units
PERTURBATION = 3  # gamma of the iteration that plays the policy


def regularise_towards_reference(values, policy, reach, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Subtract mu (x - x') from each action's value, and return the mean value under the unperturbed policy s.

    x is the player's own reach of the action, and x' the player's reach under the reference policy.
    """
    mu = parameters[REGULARISATION]
    if parameters[PAYOFF_RANGE] > 0.0:
        mu *= utility_range / parameters[PAYOFF_RANGE]
    gamma = parameters[PERTURBATION]
    # The policy played is (1 - gamma A) s + gamma. The mean below is under s, which is found from this.
    unperturbed_share = 1.0 - gamma * len(values)
    value = 0.0
    for a in range(len(values)):
        # Without a reference yet, the policy that is played becomes it; at a run's start, it is uniform.
        if parameters[RENEWAL] > 0.0 or state[a, HAS_REFERENCE] == 0.0:
            state[a, REFERENCE_REACH] = reach[a]
            state[a, HAS_REFERENCE] = 1.0
        values[a] -= mu * (reach[a] - state[a, REFERENCE_REACH])
        value += (policy[a] - gamma) / unperturbed_share * values[a]
    return value


def match_perturbed(row, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set the policy to (1 - gamma A) s + gamma, where s is in proportion to R and A is the number of actions."""
    gamma = parameters[PERTURBATION]
    total = 0.0
    for a in range(len(row)):
        row[a] = max(row[a], 0.0)
        total += row[a]
    for a in range(len(row)):
        share = row[a] / total if total > 0.0 else 1.0 / len(row)
        row[a] = (1.0 - gamma * len(row)) * share + gamma


@update_rule(
    "rtcfr_plus",
    source=f"{MENG_NEURIPS_2025} (RTCFR+), and its code",
    bounds={"mu": (0.0, 1e12), "gamma": (0.0, 1e-4), "period": (1, 10**12), "payoff_range": (0.0, 1e12)},
    guarantee=Guarantee(exact="Meng et al., NeurIPS 2025, of the last policy", sampled_open=UNDER_SAMPLING),
    aliases=("RTCFR+", "reward transformation CFR+"),
)
def rtcfr_plus(mu: float = 1e-3, gamma: float = 1e-10, period: int = 100, payoff_range: float = 0.0) -> UpdateRule:
    """Reward transformation CFR+: R <- max(R + g - <g, s>, 0); s in proportion to R; the last policy is the result.

    The policy (1 - gamma A) s + gamma is played, where A is the number of actions. g is an action's counterfactual
    value, less mu (x - x'): x is the player's own reach of the action, and x' the player's reach under a reference
    policy. The value <g, s> of the infoset is passed up. The reference policy is uniform at first; every ``period``
    iterations, the policy that is played becomes the reference policy, and gamma is halved. If payoff_range is 0, mu is
    in the game's own units, as published; otherwise, in units in which the game's payoffs have the range payoff_range.
    """
    return UpdateRule(
        floor=0.0,
        average_decay=ZERO,
        regularise=regularise_towards_reference,
        policy_map=match_perturbed,
        parameters=(
            lambda t: np.where(t % period == 0, 1.0, 0.0),
            lambda t: mu,
            lambda t: payoff_range,
            lambda t: gamma * 0.5 ** ((t - 1) // period),
        ),
        arrays=("reference_reach", "has_reference"),
        exact_only=True,
        symmetric=True,
        output="current",
    )
