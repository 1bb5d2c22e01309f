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
from rlccfr.networks.settings import Networks

# Second words of seeds; those of other models are in players.py and valued_histories.py.
ADVANTAGES = 1
AVERAGE = 2
RETRAIN = 5
KEPT_NETWORKS = 6


def is_fit_due(networks: Networks, iteration: int) -> bool:
    """Return whether a fit follows an iteration.

    A fit always follows the first iteration, because until then all data are about the uniform policy.
    """
    return iteration == 1 or iteration % networks.train_every == 0


def skips_fit(networks: Networks, iteration: int, seed: int, player: int) -> bool:
    """Return whether a player's fit that is due after an iteration is skipped, or shortened to ``skipped_steps``.

    Args:
        seed: the run's seed.
    """
    if networks.retrain is None or iteration == 1:
        return False
    draw = np.random.default_rng([seed, RETRAIN, player, iteration]).random()
    return bool(draw >= networks.retrain(iteration))


class Past(NamedTuple):
    """Summary of a run so far, for models that take over from tables."""

    mass: np.ndarray  # (n,): reach of each infoset by chance and the opponent, who plays the average policy so far
    weight: float  # total weight of all iterations so far under the new rule's discounts of positive regrets
    average: np.ndarray  # (m,): the average policy


class DeepPlayer:
    """Models of one player's advantages and average policy; see :class:`rlccfr.networks.settings.Networks`.

    Attributes:
        played: under ``average="value_networks"``, the value models that have been played; None before the first
            iteration.
    """

    def __init__(self, game: GameTree, seed: int, rule: UpdateRule, abstraction: Abstraction, player: int) -> None:
        assert rule.networks is not None
        self._rule = rule
        self._networks = rule.networks
        self._sequences = game.sequences_of(player)
        cards = self._networks.value.kind == "cards"
        inputs = inputs_of(game, player, per_sequence=abstraction.regressor is not None, cards=cards)
        self._player = player
        self._seed = seed
        self._advantages = Advantages(game, player, rule, inputs, [seed, ADVANTAGES, player])
        self._average_model: AverageModel | None = None
        if self._networks.average == "network":
            self._average_model = AverageModel(game, player, self._networks, inputs, [seed, AVERAGE, player])
        self.played: PlayedModels | None = None

    def average(self, state: RunState, increment: np.ndarray, decay: float) -> None:
        """Add one iteration to the average policy, unless a table holds that policy.

        Args:
            increment: (m,) the iteration's increments of the policy sum.
            decay: factor on the weight of earlier iterations.
        """
        if self._average_model is not None:
            self._average_model.observe(increment, decay)
        elif self._networks.average == "value_networks":
            if self.played is None:
                self.played = self._new_played(state.tables.policy[self._sequences])
            self.played.play(decay)

    def observe(self, mass: np.ndarray, gain: np.ndarray, row: np.ndarray) -> None:
        """Apply one iteration's discounts, then record its masses (n,) and instantaneous regrets (m,).

        Args:
            row: (5 + p,) the iteration's row of the schedule.
        """
        self._advantages.observe(mass, gain, row[POSITIVE_DISCOUNT], row[NEGATIVE_DISCOUNT])

    def learn(self, state: RunState, iteration: int, regrets: np.ndarray) -> np.ndarray | None:
        """Fit the advantages if a fit is due, and return them, (player's sequences,), for the next policies.

        A fit that is due may be shortened to ``skipped_steps`` training steps, or skipped if that is 0. Return None if
        no fit is due, or if it is skipped; the policies then stay the same. ``regrets`` are not used.
        """
        if not is_fit_due(self._networks, iteration):
            return None
        if skips_fit(self._networks, iteration, self._seed, self._player):
            if not self._networks.skipped_steps:
                return None
            self._advantages.step(self._networks.skipped_steps)
        else:
            self._advantages.learn()
        if self.played is not None:
            self.played.add(self._advantages.snapshot())
        return self.predicted_regrets()

    def learn_average(self, iteration: int) -> None:
        """Fit the model of the average policy, if there is one and a fit is due.

        The iteration's increments must already have been recorded; see :meth:`average`.
        """
        if self._average_model is not None and is_fit_due(self._networks, iteration):
            self._average_model.learn()

    def _new_played(self, policy: np.ndarray, weight: float = 0.0) -> PlayedModels:
        return PlayedModels(policy, weight, self._networks.kept_networks, [self._seed, KEPT_NETWORKS, self._player])

    def enter(self, state: RunState, past: Past) -> np.ndarray:
        """Take over from tables; return the advantages, (player's sequences,), from which the policies follow."""
        game = state.game
        tables = state.tables
        first = game.view.first_sequence[:-1]
        # No advantage exceeds the payoff range, so this is a lower bound on each mass, whatever the estimate.
        least_mass = np.maximum.reduceat(np.abs(tables.regret), first) / (game.utility_range or 1.0)
        mass = np.maximum(past.weight * past.mass, least_mass)
        mean_advantages: tuple[np.ndarray, ...] = ()
        if self._networks.mean_arrays:
            arrays = dict(zip(self._rule.arrays, tables.state.T, strict=True))
            regret_sums, mass_sums = (arrays[name] for name in self._networks.mean_arrays)
            mean_advantages = (mass_sums[first], regret_sums)
        self._advantages.enter(mass, tables.regret, past.weight, *mean_advantages)
        if self._average_model is not None:
            self._average_model.enter(tables.policy_sum)
        if self._networks.average == "value_networks":
            self.played = self._new_played(past.average[self._sequences], self._weight_of_average(state))
            self.played.add(self._advantages.snapshot())
        return self.predicted_regrets()

    def _weight_of_average(self, state: RunState) -> float:
        """Return the weight of all iterations so far in the policy sum.

        What passes add to the sum is multiplied by chance's reach. So the weight is the policy sum at the player's
        first infosets, divided by the probability that chance reaches these.
        """
        view = state.game.view
        infosets = state.game.infosets_of(self._player)
        empty_sequence = state.game.num_sequences + self._player
        is_first = view.parent[infosets] == empty_sequence
        if not is_first.any():
            return 0.0
        sums = np.add.reduceat(state.tables.policy_sum, view.first_sequence[:-1])[infosets]
        return float(sums[is_first].sum() / view.chance_weight[infosets][is_first].sum())

    def predicted_regrets(self) -> np.ndarray:
        """Return the advantages, (player's sequences,), from which the policies follow; proportional to regrets."""
        return self._advantages.predicted_regrets()

    @property
    def samples_networks(self) -> bool:
        """Whether the average policy comes from a sample of the played networks, and not from the table."""
        return self.played is not None and self._networks.kept_networks > 0

    def average_sums(self) -> np.ndarray | None:
        """Return an array (player's sequences,) proportional to the average policy at each infoset.

        Return None if no model holds the average policy, as before the model's first fit. The table then holds it,
        unless :attr:`samples_networks` is true.
        """
        return self._average_model.sums() if self._average_model is not None else None

    def predicted_regrets_of(self, number: int) -> np.ndarray | None:
        """Return the advantages, (player's sequences,), of a model that was played.

        Return None for number 0, which is a policy in place of a model; see :class:`PlayedModels`.
        """
        assert self.played is not None
        return self._advantages.predicted_regrets_of(self.played.snapshots[number - 1]) if number else None

    def state(self) -> State:
        state = prefixed("advantages", self._advantages.state())
        if self._average_model is not None:
            state |= prefixed("average", self._average_model.state())
        if self.played is not None:
            state |= prefixed("played", self.played.state())
        return state

    def restore(self, state: State) -> None:
        self._advantages.restore(unprefixed("advantages", state))
        if self._average_model is not None:
            self._average_model.restore(unprefixed("average", state))
        played_state = unprefixed("played", state)
        if played_state:
            self.played = self._new_played(played_state["first"])
            self.played.restore(played_state)
