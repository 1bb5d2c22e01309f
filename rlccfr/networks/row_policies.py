"""Policies at rows, from the outputs of networks."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from rlccfr.networks.row_models import RowModel

Fallback = Literal["uniform", "argmax"]
"""The policy at rows where no number is positive: the uniform one, or the action with the largest number."""


def uniform_policies(legal: np.ndarray) -> np.ndarray:
    """Return the uniform policies over legal actions, (rows, actions)."""
    policies: np.ndarray = legal / legal.sum(axis=1, keepdims=True)
    return policies


def proportional_policies(numbers: np.ndarray, legal: np.ndarray, fallback: Fallback = "uniform") -> np.ndarray:
    """Return policies in proportion to the positive parts of numbers, (rows, actions).

    Args:
        numbers: (rows, actions) advantages, or sums of policies; those of illegal actions are not used.
        legal: (rows, actions) whether each action is legal.
        fallback: the policy at rows where no number is positive: ``"uniform"``, or ``"argmax"``, the action with the
            largest number (the uniform policy if all are equal).
    """
    numbers = np.where(legal, numbers, -np.inf)
    positive = np.maximum(numbers, 0.0)
    total = positive.sum(axis=1, keepdims=True)
    fallbacks = uniform_policies(legal)
    if fallback == "argmax":
        differ = numbers.max(axis=1) > np.where(legal, numbers, np.inf).min(axis=1)
        fallbacks = np.where(differ[:, None], np.eye(legal.shape[1])[numbers.argmax(axis=1)], fallbacks)
    policies: np.ndarray = np.where(total > 0, positive / np.where(total > 0, total, 1.0), fallbacks)
    return policies


class RowPolicies(NamedTuple):
    """Both players' policies, from models of rows.

    Attributes:
        models: each player's model; None plays the uniform policy.
        fallbacks: each player's ``fallback`` of :func:`proportional_policies`.
    """

    models: tuple[RowModel | None, RowModel | None] = (None, None)
    fallbacks: tuple[Fallback, Fallback] = ("uniform", "uniform")

    def __call__(self, player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """Return a player's policies at some rows, (rows, actions).

        Args:
            legal: (rows, actions) whether each action is legal.
        """
        model = self.models[player]
        if model is None:
            return uniform_policies(legal)
        return proportional_policies(model.predict(rows), legal, self.fallbacks[player])

    def seated_with(self, other: RowPolicies) -> RowPolicies:
        """Return player 0's policy of this object together with player 1's policy of ``other``."""
        return RowPolicies((self.models[0], other.models[1]), (self.fallbacks[0], other.fallbacks[1]))
