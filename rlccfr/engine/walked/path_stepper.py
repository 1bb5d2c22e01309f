"""Deep rules on games represented by OpenSpiel's states, by walks of one path: outcome sampling, DREAM and ESCHER."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.stepper import Stepper
from rlccfr.engine.walked.paths import path_walks, value_walks
from rlccfr.engine.walked.state_stepper import StateStepper
from rlccfr.engine.walked.stepper import Part
from rlccfr.engine.walked.tables import WalkedTables
from rlccfr.engine.walked.walk import WalkData
from rlccfr.networks.learners import State, prefixed, unprefixed
from rlccfr.networks.row_learners import RowLearner, ValueLearner
from rlccfr.networks.row_models import TensorInputs, TensorModel
from rlccfr.networks.row_reservoir import RowReservoir
from rlccfr.networks.settings import HistoryNetwork

VALUES = 8
"""Second number of the seeds of the model of values; the first one is the run's seed."""

VALUE_WALK = 9
"""Second number of the seeds of the walks from which that model learns."""

VALUE_EXPLORATION = 0.5
"""Share of the uniform policy in both players' draws in walks for values, so that values of all actions are learned."""


class PathStepper(StateStepper):
    """Stepper of deep rules by walks of one path.

    If the sampler has a network, the network learns player 0's values of actions at histories. It learns from separate
    walks before each player's walks, so that the values are those of the present policies.
    """

    _values: ValueLearner | None = None  # None if the sampler has no network

    def __init__(self, state: WalkedTables, binding: Binding, previous: Stepper[WalkedTables] | None = None) -> None:
        super().__init__(state, binding, previous)
        settings = binding.sampler.network
        self._first_fit = state.iteration + 1  # the iteration in which values are fitted for the first time
        if isinstance(previous, PathStepper) and previous.binding.sampler.network == settings:
            self._values = previous._values
            self._first_fit = previous._first_fit
        elif settings is not None:
            self._values = self._new_values(settings)
        self._require_memory()

    def _new_values(self, settings: HistoryNetwork) -> ValueLearner:
        walks = self._walks
        game = self.state.game
        seed = [self.state.seed, VALUES]
        inputs = TensorInputs(walks.history_features, walks.num_history_columns, walks.num_actions)
        model = TensorModel(inputs, settings.model, walks.taken, seed)
        reservoir = RowReservoir(walks.history_type, walks.num_actions, self._networks.memory)
        bounds = game.openspiel_game.min_utility(), game.openspiel_game.max_utility()
        return ValueLearner(model, reservoir, settings.model, game.utility_range or 1.0, seed, bounds)

    @property
    def _parts(self) -> tuple[tuple[Part, int], ...]:
        if self.binding.sampler.network is None:
            return super()._parts
        return (
            (self._walk_for_values, 0),
            (self._fit_values, 0),
            (self._walk, 0),
            (self._fit_advantages, 0),
            # Player 0 has a new policy by now, so the values are learned again before player 1's walks.
            (self._walk_for_values, 1),
            (self._fit_values, 1),
            (self._walk, 1),
            (self._fit_advantages, 1),
            (self._fit_average, 0),
            (self._fit_average, 1),
        )

    def _are_values_due(self) -> bool:
        """Return whether the values are fitted in this iteration."""
        settings = self.binding.sampler.network
        assert settings is not None
        iteration = self.state.iteration + 1
        return iteration == self._first_fit or iteration % settings.train_every == 0

    def _walk_for_values(self, player: int, done: int) -> int:
        """Run some of the walks from which values are learned; a player's own walks come later. See :data:`Part`."""
        if not self._are_values_due():
            return 0
        settings = self.binding.sampler.network
        values = self._values
        assert settings is not None
        assert values is not None
        count = min(self._walks_together, settings.traversals - done)
        # Seeds name the batch of walks, so a run that was saved within an iteration draws the same ones.
        rng = np.random.default_rng([self.state.seed, VALUE_WALK, self.state.iteration, player, done])
        # An untrained network's values mean nothing; without values, targets are the walks' payoffs.
        known_values = values.predict if values.fits else None
        data = value_walks(self._walks, self._policies, count, rng, VALUE_EXPLORATION, known_values)
        # Only the action taken has a target; the model does not train its other outputs on this row.
        targets = np.zeros((len(data.rows), self._walks.num_actions), np.float32)
        targets[np.arange(len(data.rows)), data.rows["action"]] = data.targets
        values.observe(data.rows, targets, rng)
        self.state.counts[1] += data.num_states
        done += count
        return done if done < settings.traversals else 0

    def _fit_values(self, player: int, done: int) -> int:
        """Take some steps of the fit of values; see :data:`Part`."""
        assert self._values is not None
        return self._fit(self._values, done) if self._are_values_due() else 0

    def _walked(self, player: int, count: int, rng: np.random.Generator) -> WalkData:
        values = None if self._values is None else self._values.predict  # already fitted, even in the first iteration
        return path_walks(self._walks, player, self._policies, count, rng, self.binding.sampler, values)

    @property
    def _learners(self) -> list[RowLearner]:
        return super()._learners if self._values is None else [*super()._learners, self._values]

    def saved(self) -> State:
        state = super().saved()
        if self._values is not None:
            state |= prefixed("values", self._values.state()) | {"first_fit": np.array([self._first_fit])}
        return state

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        super().restore(saved)
        if self._values is not None:
            self._values.restore(unprefixed("values", dict(saved)))
            self._first_fit = int(saved["first_fit"][0])
