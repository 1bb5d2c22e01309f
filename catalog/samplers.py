"""The samplers of the paper's catalog: which part of the tree an iteration visits."""

from __future__ import annotations

from typing import Literal

from rlccfr.catalog.sources import LANCTOT_2009
from rlccfr.components import Guarantee, Sampler
from rlccfr.registry import sampler, samplers

LEAST_SHARE = 1e-6  # of exploration: without exploration, an action of probability 0 is never sampled again
_EXPLORATION = {"exploration": (LEAST_SHARE, 1.0)}
UNBIASED = Guarantee(sampled="its estimates are unbiased and bounded")

# Lanctot et al. 2009 name the family.
for _name in ("MCCFR", "Monte Carlo CFR"):
    samplers.family(_name, "external", "outcome", "chance", "average_strategy", "public_chance")


@sampler(
    "chance",
    source=f"{LANCTOT_2009}, section 3 (chance-sampled CFR, Zinkevich et al. 2007)",
    guarantee=UNBIASED,
    aliases=("CS", "chance sampling", "CS-MCCFR", "chance-sampled CFR"),
)
def chance() -> Sampler:
    """One drawn outcome at each chance node; all actions of both players."""
    return Sampler(opponent="all")


@sampler(
    "outcome",
    source=f"{LANCTOT_2009}, section 3.1",
    bounds=_EXPLORATION,
    guarantee=UNBIASED,
    aliases=("OS", "outcome sampling", "OS-MCCFR"),
)
def outcome(exploration: float = 0.6) -> Sampler:
    """One path: the traverser draws from exploration x uniform + (1 - exploration) x policy; all else is on-policy.

    Differs from the source in that a walk adds to the average at the opponent's nodes. At the traverser's nodes,
    the weights would be unbounded, and actions of probability 0 would bias the average.
    """
    return Sampler(traverser="one", exploration=exploration)


@sampler(
    "external",
    source=f"{LANCTOT_2009}, section 3.2",
    guarantee=UNBIASED,
    aliases=("ES", "external sampling", "ES-MCCFR"),
)
def external() -> Sampler:
    """All of the traverser's actions; one drawn action or outcome at each node of the opponent and of chance."""
    return Sampler(traverser="all", opponent="one", chance="one")


@sampler(
    "probing",
    source="Gibson et al., Generalized sampling and variance in CFR, AAAI 2012, section 5",
    bounds=_EXPLORATION,
    guarantee=UNBIASED,
)
def probing(exploration: float = 0.6) -> Sampler:
    """Outcome sampling with an on-policy roll-out for each of the traverser's actions that the walk does not take."""
    return Sampler(traverser="one", exploration=exploration, probe=True)


def average_strategy_inclusion(policy, count, parameters, probability):  # type: ignore[no-untyped-def]
    """Set each action's probability to min(1, max(epsilon, (beta + tau s(a)) / (beta + sum s))), where s is ``count``.

    The parameters are epsilon, beta and tau.
    """
    total = 0.0
    for a in range(len(count)):
        total += count[a]
    for a in range(len(count)):
        share = (parameters[1] + parameters[2] * count[a]) / (parameters[1] + total)
        probability[a] = min(1.0, max(parameters[0], share))


@sampler(
    "average_strategy",
    source="Gibson et al., Efficient Monte Carlo CFR in games with many player actions, NIPS 2012, (7)",
    bounds={"epsilon": (LEAST_SHARE, 1.0)},
    guarantee=UNBIASED,
    aliases=("AS", "average strategy sampling", "AS-MCCFR"),
)
def average_strategy(epsilon: float = 0.05, beta: float = 1e6, tau: float = 1000.0) -> Sampler:
    """External sampling that draws each of the traverser's actions independently, by its share of the average policy.

    Action a is visited with probability min(1, max(epsilon, (beta + tau s(a)) / (beta + sum s))). s is the policy sum
    with equal weights of all iterations, so that the rule's own averaging does not rescale beta and tau.
    """
    return Sampler(traverser="subset", inclusion=average_strategy_inclusion, parameters=(epsilon, beta, tau))


@sampler(
    "variance_reduced",
    source="Schmid et al., Variance reduction in Monte Carlo CFR using baselines, AAAI 2019, (9)-(10)",
    bounds={**_EXPLORATION, "rate": (LEAST_SHARE, 1.0)},
    guarantee=UNBIASED,
    later=("key", "weighted"),
    aliases=("VR-MCCFR",),
)
def variance_reduced(
    exploration: float = 0.6,
    rate: float = 0.5,
    key: Literal["sequence", "history", "oracle"] = "sequence",
    weighted: bool = True,
) -> Sampler:
    """Outcome sampling with a learned baseline for every action of both players, bootstrapped.

    A baseline moves by the share ``rate`` toward the value that the action's walk returned. (Moving toward the
    importance-weighted estimate diverges.) Differs from the source in having one baseline per infoset and action.
    key="history" has the baselines of the source, one per history and action, and also one per chance outcome. With
    key="oracle", the baselines are the exact values of histories, which leave the least variance. weighted=False is an
    ablation without a regret bound: it does not divide regrets by the probability of the traverser's draws.
    """
    return Sampler(traverser="one", exploration=exploration, baseline_rate=rate, baseline=key, weighted=weighted)


@sampler(
    "none",
    source="Zinkevich et al., NIPS 2007 (vanilla traversal)",
    guarantee=Guarantee(exact="it estimates nothing"),
    aliases=("full traversal",),
)
def none() -> Sampler:
    """An exact pass over the whole tree, which draws nothing."""
    return Sampler(exact=True)
