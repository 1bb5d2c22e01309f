"""What is known of each algorithm: its guarantee, and what it takes."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rlccfr.catalog.catalog import Cell
from rlccfr.components import Sampler
from rlccfr.registry import abstractions, samplers, update_rules

Guarantee = Literal["deterministic", "high probability", "none"]

PROVED = {
    "cfr": "Zinkevich et al. 2007",
    "cfr_plus": "Brown and Sandholm 2019, theorem 1, for any non-decreasing average weights",
    "lcfr": "Brown and Sandholm 2019: at most 2/sqrt 3 of CFR's bound",
    "lcfr_plus": "Brown and Sandholm 2019, as linear CFR",
    "dcfr": "Brown and Sandholm 2019",
    "dcfr_plus": "Xu et al. 2024, by weighted regrets",
    "pcfr_plus": "Farina et al. 2021",
    "pdcfr_plus": "Xu et al. 2024, by weighted regrets",
    "hedge": "Cesa-Bianchi and Lugosi 2006, section 2.3, at every infoset",
}
"""Update rules whose exact passes converge by a published theorem."""


class Facts(NamedTuple):
    """Of one algorithm.

    Attributes:
        guarantee: that the average policy's exploitability goes to 0, as published.
        reason: the theorem, or why there is none.
        deterministic: no random draw, whatever the game.
        cost: of an iteration: ``"tree"``, all histories; ``"walk"``, some of them; ``"walk + best responses"`` ...
    """

    guarantee: Guarantee
    reason: str
    deterministic: bool
    cost: str


def facts(cell: Cell) -> Facts:
    """What is known of a triple of the default hyperparameters.

    Raises:
        ComponentError: an unknown id.
    """
    rule, sampler = update_rules[cell.update_rule].make(), samplers[cell.sampler].make()
    responds = abstractions[cell.abstraction].make().best_response
    cost = ("tree" if sampler.exact else "walk") + " + best responses" * responds
    return Facts(*_guarantee(rule.id, sampler, responds), sampler.exact, cost)


def _guarantee(rule: str, sampler: Sampler, responds: bool) -> tuple[Guarantee, str]:
    if sampler.exact:
        if rule in PROVED:
            against = "; with best responses, Johanson et al. 2012" * responds
            return "deterministic", PROVED[rule] + against
        if rule.startswith("ecfr"):
            return "none", "O(1/sqrt T) by this library's own derivation only"
        return "none", "schedules found by search; no theorem"
    if rule == "cfr" and not responds:
        return "high probability", "Lanctot et al. 2009, for unbiased bounded estimates"
    if responds:
        return "none", "sampled regrets against best responses: no published theorem"
    return "none", "floors and discounts under sampling: by this library's own derivation only"
