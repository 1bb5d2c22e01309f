"""Best responses in a public-tree game to policies of buckets."""

from __future__ import annotations

import numpy as np

from rlccfr import kernels
from rlccfr.engine.buckets.responses import Responses
from rlccfr.engine.public.draws import places
from rlccfr.engine.public.evaluation import memory_of
from rlccfr.engine.public.public_state import Need, require, tables_of
from rlccfr.games.merging.bucketed import BucketedGame
from rlccfr.kernels.jit import ready
from rlccfr.kernels.layout import FLOOR, PARAMETERS
from rlccfr.kernels.public.buckets import add_up, expand
from rlccfr.kernels.public.memory import PublicTables
from rlccfr.kernels.public.public_iterations import regrets_against_responses, responses_to


class PublicResponses(Responses):
    """Best responses in a public-tree game, by passes over the whole tree.

    Raises:
        RLCCFRError: the tables that passes need do not fit into memory.
    """

    def __init__(self, merged: BucketedGame) -> None:
        whole = merged.whole
        table, size = tables_of(whole, 2, whole.dtype), whole.num_infosets + 8 * whole.num_nodes
        require(whole, [table, Need(size, "best responses", "leave out respond=True, or take a smaller game")])
        self._merged, self._table = merged, np.zeros(0, whole.dtype)
        scratch = np.zeros(whole.num_sequences, whole.dtype)  # best responses need no regrets, and regrets no sums
        self._tables = PublicTables(
            regret=scratch,
            policy_sum=scratch,
            policy=scratch[:0],
            response=np.zeros(whole.num_infosets, np.uint8),
            response_place=places(whole, one_by_one=True),
        )
        self._schedule = np.zeros((2, PARAMETERS), whole.dtype)  # discounts of 0: what is there before is overwritten
        self._schedule[:, FLOOR] = -np.inf
        self.nodes = 4 * whole.pass_size
        memory, view = memory_of(whole, whole.dtype), whole.view
        kernels.announce(kernels.PUBLIC, "public trees")  # compiling is not the run's work
        ready(responses_to, view, scratch, self._tables, *memory, self._schedule)
        ready(regrets_against_responses, view, 0, scratch, self._tables, *memory, self._schedule)
        place, gain = (merged.place, merged.first, merged.bucket), np.zeros(0)
        ready(expand, view, *place, gain, scratch)
        ready(add_up, view, 0, *place, merged.mass, scratch, gain)

    def respond(self, policy: np.ndarray) -> None:
        whole = self._merged.whole
        self._table = self._table[:0]  # memory is counted for one table at a time
        self._table = self._merged.expand(policy)
        responses_to(whole.view, self._table, self._tables, *memory_of(whole, whole.dtype), self._schedule)

    def fill_regrets(self, player: int, gain: np.ndarray, mass: np.ndarray) -> None:
        merged, whole, tables = self._merged, self._merged.whole, self._tables
        memory = memory_of(whole, whole.dtype)
        regrets_against_responses(whole.view, player, self._table, tables, *memory, self._schedule)
        own, infosets = merged.tree.sequences_of(player), merged.tree.infosets_of(player)
        mass[infosets] = merged.tree.view.chance_weight[infosets]  # not 0, so that all count as met; no rule reads it
        gain[own] = 0.0
        add_up(whole.view, player, merged.place, merged.first, merged.bucket, merged.mass, tables.regret, gain)
        gain[own] *= whole.unit
