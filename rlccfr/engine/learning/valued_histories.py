"""The models of a sampler's values of histories during a run."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.learning.phases import Phases
from rlccfr.engine.state import RunState
from rlccfr.networks.history_values import HistoryValues
from rlccfr.networks.learners import ENTRY_FITS, State, prefixed, unprefixed
from rlccfr.networks.settings import HistoryNetwork

VALUES = 4
"""Second word of these models' seeds; see rlccfr/engine/learning/players.py."""


class ValuedHistories:
    """A model for each row of the table of values, which is fitted between iterations.

    If the run has such values already, because they come back after another sampler, the models take over from them
    before their first fit.

    Attributes:
        settings: settings of the models.

    Raises:
        ComponentError: the game offers no features.
    """

    def __init__(self, state: RunState, settings: HistoryNetwork, phases: Phases) -> None:
        self.settings = settings
        known, visits = phases.estimates.history_value, phases.estimates.history_visits
        self._models = [HistoryValues(state.game, settings, [state.seed, VALUES, row]) for row in range(len(known))]
        self._enters = np.array([visits.any()])

    def serve(self, settings: HistoryNetwork | None, phases: Phases) -> bool:
        """Return whether these models are the ones for some settings and for the table of the phases."""
        return self.settings == settings and len(self._models) == len(phases.estimates.history_value)

    def learn(self, phases: Phases, iteration: int) -> None:
        """Fit the models to the values one action later, if a fit is due after an iteration."""
        if iteration > 1 and iteration % self.settings.train_every:
            return
        known, visits = phases.estimates.history_value, phases.estimates.history_visits
        for traverser, (model, row) in enumerate(zip(self._models, known, strict=True)):
            if self._enters[0]:
                model.learn(row, visits, row.copy(), ENTRY_FITS)
            model.learn(phases.backed_up(traverser), visits, row)
            phases.backed_up(traverser)  # for the nodes of chance
        self._enters[0] = False

    def state(self) -> State:
        states = [prefixed(f"values{row}", model.state()) for row, model in enumerate(self._models)]
        return {name: array for one in states for name, array in one.items()} | {"values.enters": self._enters}

    def restore(self, state: State) -> None:
        self._enters[:] = state["values.enters"]
        for row, model in enumerate(self._models):
            model.restore(unprefixed(f"values{row}", state))
