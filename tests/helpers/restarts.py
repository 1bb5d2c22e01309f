"""Update rules that restart now and then, for tests of discounts of 0."""

from __future__ import annotations

import numpy as np

from rlccfr.components import UpdateRule
from rlccfr.registry import update_rule


def restart(t: np.ndarray) -> np.ndarray:
    """Return a discount of 0 at every third iteration, and of 1 at the others."""
    return np.where(t % 3 == 0, 0.0, 1.0)


def register_restarts() -> None:
    """Register rules whose average, or also whose regrets, restart at every third iteration."""

    @update_rule("average_restarts", source="a test")
    def average_restarts() -> UpdateRule:
        """CFR whose average restarts at every third iteration."""
        return UpdateRule(average_decay=restart)

    @update_rule("all_restarts", source="a test")
    def all_restarts() -> UpdateRule:
        """CFR that restarts at every third iteration."""
        return UpdateRule(positive_discount=restart, negative_discount=restart, average_decay=restart)

    @update_rule("predicting_restarts", source="a test")
    def predicting_restarts() -> UpdateRule:
        """Predictive CFR that restarts at every third iteration."""
        return UpdateRule(
            positive_discount=restart,
            negative_discount=restart,
            average_decay=restart,
            prediction=lambda t: 1.0 + 0 * t,
        )
