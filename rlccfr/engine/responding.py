"""Iterations over buckets against best responses in the game itself."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.learning.phases import Phases
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, FlatStepper, Stepper
from rlccfr.errors import ComponentError
from rlccfr.games.merging.merged import MergedGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY, scratch_for
from rlccfr.kernels.passes.sequence_form import best_responses, regrets_against

PLAYERS = (0, 1)


class RespondingStepper(FlatStepper):
    """Stepper whose players have one policy per bucket, while their opponents tell all infosets apart.

    Both are updated at once, against the policies at the iteration's start, whatever the solver's options say. A
    player's regrets are computed in the game itself, against a best response to the expanded policy, and are added up
    over each bucket's members. Ctrl-C takes effect only between iterations.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        _check(binding)
        super().__init__(state, binding, previous)
        game = state.game
        merged = state.merged or MergedGame(game, game, np.arange(game.num_sequences))
        self._whole, self._place = merged.whole, merged.place
        self._bucket = game.owner[merged.place[self._whole.view.first_sequence[:-1]]]
        self._scratch, self._mass = scratch_for(self._whole), np.zeros(self._whole.num_infosets)
        self._phases = Phases(state, binding, 1)

    def advance(self, iterations: int, max_nodes: int) -> None:
        before = self.state.nodes
        for _ in range(min(iterations, CHUNK)):
            with uninterrupted():
                self._iterate()
            if self.state.nodes - before >= max_nodes:
                return

    def _iterate(self) -> None:
        state, phases = self.state, self._phases
        now, ahead = self.binding.rows(state.iteration + 1, 1)
        policy = state.tables.policy[self._place]
        best_responses(self._whole.view, policy, self._scratch)
        response = self._scratch.response.copy()
        for player in PLAYERS:
            phases.increment_exactly(player, counts=False)
            phases.average(player, now[AVERAGE_DECAY])
        for player in PLAYERS:
            regrets_against(self._whole.view, player, policy, response, self._mass, self._scratch)
            self._add_up(player)
            phases.fold(player, now, ahead)
            phases.play_folded(player)
        state.counts[0] += 1
        state.counts[1] += 4 * self._whole.num_histories

    def _add_up(self, player: int) -> None:
        """Store the sums over each bucket's members of a player's regrets and masses where folds find them."""
        whole, estimates, game = self._whole, self._phases.estimates, self.state.game
        gradient, place, bucket = self._scratch.gradient, self._place, self._bucket
        for found, numbers, into, members, own in (
            (estimates.gain, gradient, place, whole.sequences_of(player), game.sequences_of(player)),
            (estimates.mass, self._mass, bucket, whole.infosets_of(player), game.infosets_of(player)),
        ):
            found[own] = np.bincount(into[members] - own.start, numbers[members], own.stop - own.start)


def _check(binding: Binding) -> None:
    """Refuse components and options that do not run over buckets against best responses.

    Raises:
        ComponentError: one of them does not.
    """
    where = "against best responses to buckets"
    rule, sampler = binding.rule, binding.sampler
    if not sampler.exact:
        raise ComponentError(f"{where}, passes are exact: take sampler='none' instead of {sampler.id!r}")
    if rule.learns or rule.controller is not None:
        raise ComponentError(f"{where}, update rules have tables and schedules: take cfr_plus instead of {rule.id!r}")
    if binding.options.blend:
        raise ComponentError(f"{where}, there are no blends: leave out blend=True")
