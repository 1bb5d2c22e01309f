"""Values of policies of buckets in the game itself."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.evaluation import evaluated
from rlccfr.engine.public.evaluation import public_values
from rlccfr.games.merging.bucketed import BucketedGame
from rlccfr.games.merging.merged import MergedGame


class WholeEvaluator:
    """Evaluator of policies of buckets in the game whose infosets these merge.

    The last policy's values are kept, because those of a large public-tree game take seconds.

    Attributes:
        slow: whether they take seconds.
    """

    def __init__(self, merged: MergedGame | BucketedGame) -> None:
        self._merged = merged
        self.slow = isinstance(merged, BucketedGame) and merged.whole.is_large
        self._last: tuple[np.ndarray, tuple[float, float, float]] | None = None

    def __call__(self, sums: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy, and each player's value of a best response to it.

        Args:
            sums: (sequences of buckets,) what the policy is proportional to.
        """
        policy = self._merged.tree.normalised(sums)
        if self._last is None or not np.array_equal(self._last[0], policy):
            if isinstance(self._merged, BucketedGame):
                found = public_values(self._merged.whole, self._merged.expand(policy))
            else:
                found = evaluated(self._merged.whole, self._merged.expand(policy))
            self._last = policy, found
        return self._last[1]
