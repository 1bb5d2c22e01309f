"""The phases of an iteration, between which models are fitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.engine.walks import new_walk_state
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import SCRATCH, TABLES
from rlccfr.kernels.learning.phase_kernels import (
    back_up,
    exact_regrets_and_masses,
    fill_average_increments,
    set_policies,
    update_player,
)
from rlccfr.kernels.passes.sequence_form import best_responses
from rlccfr.kernels.walks.estimates import add_walks
from rlccfr.kernels.walks.walk_layout import UNVISITED, WALK_STATE, WalkState


def estimate_by_walks(state: RunState, binding: Binding, walk_state: WalkState, player: int, *, average: bool) -> None:
    """Perform all walks of one player in an iteration, in kernel calls that are short enough to be interrupted.

    Args:
        state: ``counts`` and ``rng`` are changed in place.
        binding: ``procedure`` has the number of walks.
        walk_state: walks add to its tables in place.
        average: whether walks also add to the other player's policy sum.
    """
    handle = handle_of(walk_state, WALK_STATE)
    parameters = binding.sampler.schedule(state.iteration + 1, 1)[0]
    while True:
        state.counts[1] += add_walks(
            state.game_handle,
            handle,
            binding.sampling_handle,
            parameters,
            state.rng,
            player,
            binding.procedure,
            average,
        )
        if not walk_state.progress.any():  # all walks are done
            return


class Phases:
    """The phases of an iteration, most of them one kernel call each; tables hold true values, without running scales.

    An iteration estimates a player's regrets and masses, adds to its average policy, updates its regrets, and sets its
    next policies. Between the last two phases, a model may be fitted to the regrets.

    There are three sets of tables: the run's; those of the walks' state (:attr:`estimates`), which walks and passes
    fill; and the next ones, which share the run's arrays but have policies that are not played yet.

    Args:
        state: the run's tables.
        binding: the components.
        walks: number of walks per player and iteration, in place of the binding's: models may have their own number.

    Attributes:
        estimates: tables that walks and exact passes fill: instantaneous regrets (m,) in ``gain``, masses (n,) in
            ``mass``. An infoset's mass is the reach of chance and the opponent.
        increment: (m,) increments that are not yet added to the policy sum.
        next_regrets: (m,) regrets, with a prediction if the rule has one, from which the policies after the last
            update follow.
    """

    def __init__(self, state: RunState, binding: Binding, walks: int) -> None:
        self._state = state
        self._binding = replace(binding, procedure=binding.procedure._replace(walks=walks))
        self.increment = np.zeros(state.game.num_sequences)
        self.next_regrets = np.zeros(state.game.num_sequences)
        walk_state = new_walk_state(state, binding)
        # Walks add to the increments, not to the policy sum: models of the average see them first.
        self._walk_state = walk_state._replace(tables=walk_state.tables._replace(policy_sum=self.increment))
        self.estimates = self._walk_state.tables
        # The run's tables with other policies: those that an update gives, which are not played yet.
        self._next_tables = state.tables._replace(policy=np.empty_like(state.tables.policy))
        self._scratch_handle = handle_of(state.scratch, SCRATCH)
        self._walk_state_handle = handle_of(self._walk_state, WALK_STATE)
        self._next_handle = handle_of(self._next_tables, TABLES)

    def respond(self) -> None:
        """Compute exact best responses to both players' policies; the opponents then play them."""
        state = self._state
        best_responses(state.game.view, state.tables.policy, state.scratch)
        state.counts[1] += 2 * state.game.num_histories

    def estimate(self, player: int, *, exact: bool, average: bool) -> None:
        """Store estimates of one player's regrets and masses in :attr:`estimates`.

        Args:
            exact: whether to use an exact pass, not walks.
            average: whether walks also add to the other player's increments.
        """
        state = self._state
        if exact:
            exact_regrets_and_masses(state.game_handle, self._scratch_handle, self._walk_state_handle, player)
            state.counts[1] += state.game.num_histories
        else:
            estimate_by_walks(state, self._binding, self._walk_state, player, average=average)

    def increment_exactly(self, player: int, *, counts: bool) -> None:
        """Set one player's increments to their exact values; see :func:`fill_average_increments`.

        Args:
            counts: whether to add the increments to ``uniform_count``, for a sampler that reads it.
        """
        state = self._state
        tables = state.tables._replace(policy_sum=self.increment)
        fill_average_increments(state.game.view, tables, state.scratch, player, self._binding.flags.average_column)
        if counts:
            sequences = state.game.sequences_of(player)
            state.uniform_count[sequences] += self.increment[sequences]

    def sums_of(self, player: int, policy: np.ndarray) -> np.ndarray:
        """Return the exact increments, (player's sequences,), that a policy of the same shape adds to an average."""
        state = self._state
        sequences = state.game.sequences_of(player)
        tables = state.tables._replace(policy=state.tables.policy.copy(), policy_sum=np.zeros_like(self.increment))
        tables.policy[sequences] = policy
        fill_average_increments(state.game.view, tables, state.scratch, player, self._binding.flags.average_column)
        return tables.policy_sum[sequences]

    def add_to_average(self, player: int, decay: float) -> None:
        """Multiply one player's policy sum by ``decay``, add the increments, and clear the increments."""
        sequences = self._state.game.sequences_of(player)
        policy_sum = self._state.tables.policy_sum
        policy_sum[sequences] *= decay
        policy_sum[sequences] += self.increment[sequences]
        self.increment[sequences] = 0.0

    def update_regrets(self, player: int, row: np.ndarray, next_row: np.ndarray) -> None:
        """Add one player's estimates to its regrets, and set :attr:`next_regrets`; its policies stay as they are.

        Args:
            row, next_row: (5 + p,) schedule rows of this iteration and of the next.
        """
        game = self._state.game_handle
        rule = self._binding.rule_handle
        update_player(game, self._next_handle, self._walk_state_handle, rule, player, row, next_row, self.next_regrets)

    def play_updated(self, player: int) -> None:
        """Set one player's policies to those that follow from its last update, without a model in between."""
        sequences = self._state.game.sequences_of(player)
        self._state.tables.policy[sequences] = self._next_tables.policy[sequences]

    def play(self, player: int, regrets: np.ndarray, next_row: np.ndarray) -> None:
        """Set one player's policies to those that follow from regrets, (player's sequences,)."""
        self._state.tables.policy[self._state.game.sequences_of(player)] = self.policies(player, regrets, next_row)

    def policies(self, player: int, regrets: np.ndarray, next_row: np.ndarray) -> np.ndarray:
        """Return the policies, (player's sequences,), that follow from regrets of the same shape.

        The player's part of :attr:`next_regrets` is overwritten with these regrets.

        Args:
            next_row: (5 + p,) schedule row of the iteration that will play the policies.
        """
        game = self._state.game_handle
        rule = self._binding.rule_handle
        sequences = self._state.game.sequences_of(player)
        self.next_regrets[sequences] = regrets
        set_policies(game, self._next_handle, rule, player, self.next_regrets, next_row)
        return self._next_tables.policy[sequences].copy()

    def mass_against(self, response: np.ndarray) -> np.ndarray:
        """Return each infoset's reach by chance and the opponent, (n,), if the opponent plays ``response`` (m,)."""
        state = self._state
        mass = np.full(state.game.num_infosets, UNVISITED)
        tables = self.estimates._replace(response=response, gain=np.empty(state.game.num_sequences), mass=mass)
        walk_state = handle_of(self._walk_state._replace(tables=tables), WALK_STATE)
        for player in (0, 1):
            exact_regrets_and_masses(state.game_handle, self._scratch_handle, walk_state, player)
        return mass

    def backed_up(self, traverser: int) -> np.ndarray:
        """Return the one-step backup of the current values, (histories,).

        It is the mean of the children's values under the current policies where a player moves, and 0 elsewhere. In the
        table of values, each chance node's value is set to the mean of its outcomes' values.
        """
        values = np.zeros(self._state.game.num_histories)
        self._state.counts[1] += len(values)
        back_up(self._state.game_handle, self._walk_state_handle, traverser, values)
        return values
