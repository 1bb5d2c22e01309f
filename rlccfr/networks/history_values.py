"""A model of the values of histories, which a sampler's walks read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import TERMINAL, utility_of
from rlccfr.networks.inputs import inputs_of_histories
from rlccfr.networks.learners import State
from rlccfr.networks.models import Model, make_model
from rlccfr.networks.settings import HistoryNetwork


class HistoryValues:
    """A model of player 0's expected utility at each history where a player moves, within the game's payoffs.

    Raises:
        ComponentError: the game offers no features.
    """

    def __init__(self, game: GameTree, settings: HistoryNetwork, seed: Sequence[int]) -> None:
        self._decisions = np.flatnonzero(game.histories["infoset"] >= 0)
        self._unit = game.utility_range or 1.0
        payoffs = utility_of(game.histories)[game.histories["actor"] == TERMINAL]
        self._least, self._most = payoffs.min(), payoffs.max()
        self._seed, self._fits = seed, np.zeros(1, np.int64)
        self._model: Model = make_model(inputs_of_histories(game), settings.model, seed)

    def learn(self, target: np.ndarray, visits: np.ndarray, known: np.ndarray, times: int = 1) -> None:
        """Fit the model to targets, and write its values of all histories where a player moves.

        Args:
            target, visits: (number of histories,) targets, and their weights.
            known: (number of histories,) changed in place.
            times: number of fits whose training steps this fit takes.
        """
        own = self._decisions
        self._model.fit(target[own] / self._unit, visits[own], [*self._seed, int(self._fits[0])], times)
        known[own] = np.clip(self._model.predict() * self._unit, self._least, self._most)
        self._fits += 1

    def state(self) -> State:
        return {**self._model.state(), "fits": self._fits}

    def restore(self, state: State) -> None:
        self._fits[:] = state["fits"]
        self._model.restore(state)
