"""Estimates of a sampler's walks, their exact means, and a test of one against the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.learning.phases import estimate_by_walks
from rlccfr.engine.state import RunState
from rlccfr.engine.walks import balanced_policy, walk_memory
from rlccfr.errors import ComponentError
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.layout import Tables, scratch_for
from rlccfr.kernels.learning.phase_kernels import fill_average_increments
from rlccfr.kernels.passes.sequence_form import regrets_against
from rlccfr.kernels.walks.walk_layout import UNVISITED
from rlccfr.solver import Solver


class Estimates(NamedTuple):
    """Estimates from one player's walks: arrays (m,), (m,) and (n,), or one row of each array per batch of walks."""

    regrets: np.ndarray  # instantaneous regrets of the traverser
    increments: np.ndarray  # increments of the other player's policy sum
    mass: np.ndarray  # reach of the traverser's infosets by the other player and chance

    @classmethod
    def exact(
        cls,
        tree: GameTree,
        policy: np.ndarray,
        player: int,
        response: np.ndarray,
        drawn: np.ndarray | None = None,
    ) -> Estimates:
        """Return the exact values of the estimates.

        Args:
            response: (m,) policy of the other player.
            drawn: (m,) policy by which the player's own actions are drawn, if regrets and masses are not divided by its
                reach; see :func:`own_draws`.
        """
        scratch, increments = scratch_for(tree), np.zeros(tree.num_sequences)
        tables = Tables(np.zeros_like(increments), policy, increments, np.zeros((len(increments), 1)))
        fill_average_increments(tree.view, tables, scratch, 1 - player, -1)
        regrets_against(tree.view, player, policy, response, scratch.mass, scratch)
        regrets, mass = scratch.gradient[:-2], scratch.mass
        if drawn is not None:
            reach = own_reach(tree, drawn)
            regrets, mass = regrets * np.repeat(reach, np.diff(tree.view.first_sequence)), mass * reach
        return cls(regrets, increments, mass)

    @classmethod
    def of(
        cls,
        sampler: Sampler,
        tree: GameTree,
        policy: np.ndarray,
        player: int,
        *,
        batches: int,
        walks: int,
        response: np.ndarray | None = None,
        seed: int = 0,
    ) -> Estimates:
        """Return the mean estimates of each batch of walks, from a fixed policy, (m,), and random counts.

        Args:
            batches: number of batches.
            walks: number of walks per batch.
            response: (m,) policy of the other player; by default ``policy``.
        """
        return cls._drawn(RunState.at_start(tree, seed), sampler, (policy, response), player, batches, walks)

    @classmethod
    def now(cls, solver: Solver, player: int, *, batches: int, walks: int, seed: int = 0) -> Estimates:
        """Return the same from a run's current policies and its learned values of histories, without changing the run.

        Args:
            solver: solver of a flat game.

        Raises:
            ComponentError: the opponent plays best responses, which are not those of the current policies.
        """
        if solver.abstraction.best_response:
            raise ComponentError("estimates of a run against best responses are not offered: take Estimates.of")
        state = RunState.at_start(solver.game, seed)
        learned = solver._engine.state.history_values
        state.history_values.update({name: array.copy() for name, array in learned.items()})
        policy = solver.current_policy().probabilities
        return cls._drawn(state, solver.sampler, (policy, None), player, batches, walks)

    @classmethod
    def _drawn(
        cls,
        state: RunState,
        sampler: Sampler,
        played: tuple[np.ndarray, np.ndarray | None],
        player: int,
        batches: int,
        walks: int,
    ) -> Estimates:
        """Return the mean estimates of each batch.

        Args:
            played: policy (m,), and the other player's if it is another.
        """
        tree, (policy, response) = state.game, played
        binding = Binding.of(
            tree, UpdateRule(), sampler, Abstraction(best_response=response is not None), RunOptions(walks=walks), 0
        )
        memory = walk_memory(state, binding)
        tables = memory.tables
        tables.policy[:] = policy
        tables.response[:] = policy if response is None else response
        tables.uniform_count[:] = np.random.default_rng(7).random(tree.num_sequences)
        sizes = (tree.num_sequences, tree.num_sequences, tree.num_infosets)
        found = cls(*(np.empty((batches, size)) for size in sizes))
        for batch in range(batches):
            tables.policy_sum[:] = 0
            tables.gain[:] = 0
            tables.mass[:] = UNVISITED
            tables.num_visited[:] = tree.view.infoset_begin[:2]
            estimate_by_walks(state, binding, memory, player, average=True)
            mass = np.where(tables.mass == UNVISITED, 0.0, tables.mass)
            found.regrets[batch], found.increments[batch], found.mass[batch] = tables.gain, tables.policy_sum, mass
        return found


def own_draws(sampler: Sampler, tree: GameTree, policy: np.ndarray) -> np.ndarray | None:
    """Return the policy (m,) by which a sampler without weights draws own actions; None for other samplers."""
    if sampler.weighted:
        return None
    explored = balanced_policy(tree) if sampler.explores == "sequences" else tree.uniform_policy()
    mixture: np.ndarray = sampler.exploration * explored + (1.0 - sampler.exploration) * policy
    return mixture


def own_reach(tree: GameTree, policy: np.ndarray) -> np.ndarray:
    """Return each infoset's reach by its owner's earlier actions, (n,), under a policy (m,)."""
    view, of_sequence = tree.view, np.ones(tree.num_sequences + 2)
    found = np.empty(tree.num_infosets)
    for infoset in range(tree.num_infosets):  # parents come first
        own = slice(view.first_sequence[infoset], view.first_sequence[infoset + 1])
        found[infoset] = of_sequence[view.parent[infoset]]
        of_sequence[own] = found[infoset] * policy[own]
    return found


def smallest_p(batches: np.ndarray, expected: np.ndarray) -> tuple[float, int]:
    """Return the smallest Holm-corrected p-value of "the mean is ``expected``", and the number of columns tested.

    A column that does not vary must be as expected: its p-value is 1 or 0.
    """
    count = len(batches)
    mean, error = batches.mean(0), batches.std(0, ddof=1) / np.sqrt(count)
    fixed = error < 1e-12 * max(1.0, float(np.abs(expected).max(initial=0.0)))
    if not np.allclose(mean[fixed], expected[fixed], rtol=0, atol=1e-10):
        return 0.0, int(fixed.sum())
    z = (mean[~fixed] - expected[~fixed]) / error[~fixed]
    if not len(z):
        return 1.0, 0
    return float(min(1.0, 2 * stats.t.sf(np.abs(z).max(), count - 1) * len(z))), len(z)
