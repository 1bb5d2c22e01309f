"""Which components do not fit each other, whatever the game and the run's options."""

from __future__ import annotations

from rlccfr.components.abstraction import Abstraction
from rlccfr.components.sampler import Sampler
from rlccfr.components.update_rule import UpdateRule


def why_incompatible(rule: UpdateRule, sampler: Sampler, abstraction: Abstraction) -> str | None:
    """Return in one line why an update rule, a sampler and an abstraction can't be combined; None if they can.

    Examples:
        >>> from rlccfr.registry import abstractions, samplers, update_rules
        >>> why_incompatible(update_rules.resolve("rtcfr_plus"), samplers.resolve("none"), abstractions.resolve("rcfr"))
        "'rtcfr_plus' needs tables, which 'rcfr' replaces; use abstraction='none'"
    """
    if rule.controller is not None and not sampler.exact:
        return f"a controller steers only exact passes: leave out the sampler {sampler.title}"
    if rule.exact_only and not sampler.exact:
        condition = " with these hyperparameters" if rule.hyperparameters else ""
        return f"{rule.title}{condition} needs exact passes: use sampler='none' instead of {sampler.title}"
    if (rule.controller is not None or rule.needs_exact_tables) and abstraction.learns:
        return f"{rule.title} needs tables, which {abstraction.title} replaces; use abstraction='none'"
    if rule.momentum is not None and abstraction.learns:
        return (
            f"{rule.title} has momentum, which needs tables, and {abstraction.title} replaces them; use "
            "abstraction='none'"
        )
    if rule.regularise is not None and abstraction.best_response:
        return (
            f"{rule.title} regularises the values of both players, but {abstraction.title} has best responses to the "
            "game's own payoffs; use abstraction='none'"
        )
    return None
