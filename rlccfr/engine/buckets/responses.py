"""Best responses in a game to policies of buckets, and what buckets gain against them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rlccfr import kernels
from rlccfr.engine.public.draws import places
from rlccfr.engine.public.evaluation import workspace_of
from rlccfr.engine.public.public_state import Need, require, tables_of
from rlccfr.games.merging.bucketed import BucketedGame
from rlccfr.games.merging.merged import MergedGame
from rlccfr.kernels.jit import ready
from rlccfr.kernels.layout import FLOOR, PARAMETERS, scratch_for
from rlccfr.kernels.passes.sequence_form import best_responses, regrets_against
from rlccfr.kernels.public.buckets import add_up, expand
from rlccfr.kernels.public.public_iterations import regrets_against_responses, responses_to
from rlccfr.kernels.public.workspace import PublicTables


class Responses(ABC):
    """Best responses in a game to policies of buckets, and the regrets of buckets against them.

    Attributes:
        nodes: histories, or private states, that an iteration touches.
    """

    nodes: int

    @abstractmethod
    def respond(self, policy: np.ndarray) -> None:
        """Find each player's best response to a policy of buckets, (sequences of buckets,), and keep both."""

    @abstractmethod
    def fill_regrets(self, player: int, gain: np.ndarray, mass: np.ndarray) -> None:
        """Set what a player gains against the response to the last policy, added up over each bucket's members.

        Args:
            gain: (sequences of buckets,) the player's entries are set to its regrets.
            mass: (buckets,) the player's entries are set to the opponent's and chance's reach; in a public-tree game
                to chance's alone.
        """


class FlatResponses(Responses):
    """Best responses in a compiled game."""

    def __init__(self, merged: MergedGame) -> None:
        self._merged = merged
        self._whole = merged.whole
        first_sequences = self._whole.view.first_sequence[:-1]
        self._bucket = merged.tree.owner[merged.place[first_sequences]]  # (infosets,) of each infoset
        self._scratch = scratch_for(self._whole)
        self._mass = np.zeros(self._whole.num_infosets)
        self._policy = np.zeros(0)  # of the last call of ``respond``, expanded to the game's infosets
        self._response = np.zeros(0)
        self.nodes = 4 * self._whole.num_histories

    def respond(self, policy: np.ndarray) -> None:
        self._policy = self._merged.expand(policy)
        best_responses(self._whole.view, self._policy, self._scratch)
        self._response = self._scratch.response.copy()

    def fill_regrets(self, player: int, gain: np.ndarray, mass: np.ndarray) -> None:
        whole = self._whole
        merged = self._merged
        scratch = self._scratch
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
        players: the player's entries of the table.
        bucket: (members,) entry of the table that each member belongs to.
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
                Need(response_size, "best responses", "leave out respond=True, or take a smaller game"),
            ],
        )
        self._merged = merged
        self._policy = np.zeros(0, whole.dtype)  # of the last call of ``respond``, expanded to the game's infosets
        scratch = np.zeros(whole.num_sequences, whole.dtype)  # best responses need no regrets, and regrets no sums
        self._tables = PublicTables(
            regret=scratch,
            policy_sum=scratch,
            policy=scratch[:0],
            response=np.zeros(whole.num_infosets, np.uint8),
            response_start=places(whole, one_by_one=True),
        )
        self._schedule = np.zeros((2, PARAMETERS), whole.dtype)  # discounts of 0: what is there before is overwritten
        self._schedule[:, FLOOR] = -np.inf
        self.nodes = 4 * whole.pass_size
        self._compile(scratch)

    def _compile(self, scratch: np.ndarray) -> None:
        """Compile the kernels, or load them from disk, which is not the run's work."""
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
        gain[sequences] = 0.0
        add_up(whole.view, player, merged.place, merged.first, merged.bucket, merged.mass, tables.regret, gain)
        gain[sequences] *= whole.unit
