"""Rules that keep regrets away from 0, where small changes of regrets cause large changes of policies.

A policy is in proportion to regrets, so the nearer the regrets R of an infoset are to 0, the further the next
instantaneous regrets r move the policy. These rules predict r, and bound from below the largest R of an infoset
(stable_pcfr_plus) or the sum of its R over actions (the other rules). By default, the bound is relative to the range of
payoffs. The published rules multiply all r by a step size eta, and have the bound 1. Only the ratio of the two matters,
so here the bound is 1 / eta, and r is not multiplied.
"""

from __future__ import annotations

import numpy as np

from rlccfr.catalog.sources import FARINA_2023
from rlccfr.catalog.update_rules import decay, proved
from rlccfr.components import UNIT, Schedule, UpdateRule, always
from rlccfr.registry import update_rule

# Places in the parameters. The bound is the sum of a multiple of the payoff range and a number in the game's units.
BOUND_IN_RANGES = 0
BOUND_IN_UNITS = 1
# Rules that project have two more parameters: the factors of r in the step of R, and in the prediction of the next r.
STEP = 2
PREDICTION = 3

# Columns of the tables.
INSTANT_REGRET = 0  # r of the newest iteration, which predicts the next one; 0 where nothing is predicted
POLICY_WEIGHT = 1  # 1 if the next policy follows from a prediction, else 0; only in the extragradient rule

_STEPS = {"step_size": (1e-9, 1e9), "payoff_range": (0.0, 1e12)}
_NO_REGRET_AT_INFOSETS = proved("Farina et al. 2023, at every infoset")


def bound_of_regrets(step_size: float, payoff_range: float) -> tuple[Schedule, Schedule]:
    """Return the schedules of the two parts of the bound 1 / step_size: one in payoff ranges, one in the game's units.

    One of the two parts is 0.

    Args:
        payoff_range: the bound is in units in which payoffs have this range; 0 for the game's own units.
    """
    if payoff_range == 0.0:
        return always(0.0), always(1.0 / step_size)
    return always(1.0 / (step_size * payoff_range)), always(0.0)


def restart_low_regrets(instant_regret, mass, state, parameters, utility_range, regret):  # type: ignore[no-untyped-def]
    """Change r so that R plus the new r is the next R.

    The next R is max(R + r, 0) with the old r. If no action's value exceeds the bound, it is the bound for all actions.
    """
    bound = parameters[BOUND_IN_RANGES] * utility_range + parameters[BOUND_IN_UNITS]
    largest = regret[0]
    for a in range(len(regret)):
        largest = max(largest, regret[a])
    begins = largest <= 0.0  # before the first iteration, all regrets are 0; the rule begins with the bound
    largest = 0.0
    for a in range(len(regret)):
        start = bound if begins else regret[a]
        state[a, INSTANT_REGRET] = instant_regret[a]
        instant_regret[a] = max(start + instant_regret[a], 0.0)
        largest = max(largest, instant_regret[a])
    for a in range(len(regret)):
        if largest <= bound:
            instant_regret[a] = bound
            state[a, INSTANT_REGRET] = 0.0  # after a restart, nothing is predicted
        instant_regret[a] -= regret[a]


def match_prediction(row, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set the policy proportional to max(R + r, 0)."""
    total = 0.0
    for a in range(len(row)):
        row[a] = max(row[a] + state[a, INSTANT_REGRET], 0.0)
        total += row[a]
    for a in range(len(row)):
        row[a] = row[a] / total if total > 0.0 else 1.0 / len(row)


@update_rule(
    "stable_pcfr_plus",
    source=f"{FARINA_2023}, algorithm 1",
    bounds=_STEPS,
    guarantee=_NO_REGRET_AT_INFOSETS,
    aliases=("stable PCFR+", "stable predictive CFR+", "stable predictive RM+"),
)
def stable_pcfr_plus(gamma: float = 2.0, step_size: float = 300.0, payoff_range: float = 1.0) -> UpdateRule:
    """PCFR+ with restarts: R <- max(R + r, 0); policy in proportion to max(R + r, 0), where r counts again.

    If no regret of an infoset exceeds the bound 1 / step_size, all of its regrets are set to the bound, and the next
    policy is uniform. A run begins with such regrets. Average weights t^gamma. The bound is in units in which the
    game's payoffs have the range payoff_range; payoff_range=0 stands for the game's own units, as published, and the
    step size must then suit the game. The default step size was chosen for this library, on Kuhn, Leduc, Goofspiel and
    Liar's dice with four faces.
    """
    return UpdateRule(
        floor=0.0,
        average_decay=decay(gamma),
        reweight=restart_low_regrets,
        policy_map=match_prediction,
        parameters=bound_of_regrets(step_size, payoff_range),
        arrays=("instant_regret",),
        exact_only=True,
        symmetric=True,
    )


# The next two functions project onto the non-negative vectors whose entries sum to at least the bound. A plain function
# can't call another one, so the projection is written out in both. It adds one number, the lift, to all entries and
# then sets negative entries to 0. The lift is found iteratively: the entries that stay positive must sum to the bound.


def project_regrets(instant_regret, mass, state, parameters, utility_range, regret):  # type: ignore[no-untyped-def]
    """Change r so that R plus the new r is the next R: P(R + step r), with P as in :func:`smooth_pcfr_plus`.

    step is a parameter; it is 0 in the probes of :func:`extragradient_cfr_plus`, else 1.
    """
    bound = parameters[BOUND_IN_RANGES] * utility_range + parameters[BOUND_IN_UNITS]
    actions = len(regret)
    past = 0.0
    for a in range(actions):
        past += max(regret[a], 0.0)
    start = 0.0 if past > 0.0 else bound / actions  # before the first iteration, all regrets are 0
    total = 0.0
    lowest = 0.0
    for a in range(actions):
        state[a, INSTANT_REGRET] = parameters[PREDICTION] * instant_regret[a]
        # Only extragradient_cfr_plus has this column: it averages only policies that follow from a probe.
        if len(state[a]) > POLICY_WEIGHT:
            state[a, POLICY_WEIGHT] = parameters[PREDICTION]
        instant_regret[a] = regret[a] + start + parameters[STEP] * instant_regret[a]
        total += max(instant_regret[a], 0.0)
        lowest = min(lowest, instant_regret[a])
    lift = 0.0
    if total < bound:
        lift = bound - lowest  # at first, all entries stay positive
        for _ in range(actions):
            lifted = 0.0
            count = 0
            for a in range(actions):
                if instant_regret[a] + lift > 0.0:
                    lifted += instant_regret[a]
                    count += 1
            lift = (bound - lifted) / count
    for a in range(actions):
        instant_regret[a] = max(instant_regret[a] + lift, 0.0) - regret[a]


def match_projection(row, state, parameters, utility_range):  # type: ignore[no-untyped-def]
    """Set the policy proportional to P(R + r), with P as in :func:`smooth_pcfr_plus`; r counts again."""
    bound = parameters[BOUND_IN_RANGES] * utility_range + parameters[BOUND_IN_UNITS]
    actions = len(row)
    total = 0.0
    lowest = 0.0
    for a in range(actions):
        row[a] += state[a, INSTANT_REGRET]
        total += max(row[a], 0.0)
        lowest = min(lowest, row[a])
    lift = 0.0
    if total < bound:
        lift = bound - lowest
        # A round leaves out the entries that the last lift makes negative, so as many rounds as actions are enough.
        for _ in range(actions):
            lifted = 0.0
            count = 0
            for a in range(actions):
                if row[a] + lift > 0.0:
                    lifted += row[a]
                    count += 1
            lift = (bound - lifted) / count
    total = 0.0
    for a in range(actions):
        row[a] = max(row[a] + lift, 0.0)
        total += row[a]
    for a in range(actions):
        row[a] /= total


@update_rule(
    "smooth_pcfr_plus",
    source=f"{FARINA_2023}, algorithm 2",
    bounds=_STEPS,
    guarantee=_NO_REGRET_AT_INFOSETS,
    aliases=("smooth PCFR+", "smooth predictive CFR+", "smooth predictive RM+"),
)
def smooth_pcfr_plus(gamma: float = 2.0, step_size: float = 300.0, payoff_range: float = 1.0) -> UpdateRule:
    """PCFR+ with a least sum of regrets: R <- P(R + r); policy in proportion to P(R + r), where r counts again.

    P projects onto the non-negative vectors whose entries sum to at least 1 / step_size: if the positive entries have a
    smaller sum, P adds the same number to all entries before it sets negative entries to 0. A run begins with
    equal regrets that sum to 1 / step_size. Average weights t^gamma. step_size and payoff_range are as in
    stable_pcfr_plus, and payoff_range=0 is the published form.
    """
    return UpdateRule(
        floor=0.0,
        average_decay=decay(gamma),
        reweight=project_regrets,
        policy_map=match_projection,
        parameters=(*bound_of_regrets(step_size, payoff_range), UNIT, UNIT),
        arrays=("instant_regret",),
        exact_only=True,
        symmetric=True,
    )


def in_probes(t: np.ndarray) -> np.ndarray:
    """Return 1 for the first iteration of each extragradient step, which is the probe, and 0 for the second."""
    return t % 2.0


def after_probes(t: np.ndarray) -> np.ndarray:
    """Return 0 for the first iteration of each extragradient step, which is the probe, and 1 for the second."""
    return 1.0 - t % 2.0


def decay_by_steps(gamma: float) -> Schedule:
    """Return the decay that gives the k-th step, iterations 2k - 1 and 2k, the weight k^gamma."""
    return lambda t: np.where(t % 2 == 0, ((t - 2.0) / t) ** gamma, 1.0)


@update_rule(
    "extragradient_cfr_plus",
    source=f"{FARINA_2023}, algorithm 5",
    bounds=_STEPS,
    guarantee=_NO_REGRET_AT_INFOSETS,
    aliases=("extragradient CFR+", "extragradient RM+", "ExRM+"),
)
def extragradient_cfr_plus(gamma: float = 2.0, step_size: float = 300.0, payoff_range: float = 1.0) -> UpdateRule:
    """CFR+ by extragradient steps: a probe W = P(R + r), then R <- P(R + r') with the regrets r' of W's policy.

    A step takes two iterations, each of which costs as much as an iteration of another rule. In the first, the probe,
    the policy in proportion to R is played, and R stays the same. In the second, the policy in proportion to W is
    played. Only the policies in proportion to W are averaged, with the weight k^gamma in the k-th step. Both players
    are updated against the same policies. P, step_size and payoff_range are as in smooth_pcfr_plus, and payoff_range=0
    is the published form.
    """
    return UpdateRule(
        floor=0.0,
        average_decay=decay_by_steps(gamma),
        reweight=project_regrets,
        policy_map=match_projection,
        parameters=(*bound_of_regrets(step_size, payoff_range), after_probes, in_probes),
        arrays=("instant_regret", "policy_weight"),
        average_weight="policy_weight",
        exact_only=True,
        symmetric=True,
        simultaneous=True,
    )
