"""Estimates from a sampler's walks, their exact means, and a test that compares the two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.learning.phases import estimate_by_walks
from rlccfr.engine.state import RunState
from rlccfr.engine.walks import balanced_policy, new_walk_state
from rlccfr.errors import ComponentError
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.layout import Tables, scratch_for
from rlccfr.kernels.learning.phase_kernels import fill_average_increments
from rlccfr.kernels.passes.sequence_form import regrets_against
from rlccfr.kernels.walks.walk_layout import UNVISITED
from rlccfr.solver import Solver


class Estimates(NamedTuple):
    """Estimates from one player's walks, on a game with m sequences and n infosets.

    Drawn estimates have a first axis for the batches of walks; exact ones do not.

    Attributes:
        regrets: (m,) or (b, m) instantaneous counterfactual regrets of the traverser.
        increments: (m,) or (b, m) increments of the opponent's policy sum.
        mass: (n,) or (b, n) reach of the traverser's infosets by the opponent and chance.
    """

    regrets: np.ndarray
    increments: np.ndarray
    mass: np.ndarray

    @classmethod
    def exact(
        cls,
        tree: GameTree,
        policy: np.ndarray,
        player: int,
        response: np.ndarray,
        drawn: np.ndarray | None = None,
    ) -> Estimates:
        """Return the exact means of the estimates.

        Args:
            tree: the game.
            policy: (m,) policy of both players.
            player: the traverser, 0 or 1.
            response: (m,) policy of the opponent.
            drawn: (m,) policy by which the traverser's actions are drawn, if regrets and masses are not divided by its
                reach (see :func:`own_draws`); None if they are.
        """
        scratch = scratch_for(tree)
        increments = np.zeros(tree.num_sequences)
        tables = Tables(np.zeros_like(increments), policy, increments, np.zeros((len(increments), 1)))
        fill_average_increments(tree.view, tables, scratch, 1 - player, -1)
        regrets_against(tree.view, player, policy, response, scratch.mass, scratch)
        regrets = scratch.gradient[:-2]  # the last two are those of the empty sequences
        mass = scratch.mass
        if drawn is not None:
            # The draws reach an infoset with this probability, and the estimates are not divided by it.
            reach = own_reach(tree, drawn)
            regrets = regrets * np.repeat(reach, np.diff(tree.view.first_sequence))
            mass = mass * reach
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
        """Return the mean estimates of each batch of walks under a fixed policy.

        Some samplers draw actions by the run's policy sums (``RunState.uniform_count``). There is no run here, and such
        samplers must be unbiased whatever the sums are, so random numbers take their place.

        Args:
            sampler: the sampler.
            tree: the game.
            policy: (m,) policy of both players.
            player: the traverser, 0 or 1.
            batches: number of batches.
            walks: number of walks per batch.
            response: (m,) policy of the opponent; by default ``policy``.
            seed: seed of the walks.
        """
        return cls._drawn(RunState.at_start(tree, seed), sampler, (policy, response), player, batches, walks)

    @classmethod
    def now(cls, solver: Solver, player: int, *, batches: int, walks: int, seed: int = 0) -> Estimates:
        """Return the mean estimates of each batch of walks that start from a run; the run is left unchanged.

        The walks use the run's current policies and its learned values of histories.

        Args:
            solver: solver of a game that is stored as a tree of histories.
            player: the traverser, 0 or 1.
            batches: number of batches.
            walks: number of walks per batch.
            seed: seed of the walks.

        Raises:
            ComponentError: the opponent plays best responses, so walks do not follow the current policies.
        """
        if solver.abstraction.best_response:
            raise ComponentError("estimates of a run against best responses are not available: use Estimates.of")
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
        policies: tuple[np.ndarray, np.ndarray | None],
        player: int,
        batches: int,
        walks: int,
    ) -> Estimates:
        """Return the mean estimates of each batch.

        Args:
            policies: (m,) policy of both players, and (m,) policy that the opponent plays; None for the first policy.
        """
        tree = state.game
        policy, response = policies
        binding = Binding.of(
            tree, UpdateRule(), sampler, Abstraction(best_response=response is not None), RunOptions(walks=walks), 0
        )
        walk_state = new_walk_state(state, binding)
        tables = walk_state.tables
        tables.policy[:] = policy
        tables.response[:] = policy if response is None else response
        # Some samplers draw by these counts, and must be unbiased whatever they are.
        tables.uniform_count[:] = np.random.default_rng(7).random(tree.num_sequences)
        sizes = (tree.num_sequences, tree.num_sequences, tree.num_infosets)
        estimates = cls(*(np.empty((batches, size)) for size in sizes))
        for batch in range(batches):
            # Clear what the walks add to.
            tables.policy_sum[:] = 0
            tables.gain[:] = 0
            tables.mass[:] = UNVISITED
            tables.num_visited[:] = tree.view.infoset_begin[:2]
            estimate_by_walks(state, binding, walk_state, player, average=True)
            estimates.regrets[batch] = tables.gain
            estimates.increments[batch] = tables.policy_sum
            estimates.mass[batch] = np.where(tables.mass == UNVISITED, 0.0, tables.mass)
        return estimates


def own_draws(sampler: Sampler, tree: GameTree, policy: np.ndarray) -> np.ndarray | None:
    """Return the policy by which a sampler draws the traverser's actions, unless it divides estimates by their reach.

    Args:
        sampler: the sampler.
        tree: the game.
        policy: (m,) current policy.

    Returns:
        (m,) policy: ``policy`` mixed with the sampler's exploration; None if the sampler divides its estimates by the
        reach of its draws, so that no correction is needed.
    """
    if sampler.weighted:
        return None
    explored = balanced_policy(tree) if sampler.explores == "sequences" else tree.uniform_policy()
    mixture: np.ndarray = sampler.exploration * explored + (1.0 - sampler.exploration) * policy
    return mixture


def own_reach(tree: GameTree, policy: np.ndarray) -> np.ndarray:
    """Return each infoset's reach (n,) by its owner's earlier actions, under a policy (m,)."""
    view = tree.view
    sequence_reach = np.ones(tree.num_sequences + 2)  # the last two are the empty sequences
    infoset_reach = np.empty(tree.num_infosets)
    for infoset in range(tree.num_infosets):  # parents come first
        sequences = slice(view.first_sequence[infoset], view.first_sequence[infoset + 1])
        infoset_reach[infoset] = sequence_reach[view.parent[infoset]]
        sequence_reach[sequences] = infoset_reach[infoset] * policy[sequences]
    return infoset_reach


def smallest_p(batches: np.ndarray, expected: np.ndarray) -> tuple[float, int]:
    """Return the smallest Holm-corrected p-value of "the mean is ``expected``", and the number of columns tested.

    A column that does not vary must be as expected: its p-value is 1 or 0. If a number is not finite, p is 0.

    Args:
        batches: (b, c) independent estimates of c quantities.
        expected: (c,) what their means should be.
    """
    if not (np.isfinite(batches).all() and np.isfinite(expected).all()):  # unchecked, p would be min(1.0, nan) = 1.0
        return 0.0, len(expected)
    count = len(batches)
    mean = batches.mean(0)
    error = batches.std(0, ddof=1) / np.sqrt(count)
    is_constant = error < 1e-12 * max(1.0, float(np.abs(expected).max(initial=0.0)))
    if not np.allclose(mean[is_constant], expected[is_constant], rtol=0, atol=1e-10):
        return 0.0, int(is_constant.sum())
    statistics = (mean[~is_constant] - expected[~is_constant]) / error[~is_constant]
    if not len(statistics):
        return 1.0, 0
    p_value = 2 * stats.t.sf(np.abs(statistics).max(), count - 1)  # two-sided
    return float(min(1.0, p_value * len(statistics))), len(statistics)
