"""The average policy of a rule with networks: a model of the average, or the value models that were played."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.networks.inputs import Inputs
from rlccfr.networks.learners import Learner, State
from rlccfr.networks.reservoir import Reservoir
from rlccfr.networks.settings import Networks


class AverageModel:
    """Model of one player's average policy, fitted to the increments, (m,), of the policy sum.

    The mass of an infoset is the total of its increments.
    """

    def __init__(self, game: GameTree, player: int, networks: Networks, inputs: Inputs, seed: Sequence[int]) -> None:
        self._first = game.view.first_sequence[:-1]
        reservoir = Reservoir(game, networks.memory, seed, vectors=True, full=networks.full_memory)
        self._learner = Learner(game, player, inputs, networks.policy, reservoir, seed)

    def observe(self, increment: np.ndarray, decay: float) -> None:
        """Multiply the weight of earlier iterations by ``decay``, then add one iteration's increments, (m,)."""
        self._learner.discount(decay)
        self._learner.observe(np.add.reduceat(increment, self._first), increment)

    def learn(self) -> None:
        self._learner.learn()

    def enter(self, policy_sum: np.ndarray) -> None:
        """Take over from a run with tables, given its policy sums, (m,)."""
        self._learner.enter(np.add.reduceat(policy_sum, self._first), policy_sum)

    def sums(self) -> np.ndarray | None:
        """Return an array (player's sequences,) proportional to the average policy; None before the first fit."""
        return np.maximum(self._learner.values, 0.0) if self._learner.fits[0] else None

    def state(self) -> State:
        return self._learner.state()

    def restore(self, state: State) -> None:
        self._learner.restore(state)


class PlayedModels:
    """Value models that one player has played, with their weights in the average (SD-CFR: Steinberger 2019).

    The kept models are numbered from 1. Number 0 stands for the policy that came before all models: the policy before
    the first fit or, after a switch from tables, the average policy up to the switch, with the weight of its
    iterations.

    Args:
        policy: (player's sequences,) the policy with number 0.
        weight: weight of this policy.
        capacity: largest number of models that are kept, as a random sample of all (reservoir sampling); 0 keeps every
            model. Iterations with a model that is not kept have no part in the average. A new model joins the sample
            when it is first played. Until then it is kept beside the sample, since it has no weight yet, and would
            displace a model that has some.
        seed: seed of the sample.

    Attributes:
        first: (player's sequences,) the policy with number 0.
        snapshots: snapshot, (weights,), of each model that is kept; see :meth:`Advantages.snapshot`.
    """

    def __init__(self, policy: np.ndarray, weight: float = 0.0, capacity: int = 0, seed: Sequence[int] = (0,)) -> None:
        self.first = policy.copy()
        self.snapshots: list[np.ndarray] = []
        self._weights = np.array([weight])  # (number of models + 1,)
        self._capacity = capacity
        self._seed = seed
        self._num_added = 0
        self._playing = 0  # number of the model that is played; -1 if it is not kept

    def add(self, snapshot: np.ndarray) -> None:
        """Add a model by its snapshot; it is played from now on."""
        self._settle()
        self._num_added += 1
        self.snapshots.append(snapshot)
        self._weights = np.append(self._weights, 0.0)
        self._playing = len(self.snapshots)

    @property
    def _is_over_capacity(self) -> bool:
        """Whether the newest model is kept beside a full sample."""
        return 0 < self._capacity < len(self.snapshots)

    def _settle(self) -> None:
        """If the newest model is kept beside a full sample, let it replace a random model of the sample, or drop it."""
        if not self._is_over_capacity:
            return
        newest = self.snapshots.pop()
        self._weights = self._weights[:-1]
        # Reservoir sampling: the new model takes the place of a random one, with probability capacity / models added.
        place = int(np.random.default_rng([*self._seed, self._num_added]).integers(self._num_added))
        if place < self._capacity:
            self.snapshots[place] = newest
            self._weights[place + 1] = 0.0
            self._playing = place + 1
        else:
            self._playing = -1

    def play(self, decay: float) -> None:
        """Multiply all weights by ``decay``, then add 1 to the weight of the model that is played, if it is kept."""
        self._settle()
        self._weights *= decay
        if self._playing >= 0:
            self._weights[self._playing] += 1.0

    def draw(self, rng: np.random.Generator) -> int:
        """Draw the number of a kept model, or 0 for the policy before all models, in proportion to :meth:`shares`."""
        return int(rng.choice(len(self._weights), p=self.shares()))

    def __len__(self) -> int:
        return len(self._weights)

    def shares(self) -> np.ndarray:
        """Return the shares in the average, (kept models + 1,), of the policy with number 0 and of each kept model.

        The models of the sample stand for all models that it was drawn from. So the policy's weight is multiplied by
        the fraction of models that are in the sample.
        """
        weights: np.ndarray = self._weights.copy()
        beside_the_sample = int(self._is_over_capacity)
        num_sampled = self._num_added - beside_the_sample
        if num_sampled:
            weights[0] *= (len(self.snapshots) - beside_the_sample) / num_sampled
        if not weights.any():
            weights[0] = 1.0
        weights /= weights.sum()
        return weights

    def state(self) -> State:
        snapshots = np.array(self.snapshots) if self.snapshots else np.zeros((0, 0))
        counts = np.array([self._num_added, self._playing])
        return {"first": self.first, "snapshots": snapshots, "weights": self._weights, "counts": counts}

    def restore(self, state: State) -> None:
        self.first = state["first"]
        self._weights = state["weights"]
        self.snapshots = list(state["snapshots"])
        num_kept = len(self.snapshots)
        counts = state.get("counts", [num_kept, num_kept])  # an older file has no counts, since all models were kept
        self._num_added = int(counts[0])
        self._playing = int(counts[1])
