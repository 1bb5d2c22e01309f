"""What counts as exact: how exploitable a policy may be, compared with the sizes of a game's payoffs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import TERMINAL

EXACT = 1e-9
"""Largest exploitability of an exact solution, as a share of the payoffs' range."""

RESOLVED = 1e-3
"""Largest exploitability of an exact solution, as a share of the least difference between two payoffs."""

REFINED = 1e-6
"""Largest exploitability, as a share of the least difference between two payoffs, that needs no narrower tolerances."""

RATIONAL = 1e-9
"""Share of the least difference between two payoffs above which a small game is solved in rational numbers.

The exploitability, or its rounding error if that is larger, is compared with this share.
"""

SAME_UNITS = 4
"""Two payoffs count as one if they differ by at most this many units in the last place, and by at most SAME_SHARE."""

SAME_SHARE = 1e-12
"""Largest difference between two payoffs that may count as one, as a share of the payoffs' range."""

ROUNDING = float(np.finfo(float).eps)
"""Error of an exploitability that is measured in double precision, as a share of the payoffs' range."""


class PayoffScale(NamedTuple):
    """The sizes of a game's payoffs.

    Attributes:
        least, most: the payoffs' range, in the game's units.
        difference: least difference between two payoffs that differ by more than rounding; infinite if none do.
    """

    least: float
    most: float
    difference: float

    @classmethod
    def of(cls, game: GameTree) -> PayoffScale:
        payoffs = np.unique(game.utility[game.histories["actor"] == TERMINAL])
        with np.errstate(over="ignore"):  # a difference may be larger than the largest double
            differences = np.diff(payoffs)
            payoff_range = payoffs[-1] - payoffs[0]
        # 0.1 + 0.2 and 0.3 are one payoff: they differ by rounding, and by a negligible share of the range.
        rounding = SAME_UNITS * np.spacing(np.abs(payoffs[1:]))
        differs = (differences > rounding) | (differences > SAME_SHARE * payoff_range)
        return cls(float(payoffs[0]), float(payoffs[-1]), float(differences[differs].min(initial=np.inf)))

    def share(self, factor: float) -> float:
        """Return ``factor`` times the payoffs' range, even if the range is larger than the largest double."""
        return factor * self.most - factor * self.least

    def is_resolved(self, exploitability: float, share: float = RESOLVED) -> bool:
        """Return whether an exploitability is small beside the least difference between two payoffs."""
        return exploitability <= share * self.difference

    def needs_narrower_tolerances(self, exploitability: float) -> bool:
        """Return whether a solver of linear programs should continue with narrower tolerances."""
        return exploitability > self.share(EXACT) or not self.is_resolved(exploitability, REFINED)

    def needs_rational_numbers(self, exploitability: float) -> bool:
        """Return whether a solution needs more digits than double precision has."""
        error = max(exploitability, self.share(ROUNDING))
        return exploitability > self.share(EXACT) or not self.is_resolved(error, RATIONAL)

    def caveat(self, exploitability: float, rational: bool) -> str:
        """Return why a solution is not exact, in one line; the empty string if it is.

        Args:
            rational: whether the solution was computed, and its exploitability measured, without rounding.
        """
        rounding = 0.0 if rational else self.share(ROUNDING)
        payoffs = f"payoffs from {self.least:.6g} to {self.most:.6g}"
        if exploitability > self.share(EXACT):
            return (
                f"not exact: the exploitability of {exploitability:.3g} is above {EXACT:g} of the range of {payoffs}: "
                "the linear program's solver came no closer; iterate instead"
            )
        # The measured exploitability may be off by the rounding error, so the larger of the two decides.
        if self.is_resolved(max(exploitability, rounding)):
            return ""
        reason = f"beside {payoffs}, double precision hides differences as small as {self.difference:.3g}"
        if rational:
            return f"not exact: {reason}: the value is exact, but the policy's probabilities are rounded"
        error = max(exploitability, rounding)
        return f"not exact: {reason}, so value and exploitability may be off by about {error:.1g}"
