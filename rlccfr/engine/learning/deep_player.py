"""The networks of one player under a deep rule during a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.components import Abstraction, UpdateRule
from rlccfr.engine.state import RunState
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.layout import NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
from rlccfr.networks.averages import AverageModel, PlayedModels
from rlccfr.networks.inputs import inputs_of
from rlccfr.networks.learners import Advantages, State, prefixed, unprefixed

ADVANTAGES, AVERAGE, RETRAIN, KEPT_NETWORKS = 1, 2, 5, 6
"""Second words of seeds; those of other models are in players.py and valued_histories.py."""


class Past(NamedTuple):
    """Summary of a run so far, for models that take over from tables."""

    mass: np.ndarray  # (n,): each infoset's mass in one iteration against the average policy so far
    weight: float  # total weight of all iterations so far under the new rule's discounts of positive regrets
    average: np.ndarray  # (m,): the average policy


class DeepPlayer:
    """Models of one player's advantages and average policy; see :class:`rlccfr.networks.settings.Networks`."""

    def __init__(self, game: GameTree, seed: int, rule: UpdateRule, abstraction: Abstraction, player: int) -> None:
        assert rule.networks is not None
        self._rule, self._networks = rule, rule.networks
        self._sequences = game.sequences_of(player)
        cards = self._networks.value.kind == "cards"
        inputs = inputs_of(game, player, per_sequence=abstraction.regressor is not None, cards=cards)
        self._player, self._seed = player, seed
        self._advantages = Advantages(game, player, rule, inputs, [seed, ADVANTAGES, player])
        self._model: AverageModel | None = None
        if self._networks.average == "network":
            self._model = AverageModel(game, player, self._networks, inputs, [seed, AVERAGE, player])
        self.played: PlayedModels | None = None

    def average(self, state: RunState, increment: np.ndarray, decay: float) -> None:
        """Add one iteration to the average policy, unless a table holds it.

        Args:
            increment: (m,) the iteration's increments of the policy sum.
            decay: factor on the weight of earlier iterations.
        """
        if self._model is not None:
            self._model.observe(increment, decay)
        elif self._networks.average == "value_networks":
            if self.played is None:
                self.played = self._played(state.tables.policy[self._sequences])
            self.played.play(decay)

    def observe(self, mass: np.ndarray, gain: np.ndarray, now: np.ndarray) -> None:
        """Apply one iteration's discounts, then record its masses (n,) and instantaneous regrets (m,).

        Args:
            now: (5 + p,) the iteration's row of the schedule.
        """
        self._advantages.observe(mass, gain, now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])

    def learn(self, state: RunState, iteration: int, row: np.ndarray) -> np.ndarray | None:
        """Fit the advantages if a fit is due, and return the row (player's sequences,) for the next policies.

        Return None if no fit is due; the policies then stay the same. ``row`` is not used.
        """
        if not self._fits_at(iteration):
            return None
        if self._skips(iteration):
            if not self._networks.skipped_steps:
                return None
            self._advantages.step(self._networks.skipped_steps)
        else:
            self._advantages.learn()
        if self.played is not None:
            self.played.add(self._advantages.snapshot())
        return self._advantages.rows()

    def learn_average(self, iteration: int) -> None:
        """Fit the model of the average policy, if there is one and a fit is due.

        The iteration's increments must be recorded before.
        """
        if self._model is not None and self._fits_at(iteration):
            self._model.learn()

    def _fits_at(self, iteration: int) -> bool:
        """Return whether a fit follows an iteration.

        A fit always follows the first iteration, because until then all data are about the uniform policy.
        """
        return iteration == 1 or iteration % self._networks.train_every == 0

    def _skips(self, iteration: int) -> bool:
        """Return whether a fit that is due does not take place."""
        likely = self._networks.retrain
        if likely is None or iteration == 1:
            return False
        luck = np.random.default_rng([self._seed, RETRAIN, self._player, iteration]).random()
        return bool(luck >= likely(iteration))

    def _played(self, policy: np.ndarray, weight: float = 0.0) -> PlayedModels:
        return PlayedModels(policy, weight, self._networks.kept_networks, [self._seed, KEPT_NETWORKS, self._player])

    def enter(self, state: RunState, past: Past) -> np.ndarray:
        """Take over from tables; return the row (player's sequences,) from which the policies follow."""
        game, tables, first = state.game, state.tables, state.game.view.first_sequence[:-1]
        # No advantage exceeds the payoff range, so this is a lower bound on each mass, whatever the estimate.
        least = np.maximum.reduceat(np.abs(tables.regret), first) / (game.utility_range or 1.0)
        mean: tuple[np.ndarray, ...] = ()
        if self._networks.mean_arrays:
            arrays = dict(zip(self._rule.arrays, tables.state.T, strict=True))
            sums, masses = (arrays[name] for name in self._networks.mean_arrays)
            mean = (masses[first], sums)
        self._advantages.enter(np.maximum(past.weight * past.mass, least), tables.regret, past.weight, *mean)
        if self._model is not None:
            self._model.enter(tables.policy_sum)
        if self._networks.average == "value_networks":
            self.played = self._played(past.average[self._sequences], self._weight_of_average(state))
            self.played.add(self._advantages.snapshot())
        return self._advantages.rows()

    def _weight_of_average(self, state: RunState) -> float:
        """Return the weight of all iterations so far in the policy sum.

        It is the sum at the player's first infosets, divided by the probability that chance reaches them.
        """
        game, view, infosets = state.game, state.game.view, state.game.infosets_of(self._player)
        outset = view.parent[infosets] == game.num_sequences + self._player
        sums = np.add.reduceat(state.tables.policy_sum, view.first_sequence[:-1])[infosets]
        return float(sums[outset].sum() / view.chance_weight[infosets][outset].sum()) if outset.any() else 0.0

    def rows(self) -> np.ndarray:
        """Return the row (player's sequences,) from which the policies follow."""
        return self._advantages.rows()

    @property
    def samples_networks(self) -> bool:
        """Whether the average is that of a sample of the networks, so that the table does not hold it."""
        return self.played is not None and self._networks.kept_networks > 0

    def average_sums(self) -> np.ndarray | None:
        """Return an array (player's sequences,) proportional to the average policy at each infoset.

        Return None if the table holds the average policy, as it does before the model's first fit.
        """
        return self._model.sums() if self._model is not None else None

    def rows_of(self, number: int) -> np.ndarray | None:
        """Return the row (player's sequences,) of a model that was played.

        Return None for number 0, which is a policy in place of a model; see :class:`PlayedModels`.
        """
        assert self.played is not None
        return self._advantages.rows_of(self.played.snapshots[number - 1]) if number else None

    def state(self) -> State:
        model = {} if self._model is None else prefixed("average", self._model.state())
        played = {} if self.played is None else prefixed("played", self.played.state())
        return prefixed("advantages", self._advantages.state()) | model | played

    def restore(self, state: State) -> None:
        self._advantages.restore(unprefixed("advantages", state))
        if self._model is not None:
            self._model.restore(unprefixed("average", state))
        if played := unprefixed("played", state):
            self.played = self._played(played["first"])
            self.played.restore(played)
