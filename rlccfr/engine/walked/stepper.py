"""Iterations of deep rules by walks that advance together, in short parts, so that a run can stop even within a fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.learning.deep_player import ADVANTAGES, AVERAGE, KEPT_NETWORKS, is_fit_due, skips_fit
from rlccfr.engine.public.public_state import Need, require
from rlccfr.engine.stepper import Stepper
from rlccfr.engine.walked.tables import WalkedTables
from rlccfr.engine.walked.walk import WalkData, sampled_walks
from rlccfr.errors import FailedRunError
from rlccfr.games.walked.walked_game import WalkedGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
from rlccfr.networks.averages import PlayedModels
from rlccfr.networks.learners import State, prefixed, unprefixed
from rlccfr.networks.row_learners import AdvantageLearner, RowLearner
from rlccfr.networks.row_models import RowModel
from rlccfr.networks.row_policies import proportional_policies, uniform_policies
from rlccfr.networks.row_reservoir import RowReservoir
from rlccfr.networks.settings import Approximator
from rlccfr.networks.torch_state import one_thread

Part = Callable[[int, int], int]
"""A part of an iteration: a function ``(player, done)`` that continues the part after ``done`` walks or training steps.
It returns how many walks or steps are then done in all, or 0 once the part is complete."""

PLAYERS = (0, 1)

WALK = 7
"""Second word of seeds of walks; those of models are in engine/learning/deep_player.py."""

WALKS_TOGETHER = 4096
"""Number of walks that go through the game together; more would take more memory, and hardly less time."""

ROWS_TOGETHER = 2**14
MOST_STEPS = 64
"""Largest numbers of training rows and of training steps between pauses; a single step may have more rows."""


class WalkedStepper(Stepper[WalkedTables]):
    """Base of steppers that estimate regrets by walks and fit networks to them (Brown et al., ICML 2019).

    In an iteration, player 0's walks and fit come first; then player 1's, against player 0's new policy. A subclass
    defines the histories that walks visit, the inputs of the networks, and the evaluation of policies.
    """

    learns = True

    _walks: WalkedGame
    _advantages: list[AdvantageLearner]
    _averages: list[RowLearner]  # empty under average="value_networks"
    _played: list[PlayedModels]  # empty under average="network"

    def __init__(self, state: WalkedTables, binding: Binding, previous: Stepper[WalkedTables] | None = None) -> None:
        super().__init__(state, binding, previous)
        assert binding.rule.networks is not None
        self._networks = binding.rule.networks
        self._valued_at: tuple[int, ...] = (-1,)
        self._average_value = (np.nan, np.nan, np.nan)
        if isinstance(previous, WalkedStepper):
            walks, advantages, averages, played = (
                previous._walks, previous._advantages, previous._averages, previous._played
            )  # fmt: skip
        else:
            walks = self._new_walks()
            advantages = [self._new_advantages(walks, player) for player in PLAYERS]
            has_network = self._networks.average == "network"
            averages = [self._new_average(walks, player) for player in PLAYERS] if has_network else []
            played = [] if has_network else [self._new_played(player) for player in PLAYERS]
        self._walks = walks
        self._advantages = advantages
        self._averages = averages
        self._played = played
        self._whole = True  # False while a part runs, and after a part that failed
        self._require_memory()

    @abstractmethod
    def _new_walks(self) -> WalkedGame:
        """Return the game for walks."""

    @abstractmethod
    def _new_model(self, walks: Any, settings: Approximator, seed: list[int]) -> RowModel:
        """Return a new model of the kind that the settings name."""

    @property
    def _walks_together(self) -> int:
        """Largest number of walks that go through the game together."""
        return WALKS_TOGETHER

    def _new_reservoir(self, walks: WalkedGame) -> RowReservoir:
        networks = self._networks
        return RowReservoir(walks.row_type, walks.num_actions, networks.memory, networks.full_memory)

    def _new_advantages(self, walks: WalkedGame, player: int) -> AdvantageLearner:
        seed = [self.state.seed, ADVANTAGES, player]
        model = self._new_model(walks, self._networks.value, seed)
        unit = self.state.game.utility_range or 1.0
        return AdvantageLearner(model, self._new_reservoir(walks), self.binding.rule, unit, seed)

    def _new_average(self, walks: WalkedGame, player: int) -> RowLearner:
        seed = [self.state.seed, AVERAGE, player]
        model = self._new_model(walks, self._networks.policy, seed)
        return RowLearner(model, self._new_reservoir(walks), self._networks.policy, 1.0, seed)

    def _new_played(self, player: int) -> PlayedModels:
        """Return an empty record of the models that a player plays; model 0, the uniform policy, needs no array."""
        seed = [self.state.seed, KEPT_NETWORKS, player]
        return PlayedModels(np.zeros(0), capacity=self._networks.kept_networks, seed=seed)

    def _require_memory(self) -> None:
        """Check that full reservoirs fit into memory.

        Raises:
            RLCCFRError: they do not.
        """
        size = sum(learner.most_bytes for learner in self._learners)
        purpose = f"{len(self._learners)} reservoirs of {self._networks.memory:,} rows"
        require(self.state.game, [Need(size, purpose, "use a smaller memory=")])

    @property
    def _learners(self) -> list[RowLearner]:
        """All models with their data."""
        return [*self._advantages, *self._averages]

    @property
    def unfinished(self) -> bool:
        return bool(self.state.progress.any())

    @property
    def progress(self) -> tuple[int, ...]:
        return tuple(self.state.progress.tolist())

    def advance(self, iterations: int, max_nodes: int) -> None:
        """Carry out the next part of an iteration, which takes a few tenths of a second; the arguments are not used."""
        self._require_whole()
        # An interrupt within a part would leave data and models that do not belong together.
        with one_thread(), uninterrupted():
            self._whole = False
            self._next_part()
            self._whole = True

    def _require_whole(self) -> None:
        """Check that the part of an iteration that was started last has been completed.

        Raises:
            FailedRunError: that part failed, for example for lack of memory, so data or models may be half changed.
        """
        if not self._whole:
            raise FailedRunError(
                "an iteration has failed, and its data are incomplete: continue from an earlier checkpoint, or start a "
                "new run"
            )

    @property
    def _parts(self) -> tuple[tuple[Part, int], ...]:
        """The parts of an iteration in their order, each with its player."""
        return (
            (self._walk, 0),
            (self._fit_advantages, 0),
            (self._walk, 1),
            (self._fit_advantages, 1),
            (self._fit_average, 0),
            (self._fit_average, 1),
        )

    def _next_part(self) -> None:
        """Carry out the next part of an iteration, and note what comes after it."""
        parts = self._parts
        number, done = self.state.progress.tolist()
        carry_out, player = parts[number]
        done = carry_out(player, done)
        if done:
            self.state.progress[:] = number, done
        elif number + 1 < len(parts):
            self.state.progress[:] = number + 1, 0
        else:
            self.state.progress[:] = 0
            self.state.counts[0] += 1

    def _walk(self, player: int, done: int) -> int:
        """Run some of a player's walks; return how many are done, or 0 if all are.

        Args:
            done: number of walks done so far in this iteration.
        """
        row = self.binding.rows(self.state.iteration + 1, 0)[0]
        # Discounts come once an iteration, before its first data.
        if not done:
            self._advantages[player].note_iteration(row[POSITIVE_DISCOUNT], row[NEGATIVE_DISCOUNT])
            if self._averages:
                self._averages[1 - player].discount(row[AVERAGE_DECAY])
            else:
                self._played[1 - player].play(row[AVERAGE_DECAY])
        count = min(self._walks_together, self._networks.traversals - done)
        # Seeds name the batch of walks, so a run that was saved within an iteration draws the same ones.
        rng = np.random.default_rng([self.state.seed, WALK, self.state.iteration, player, done])
        data = self._walked(player, count, rng)
        self._advantages[player].observe(data.traverser_rows, data.gains, rng, data.traverser_weights)
        if self._averages:
            # The traverser's walks draw from the opponent's policy, so they sample the opponent's average policy.
            self._averages[1 - player].observe(data.opponent_rows, data.opponent_policies, rng, data.opponent_weights)
        self.state.counts[1] += data.num_states
        done += count
        return done if done < self._networks.traversals else 0

    def _walked(self, player: int, count: int, rng: np.random.Generator) -> WalkData:
        """Run ``count`` of a player's walks, and return their data."""
        return sampled_walks(self._walks, player, self._policies, count, rng, self.binding.sampler.subset_size)

    def _fit_advantages(self, player: int, done: int) -> int:
        """Take some steps of a player's fit of advantages, unless none is due; see :meth:`_fit`."""
        iteration = self.state.iteration + 1
        if not is_fit_due(self._networks, iteration):
            return 0
        if skips_fit(self._networks, iteration, self.state.seed, player):
            return 0
        done = self._fit(self._advantages[player], done)
        # With average="value_networks", the average policy is a mixture of fitted models; see PlayedModels.
        if not done and self._played:
            self._played[player].add(self._advantages[player].snapshot())
        return done

    def _fit_average(self, player: int, done: int) -> int:
        """Take some steps of the fit of a player's average policy, unless none is due; see :meth:`_fit`."""
        if not self._averages or not is_fit_due(self._networks, self.state.iteration + 1):
            return 0
        return self._fit(self._averages[player], done)

    def _fit(self, learner: RowLearner, done: int) -> int:
        """Take some steps of a fit; return how many are done, or 0 if all are.

        Args:
            done: number of steps done so far.
        """
        if not done:
            learner.begin_fit()
        steps = min(MOST_STEPS, max(1, ROWS_TOGETHER // learner.batch_size))
        end = min(learner.steps, done + steps)
        learner.train(done, end)
        if end < learner.steps:
            return end
        learner.end_fit()
        return 0

    def _policies(self, player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """Return a player's present policies at some rows, (rows, actions)."""
        learner = self._advantages[player]
        if not learner.fits:  # until the first fit, all policies are uniform
            return uniform_policies(legal)
        return self._matched(learner.predict(rows), legal)

    def _matched(self, advantages: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """Return policies proportional to positive advantages, (rows, actions); the fallback where none is positive."""
        return proportional_policies(advantages, legal, self.binding.rule.fallback)

    def _played_model(self, player: int, number: int) -> RowModel | None:
        """Return one of the models that a player has played; None for number 0, the uniform policy before them."""
        return self._advantages[player].model_at(self._played[player].snapshots[number - 1]) if number else None

    def _average_outputs(self, player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """Return numbers (rows, actions) that a player's average policy is proportional to."""
        learner = self._averages[player]
        if not learner.fits:
            return legal.astype(np.float64)
        outputs: np.ndarray = np.maximum(learner.predict(rows), 0.0)
        return outputs

    def average_value(self) -> tuple[float, float, float]:
        """See :meth:`Stepper.average_value`; values are kept until the average changes, since they can take seconds."""
        now = (self.state.iteration, *self.progress)
        if self._valued_at != now:
            self._average_value = self._value_of_average()
            self._valued_at = now
        return self._average_value

    @abstractmethod
    def _value_of_average(self) -> tuple[float, float, float]:
        """Compute what :meth:`average_value` returns."""

    def is_finite(self) -> bool:
        return all(learner.is_finite() for learner in self._learners)

    def saved(self) -> State:
        self._require_whole()
        state: State = {}
        for player in PLAYERS:
            state |= prefixed(f"advantages{player}", self._advantages[player].state())
            average = self._averages[player].state() if self._averages else self._played[player].state()
            state |= prefixed(f"average{player}", average)
        return state

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        state: Any = dict(saved)
        for player in PLAYERS:
            self._advantages[player].restore(unprefixed(f"advantages{player}", state))
            average: RowLearner | PlayedModels = (self._averages or self._played)[player]
            average.restore(unprefixed(f"average{player}", state))
        self._valued_at = (-1,)
