"""Iterations whose policies come from models: rules with networks, and regressors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.engine.phases import Phases
from rlccfr.errors import ComponentError
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY
from rlccfr.networks.learners import State, prefixed, unprefixed
from rlccfr.networks.models import one_thread
from rlccfr.networks.players import DeepPlayer, Past, Player, make_player, past_weight
from rlccfr.policy import Policy

if TYPE_CHECKING:
    from rlccfr.engine.engine import Engine

PLAYERS = (0, 1)


class Learning:
    """Runs an engine's iterations, one at a time, with the models that its components ask for."""

    def __init__(
        self,
        engine: Engine,
        rule: UpdateRule,
        sampler: Sampler,
        abstraction: Abstraction,
        players: Sequence[Player] | None,
    ) -> None:
        self._engine, self._game = engine, engine.game
        self._rule, self._sampler, self._abstraction = rule, sampler, abstraction
        # A deep rule's model of the average learns from what walks meet, as its source does. Where a table holds the
        # average, or value networks are kept for it, each policy's exact reach is taken: it costs little beside a fit.
        tabulated = rule.networks is None or rule.networks.average == "value_networks"
        self._exact_average = sampler.exact or abstraction.best_response or tabulated
        self.players = players or [make_player(engine, rule, abstraction, player) for player in PLAYERS]
        self._phases: Phases

    def begin(self, *, entering: bool) -> float:
        """Go to work on the engine's tables, which are bound now; on entering, take over from what they hold.

        Returns:
            CPU seconds that the take-over cost.
        """
        began = time.thread_time()
        networks = self._rule.networks
        own = networks.traversals if networks else self._abstraction.traversals
        self._phases = Phases(self._engine, own or self._engine.walks)
        if not entering:
            return 0.0
        self._enter()
        return time.thread_time() - began

    def advance(self, iterations: int, max_nodes: int) -> None:
        """Run up to so many iterations, stopping once ``max_nodes`` histories were touched."""
        before = self._engine.nodes
        with one_thread():
            for _ in range(iterations):
                with uninterrupted():
                    self._iterate()
                if self._engine.nodes - before >= max_nodes:
                    return

    def _iterate(self) -> None:
        engine, phases = self._engine, self._phases
        now, ahead = engine.schedule(1)
        first = self._abstraction.best_response or (engine.pre_averaging and self._exact_average)
        if self._abstraction.best_response:
            phases.respond()
        if first:
            for player in PLAYERS:
                self._average(player, now)
        for player in PLAYERS:
            phases.estimate(player, exact=self._sampler.exact, average=not self._exact_average)
            if not first:
                self._average(1 - player, now)
            if not engine.simultaneous:
                self._update(player, now, ahead)
        if engine.simultaneous:
            for player in PLAYERS:
                self._update(player, now, ahead)
        for learner in self.players:
            learner.learn_average(engine.iteration + 1)
        engine.counts[0] += 1

    def _average(self, player: int, now: np.ndarray) -> None:
        """Take one player's increments, found exactly or by the walks, into its average policy."""
        if self._exact_average:
            counts = self._sampler.inclusion is not None or self._sampler.mixture is not None
            self._phases.increment_exactly(player, counts=counts)
        self.players[player].average(self._phases.increment, now[AVERAGE_DECAY])
        self._phases.average(player, now[AVERAGE_DECAY])

    def _update(self, player: int, now: np.ndarray, ahead: np.ndarray) -> None:
        """Fold one player's estimates, fit its models, and let its policies follow from them."""
        learner, tables = self.players[player], self._engine.walk_tables
        learner.observe(tables.mass, tables.gain, now)
        self._phases.fold(player, now, ahead)
        row = learner.learn(self._engine.iteration + 1, self._phases.row)
        if row is not None:
            self._phases.play(player, row, ahead)

    def _enter(self) -> None:
        """Take over from what the tables hold."""
        engine, rule = self._engine, self._rule
        ahead = rule.schedule(engine.iteration + 1, 0)[0]
        average = Policy.from_sums(self._game, engine.policy_sum)
        past = Past(
            mass=self._phases.mass_against(average.probabilities),
            weight=past_weight(rule, engine.iteration),
            average=average.probabilities,
        )
        with one_thread():
            for player in PLAYERS:
                row = self.players[player].enter(past)
                self._phases.play(player, row, ahead)

    def average_sums(self) -> np.ndarray:
        """(m,) in proportion to the average policy."""
        sums = self._engine.policy_sum.copy()
        for player in PLAYERS:
            if (modelled := self.players[player].average_sums()) is not None:
                sums[self._game.sequences_of(player)] = modelled
        return sums

    def draw_policy(self, rng: np.random.Generator) -> np.ndarray:
        """(m,) a policy of each player out of those whose mixture is the average policy, to be kept for an episode.

        Raises:
            ComponentError: these models were not kept.
        """
        ahead = self._rule.schedule(self._engine.iteration + 1, 0)[0]
        policy = self._engine.policy.copy()
        for player, learner in zip(PLAYERS, self.players, strict=True):
            if not isinstance(learner, DeepPlayer) or learner.played is None:
                raise ComponentError(
                    "policies are drawn only under an update rule with average='value_networks', after an iteration"
                )
            row = learner.rows_of(learner.played.draw(rng))
            sequences = self._game.sequences_of(player)
            if row is None:
                policy[sequences] = learner.played.first
            else:
                policy[sequences] = self._phases.policies(player, row, ahead)
        return policy

    def is_finite(self) -> bool:
        """Whether all that models say are numbers still."""
        return all(np.isfinite(player.rows()).all() for player in self.players)

    def state(self) -> State:
        states = [prefixed(f"player{player}", self.players[player].state()) for player in PLAYERS]
        return states[0] | states[1]

    def restore(self, state: State) -> None:
        for player in PLAYERS:
            self.players[player].restore(unprefixed(f"player{player}", state))
