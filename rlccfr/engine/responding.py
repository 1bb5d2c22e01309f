"""Iterations in which players with buckets face best responses from the game itself: the stepper, and the responses."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rlccfr import kernels
from rlccfr.components import Sampler, UpdateRule
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.learning.phases import Phases
from rlccfr.engine.public.draws import first_entries
from rlccfr.engine.public.evaluation import workspace_of
from rlccfr.engine.public.public_state import Need, require, tables_of
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, FlatStepper, Stepper
from rlccfr.errors import ComponentError
from rlccfr.game import Form
from rlccfr.games.centring import centred_game
from rlccfr.games.merging.bucketed import BucketedGame
from rlccfr.games.merging.merged import MergedGame
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.jit import ready
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, PARAMETERS, scratch_for
from rlccfr.kernels.passes.sequence_form import best_responses, regrets_against
from rlccfr.kernels.public.buckets import add_up, expand
from rlccfr.kernels.public.public_iterations import regrets_against_responses, responses_to
from rlccfr.kernels.public.workspace import PublicTables

PLAYERS = (0, 1)


class RespondingStepper(FlatStepper):
    """Stepper whose players have one policy per bucket, while their opponents distinguish all infosets.

    Both players are updated at once, against the policies at the iteration's start, whatever the solver's options say.
    A player's regrets are computed in the game itself, against a best response to the expanded policy, and are added up
    over each bucket's members. Ctrl-C takes effect only between iterations.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        merged = state.merged
        game = state.game
        if isinstance(merged, BucketedGame):
            self._responses: Responses = PublicResponses(merged)
        else:  # without buckets, each infoset is a bucket of its own
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
            phases.add_to_average(player, row[AVERAGE_DECAY])
        for player in PLAYERS:
            responses.fill_regrets(player, phases.estimates.gain, phases.estimates.mass)
            phases.update_regrets(player, row, next_row)
            phases.play_updated(player)
        state.counts[0] += 1
        state.counts[1] += responses.nodes


def check_responding(rule: UpdateRule, sampler: Sampler, options: RunOptions, form: Form) -> None:
    """Check that components and options can be used in a run of :class:`RespondingStepper`.

    Args:
        rule: the update rule.
        sampler: the sampler.
        options: the run's options.
        form: form of the game whose infosets are merged.

    Raises:
        ComponentError: one of them can't.
    """
    where = "where players with buckets face best responses"
    if not sampler.exact:
        raise ComponentError(f"{where}, passes are exact: use sampler='none' instead of {sampler.title}")
    if rule.learns or rule.controller is not None:
        raise ComponentError(
            f"{where}, update rules can't have networks or a controller: use cfr_plus instead of {rule.title}"
        )
    # Without histories, ``fill_regrets`` gives chance's reach alone.
    if rule.uses_mass and not form.has_histories:
        raise ComponentError(
            f"{where}, in a game represented {form.title}, update rules can't use the infosets' reach: use cfr_plus "
            f"instead of {rule.title}"
        )
    if options.blend:
        raise ComponentError(f"{where}, there are no blends: leave out blend=True")


class Responses(ABC):
    """Best responses in a game to policies of buckets, and the buckets' regrets against these responses.

    Attributes:
        nodes: number of histories, or of private states, that an iteration touches.
    """

    nodes: int

    @abstractmethod
    def respond(self, policy: np.ndarray) -> None:
        """Compute each player's best response to a policy of buckets, (sequences of buckets,), and store both."""

    @abstractmethod
    def fill_regrets(self, player: int, gain: np.ndarray, mass: np.ndarray) -> None:
        """Write a player's regrets against the response that :meth:`respond` stored, summed over each bucket's members.

        Args:
            gain: (sequences of buckets,) the player's entries are set to its regrets.
            mass: (buckets,) the player's entries are set to the opponent's and chance's reach; in a public-tree game
                to chance's alone.
        """


class FlatResponses(Responses):
    """Best responses in a compiled game."""

    def __init__(self, merged: MergedGame) -> None:
        self._merged = merged
        self._whole = centred_game(merged.whole)
        first_sequences = self._whole.view.first_sequence[:-1]
        self._bucket = merged.tree.owner[merged.place[first_sequences]]  # (infosets,) of each infoset
        self._scratch = scratch_for(self._whole)
        self._mass = np.zeros(self._whole.num_infosets)
        self._policy = np.zeros(0)  # of the last call of ``respond``, expanded to the game's infosets
        self._response = np.zeros(0)
        # Two passes for the responses and two for the regrets.
        self.nodes = 4 * self._whole.num_histories

    def respond(self, policy: np.ndarray) -> None:
        self._policy = self._merged.expand(policy)
        best_responses(self._whole.view, self._policy, self._scratch)
        self._response = self._scratch.response.copy()

    def fill_regrets(self, player: int, gain: np.ndarray, mass: np.ndarray) -> None:
        whole = self._whole
        merged = self._merged
        scratch = self._scratch
        # The pass leaves the regrets in ``scratch.gradient``, infoset by infoset; buckets then add them up.
        regrets_against(whole.view, player, self._policy, self._response, self._mass, scratch)
        whole_sequences = whole.sequences_of(player)
        _add_to_buckets(
            gain,
            merged.tree.sequences_of(player),
            merged.place[whole_sequences],
            scratch.gradient[whole_sequences],
        )
        whole_infosets = whole.infosets_of(player)
        _add_to_buckets(
            mass,
            merged.tree.infosets_of(player),
            self._bucket[whole_infosets],
            self._mass[whole_infosets],
        )


def _add_to_buckets(table: np.ndarray, players: slice, bucket: np.ndarray, numbers: np.ndarray) -> None:
    """Set a player's entries of a table over buckets to the sums over the buckets' members.

    Args:
        players: slice of the table that holds the player's entries.
        bucket: (members,) index of the table entry to which each member belongs.
        numbers: (members,) numbers to be added up.
    """
    table[players] = np.bincount(bucket - players.start, numbers, players.stop - players.start)


class PublicResponses(Responses):
    """Best responses in a public-tree game, by passes over the whole tree.

    Raises:
        RLCCFRError: the tables that passes need do not fit into memory.
    """

    def __init__(self, merged: BucketedGame) -> None:
        whole = merged.whole
        response_size = whole.num_infosets + 8 * whole.num_nodes  # bytes
        require(
            whole,
            [
                tables_of(whole, 2, whole.dtype),
                Need(response_size, "best responses", "leave out respond=True, or choose a smaller game"),
            ],
        )
        self._merged = merged
        self._policy = np.zeros(0, whole.dtype)  # of the last call of ``respond``, expanded to the game's infosets
        scratch = np.zeros(whole.num_sequences, whole.dtype)  # best responses need no regrets, and regrets no sums
        self._tables = PublicTables(
            regret=scratch,
            policy_sum=scratch,
            policy=scratch[:0],
            movement=scratch[:0],
            response=np.zeros(whole.num_infosets, np.uint8),
            response_start=first_entries(whole, per_private_state=True),
        )
        self._schedule = np.zeros((2, PARAMETERS), whole.dtype)  # discounts of 0: what is there before is overwritten
        self._schedule[:, FLOOR] = -np.inf
        self.nodes = 4 * whole.pass_size
        self._compile(scratch)

    def _compile(self, scratch: np.ndarray) -> None:
        """Compile the kernels, or load them from disk, before the run, whose time must not include this."""
        merged = self._merged
        view = merged.whole.view
        workspace, outcomes = workspace_of(merged.whole, merged.whole.dtype)
        kernels.announce(kernels.PUBLIC, "public trees")
        ready(responses_to, view, scratch, self._tables, workspace, outcomes, self._schedule)
        ready(regrets_against_responses, view, 0, scratch, self._tables, workspace, outcomes, self._schedule)
        bucket_map = (merged.place, merged.first, merged.bucket)
        no_gain = np.zeros(0)
        ready(expand, view, *bucket_map, no_gain, scratch)
        ready(add_up, view, 0, *bucket_map, merged.mass, scratch, no_gain)

    def respond(self, policy: np.ndarray) -> None:
        whole = self._merged.whole
        self._policy = self._policy[:0]  # memory is counted for one table at a time
        self._policy = self._merged.expand(policy)
        workspace, outcomes = workspace_of(whole, whole.dtype)
        responses_to(whole.view, self._policy, self._tables, workspace, outcomes, self._schedule)

    def fill_regrets(self, player: int, gain: np.ndarray, mass: np.ndarray) -> None:
        merged = self._merged
        whole = merged.whole
        tables = self._tables
        workspace, outcomes = workspace_of(whole, whole.dtype)
        regrets_against_responses(whole.view, player, self._policy, tables, workspace, outcomes, self._schedule)
        infosets = merged.tree.infosets_of(player)
        mass[infosets] = merged.tree.view.chance_weight[infosets]  # not 0, so that all count as met; no rule reads it
        sequences = merged.tree.sequences_of(player)
        # ``add_up`` adds to what is there already.
        gain[sequences] = 0.0
        add_up(whole.view, player, merged.place, merged.first, merged.bucket, merged.mass, tables.regret, gain)
        # Passes leave out this factor, which is common to all values.
        gain[sequences] *= whole.pair_probability
