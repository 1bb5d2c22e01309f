"""Best responses in a game to policies of buckets, and what buckets gain against them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rlccfr.games.merging.merged import MergedGame
from rlccfr.kernels.layout import scratch_for
from rlccfr.kernels.passes.sequence_form import best_responses, regrets_against


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
        self._merged, self._whole = merged, merged.whole
        self._bucket = merged.tree.owner[merged.place[self._whole.view.first_sequence[:-1]]]
        self._scratch, self._mass = scratch_for(self._whole), np.zeros(self._whole.num_infosets)
        self._policy = self._response = np.zeros(0)
        self.nodes = 4 * self._whole.num_histories

    def respond(self, policy: np.ndarray) -> None:
        self._policy = self._merged.expand(policy)
        best_responses(self._whole.view, self._policy, self._scratch)
        self._response = self._scratch.response.copy()

    def fill_regrets(self, player: int, gain: np.ndarray, mass: np.ndarray) -> None:
        whole, tree, scratch = self._whole, self._merged.tree, self._scratch
        regrets_against(whole.view, player, self._policy, self._response, self._mass, scratch)
        for found, numbers, into, members, own in (
            (gain, scratch.gradient, self._merged.place, whole.sequences_of(player), tree.sequences_of(player)),
            (mass, self._mass, self._bucket, whole.infosets_of(player), tree.infosets_of(player)),
        ):
            found[own] = np.bincount(into[members] - own.start, numbers[members], own.stop - own.start)
