"""An iteration in phases, between which models are fitted."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.engine.walks import walk_parameters, walk_tables
from rlccfr.kernels.learning.phase_kernels import estimate_exactly, fold_player, own_increments, policies_from
from rlccfr.kernels.passes.sequence_form import best_responses
from rlccfr.kernels.walks.estimates import add_walks
from rlccfr.kernels.walks.walk_layout import UNVISITED, frames_for


class Phases:
    """The phases of an iteration, one call of a kernel each; tables hold true values throughout.

    Args:
        walks: number of walks per player and iteration.

    Attributes:
        estimates: what walks and exact passes leave: regrets (m,) in ``gain``, masses (n,) in ``mass``.
        increment: (m,) increments of the average policy's sum since they were last taken into account.
        row: (m,) regrets from which the policies of the player folded last would follow.
    """

    def __init__(self, state: RunState, binding: Binding, walks: int) -> None:
        self._state, self._binding, self._walks = state, binding, walks
        self.increment = np.zeros(state.game.num_sequences)
        self.row = np.zeros(state.game.num_sequences)
        self.estimates = walk_tables(state, binding)._replace(policy_sum=self.increment)
        self._frames = frames_for(state.game)
        self._aside = state.tables._replace(policy=np.empty_like(state.tables.policy))  # policies nobody plays yet

    def respond(self) -> None:
        """Find exact best responses to both players' policies: the opponents play them from now on."""
        state = self._state
        best_responses(state.game.view, state.tables.policy, state.scratch)
        state.counts[1] += 2 * state.game.num_histories

    def estimate(self, player: int, *, exact: bool, average: bool) -> None:
        """Leave one player's regrets and masses in :attr:`estimates`.

        Args:
            exact: by a pass, not by walks.
            average: walks also add to the other player's increments.
        """
        state, weight = self._state, 1.0 / self._walks
        if exact:
            estimate_exactly(state.game.view, state.tables, state.scratch, self.estimates, player)
            state.counts[1] += state.game.num_histories
        else:
            average_weight = weight if average else 0.0
            state.counts[1] += add_walks(
                self._walks, state.game.histories, player, weight, average_weight,
                *walk_parameters(state, self._binding), self.estimates, self._frames, state.rng,
            )  # fmt: skip

    def increment_exactly(self, player: int, *, counts: bool) -> None:
        """Take one player's own reach as increments.

        Args:
            counts: add them to ``uniform_count``, for a sampler that reads it.
        """
        state = self._state
        column = self._binding.rule_arguments[0].average_column
        tables = state.tables._replace(policy_sum=self.increment)
        own_increments(state.game.view, tables, state.scratch, player, column)
        if counts:
            sequences = state.game.sequences_of(player)
            state.uniform_count[sequences] += self.increment[sequences]

    def average(self, player: int, decay: float) -> None:
        """Take one player's increments into its policy sum."""
        sequences = self._state.game.sequences_of(player)
        policy_sum = self._state.tables.policy_sum
        policy_sum[sequences] *= decay
        policy_sum[sequences] += self.increment[sequences]
        self.increment[sequences] = 0.0

    def fold(self, player: int, now: np.ndarray, ahead: np.ndarray) -> None:
        """Fold one player's estimates into its regrets; its policies stay, and :attr:`row` says what would follow."""
        fold_player(
            self._state.game.view, self._aside, self.estimates, player, now, ahead, self.row,
            *self._binding.rule_arguments,
        )  # fmt: skip

    def play(self, player: int, row: np.ndarray, ahead: np.ndarray) -> None:
        """Let one player's policies follow from regrets (player's sequences,)."""
        self._state.tables.policy[self._state.game.sequences_of(player)] = self.policies(player, row, ahead)

    def policies(self, player: int, row: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """Return the policies (player's sequences,) that follow from such regrets."""
        game = self._state.game
        sequences = game.sequences_of(player)
        self.row[sequences] = row
        policies_from(game.view, self._aside, player, self.row, ahead, *self._binding.rule_arguments)
        return self._aside.policy[sequences].copy()

    def mass_against(self, response: np.ndarray) -> np.ndarray:
        """Return the reach of chance and of the opponent, (n,), if the opponent plays ``response`` (m,)."""
        state = self._state
        mass = np.full(state.game.num_infosets, UNVISITED)
        aside = self.estimates._replace(response=response, gain=np.empty(state.game.num_sequences), mass=mass)
        for player in (0, 1):
            estimate_exactly(state.game.view, state.tables, state.scratch, aside, player)
        return mass
