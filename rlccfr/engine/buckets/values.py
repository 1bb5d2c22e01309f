"""Values of policies of buckets in the game itself."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.evaluation import evaluated
from rlccfr.engine.public.evaluation import public_values
from rlccfr.games.merging.bucketed import BucketedGame
from rlccfr.games.merging.merged import MergedGame


class WholeEvaluator:
    """Evaluator of policies of buckets in the game whose infosets these merge.

    The values of the last two policies, the average and the current one, are kept: those of a large public-tree game
    take seconds.

    Attributes:
        slow: whether evaluating takes seconds.
    """

    def __init__(self, merged: MergedGame | BucketedGame) -> None:
        self._merged = merged
        self.slow = isinstance(merged, BucketedGame) and merged.whole.is_large
        self._last_values: list[tuple[np.ndarray, tuple[float, float, float]]] = []  # of at most two policies

    def __call__(self, sums: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy, and each player's value of a best response to it.

        Args:
            sums: (sequences of buckets,) what the policy is proportional to.
        """
        policy = self._merged.tree.normalised(sums)
        for last_policy, last_values in self._last_values:
            if np.array_equal(last_policy, policy):
                return last_values
        whole_policy = self._merged.expand(policy)
        if isinstance(self._merged, BucketedGame):
            values = public_values(self._merged.whole, whole_policy)
        else:
            values = evaluated(self._merged.whole, whole_policy)
        self._last_values = [*self._last_values[-1:], (policy, values)]
        return values
