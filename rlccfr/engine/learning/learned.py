"""Iterations between which models are fitted: rules with networks, regressors, samplers with a network of values."""

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
from rlccfr.networks.torch_state import one_thread
from rlccfr.policy import Policy

PLAYERS = (0, 1)


class LearnedStepper(FlatStepper):
    """Stepper that runs iterations one at a time, with the models that the components need.

    Ctrl-C takes effect between iterations. A second Ctrl-C takes effect at once: the run's models are then half
    trained, so the run can neither continue nor be saved.
    """

    learns = True

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        rule = binding.rule
        sampler = binding.sampler
        abstraction = binding.abstraction
        # A deep rule's network or table of the average learns from the nodes that walks visit, as in the rule's source.
        # For a tabular rule's average, or with value networks, each policy's exact reach is used: it costs little
        # compared with a fit.
        takes_exact_reach = rule.networks is None or rule.networks.average == "value_networks"
        self._exact_average = sampler.exact or abstraction.best_response or takes_exact_reach
        if isinstance(previous, LearnedStepper):
            previous._require_whole()
            self.players: list[Player] = previous.players
        else:
            self.players = [make_player(state.game, state.seed, rule, abstraction, player) for player in PLAYERS]
        # The first component that sets a number of walks for its models decides.
        walks = binding.options.walks
        for settings in (rule.networks, abstraction, sampler.network):
            if settings is not None and settings.traversals:
                walks = settings.traversals
                break
        self._phases = Phases(state, binding, walks)
        self._valued_histories = self._models_of_values(previous)
        self._whole = True  # whether the last iteration was completed

    def _models_of_values(self, previous: Stepper[RunState] | None) -> ValuedHistories | None:
        """Return the models of the sampler's values of histories; the previous stepper's are reused if still valid."""
        settings = self.binding.sampler.network
        if settings is None:
            return None
        if isinstance(previous, LearnedStepper):
            models = previous._valued_histories
            if models is not None and models.serve(settings, self._phases):
                return models
        return ValuedHistories(self.state, settings, self._phases)

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
        """Check that the last iteration was completed.

        Raises:
            FailedRunError: it was interrupted.
        """
        if not self._whole:
            raise FailedRunError(
                "an iteration was interrupted, and its models are half trained: continue from an earlier checkpoint, "
                "or start a new run"
            )

    def _iterate(self) -> None:
        """Run one iteration: average each player's policy, estimate its regrets, fit its models, set its policies."""
        state = self.state
        binding = self.binding
        phases = self._phases
        options = binding.options
        row, next_row = binding.rows(state.iteration + 1, 1)
        responds = binding.abstraction.best_response
        average_first = responds or (options.pre_averaging and self._exact_average)
        if responds:
            phases.respond()
        # Values of histories are learned after the best responses to the present policies, which they depend on.
        if self._valued_histories is not None and state.iteration:
            self._valued_histories.learn(phases, state.iteration)
        if average_first:
            for player in PLAYERS:
                self._average(player, row)
        for player in PLAYERS:
            phases.estimate(player, exact=binding.sampler.exact, average=not self._exact_average)
            if not average_first:  # one player's walks give the other player's increments
                self._average(1 - player, row)
            if not options.simultaneous:
                self._update(player, row, next_row)
        if options.simultaneous:
            for player in PLAYERS:
                self._update(player, row, next_row)
        for learner in self.players:
            learner.learn_average(state.iteration + 1)
        state.counts[0] += 1

    def _average(self, player: int, row: np.ndarray) -> None:
        """Add one player's increments, computed exactly or by walks, to its average policy."""
        if self._exact_average:
            self._phases.increment_exactly(player, counts=self.binding.plan.counts)
        self.players[player].average(self.state, self._phases.increment, row[AVERAGE_DECAY])
        self._phases.add_to_average(player, row[AVERAGE_DECAY])

    def _update(self, player: int, row: np.ndarray, next_row: np.ndarray) -> None:
        """Update one player's regrets, fit its models, and set its policies from the models."""
        learner = self.players[player]
        estimates = self._phases.estimates
        learner.observe(estimates.mass, estimates.gain, row)
        self._phases.update_regrets(player, row, next_row)
        regrets = learner.learn(self.state, self.state.iteration + 1, self._phases.next_regrets)
        if regrets is not None:
            self._phases.play(player, regrets, next_row)

    def enter(self) -> None:
        state = self.state
        next_row = self.binding.rows(state.iteration + 1, 0)[0]
        # Tables keep no masses of past data; the reach against the average policy stands in for them.
        average = Policy.from_sums(state.game, state.tables.policy_sum)
        past = Past(
            mass=self._phases.mass_against(average.probabilities),
            weight=past_weight(self.binding.rule, state.iteration),
            average=average.probabilities,
        )
        with one_thread():
            for player in PLAYERS:
                regrets = self.players[player].enter(state, past)
                self._phases.play(player, regrets, next_row)

    def own_sums(self) -> np.ndarray:
        sums = self.state.tables.policy_sum.copy()
        for player, learner in zip(PLAYERS, self.players, strict=True):
            model_sums = learner.average_sums()
            if isinstance(learner, DeepPlayer) and learner.samples_networks:
                model_sums = self._mixture_of_networks(player, learner)
            if model_sums is not None:  # else the table holds the average
                sums[self.state.game.sequences_of(player)] = model_sums
        return sums

    def _mixture_of_networks(self, player: int, learner: DeepPlayer) -> np.ndarray:
        """Return policy sums, (player's sequences,), of the first policy and the kept networks, weighted by shares."""
        assert learner.played is not None
        policy_sum = np.zeros(len(learner.played.first))
        for number, share in enumerate(learner.played.shares()):
            policy_sum += share * self._phases.sums_of(player, self._policy_of(player, learner, number))
        return policy_sum

    def _policy_of(self, player: int, learner: DeepPlayer, number: int) -> np.ndarray:
        """Return the policy (player's sequences,) of a network that was played, or the first policy for number 0."""
        assert learner.played is not None
        regrets = learner.predicted_regrets_of(number)
        if regrets is None:
            return learner.played.first
        next_row = self.binding.rows(self.state.iteration + 1, 0)[0]
        return self._phases.policies(player, regrets, next_row)

    def draw_policy(self, rng: np.random.Generator) -> np.ndarray:
        policy = self.state.tables.policy.copy()
        for player, learner in zip(PLAYERS, self.players, strict=True):
            if not isinstance(learner, DeepPlayer) or learner.played is None:
                raise ComponentError(
                    "policies are drawn only under an update rule with average='value_networks', after an iteration"
                )
            number = learner.played.draw(rng)
            policy[self.state.game.sequences_of(player)] = self._policy_of(player, learner, number)
        return self.expanded(policy)

    def is_finite(self) -> bool:
        return super().is_finite() and all(np.isfinite(learner.predicted_regrets()).all() for learner in self.players)

    def saved(self) -> State:
        self._require_whole()
        state: State = {}
        for player in PLAYERS:
            state |= prefixed(f"player{player}", self.players[player].state())
        if self._valued_histories is not None:
            state |= self._valued_histories.state()
        return state

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for player in PLAYERS:
            self.players[player].restore(unprefixed(f"player{player}", dict(saved)))
        if self._valued_histories is not None:
            self._valued_histories.restore(dict(saved))
