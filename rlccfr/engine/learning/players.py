"""The sources of a player's policies in a run with models: networks, a regressor of regrets, or the tables."""

from __future__ import annotations

import numpy as np

from rlccfr.components import Abstraction, UpdateRule
from rlccfr.engine.learning.deep_player import DeepPlayer, Past
from rlccfr.engine.state import RunState
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.layout import POSITIVE_DISCOUNT
from rlccfr.networks.inputs import inputs_of
from rlccfr.networks.learners import ENTRY_FITS, State
from rlccfr.networks.models import make_model

REGRESSOR = 3
"""Second word of the models' seeds, so that all models draw different numbers; the walks' seed has one word."""


class RegressionPlayer:
    """A model of one player's regrets; see :class:`rlccfr.components.Abstraction`."""

    def __init__(self, game: GameTree, seed: int, rule: UpdateRule, abstraction: Abstraction, player: int) -> None:
        assert abstraction.regressor is not None
        self._floor = rule.floor
        self._bootstrap = abstraction.bootstrap
        self._sequences = game.sequences_of(player)
        inputs = inputs_of(game, player, per_sequence=True, cards=abstraction.regressor.kind == "cards")
        self._seed = [seed, REGRESSOR, player]
        self._model = make_model(inputs, abstraction.regressor, self._seed)
        infosets = game.infosets_of(player)
        self._weight = np.ones(infosets.stop - infosets.start)

    def average(self, state: RunState, increment: np.ndarray, decay: float) -> None:
        """Do nothing: the table holds the average."""

    def observe(self, mass: np.ndarray, gain: np.ndarray, row: np.ndarray) -> None:
        """Do nothing: the regrets hold all observations."""

    def learn(self, state: RunState, iteration: int, regrets: np.ndarray) -> np.ndarray:
        """Fit the model to regrets, (m,), and return its predictions, (player's sequences,).

        ``regrets`` are those from which the next policies would follow without a model. With ``bootstrap``, the
        predictions also replace the regrets in the table.
        """
        return self._fitted(state, regrets[self._sequences], iteration)

    def learn_average(self, iteration: int) -> None:
        """Do nothing: the table holds the average."""

    def enter(self, state: RunState, past: Past) -> np.ndarray:
        """Take over from the current regrets; return the predictions, (player's sequences,), fitted to them."""
        return self._fitted(state, state.tables.regret[self._sequences], state.iteration, ENTRY_FITS)

    def predicted_regrets(self) -> np.ndarray:
        """Return the model's predictions (player's sequences,), in units of the last fit's largest absolute regret."""
        return self._model.predict()

    def _fitted(self, state: RunState, regrets: np.ndarray, iteration: int, times: int = 1) -> np.ndarray:
        table_regrets = state.tables.regret[self._sequences]  # equal to ``regrets``, except for a prediction
        scale = np.abs(regrets).max(initial=0.0) or 1.0
        self._model.fit(regrets / scale, self._weight, [*self._seed, iteration], times)
        fitted = self._model.predict() * scale
        if self._bootstrap:
            state.tables.regret[self._sequences] = np.maximum(table_regrets + fitted - regrets, self._floor)
        return fitted

    def average_sums(self) -> None:
        """Return None: the table holds the sums."""

    def state(self) -> State:
        return self._model.state()

    def restore(self, state: State) -> None:
        self._model.restore(state)


class TabularPlayer:
    """A player without models, in a run whose sampler has models."""

    def __init__(self, game: GameTree, player: int) -> None:
        self._sequences = game.sequences_of(player)

    def average(self, state: RunState, increment: np.ndarray, decay: float) -> None:
        """Do nothing: the table holds the average."""

    def observe(self, mass: np.ndarray, gain: np.ndarray, row: np.ndarray) -> None:
        """Do nothing: the regrets hold all observations."""

    def learn(self, state: RunState, iteration: int, regrets: np.ndarray) -> np.ndarray:
        """Return the player's entries, (player's sequences,), of the regrets, (m,)."""
        return regrets[self._sequences].copy()

    def learn_average(self, iteration: int) -> None:
        """Do nothing: the table holds the average."""

    def enter(self, state: RunState, past: Past) -> np.ndarray:
        """Return the current regrets (player's sequences,)."""
        return state.tables.regret[self._sequences].copy()

    def predicted_regrets(self) -> np.ndarray:
        """Return an empty array: the table holds the regrets."""
        return np.zeros(0)

    def average_sums(self) -> None:
        """Return None: the table holds the sums."""

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """Do nothing: there is no state."""


Player = DeepPlayer | RegressionPlayer | TabularPlayer


DISCOUNTS_AT_ONCE = 4096
"""Number of iterations whose discounts are evaluated together."""

NEGLIGIBLE = 1e-18
"""An iteration whose share of the total weight is smaller than this is neglected, and so are all older iterations."""


def make_player(game: GameTree, seed: int, rule: UpdateRule, abstraction: Abstraction, player: int) -> Player:
    """Return the models of one player.

    Under a rule with networks, an abstraction with a regressor makes the networks take one input row per sequence, not
    per infoset.

    Raises:
        ComponentError: the game offers no features.
    """
    if rule.networks is None and abstraction.regressor is None:
        return TabularPlayer(game, player)
    player_class = DeepPlayer if rule.networks is not None else RegressionPlayer
    return player_class(game, seed, rule, abstraction, player)


def past_weight(rule: UpdateRule, iterations: int) -> float:
    """Return the total weight of all iterations so far under a rule's discounts of positive regrets.

    Models that take over from tables need it, since the tables hold sums over these iterations. The newest iteration
    has weight 1. An earlier one's weight is the product of the discounts of all iterations after it.
    """
    total_weight = 1.0
    oldest_weight = 1.0
    last = iterations
    # Backwards from the newest iteration, many at a time, until the rest no longer counts.
    while last > 1 and oldest_weight > NEGLIGIBLE * total_weight:
        first = max(2, last - DISCOUNTS_AT_ONCE + 1)
        discounts = rule.schedule(first, last - first)[::-1, POSITIVE_DISCOUNT]  # of iterations last, ..., first
        weights = oldest_weight * np.cumprod(discounts)
        total_weight += float(weights.sum())
        oldest_weight = float(weights[-1])
        last = first - 1
    return total_weight
