"""Iterations of deep rules by walks in step; each is carried out in short parts, so that a run can stop in a fit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.learning.deep_player import ADVANTAGES, AVERAGE, is_fit_due, skips_fit
from rlccfr.engine.public.evaluation import public_values
from rlccfr.engine.public.public_state import Need, require
from rlccfr.engine.stepper import Stepper
from rlccfr.engine.walked.tables import WalkedTables
from rlccfr.engine.walked.tabulated import Outputs, tabulated
from rlccfr.engine.walked.walk import external_walks
from rlccfr.games.walked.holdem import HoldemWalks
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
from rlccfr.networks.hand_networks import HandInputs
from rlccfr.networks.learners import State, prefixed, unprefixed
from rlccfr.networks.models import one_thread
from rlccfr.networks.row_learners import AdvantageLearner, RowLearner
from rlccfr.networks.row_models import make_row_model
from rlccfr.networks.row_reservoir import RowReservoir

PLAYERS = (0, 1)

WALK = 7
"""Second word of seeds of walks; those of models are in engine/learning/deep_player.py."""

WALKS_TOGETHER = 4096
"""Number of walks that go through the game in step; more would take more memory, and hardly less time."""

ROWS_TOGETHER = 2**14
"""Number of rows of the training steps that are taken without a pause."""

# The parts of an iteration, in order.
WALKS_0, FIT_0, WALKS_1, FIT_1, FIT_AVERAGES_0, FIT_AVERAGES_1, NUM_PARTS = range(7)


class WalkedStepper(Stepper[WalkedTables]):
    """Stepper that estimates regrets by external sampling and fits networks to them (Brown et al., ICML 2019).

    In an iteration, player 0's walks and fit come first; then player 1's, against player 0's new policy.
    """

    learns = True

    _walks: HoldemWalks
    _advantages: list[AdvantageLearner]
    _averages: list[RowLearner]

    def __init__(self, state: WalkedTables, binding: Binding, previous: Stepper[WalkedTables] | None = None) -> None:
        super().__init__(state, binding, previous)
        assert binding.rule.networks is not None
        self._networks = binding.rule.networks
        self.sparse = state.game.is_large
        self._valued_at: tuple[int, ...] = (-1,)
        self._average_value = (np.nan, np.nan, np.nan)
        if isinstance(previous, WalkedStepper):
            walks, advantages, averages = previous._walks, previous._advantages, previous._averages
        else:
            walks = HoldemWalks(state.game)
            advantages = [self._new_advantages(walks, player) for player in PLAYERS]
            averages = [self._new_average(walks, player) for player in PLAYERS]
        self._walks = walks
        self._advantages = advantages
        self._averages = averages
        self._require_memory()

    def _new_reservoir(self, walks: HoldemWalks) -> RowReservoir:
        networks = self._networks
        return RowReservoir(walks.row_type, walks.num_actions, networks.memory, networks.full_memory)

    def _new_advantages(self, walks: HoldemWalks, player: int) -> AdvantageLearner:
        seed = [self.state.seed, ADVANTAGES, player]
        model = make_row_model(partial(_inputs_of, walks), self._networks.value, walks.legal_actions, seed)
        unit = self.state.game.utility_range or 1.0
        return AdvantageLearner(model, self._new_reservoir(walks), self.binding.rule, unit, seed)

    def _new_average(self, walks: HoldemWalks, player: int) -> RowLearner:
        seed = [self.state.seed, AVERAGE, player]
        model = make_row_model(partial(_inputs_of, walks), self._networks.policy, walks.legal_actions, seed)
        return RowLearner(model, self._new_reservoir(walks), self._networks.policy, 1.0, seed)

    def _require_memory(self) -> None:
        """Check that full reservoirs fit into memory.

        Raises:
            RLCCFRError: they do not.
        """
        learners: list[RowLearner] = [*self._advantages, *self._averages]
        size = sum(learner.most_bytes for learner in learners)
        rows = self._networks.memory
        require(self.state.game, [Need(size, f"four reservoirs of {rows:,} rows", "use a smaller memory=")])

    @property
    def unfinished(self) -> bool:
        return bool(self.state.progress.any())

    def advance(self, iterations: int, max_nodes: int) -> None:
        """Carry out the next part of an iteration, which takes some tenths of a second at most."""
        with one_thread(), uninterrupted():
            self._go_on()

    def _go_on(self) -> None:
        part, done = self.state.progress.tolist()
        if part in (WALKS_0, WALKS_1):
            done = self._walk(0 if part == WALKS_0 else 1, done)
        elif part in (FIT_0, FIT_1):
            player = 0 if part == FIT_0 else 1
            done = self._fit(self._advantages[player], done, is_due=self._learns_now(player))
        else:
            player = 0 if part == FIT_AVERAGES_0 else 1
            done = self._fit(self._averages[player], done, is_due=is_fit_due(self._networks, self.state.iteration + 1))
        if done:
            self.state.progress[:] = part, done
        elif part + 1 < NUM_PARTS:
            self.state.progress[:] = part + 1, 0
        else:
            self.state.progress[:] = 0
            self.state.counts[0] += 1

    def _learns_now(self, player: int) -> bool:
        """Return whether a player's advantages are fitted in this iteration."""
        iteration = self.state.iteration + 1
        is_skipped = skips_fit(self._networks, iteration, self.state.seed, player)
        return is_fit_due(self._networks, iteration) and not is_skipped

    def _walk(self, player: int, done: int) -> int:
        """Run some of a player's walks; return how many are done, or 0 if all are.

        Args:
            done: number of walks done so far in this iteration.
        """
        row = self.binding.rows(self.state.iteration + 1, 0)[0]
        if not done:
            self._advantages[player].note_iteration(row[POSITIVE_DISCOUNT], row[NEGATIVE_DISCOUNT])
            self._averages[1 - player].discount(row[AVERAGE_DECAY])
        count = min(WALKS_TOGETHER, self._networks.traversals - done)
        rng = np.random.default_rng([self.state.seed, WALK, self.state.iteration, player, done])
        found = external_walks(self._walks, player, self._policies, count, rng)
        self._advantages[player].observe(found.own_rows, found.gains, rng)
        self._averages[1 - player].observe(found.opponent_rows, found.opponent_policies, rng)
        self.state.counts[1] += found.num_states
        done += count
        return done if done < self._networks.traversals else 0

    def _fit(self, learner: RowLearner, done: int, *, is_due: bool) -> int:
        """Take some steps of a fit; return how many are done, or 0 if all are, or if the fit is not due.

        Args:
            done: number of steps done so far.
        """
        if not is_due:
            return 0
        if not done:
            learner.begin_fit()
        end = min(learner.steps, done + max(1, ROWS_TOGETHER // learner.batch_size))
        learner.train(done, end)
        if end < learner.steps:
            return end
        learner.end_fit()
        return 0

    def _policies(self, player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """Return what a player plays now at some rows, (rows, actions)."""
        learner = self._advantages[player]
        uniform: np.ndarray = legal / legal.sum(axis=1, keepdims=True)
        if not learner.fits:  # until the first fit, all policies are uniform
            return uniform
        advantages = np.where(legal, learner.predict(rows), -np.inf)
        positive = np.maximum(advantages, 0.0)
        total = positive.sum(axis=1, keepdims=True)
        fallback = uniform
        if self.binding.rule.fallback == "argmax":
            differ = advantages.max(axis=1) > np.where(legal, advantages, np.inf).min(axis=1)
            fallback = np.where(differ[:, None], np.eye(legal.shape[1])[advantages.argmax(axis=1)], uniform)
        policies: np.ndarray = np.where(total > 0, positive / np.where(total > 0, total, 1.0), fallback)
        return policies

    def _average_outputs(self, player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """Return numbers (rows, actions) that a player's average policy is proportional to."""
        learner = self._averages[player]
        if not learner.fits:
            return legal.astype(np.float64)
        outputs: np.ndarray = np.maximum(learner.predict(rows), 0.0)
        return outputs

    def _table(self, outputs: Outputs) -> np.ndarray:
        with one_thread():
            return tabulated(self._walks, outputs)

    def average_sums(self) -> np.ndarray:
        return self._table(self._average_outputs)

    def current_sums(self) -> np.ndarray:
        return self._table(self._policies)

    def average_value(self) -> tuple[float, float, float]:
        """See :meth:`Stepper.average_value`; kept until the average changes, since large games need seconds for it."""
        now = tuple(learner.fits for learner in self._averages)
        if self._valued_at != now or self.unfinished:
            self._average_value = public_values(self.state.game, self.average_sums())
            self._valued_at = now
        return self._average_value

    def current_value(self) -> tuple[float, float, float]:
        return public_values(self.state.game, self.current_sums())

    def is_finite(self) -> bool:
        return all(learner.is_finite() for learner in (*self._advantages, *self._averages))

    def saved(self) -> State:
        state: State = {}
        for player in PLAYERS:
            state |= prefixed(f"advantages{player}", self._advantages[player].state())
            state |= prefixed(f"average{player}", self._averages[player].state())
        return state

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        state: Any = dict(saved)
        for player in PLAYERS:
            self._advantages[player].restore(unprefixed(f"advantages{player}", state))
            self._averages[player].restore(unprefixed(f"average{player}", state))
        self._valued_at = (-1,)


def _inputs_of(walks: HoldemWalks) -> HandInputs:
    """Return what networks read of a game."""
    deck = walks.game.deals[0].deck
    return HandInputs(
        cards=walks.cards,
        lines=walks.line_features,
        ranks=deck.ranks,
        suits=deck.suits,
        num_rounds=walks.num_rounds,
        num_actions=walks.num_actions,
    )
