"""Iterations with models between them: rules with networks, regressors, and samplers with a network of values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.learning.deep_player import DeepPlayer, Past
from rlccfr.engine.learning.phases import Phases
from rlccfr.engine.learning.players import Player, make_player, past_weight
from rlccfr.engine.learning.valued_histories import ValuedHistories
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import FlatStepper, Stepper
from rlccfr.errors import ComponentError, FailedRunError
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY
from rlccfr.networks.learners import State, prefixed, unprefixed
from rlccfr.networks.models import one_thread
from rlccfr.policy import Policy

PLAYERS = (0, 1)


class LearnedStepper(FlatStepper):
    """Stepper that runs iterations one at a time, with the models that the components need.

    Ctrl-C takes effect between iterations. A second one takes effect at once: the run's models are then half trained,
    so that it can neither go on nor be saved.
    """

    learns = True

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        rule, sampler, abstraction = binding.rule, binding.sampler, binding.abstraction
        # A deep rule's network or table of the average learns from the nodes that walks visit, as in the rule's source.
        # For a tabular rule's average, or with value networks, each policy's exact reach is used: it costs little
        # compared with a fit.
        tabulated = rule.networks is None or rule.networks.average == "value_networks"
        self._exact_average = sampler.exact or abstraction.best_response or tabulated
        if isinstance(previous, LearnedStepper):
            previous._require_whole()
        self.players: list[Player] = (
            previous.players
            if isinstance(previous, LearnedStepper)
            else [make_player(state.game, state.seed, rule, abstraction, player) for player in PLAYERS]
        )
        parts = (rule.networks, abstraction, sampler.network)
        own = next((part.traversals for part in parts if part is not None and part.traversals), None)
        self._phases = Phases(state, binding, own or binding.options.walks)
        self._values = self._valued(previous)
        self._whole = True

    def _valued(self, previous: Stepper[RunState] | None) -> ValuedHistories | None:
        """Return the models of the sampler's values of histories, those of the previous stepper if they still fit."""
        settings = self.binding.sampler.network
        if settings is None:
            return None
        kept = previous._values if isinstance(previous, LearnedStepper) else None
        return (
            kept if kept and kept.serve(settings, self._phases) else ValuedHistories(self.state, settings, self._phases)
        )

    def advance(self, iterations: int, max_nodes: int) -> None:
        before = self.state.nodes
        with one_thread():
            for _ in range(iterations):
                self._require_whole()
                with uninterrupted(unless_repeated=True):
                    self._whole = False
                    self._iterate()
                    self._whole = True
                if self.state.nodes - before >= max_nodes:
                    return

    def _require_whole(self) -> None:
        """Refuse a run whose last iteration was broken off.

        Raises:
            FailedRunError: it was.
        """
        if not self._whole:
            raise FailedRunError(
                "an iteration was broken off, and its models are half trained: go on from an earlier checkpoint, or "
                "start anew"
            )

    def _iterate(self) -> None:
        state, binding, phases = self.state, self.binding, self._phases
        now, ahead = binding.rows(state.iteration + 1, 1)
        responds, options = binding.abstraction.best_response, binding.options
        average_first = responds or (options.pre_averaging and self._exact_average)
        if responds:
            phases.respond()
        if self._values is not None and state.iteration:  # after the best responses to the policies of now
            self._values.learn(phases, state.iteration)
        if average_first:
            for player in PLAYERS:
                self._average(player, now)
        for player in PLAYERS:
            phases.estimate(player, exact=binding.sampler.exact, average=not self._exact_average)
            if not average_first:
                self._average(1 - player, now)
            if not options.simultaneous:
                self._update(player, now, ahead)
        if options.simultaneous:
            for player in PLAYERS:
                self._update(player, now, ahead)
        for learner in self.players:
            learner.learn_average(state.iteration + 1)
        state.counts[0] += 1

    def _average(self, player: int, now: np.ndarray) -> None:
        """Add one player's increments, computed exactly or by walks, to its average policy."""
        if self._exact_average:
            self._phases.increment_exactly(player, counts=self.binding.plan.counts)
        self.players[player].average(self.state, self._phases.increment, now[AVERAGE_DECAY])
        self._phases.average(player, now[AVERAGE_DECAY])

    def _update(self, player: int, now: np.ndarray, ahead: np.ndarray) -> None:
        """Fold one player's estimates, fit its models, and set its policies from the models."""
        learner, estimates = self.players[player], self._phases.estimates
        learner.observe(estimates.mass, estimates.gain, now)
        self._phases.fold(player, now, ahead)
        row = learner.learn(self.state, self.state.iteration + 1, self._phases.row)
        if row is not None:
            self._phases.play(player, row, ahead)

    def enter(self) -> None:
        state, rule = self.state, self.binding.rule
        ahead = self.binding.rows(state.iteration + 1, 0)[0]
        average = Policy.from_sums(state.game, state.tables.policy_sum)
        past = Past(
            mass=self._phases.mass_against(average.probabilities),
            weight=past_weight(rule, state.iteration),
            average=average.probabilities,
        )
        with one_thread():
            for player in PLAYERS:
                row = self.players[player].enter(state, past)
                self._phases.play(player, row, ahead)

    def own_sums(self) -> np.ndarray:
        sums = self.state.tables.policy_sum.copy()
        for player, learner in zip(PLAYERS, self.players, strict=True):
            modelled = learner.average_sums()
            if isinstance(learner, DeepPlayer) and learner.samples_networks:
                modelled = self._mixed(player, learner)
            if modelled is not None:
                sums[self.state.game.sequences_of(player)] = modelled
        return sums

    def _mixed(self, player: int, learner: DeepPlayer) -> np.ndarray:
        """Return the sums (player's sequences,) of the policies of the networks that were kept."""
        assert learner.played is not None
        total = np.zeros(len(learner.played.first))
        for number, share in enumerate(learner.played.shares()):
            total += share * self._phases.sums_of(player, self._policy_of(player, learner, number))
        return total

    def _policy_of(self, player: int, learner: DeepPlayer, number: int) -> np.ndarray:
        """Return the policy (player's sequences,) of a network that was played, or the first policy for number 0."""
        assert learner.played is not None
        row = learner.rows_of(number)
        if row is None:
            return learner.played.first
        return self._phases.policies(player, row, self.binding.rows(self.state.iteration + 1, 0)[0])

    def draw_policy(self, rng: np.random.Generator) -> np.ndarray:
        policy = self.state.tables.policy.copy()
        for player, learner in zip(PLAYERS, self.players, strict=True):
            if not isinstance(learner, DeepPlayer) or learner.played is None:
                raise ComponentError(
                    "policies are drawn only under an update rule with average='value_networks', after an iteration"
                )
            drawn = self._policy_of(player, learner, learner.played.draw(rng))
            policy[self.state.game.sequences_of(player)] = drawn
        return self.expanded(policy)

    def is_finite(self) -> bool:
        return super().is_finite() and all(np.isfinite(player.rows()).all() for player in self.players)

    def saved(self) -> State:
        self._require_whole()
        states = [prefixed(f"player{player}", self.players[player].state()) for player in PLAYERS]
        return states[0] | states[1] | (self._values.state() if self._values is not None else {})

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for player in PLAYERS:
            self.players[player].restore(unprefixed(f"player{player}", dict(saved)))
        if self._values is not None:
            self._values.restore(dict(saved))
