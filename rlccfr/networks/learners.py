"""Models of one player together with the data that they are fitted to: advantages, or the average policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.components import UpdateRule
from rlccfr.games.flat_tree import GameTree
from rlccfr.networks.inputs import Inputs
from rlccfr.networks.memory import Memory
from rlccfr.networks.models import Model, make_model
from rlccfr.networks.settings import Approximator, Networks

State = dict[str, np.ndarray]
ENTRY_FITS = 25
"""Number of fits whose training steps the first fit takes when models take over from tables; see ``Model.fit``."""


class Learner:
    """A model, and the data to whose weighted mean it is fitted; the weights are called masses.

    Unless stated otherwise, arrays are over all infosets (n,) and sequences (m,) of the game; only the player's entries
    are used.

    Attributes:
        values: (player's sequences,) predictions of the model after its last fit; 0 before the first.
    """

    def __init__(
        self, game: GameTree, player: int, inputs: Inputs, settings: Approximator, memory: Memory, seed: Sequence[int]
    ) -> None:
        self.infosets, self.sequences = game.infosets_of(player), game.sequences_of(player)
        counts = np.diff(game.view.first_sequence)[self.infosets]
        self.infoset_of = np.repeat(np.arange(len(counts)), counts)  # infoset of each own sequence, from 0
        self.unit = 1.0
        self.memory = memory
        self.model: Model = make_model(inputs, settings, seed)
        self.fresh_mass, self.fresh = np.zeros(game.num_infosets), np.zeros(game.num_sequences)
        self.past_mass, self.past = np.zeros(game.num_infosets), np.zeros(game.num_sequences)
        self.values = np.zeros(len(self.infoset_of))
        self.fits = np.zeros(1, np.int64)
        self._seed = seed

    def discount(self, factor: float) -> None:
        """Multiply the weight of all data so far by ``factor``."""
        self.memory.discount(factor)
        if factor != 1.0:
            for sums in (self.fresh_mass, self.fresh, self.past_mass, self.past):
                sums *= factor

    def observe(self, mass: np.ndarray, vector: np.ndarray) -> None:
        """Add data: masses (n,), negative at infosets without data, and vectors (m,) already multiplied by them."""
        self.fresh_mass[self.infosets] += np.maximum(mass[self.infosets], 0.0)
        self.fresh[self.sequences] += vector[self.sequences]

    def learn(self, relabelled: np.ndarray | None = None) -> None:
        """Fit the model to all data, then move the data since the last fit into the memory.

        Args:
            relabelled: (player's sequences,) targets of older data, in place of their own.
        """
        old_mass = (self.memory.mass() + self.past_mass)[self.infosets]
        if relabelled is None:
            old = (self.memory.vector() + self.past)[self.sequences]
        else:
            old = old_mass[self.infoset_of] * relabelled
        weight = old_mass + self.fresh_mass[self.infosets]
        self.fit(divided(old + self.fresh[self.sequences], weight[self.infoset_of]), weight)
        self.memory.add(np.flatnonzero(self.fresh_mass > 0), self.fresh_mass, self.fresh)
        self.forget_fresh()

    def enter(self, mass: np.ndarray, vector: np.ndarray) -> None:
        """Take over from tables, which give the masses (n,) and vectors (m,) of all earlier data.

        These data stay outside the memory, which might drop a row by chance, and with it an infoset's whole past.
        """
        self.past_mass[self.infosets], self.past[self.sequences] = mass[self.infosets], vector[self.sequences]
        own = mass[self.infosets]
        self.fit(divided(vector[self.sequences], own[self.infoset_of]), own, entering=True)

    def step(self, steps: int) -> None:
        """Take training steps on the data since the last fit alone; these stay for the next fit."""
        mass = self.fresh_mass[self.infosets]
        self.fit(divided(self.fresh[self.sequences], mass[self.infoset_of]), mass, steps=steps)

    def fit(self, target: np.ndarray, weight: np.ndarray, *, entering: bool = False, steps: int = 0) -> None:
        """Fit the model to targets (player's sequences,) with weights (player's infosets,).

        Args:
            entering: whether models take over from tables, which takes more steps.
            steps: number of training steps from the present weights; 0 for a fit as the settings say.
        """
        seed = [*self._seed, int(self.fits[0])]
        self.model.fit(target / self.unit, weight, seed, ENTRY_FITS if entering else 1, steps)
        self.values = self.model.predict() * self.unit
        self.fits += 1

    def values_of(self, weights: np.ndarray) -> np.ndarray:
        """Return the predictions, (player's sequences,), of the model with these weights."""
        return np.asarray(self.model.predict(weights) * self.unit)

    def forget_fresh(self) -> None:
        """Discard the data observed since the last fit."""
        self.fresh_mass[:], self.fresh[:] = 0.0, 0.0

    def state(self) -> State:
        own = {name: getattr(self, name) for name in _OF_LEARNER}
        return own | prefixed("memory", self.memory.state()) | prefixed("model", self.model.state())

    def restore(self, state: State) -> None:
        for name in _OF_LEARNER:
            getattr(self, name)[:] = state[name]
        self.memory.restore(unprefixed("memory", state))
        self.model.restore(unprefixed("model", state))


_OF_LEARNER = ("fresh_mass", "fresh", "past_mass", "past", "values", "fits")


class Advantages:
    """One player's advantages V under a rule with networks; regret = (mass of all data) x V."""

    def __init__(self, game: GameTree, player: int, rule: UpdateRule, inputs: Inputs, seed: Sequence[int]) -> None:
        assert rule.networks is not None
        self._networks: Networks = rule.networks
        self._floor = rule.floor
        self._utility_range = game.utility_range or 1.0
        self._negative_ratio = np.ones(1)  # ratio of negative to positive regret's discounts since the last fit
        self._positive = np.ones(1)  # discount of positive regret since then
        self._observed = np.zeros(1)  # iterations since then
        self._learner = self._new_learner(game, player, inputs, [*seed, 0], vectors=not self._networks.relabel)
        weighs = self._networks.action_weight is not None
        self._mean = self._new_learner(game, player, inputs, [*seed, 1], vectors=True) if weighs else None

    def _new_learner(
        self, game: GameTree, player: int, inputs: Inputs, seed: Sequence[int], *, vectors: bool
    ) -> Learner:
        networks = self._networks
        memory = Memory(game, networks.memory, seed, vectors=vectors, full=networks.full_memory)
        learner = Learner(game, player, inputs, networks.value, memory, seed)
        learner.unit = self._utility_range
        return learner

    def rows(self) -> np.ndarray:
        """Return the rows, (player's sequences,), from which the policy follows: the advantages, or weighted ones."""
        return self._weighted(self._learner.values, self._weights())

    def snapshot(self) -> np.ndarray:
        """Return a one-dimensional array from which :meth:`rows_of` reproduces the current rows."""
        learners = [self._learner] if self._mean is None else [self._learner, self._mean]
        return np.concatenate([learner.model.weights() for learner in learners])

    def rows_of(self, snapshot: np.ndarray) -> np.ndarray:
        """Return the rows as they were when the snapshot was taken."""
        if self._mean is None:
            return self._learner.values_of(snapshot)
        values, mean = np.split(snapshot, 2)
        return self._weighted(self._learner.values_of(values), self._weights(self._mean.values_of(mean)))

    @staticmethod
    def _weighted(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return advantages, the positive ones weighted; where none is positive, the best one stays the best."""
        return np.where(values > 0, weights * values, values)

    def _weights(self, mean: np.ndarray | None = None) -> np.ndarray:
        """Return factors of regrets and policies, (player's sequences,).

        They follow from mean advantages, by default the current ones.
        """
        if self._mean is None or self._networks.action_weight is None:
            return np.ones(len(self._learner.values))
        return self._networks.action_weight((self._mean.values if mean is None else mean) / self._utility_range)

    def observe(self, mass: np.ndarray, gain: np.ndarray, positive: float, negative: float) -> None:
        """Apply one iteration's discounts, then add its masses (n,) and instantaneous regrets (m,)."""
        self._negative_ratio *= negative / positive if positive > 0 else 1.0
        self._positive *= positive
        self._observed += 1
        self._learner.discount(positive)
        if self._mean is not None:
            self._mean.observe(mass, gain)
            gain = gain.copy()
            gain[self._learner.sequences] *= self._weights()
        self._learner.observe(mass, gain)

    def learn(self) -> None:
        """Fit the models to all data."""
        if self._mean is not None:
            self._mean.learn()
        learner = self._learner
        old = np.maximum(learner.values, self._floor)
        old = np.where(old > 0, old, self._negative_ratio * old)
        if self._networks.bootstrapped:
            mass = learner.fresh_mass[learner.infosets]
            newest = divided(learner.fresh[learner.sequences], mass[learner.infoset_of])
            learner.fit(self._positive * old + self._observed * newest, mass)
            learner.forget_fresh()
        else:
            learner.learn(old if self._networks.relabel else None)
        self._negative_ratio[:], self._positive[:], self._observed[:] = 1.0, 1.0, 0.0

    def step(self, steps: int) -> None:
        """Take training steps on the newest data in place of a fit."""
        for learner in [self._learner] if self._mean is None else [self._learner, self._mean]:
            learner.step(steps)

    def enter(self, mass: np.ndarray, regret: np.ndarray, weight: float, *mean: np.ndarray) -> None:
        """Take over from tables.

        In the bootstrapped form V is a sum of advantages: their mean, times the weight of the past.

        Args:
            mass: (n,) total mass of all past data.
            regret: (m,) regrets.
            weight: total weight of all past iterations.
            mean: (n,) masses and (m,) sums of regrets, for the factors of regrets and policies, if there are any.
        """
        learner = self._learner
        if self._networks.bootstrapped:
            own = mass[learner.infosets]
            target = weight * divided(regret[learner.sequences], own[learner.infoset_of])
            learner.fit(target, own, entering=True)
        else:
            learner.enter(mass, regret)
        if self._mean is not None and mean:
            self._mean.enter(*mean)

    def state(self) -> State:
        own = {"negative_ratio": self._negative_ratio, "positive": self._positive, "observed": self._observed}
        mean = {} if self._mean is None else prefixed("mean", self._mean.state())
        return own | prefixed("value", self._learner.state()) | mean

    def restore(self, state: State) -> None:
        self._negative_ratio[:], self._positive[:] = state["negative_ratio"], state["positive"]
        self._observed[:] = state["observed"]
        self._learner.restore(unprefixed("value", state))
        if self._mean is not None:
            self._mean.restore(unprefixed("mean", state))


def divided(sums: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return means: sums divided by masses, 0 where there is no mass."""
    means: np.ndarray = np.divide(sums, mass, out=np.zeros_like(sums), where=mass > 0)
    return means


def prefixed(prefix: str, state: State) -> State:
    """Return a part's state under its names in the state of the whole."""
    return {f"{prefix}.{name}": array for name, array in state.items()}


def unprefixed(prefix: str, state: State) -> State:
    """Return a part's state from the state of the whole."""
    return {name[len(prefix) + 1 :]: array for name, array in state.items() if name.startswith(f"{prefix}.")}
