"""Facts about each algorithm: its guarantee, and what it takes to run."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from rlccfr.catalog.catalog import Cell
from rlccfr.components import Abstraction, Guarantee, Sampler, UpdateRule
from rlccfr.registry import Entry, abstractions, samplers, update_rules

Level = Literal["deterministic", "high probability", "conditional on fit", "none"]

NOTHING: tuple[Level, str] = ("none", "no theorem on record")


class Facts(NamedTuple):
    """Facts about one algorithm.

    Attributes:
        guarantee: level of the published guarantee that the average policy's exploitability goes to 0.
            ``"conditional on fit"`` means that the models' errors may keep it above 0.
        reason: theorem, or the reason why there is none.
        deterministic: whether it draws nothing at random, whatever the game.
        cost: cost of an iteration: ``"tree"`` (all histories) or ``"walk"`` (some of them), and what is added, as in
            ``"walk + best responses"`` or ``"tree + fit"``.
        needs: packages that it needs besides NumPy and Numba; all of them come with the installation.
    """

    guarantee: Level
    reason: str
    deterministic: bool
    cost: str
    needs: tuple[str, ...]


def facts(cell: Cell | tuple[str, str, str]) -> Facts:
    """Return the facts about a triple of ids, with the default hyperparameters.

    The guarantee follows from the components' entries alone; a component whose entry has none has no theorem.

    Raises:
        ComponentError: an unknown id.
    """
    cell = Cell(*cell).canonical
    entries = update_rules[cell.update_rule], samplers[cell.sampler], abstractions[cell.abstraction]
    rule, sampler, abstraction = entries[0].make(), entries[1].make(), entries[2].make()
    learns = rule.learns or sampler.learns or abstraction.learns
    cost = ("tree" if sampler.exact else "walk") + " + best responses" * abstraction.best_response + " + fit" * learns
    known = NOTHING if any(entry.guarantee is None for entry in entries) else _known(*entries)
    return Facts(*known, sampler.exact and not learns, cost, ("torch",) * learns)


def _known(rule: Entry[UpdateRule], sampler: Entry[Sampler], abstraction: Entry[Abstraction]) -> tuple[Level, str]:
    """Return the level and the reason for three components that all have a guarantee on their entry."""
    if not rule.make().learns:
        return _tabular(rule, sampler, abstraction)
    if abstraction.make().learns:  # a regressor is only the form of a deep rule's networks
        abstraction = abstractions["none"]
    proved = _of(rule)
    if sampler.id in proved.fitted and not abstraction.make().best_response:
        return "conditional on fit", proved.fitted[sampler.id]
    if proved.exact_fit not in update_rules or update_rules[proved.exact_fit].guarantee is None:
        return NOTHING
    known, reason = _tabular(update_rules[proved.exact_fit], sampler, abstraction)
    return "none" if known == "none" else "conditional on fit", f"with an exact fit it is {proved.exact_fit}: {reason}"


def _tabular(rule: Entry[UpdateRule], sampler: Entry[Sampler], abstraction: Entry[Abstraction]) -> tuple[Level, str]:
    """Return the level and the reason for a tabular rule with a sampler and an abstraction."""
    proved, setting = _of(rule), abstraction.make()
    if not sampler.make().exact:
        for part in (_of(sampler), _of(abstraction), proved):
            if not part.sampled:
                return "none", part.sampled_open or NOTHING[1]
        return "high probability", proved.sampled
    for part in (_of(sampler), _of(abstraction), proved):
        if not part.exact:
            return "none", part.exact_open or NOTHING[1]
    if setting.learns:
        return "conditional on fit", f"{proved.exact}; with fits, {_of(abstraction).exact}"
    against = f"; with best responses, {_of(abstraction).exact}" if setting.best_response else ""
    return "deterministic", proved.exact + against


def _of(entry: Entry[Any]) -> Guarantee:
    assert entry.guarantee is not None  # facts() has checked it
    return entry.guarantee
