"""Policies at rows, from the outputs of networks."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple

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


class PlayerPolicies(NamedTuple):
    """The policies of one player: a single one, or several with their shares.

    Of several, the player draws one at the start of each game, and follows it to the end. The average policy of SD-CFR
    (Steinberger, 2019) consists of all policies that the player has played.

    Attributes:
        models: the models of the policies; None stands for the uniform policy.
        shares: (models,) the probability with which each policy is drawn.
        fallback: the ``fallback`` of :func:`proportional_policies`.
    """

    models: tuple[RowModel | None, ...] = (None,)
    shares: tuple[float, ...] = (1.0,)
    fallback: Fallback = "uniform"

    def at(self, number: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """Return the policies of the model with a number, counted from 0, at some rows, (rows, actions).

        Args:
            legal: (rows, actions) whether each action is legal.
        """
        model = self.models[number]
        if model is None:
            return uniform_policies(legal)
        return proportional_policies(model.predict(rows), legal, self.fallback)

    def drawn_numbers(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the number of a policy for each of ``count`` games; a single policy leaves ``rng`` as it is."""
        if len(self.models) == 1:
            return np.zeros(count, np.int64)
        return rng.choice(len(self.models), size=count, p=self.shares)


class RowPolicies(NamedTuple):
    """Both players' policies, from models of rows.

    Attributes:
        first, second: the policies of player 0 and of player 1.
    """

    first: PlayerPolicies = PlayerPolicies()
    second: PlayerPolicies = PlayerPolicies()

    def drawn(self, count: int, rng: np.random.Generator) -> DrawnPolicies:
        """Draw a policy of each player for each of ``count`` games."""
        return DrawnPolicies(self, np.stack([player.drawn_numbers(count, rng) for player in self]))

    def seated_with(self, other: RowPolicies) -> RowPolicies:
        """Return player 0's policies of this object together with player 1's policies of ``other``."""
        return RowPolicies(self.first, other.second)


class DrawnPolicies(NamedTuple):
    """The policies that both players follow in some games.

    Attributes:
        policies: the policies from which they were drawn.
        numbers: (players, games) the number of the policy that each player follows in each game.
    """

    policies: RowPolicies
    numbers: np.ndarray

    def __call__(self, player: int, rows: np.ndarray, legal: np.ndarray, games: np.ndarray) -> np.ndarray:
        """Return a player's policies at some rows, (rows, actions).

        Args:
            legal: (rows, actions) whether each action is legal.
            games: (rows,) the game in which each row was met, an index into ``numbers``.
        """
        own_policies = self.policies[player]
        if len(own_policies.models) == 1:
            return own_policies.at(0, rows, legal)
        policies = np.empty(legal.shape)
        numbers = self.numbers[player, games]
        for number in np.unique(numbers).tolist():
            places = np.flatnonzero(numbers == number)
            policies[places] = own_policies.at(number, rows[places], legal[places])
        return policies


def compiled_policy(game: Any, policies: RowPolicies) -> np.ndarray:
    """Return the probability of each sequence of a game's compiled tree, (m,).

    To draw one of several policies for a game amounts to playing their mean, in which each policy counts in proportion
    to its share and to its own reach of the infoset. At infosets that none of them reaches, each counts in proportion
    to its share.

    Args:
        game: a game represented by OpenSpiel's states that is small enough to be compiled.
        policies: both players' policies.
    """
    tree = game.tree
    probabilities = np.empty(tree.num_sequences)
    for player, own_policies in enumerate(policies):
        own_sequences = tree.sequences_of(player)
        if len(own_policies.models) == 1:
            probabilities[own_sequences] = game.player_table(player, partial(own_policies.at, 0))
            continue
        mean = np.zeros(tree.num_sequences)
        sums = np.zeros(tree.num_sequences)
        for number, share in enumerate(own_policies.shares):
            policy = np.zeros(tree.num_sequences)
            policy[own_sequences] = game.player_table(player, partial(own_policies.at, number))
            mean += share * policy
            sums += share * tree.realization_weights(policy)
        is_reached = np.repeat(tree.row_sums(sums) > 0, np.diff(tree.view.first_sequence))
        mixture = np.where(is_reached, tree.normalised(sums), mean)
        probabilities[own_sequences] = mixture[own_sequences]
    return probabilities
