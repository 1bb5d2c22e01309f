"""Models of one player together with the data that they are fitted to: advantages, or the average policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.components import UpdateRule
from rlccfr.games.flat_tree import GameTree
from rlccfr.networks.inputs import Inputs
from rlccfr.networks.models import Model, make_model
from rlccfr.networks.reservoir import Reservoir
from rlccfr.networks.settings import Approximator, Networks

State = dict[str, np.ndarray]
"""Arrays by name, from which an object can be restored."""

ENTRY_FITS = 25
"""Factor on the training steps of the first fit after models take over from tables; see ``Model.fit``."""


class Learner:
    """A model and its training data. The model is fitted to weighted means of the data; the weights are called masses.

    The data are of three kinds: fresh data since the last fit, older data in a reservoir, and data of tables, if the
    run used tables before it switched to models. Unless stated otherwise, arrays are over all infosets (n,) and
    sequences (m,) of the game; only the player's entries are used.

    Attributes:
        infosets, sequences: the player's infosets and sequences.
        infoset_of: (player's sequences,) infoset of each sequence, counted from the player's first.
        unit: factor that turns the model's outputs into predictions; targets are divided by it.
        reservoir: older data.
        model: the model.
        fresh_mass, fresh: (n,) and (m,) sums of the data since the last fit.
        past_mass, past: (n,) and (m,) sums of the data taken over from tables.
        values: (player's sequences,) predictions of the model after its last training; 0 before the first fit.
        fits: (1,) number of training runs so far: fits, and calls of :meth:`step` in place of a fit.
    """

    def __init__(
        self,
        game: GameTree,
        player: int,
        inputs: Inputs,
        settings: Approximator,
        reservoir: Reservoir,
        seed: Sequence[int],
    ) -> None:
        self.infosets = game.infosets_of(player)
        self.sequences = game.sequences_of(player)
        num_actions = np.diff(game.view.first_sequence)[self.infosets]
        self.infoset_of = np.repeat(np.arange(len(num_actions)), num_actions)
        self.unit = 1.0
        self.reservoir = reservoir
        self.model: Model = make_model(inputs, settings, seed)
        self.fresh_mass = np.zeros(game.num_infosets)
        self.fresh = np.zeros(game.num_sequences)
        self.past_mass = np.zeros(game.num_infosets)
        self.past = np.zeros(game.num_sequences)
        self.values = np.zeros(len(self.infoset_of))
        self.fits = np.zeros(1, np.int64)
        self._seed = seed

    def discount(self, factor: float) -> None:
        """Multiply the weight of all data so far by ``factor``."""
        self.reservoir.discount(factor)
        if factor != 1.0:
            for sums in (self.fresh_mass, self.fresh, self.past_mass, self.past):
                sums *= factor

    def observe(self, mass: np.ndarray, vector: np.ndarray) -> None:
        """Add data: masses (n,), negative at infosets without data; and vectors (m,), already multiplied by masses."""
        self.fresh_mass[self.infosets] += np.maximum(mass[self.infosets], 0.0)
        self.fresh[self.sequences] += vector[self.sequences]

    def learn(self, relabelled: np.ndarray | None = None) -> None:
        """Fit the model to all data, then move the data since the last fit into the reservoir.

        Args:
            relabelled: (player's sequences,) new targets of older data; None to keep their old targets.
        """
        old_mass = (self.reservoir.mass() + self.past_mass)[self.infosets]
        if relabelled is None:
            old_sum = (self.reservoir.vector() + self.past)[self.sequences]
        else:
            old_sum = old_mass[self.infoset_of] * relabelled
        mass = old_mass + self.fresh_mass[self.infosets]
        target = divided(old_sum + self.fresh[self.sequences], mass[self.infoset_of])
        self.fit(target, mass)
        # Only after the fit, which counts the fresh data in full: a full reservoir drops rows by chance.
        self.reservoir.add(np.flatnonzero(self.fresh_mass > 0), self.fresh_mass, self.fresh)
        self.forget_fresh()

    def enter(self, mass: np.ndarray, vector: np.ndarray) -> None:
        """Take over from tables, which give the masses (n,) and vectors (m,) of all earlier data.

        These data stay outside the reservoir: if it dropped a row by chance, an infoset would lose its whole past.
        """
        player_mass = mass[self.infosets]
        player_vector = vector[self.sequences]
        self.past_mass[self.infosets] = player_mass
        self.past[self.sequences] = player_vector
        self.fit(divided(player_vector, player_mass[self.infoset_of]), player_mass, entering=True)

    def step(self, steps: int) -> None:
        """Take training steps on only the data since the last fit, and keep these data for the next fit."""
        mass = self.fresh_mass[self.infosets]
        self.fit(divided(self.fresh[self.sequences], mass[self.infoset_of]), mass, steps=steps)

    def fit(self, target: np.ndarray, weight: np.ndarray, *, entering: bool = False, steps: int = 0) -> None:
        """Fit the model to targets (player's sequences,) with weights (player's infosets,).

        Args:
            entering: whether models take over from tables, which takes more steps.
            steps: number of training steps from the present weights; 0 for the settings' number.
        """
        # Each fit has a seed of its own, which a restored run uses again.
        seed = [*self._seed, int(self.fits[0])]
        self.model.fit(target / self.unit, weight, seed, ENTRY_FITS if entering else 1, steps)
        self.values = self.model.predict() * self.unit
        self.fits += 1

    def values_of(self, weights: np.ndarray) -> np.ndarray:
        """Return the predictions, (player's sequences,), that the model makes with these weights."""
        return np.asarray(self.model.predict(weights) * self.unit)

    def forget_fresh(self) -> None:
        """Discard the data observed since the last fit."""
        self.fresh_mass[:] = 0.0
        self.fresh[:] = 0.0

    def state(self) -> State:
        arrays = {name: getattr(self, name) for name in _SAVED_ARRAYS}
        return arrays | prefixed("memory", self.reservoir.state()) | prefixed("model", self.model.state())

    def restore(self, state: State) -> None:
        for name in _SAVED_ARRAYS:
            getattr(self, name)[:] = state[name]
        self.reservoir.restore(unprefixed("memory", state))
        self.model.restore(unprefixed("model", state))


_SAVED_ARRAYS = ("fresh_mass", "fresh", "past_mass", "past", "values", "fits")


class Advantages:
    """One player's advantages V under a rule with networks; regret = (mass of all data) x V.

    If the rule weighs actions by their mean advantages, a second model learns these.
    """

    def __init__(self, game: GameTree, player: int, rule: UpdateRule, inputs: Inputs, seed: Sequence[int]) -> None:
        assert rule.networks is not None
        self._networks: Networks = rule.networks
        self._floor = rule.floor
        self._utility_range = game.utility_range or 1.0
        self._negative_ratio = np.ones(1)  # discount of negative regret over that of positive, since the last fit
        self._positive = np.ones(1)  # discount of positive regret since then
        self._observed = np.zeros(1)  # iterations since then
        self._value_learner = self._new_learner(game, player, inputs, [*seed, 0], vectors=not self._networks.relabel)
        self._mean_learner: Learner | None = None
        if self._networks.action_weight is not None:
            self._mean_learner = self._new_learner(game, player, inputs, [*seed, 1], vectors=True)

    def _new_learner(
        self, game: GameTree, player: int, inputs: Inputs, seed: Sequence[int], *, vectors: bool
    ) -> Learner:
        networks = self._networks
        reservoir = Reservoir(game, networks.memory, seed, vectors=vectors, full=networks.full_memory)
        learner = Learner(game, player, inputs, networks.value, reservoir, seed)
        learner.unit = self._utility_range
        return learner

    @property
    def _learners(self) -> list[Learner]:
        return [self._value_learner] if self._mean_learner is None else [self._value_learner, self._mean_learner]

    def predicted_regrets(self) -> np.ndarray:
        """Return the advantages, (player's sequences,), from which the policy follows.

        If the rule has an ``action_weight``, positive advantages are multiplied by it.
        """
        return self._weighted(self._value_learner.values, self._action_weights())

    def snapshot(self) -> np.ndarray:
        """Return a one-dimensional array from which :meth:`predicted_regrets_of` reproduces the current advantages."""
        return np.concatenate([learner.model.weights() for learner in self._learners])

    def predicted_regrets_of(self, snapshot: np.ndarray) -> np.ndarray:
        """Return what :meth:`predicted_regrets` returned when the snapshot was taken."""
        if self._mean_learner is None:
            return self._value_learner.values_of(snapshot)
        value_weights, mean_weights = np.split(snapshot, 2)
        action_weights = self._action_weights(self._mean_learner.values_of(mean_weights))
        return self._weighted(self._value_learner.values_of(value_weights), action_weights)

    @staticmethod
    def _weighted(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the advantages with the positive ones multiplied by their weights.

        Negative ones stay as they are, so that where none is positive, the best action stays the best.
        """
        return np.where(values > 0, weights * values, values)

    def _action_weights(self, mean_advantages: np.ndarray | None = None) -> np.ndarray:
        """Return the factors on regrets and policies, (player's sequences,).

        They are a function of mean advantages, by default the current ones.
        """
        if self._mean_learner is None or self._networks.action_weight is None:
            return np.ones(len(self._value_learner.values))
        if mean_advantages is None:
            mean_advantages = self._mean_learner.values
        return self._networks.action_weight(mean_advantages / self._utility_range)

    def observe(self, mass: np.ndarray, gain: np.ndarray, positive: float, negative: float) -> None:
        """Apply one iteration's discounts, then add its masses (n,) and instantaneous regrets (m,).

        Args:
            positive, negative: discounts of positive and of negative regrets.
        """
        # Where the discount is 0, all earlier data are dropped below, so the ratio does not change.
        self._negative_ratio *= negative / positive if positive > 0 else 1.0
        self._positive *= positive
        self._observed += 1
        self._value_learner.discount(positive)
        if self._mean_learner is not None:
            self._mean_learner.observe(mass, gain)
            # The value model learns regrets that are weighted by functions of mean advantages.
            gain = gain.copy()
            gain[self._value_learner.sequences] *= self._action_weights()
        self._value_learner.observe(mass, gain)

    def learn(self) -> None:
        """Fit the models to all data."""
        if self._mean_learner is not None:
            self._mean_learner.learn()
        learner = self._value_learner
        # The last fit's advantages under the rule's floor and discounts. The learner has discounted them as if all were
        # positive, so negative ones need only the ratio of the two discounts.
        old_values = np.maximum(learner.values, self._floor)
        old_values = np.where(old_values > 0, old_values, self._negative_ratio * old_values)
        if self._networks.bootstrapped:
            fresh_mass = learner.fresh_mass[learner.infosets]
            fresh_mean = divided(learner.fresh[learner.sequences], fresh_mass[learner.infoset_of])
            learner.fit(self._positive * old_values + self._observed * fresh_mean, fresh_mass)
            learner.forget_fresh()
        else:
            learner.learn(old_values if self._networks.relabel else None)
        self._negative_ratio[:] = 1.0
        self._positive[:] = 1.0
        self._observed[:] = 0.0

    def step(self, steps: int) -> None:
        """Take training steps on the newest data in place of a fit."""
        for learner in self._learners:
            learner.step(steps)

    def enter(self, mass: np.ndarray, regret: np.ndarray, weight: float, *mean_advantages: np.ndarray) -> None:
        """Take over from tables.

        In the bootstrapped form, V is a sum of advantages: their mean times the total weight of past iterations.

        Args:
            mass: (n,) total mass of all past data.
            regret: (m,) regrets.
            weight: total weight of all past iterations.
            mean_advantages: (n,) masses and (m,) sums of regrets, for the model of mean advantages; nothing if the rule
                has no such model.
        """
        learner = self._value_learner
        if self._networks.bootstrapped:
            player_mass = mass[learner.infosets]
            target = weight * divided(regret[learner.sequences], player_mass[learner.infoset_of])
            learner.fit(target, player_mass, entering=True)
        else:
            learner.enter(mass, regret)
        if self._mean_learner is not None and mean_advantages:
            self._mean_learner.enter(*mean_advantages)

    def state(self) -> State:
        state = {"negative_ratio": self._negative_ratio, "positive": self._positive, "observed": self._observed}
        state |= prefixed("value", self._value_learner.state())
        if self._mean_learner is not None:
            state |= prefixed("mean", self._mean_learner.state())
        return state

    def restore(self, state: State) -> None:
        self._negative_ratio[:] = state["negative_ratio"]
        self._positive[:] = state["positive"]
        self._observed[:] = state["observed"]
        self._value_learner.restore(unprefixed("value", state))
        if self._mean_learner is not None:
            self._mean_learner.restore(unprefixed("mean", state))


def divided(sums: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return means: sums divided by masses, 0 where there is no mass."""
    means: np.ndarray = np.divide(sums, mass, out=np.zeros_like(sums), where=mass > 0)
    return means


def prefixed(prefix: str, state: State) -> State:
    """Return a state in which each ``name`` has become ``prefix.name``, to store it inside the state of an object."""
    return {f"{prefix}.{name}": array for name, array in state.items()}


def unprefixed(prefix: str, state: State) -> State:
    """Return the entries of a state whose names begin with ``prefix.``, without this prefix; see :func:`prefixed`."""
    return {name[len(prefix) + 1 :]: array for name, array in state.items() if name.startswith(f"{prefix}.")}
