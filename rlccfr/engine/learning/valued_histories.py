"""Models of a sampler's values of histories: one for each row of the table of values that walks read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlccfr.engine.learning.phases import Phases
from rlccfr.engine.state import RunState
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import TERMINAL, utility_of
from rlccfr.networks.inputs import inputs_of_histories
from rlccfr.networks.learners import ENTRY_FITS, State, prefixed, unprefixed
from rlccfr.networks.models import Model, make_model
from rlccfr.networks.settings import HistoryNetwork

VALUES = 4
"""Second word of the seeds of models of histories' values; see rlccfr/engine/learning/players.py."""


class HistoryModel:
    """A model of player 0's expected utility at each history where a player moves.

    Its values are clipped to the range of the game's payoffs.

    Attributes:
        fits: (1,) number of fits so far.

    Raises:
        ComponentError: the game offers no features.
    """

    def __init__(self, game: GameTree, settings: HistoryNetwork, seed: Sequence[int]) -> None:
        self._decisions = np.flatnonzero(game.histories["infoset"] >= 0)
        self._unit = game.utility_range or 1.0
        payoffs = utility_of(game.histories)[game.histories["actor"] == TERMINAL]
        self._lowest_payoff = payoffs.min()
        self._highest_payoff = payoffs.max()
        self._seed = seed
        self.fits = np.zeros(1, np.int64)
        self._model: Model = make_model(inputs_of_histories(game), settings.model, seed)

    def knows(self, values: np.ndarray) -> bool:
        """Return whether any history where a player moves has a value other than 0 in ``values``, (histories,)."""
        return bool(values[self._decisions].any())

    def learn(self, target: np.ndarray, visits: np.ndarray, values: np.ndarray, times: int = 1) -> None:
        """Fit the model to targets, and write its values of all histories where a player moves.

        Args:
            target: (histories,) targets.
            visits: (histories,) weights of the targets.
            values: (histories,) changed in place.
            times: factor on the number of training steps of this fit; see :meth:`Model.fit`.
        """
        decisions = self._decisions
        seed = [*self._seed, int(self.fits[0])]
        self._model.fit(target[decisions] / self._unit, visits[decisions], seed, times)
        predictions = self._model.predict() * self._unit
        values[decisions] = np.clip(predictions, self._lowest_payoff, self._highest_payoff)
        self.fits += 1

    def state(self) -> State:
        return {**self._model.state(), "fits": self.fits}

    def restore(self, state: State) -> None:
        self.fits[:] = state["fits"]
        self._model.restore(state)


class ValuedHistories:
    """Models of values of histories, fitted between iterations; there is one for each row of the table of values.

    The first fit is due as soon as walks have met histories: after the first iteration, or after the first one that
    follows a switch to the sampler. Until then, all values are 0. If the run has switched to another sampler and back,
    the table already has values. The models are then first fitted to these.

    Attributes:
        settings: settings of the models.

    Raises:
        ComponentError: the game offers no features.
    """

    def __init__(self, state: RunState, settings: HistoryNetwork, phases: Phases) -> None:
        self.settings = settings
        num_rows = len(phases.estimates.history_value)
        self._models = [HistoryModel(state.game, settings, [state.seed, VALUES, row]) for row in range(num_rows)]
        # Whether the models are yet to take over values that walks have learned before.
        self._enters = np.array([phases.estimates.history_visits.any()])

    def serve(self, settings: HistoryNetwork | None, phases: Phases) -> bool:
        """Return whether these models have the given settings, and match the table of values of ``phases``."""
        return self.settings == settings and len(self._models) == len(phases.estimates.history_value)

    def learn(self, phases: Phases, iteration: int) -> None:
        """Fit the models to the one-step backups of the values, if a fit is due after an iteration."""
        is_due = iteration == 1 or iteration % self.settings.train_every == 0 or self._has_no_values(phases)
        visits = phases.estimates.history_visits
        if not (is_due and visits.any()):  # right after a switch, there are no visits yet
            return
        for traverser, (model, values) in enumerate(zip(self._models, phases.estimates.history_value, strict=True)):
            if self._enters[0]:  # fitted to the old values, which the targets below still depend on
                model.learn(values, visits, values.copy(), ENTRY_FITS)
            model.learn(phases.backed_up(traverser), visits, values)
            phases.backed_up(traverser)  # sets the values of chance nodes from the model's new ones
        self._enters[0] = False

    def _has_no_values(self, phases: Phases) -> bool:
        """Return whether no model has been fitted, and the table has no values from before a switch."""
        rows = zip(self._models, phases.estimates.history_value, strict=True)
        return not any(model.fits[0] or model.knows(values) for model, values in rows)

    def state(self) -> State:
        state: State = {}
        for row, model in enumerate(self._models):
            state |= prefixed(f"values{row}", model.state())
        return state | {"values.enters": self._enters}

    def restore(self, state: State) -> None:
        self._enters[:] = state["values.enters"]
        for row, model in enumerate(self._models):
            model.restore(unprefixed(f"values{row}", state))
