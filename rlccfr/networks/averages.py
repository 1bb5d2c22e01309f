"""The average policy of a rule with networks: a model of the average, or every value model that was played."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.networks.inputs import Inputs
from rlccfr.networks.learners import Learner, State
from rlccfr.networks.memory import Memory
from rlccfr.networks.settings import Networks


class AverageModel:
    """Model of one player's average policy, fitted to the increments, (m,), of the policy sum.

    The mass of an infoset is the total of its increments.
    """

    def __init__(self, game: GameTree, player: int, networks: Networks, inputs: Inputs, seed: Sequence[int]) -> None:
        self._first = game.view.first_sequence[:-1]
        memory = Memory(game, networks.memory, seed, vectors=True)
        self._learner = Learner(game, player, inputs, networks.policy, memory, seed)

    def observe(self, increment: np.ndarray, decay: float) -> None:
        self._learner.discount(decay)
        self._learner.observe(np.add.reduceat(increment, self._first), increment)

    def learn(self) -> None:
        self._learner.learn()

    def enter(self, policy_sum: np.ndarray) -> None:
        """Take over from a table, (m,), of policy sums."""
        self._learner.enter(np.add.reduceat(policy_sum, self._first), policy_sum)

    def sums(self) -> np.ndarray | None:
        """Return an array (player's sequences,) proportional to the average policy; None before the first fit."""
        return np.maximum(self._learner.values, 0.0) if self._learner.fits[0] else None

    def state(self) -> State:
        return self._learner.state()

    def restore(self, state: State) -> None:
        self._learner.restore(state)


class PlayedModels:
    """Every value model of one player, with its weight in the average (SD-CFR: Steinberger 2019).

    Number 0 is a policy, (player's sequences,), in place of a model. It is the policy before the first fit. After a
    switch it is the average policy up to the switch, with the weight of the iterations before it.
    """

    def __init__(self, policy: np.ndarray, weight: float = 0.0) -> None:
        self.first = policy.copy()
        self.snapshots: list[np.ndarray] = []
        self._weights = np.array([weight])

    def add(self, snapshot: np.ndarray) -> None:
        """Add a model by its snapshot; it is played from now on."""
        self.snapshots.append(snapshot)
        self._weights = np.append(self._weights, 0.0)

    def play(self, decay: float) -> None:
        """Multiply all weights by ``decay``, then add one iteration of the newest model."""
        self._weights *= decay
        self._weights[-1] += 1.0

    def draw(self, rng: np.random.Generator) -> int:
        """Draw the number of a model by weight; 0 is the first policy."""
        share = self._weights / self._weights.sum() if self._weights.any() else [1.0]
        return int(rng.choice(len(self._weights), p=share))

    def __len__(self) -> int:
        return len(self._weights)

    def share(self, number: int) -> float:
        """Return the share of a model in the average."""
        return float(self._weights[number] / self._weights.sum())

    def state(self) -> State:
        snapshots = np.array(self.snapshots) if self.snapshots else np.zeros((0, 0))
        return {"first": self.first, "snapshots": snapshots, "weights": self._weights}

    def restore(self, state: State) -> None:
        self.first, self._weights = state["first"], state["weights"]
        self.snapshots = list(state["snapshots"])
