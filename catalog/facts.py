"""What is known of each algorithm: its guarantee, and what it takes."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rlccfr.catalog.catalog import Cell
from rlccfr.components import Abstraction, Sampler
from rlccfr.registry import abstractions, samplers, update_rules

Guarantee = Literal["deterministic", "high probability", "conditional on fit", "none"]

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

SEARCHED = dict.fromkeys(("hs_pcfr_plus", "hs_dcfr"), "schedules found by search; no theorem")


class Facts(NamedTuple):
    """Of one algorithm.

    Attributes:
        guarantee: that the average policy's exploitability goes to 0, as published; conditional on fit: up to what the
            models' errors cost.
        reason: the theorem, or why there is none.
        deterministic: no random draw, whatever the game.
        cost: of an iteration: ``"tree"``, all histories; ``"walk"``, some of them; and what comes on top,
            ``"walk + best responses"``, ``"tree + fit"`` ...
        needs: packages besides NumPy and Numba that it runs on; all of them come with the installation.
    """

    guarantee: Guarantee
    reason: str
    deterministic: bool
    cost: str
    needs: tuple[str, ...]


def facts(cell: Cell | tuple[str, str, str]) -> Facts:
    """What is known of a triple of ids, with the default hyperparameters.

    Raises:
        ComponentError: an unknown id.
    """
    cell = Cell(*cell)
    rule, sampler = update_rules[cell.update_rule].make(), samplers[cell.sampler].make()
    abstraction = abstractions[cell.abstraction].make()
    learns = rule.learns or abstraction.learns
    cost = ("tree" if sampler.exact else "walk") + " + best responses" * abstraction.best_response + " + fit" * learns
    if rule.learns:
        guarantee = _deep(rule.id, sampler, abstraction)
    elif abstraction.learns:
        guarantee = _regression(rule.id, sampler)
    else:
        guarantee = _tabular(rule.id, sampler, abstraction.best_response)
    return Facts(*guarantee, sampler.exact and not learns, cost, ("torch",) * learns)


def _deep(rule: str, sampler: Sampler, abstraction: Abstraction) -> tuple[Guarantee, str]:
    """A regressor is but the form of a deep rule's networks."""
    if rule == "deep_cfr" and sampler.id == "external" and not abstraction.best_response:
        return "conditional on fit", "Brown et al. 2019 (Deep CFR), theorem 1"
    tabular = rule.removeprefix("deep_")
    known, reason = _tabular(tabular, sampler, abstraction.best_response)
    return "none" if known == "none" else "conditional on fit", f"with an exact fit it is {tabular}: {reason}"


def _regression(rule: str, sampler: Sampler) -> tuple[Guarantee, str]:
    if not sampler.exact:
        return "none", "fits of sampled regrets: no published theorem"
    known, reason = _tabular(rule, sampler, False)
    if known == "none":
        return "none", reason
    return "conditional on fit", f"{reason}; with fits, Waugh et al. 2015 and Morrill 2016"


def _tabular(rule: str, sampler: Sampler, responds: bool) -> tuple[Guarantee, str]:
    if sampler.exact:
        if rule in PROVED:
            against = "; with best responses, Johanson et al. 2012" * responds
            return "deterministic", PROVED[rule] + against
        if rule.startswith("ecfr"):
            return "none", "O(1/sqrt T) by this library's own derivation only"
        return "none", SEARCHED.get(rule, "no theorem on record")
    if rule == "cfr" and not responds:
        return "high probability", "Lanctot et al. 2009, for unbiased bounded estimates"
    if rule not in {*PROVED, *SEARCHED} and not rule.startswith("ecfr"):
        return "none", "no theorem on record"
    if responds:
        return "none", "sampled regrets against best responses: no published theorem"
    return "none", "floors and discounts under sampling: by this library's own derivation only"
