"""Iterations over buckets against best responses in the game itself."""

from __future__ import annotations

import numpy as np

from rlccfr.components import Sampler, UpdateRule
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.buckets.responses import FlatResponses, PublicResponses, Responses
from rlccfr.engine.learning.phases import Phases
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, FlatStepper, Stepper
from rlccfr.errors import ComponentError
from rlccfr.game import Form
from rlccfr.games.merging.bucketed import BucketedGame
from rlccfr.games.merging.merged import MergedGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.layout import AVERAGE_DECAY

PLAYERS = (0, 1)


class RespondingStepper(FlatStepper):
    """Stepper whose players have one policy per bucket, while their opponents tell all infosets apart.

    Both are updated at once, against the policies at the iteration's start, whatever the solver's options say. A
    player's regrets are computed in the game itself, against a best response to the expanded policy, and are added up
    over each bucket's members. Ctrl-C takes effect only between iterations.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        merged = state.merged
        game = state.game
        if isinstance(merged, BucketedGame):
            self._responses: Responses = PublicResponses(merged)
        else:  # without buckets, each infoset is its own
            self._responses = FlatResponses(merged or MergedGame(game, game, np.arange(game.num_sequences)))
        self._phases = Phases(state, binding, 1)

    @property
    def nodes_per_iteration(self) -> int:
        return self._responses.nodes

    def advance(self, iterations: int, max_nodes: int) -> None:
        before = self.state.nodes
        for _ in range(min(iterations, CHUNK)):
            with uninterrupted():
                self._iterate()
            if self.state.nodes - before >= max_nodes:
                return

    def _iterate(self) -> None:
        state = self.state
        phases = self._phases
        responses = self._responses
        row, next_row = self.binding.rows(state.iteration + 1, 1)
        responses.respond(state.tables.policy)
        # Both averages come before both updates, since updates change the policies.
        for player in PLAYERS:
            phases.increment_exactly(player, counts=False)
            phases.average(player, row[AVERAGE_DECAY])
        for player in PLAYERS:
            responses.fill_regrets(player, phases.estimates.gain, phases.estimates.mass)
            phases.update_regrets(player, row, next_row)
            phases.play_updated(player)
        state.counts[0] += 1
        state.counts[1] += responses.nodes


def check_responding(rule: UpdateRule, sampler: Sampler, options: RunOptions, form: Form) -> None:
    """Refuse components and options that do not run over buckets against best responses.

    Args:
        rule: the update rule.
        sampler: the sampler.
        options: the run's options.
        form: form of the game whose infosets are merged.

    Raises:
        ComponentError: a component or an option does not.
    """
    where = "against best responses to buckets"
    if not sampler.exact:
        raise ComponentError(f"{where}, passes are exact: take sampler='none' instead of {sampler.id!r}")
    if rule.learns or rule.controller is not None:
        raise ComponentError(f"{where}, update rules have tables and schedules: take cfr_plus instead of {rule.id!r}")
    if rule.uses_mass and not form.has_histories:
        raise ComponentError(
            f"{where} in a game held {form.title}, rules can't read the reach: take cfr_plus instead of {rule.id!r}"
        )
    if options.blend:
        raise ComponentError(f"{where}, there are no blends: leave out blend=True")
