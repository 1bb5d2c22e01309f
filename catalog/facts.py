"""Facts about each algorithm: its guarantee, its cost, and the packages that it needs."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from rlccfr.catalog.catalog import Cell
from rlccfr.components import Abstraction, Guarantee, Sampler, UpdateRule
from rlccfr.registry import Entry, abstractions, samplers, update_rules

Level = Literal["deterministic", "high probability", "conditional on fit", "none"]

NO_THEOREM: tuple[Level, str] = ("none", "no theorem on record")
"""Level and reason for an algorithm if a component's entry has no guarantee."""


class Facts(NamedTuple):
    """Facts about one algorithm.

    Attributes:
        guarantee: level of the published guarantee that the exploitability of the run's result goes to 0. ``"high
            probability"`` is the level with samplers. ``"conditional on fit"`` means that the models' errors may keep
            the exploitability above 0.
        reason: theorem, or the reason why there is none.
        deterministic: whether the algorithm draws nothing at random on any game.
        cost: cost of an iteration: ``"tree"`` (all histories) or ``"walk"`` (some histories), and what is added, as in
            ``"walk + best responses"`` or ``"tree + fit"``.
        needs: packages that the algorithm needs besides NumPy and Numba; all of them come with the installation.
    """

    guarantee: Level
    reason: str
    deterministic: bool
    cost: str
    needs: tuple[str, ...]


def facts(cell: Cell | tuple[str, str, str]) -> Facts:
    """Return the facts about an algorithm, a triple of ids; hyperparameters not set in an id have their defaults.

    The guarantee follows from the components' registry entries alone. If an entry has no guarantee, the level is
    ``"none"``.

    Raises:
        ComponentError: an unknown id.

    Examples:
        >>> from rlccfr.catalog.facts import facts
        >>> facts(("dcfr", "none", "cfr_br")).cost
        'tree + best responses'
    """
    algorithm = Cell(*cell).canonical
    rule_entry = update_rules[algorithm.update_rule]
    sampler_entry = samplers[algorithm.sampler]
    abstraction_entry = abstractions[algorithm.abstraction]
    entries = (rule_entry, sampler_entry, abstraction_entry)
    sampler = sampler_entry.make()
    abstraction = abstraction_entry.make()
    learns = rule_entry.make().learns or sampler.learns or abstraction.learns
    cost = "tree" if sampler.exact else "walk"
    if abstraction.best_response:
        cost += " + best responses"
    if learns:
        cost += " + fit"
    level, reason = NO_THEOREM if any(entry.guarantee is None for entry in entries) else _guarantee(*entries)
    return Facts(level, reason, sampler.exact and not learns, cost, ("torch",) if learns else ())


def _guarantee(rule: Entry[UpdateRule], sampler: Entry[Sampler], abstraction: Entry[Abstraction]) -> tuple[Level, str]:
    """Return the level and the reason for three components that all have a guarantee on their entry."""
    if not rule.make().learns:
        return _tabular_guarantee(rule, sampler, abstraction)
    if abstraction.make().learns:  # a regressor is only the form of a deep rule's networks
        abstraction = abstractions["none"]
    # A theorem about the deep rule itself comes first, then that of the tabular rule that it equals with an exact fit.
    rule_guarantee = _guarantee_of(rule)
    if sampler.id in rule_guarantee.fitted and not abstraction.make().best_response:
        return "conditional on fit", rule_guarantee.fitted[sampler.id]
    tabular_id = rule_guarantee.exact_fit
    if tabular_id not in update_rules or update_rules[tabular_id].guarantee is None:
        return NO_THEOREM
    level, reason = _tabular_guarantee(update_rules[tabular_id], sampler, abstraction)
    return "none" if level == "none" else "conditional on fit", f"with an exact fit it is {tabular_id}: {reason}"


def _tabular_guarantee(
    rule: Entry[UpdateRule], sampler: Entry[Sampler], abstraction: Entry[Abstraction]
) -> tuple[Level, str]:
    """Return the level and the reason for a tabular rule with a sampler and an abstraction.

    All three need a theorem for the sampler's kind of iteration, exact or sampled. The first component without such a
    theorem gives the reason.
    """
    guarantees = (_guarantee_of(sampler), _guarantee_of(abstraction), _guarantee_of(rule))
    theorem = _guarantee_of(rule)
    if not sampler.make().exact:
        for guarantee in guarantees:
            if not guarantee.sampled:
                return "none", guarantee.sampled_open or NO_THEOREM[1]
        return "high probability", theorem.sampled
    for guarantee in guarantees:
        if not guarantee.exact:
            return "none", guarantee.exact_open or NO_THEOREM[1]
    if abstraction.make().learns:
        return "conditional on fit", f"{theorem.exact}; with fits, {_guarantee_of(abstraction).exact}"
    if abstraction.make().best_response:
        return "deterministic", f"{theorem.exact}; with best responses, {_guarantee_of(abstraction).exact}"
    return "deterministic", theorem.exact


def _guarantee_of(entry: Entry[Any]) -> Guarantee:
    assert entry.guarantee is not None  # facts() has checked it
    return entry.guarantee
