"""One iteration of an engine in phases, between which models are fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlccfr.kernels.learning.phase_kernels import estimate_exactly, fold_player, own_increments, policies_from
from rlccfr.kernels.passes.sequence_form import best_responses
from rlccfr.kernels.walks.estimates import add_walks
from rlccfr.kernels.walks.walk_layout import UNVISITED

if TYPE_CHECKING:
    from rlccfr.engine.engine import Engine


class Phases:
    """What an iteration is made of, one call of a kernel each; tables hold true values throughout.

    Attributes:
        increment: (m,) of the average policy's sum, since they were last taken into account.
        row: (m,) the regrets from which the policies of the player folded last would follow.
    """

    def __init__(self, engine: Engine, walks: int) -> None:
        self._engine = engine
        self._walks = walks
        self.increment = np.zeros(engine.game.num_sequences)
        self.row = np.zeros(engine.game.num_sequences)
        self._aside = engine.tables._replace(policy=np.empty_like(engine.policy))  # policies that nobody plays yet
        engine.walk_tables = engine.walk_tables._replace(policy_sum=self.increment)

    def respond(self) -> None:
        """Find exact best responses to both players' policies: what the opponent plays from now on."""
        engine = self._engine
        best_responses(engine.game.view, engine.policy, engine.scratch)
        engine.counts[1] += 2 * engine.game.num_histories

    def estimate(self, player: int, *, exact: bool, average: bool) -> None:
        """Regrets and masses of one player, into the walk's tables.

        Args:
            average: walks also add to the other player's increments.
        """
        engine, weight = self._engine, 1.0 / self._walks
        if exact:
            estimate_exactly(engine.game.view, engine.tables, engine.scratch, engine.walk_tables, player)
            engine.counts[1] += engine.game.num_histories
        else:
            average_weight = weight if average else 0.0
            engine.counts[1] += add_walks(
                self._walks, engine.game.histories, player, weight, average_weight, *engine.walk_arguments()
            )

    def increment_exactly(self, player: int, *, counts: bool) -> None:
        """One player's own reach, as increments; a sampler that counts is told of them."""
        engine = self._engine
        column = engine.rule_arguments[0].average_column
        tables = engine.tables._replace(policy_sum=self.increment)
        own_increments(engine.game.view, tables, engine.scratch, player, column)
        if counts:
            sequences = engine.game.sequences_of(player)
            engine.uniform_count[sequences] += self.increment[sequences]

    def average(self, player: int, decay: float) -> None:
        """Take one player's increments into its policy sum."""
        sequences = self._engine.game.sequences_of(player)
        self._engine.policy_sum[sequences] *= decay
        self._engine.policy_sum[sequences] += self.increment[sequences]
        self.increment[sequences] = 0.0

    def fold(self, player: int, now: np.ndarray, ahead: np.ndarray) -> None:
        """Fold one player's estimates into its regrets; its policies stay, and ``row`` says what would follow."""
        engine = self._engine
        fold_player(
            engine.game.view, self._aside, engine.walk_tables, player, now, ahead, self.row, *engine.rule_arguments
        )

    def play(self, player: int, row: np.ndarray, ahead: np.ndarray) -> None:
        """Let one player's policies follow from (player's sequences,) regrets."""
        sequences = self._engine.game.sequences_of(player)
        self._engine.policy[sequences] = self.policies(player, row, ahead)

    def policies(self, player: int, row: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """(player's sequences,) the policies that follow from such regrets."""
        engine = self._engine
        sequences = engine.game.sequences_of(player)
        self.row[sequences] = row
        policies_from(engine.game.view, self._aside, player, self.row, ahead, *engine.rule_arguments)
        return self._aside.policy[sequences].copy()

    def mass_against(self, response: np.ndarray) -> np.ndarray:
        """(n,) reach of chance and of the opponent, if the opponent plays ``response`` (m,)."""
        engine = self._engine
        tables = engine.walk_tables._replace(response=response)
        for player in (0, 1):
            estimate_exactly(engine.game.view, engine.tables, engine.scratch, tables, player)
        mass = tables.mass.copy()
        tables.mass[:], tables.gain[:] = UNVISITED, 0.0
        return mass
