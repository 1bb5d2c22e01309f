"""Iterations by sampled walks through the history view."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlccfr import kernels
from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, FlatStepper, Stepper
from rlccfr.games.flat_tree import TERMINAL, GameTree, utility_of
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.walks.walk_layout import (
    DRAWS,
    PATH,
    UNVISITED,
    WALK_MEMORY,
    WalkMemory,
    WalkTables,
    frames_for,
    path_for,
)

kernels.announce(kernels.WALKS, "walks")

from rlccfr.kernels.walks.quick_iterations import quick_iterations  # noqa: E402
from rlccfr.kernels.walks.sampled_iterations import sampled_iterations  # noqa: E402

HISTORY_VALUES = "history_values"
"""Name of the values of histories in a checkpoint."""


class QuickStepper(FlatStepper):
    """Stepper for external and outcome sampling with simple rules, in a special kernel."""

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        self._path = handle_of(path_for(state.game), PATH)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding = self.state, self.binding
        quick_iterations(
            state.game_handle,
            state.run_handle,
            self._path,
            binding.rule_handle,
            binding.sampling_handle,
            binding.rows(state.iteration + 1, min(iterations, CHUNK)),
            max_nodes,
        )


class WalkStepper(FlatStepper):
    """Stepper for every sampler that walks, with every rule and abstraction that use no models."""

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        memory = walk_memory(state, binding)
        self._values, self._memory = memory.tables.history_value, handle_of(memory, WALK_MEMORY)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding = self.state, self.binding
        first, iterations = state.iteration + 1, min(iterations, CHUNK)
        sampled_iterations(
            state.game_handle,
            state.run_handle,
            self._memory,
            binding.rule_handle,
            binding.sampling_handle,
            binding.procedure,
            binding.rows(first, iterations),
            binding.sampler.schedule(first, iterations),
            max_nodes,
        )

    def is_finite(self) -> bool:
        return super().is_finite() and bool(np.isfinite(self._values).all())

    def saved(self) -> dict[str, np.ndarray]:
        return saved_values(self._values)

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        restore_values(self._values, saved)


def walk_memory(state: RunState, binding: Binding) -> WalkMemory:
    """Return the memory of walks: the run's tables, and working arrays that are clean between iterations."""
    game, policy = state.game, state.tables.policy
    tables = WalkTables(
        policy=policy,
        response=state.scratch.response if binding.abstraction.best_response else policy,
        policy_sum=state.tables.policy_sum,
        gain=np.zeros(game.num_sequences),
        baseline=state.baseline,
        uniform_count=state.uniform_count,
        visits=state.visits,
        mass=np.full(game.num_infosets, UNVISITED),
        visited=np.zeros(game.num_infosets, np.uint32),
        num_visited=game.view.infoset_begin[:2].astype(np.int64),
        explore=balanced_policy(game) if binding.plan.balanced else np.zeros(0),
        history_value=history_values(game, binding),
    )
    return WalkMemory(tables, frames_for(game), handle_of(binding.draws, DRAWS))


def balanced_policy(game: GameTree) -> np.ndarray:
    """Return the policy (m,) that takes an action in proportion to the number of own sequences that end below it.

    A sequence ends if its player does not move after it. Of a player's Z such sequences, this policy plays each with
    probability at least 1 / Z, since the infosets after an action share its sequences, and only one of them is met.
    """
    view = game.view
    first = view.first_sequence.astype(np.int64)
    ends = np.zeros(game.num_sequences + 2)
    policy = np.empty(game.num_sequences)
    for infoset in range(game.num_infosets - 1, -1, -1):  # infosets come after their parents
        own = slice(first[infoset], first[infoset + 1])
        ends[own] = np.maximum(ends[own], 1.0)
        total = ends[own].sum()
        policy[own] = ends[own] / total
        ends[view.parent[infoset]] += total
    return policy


def history_values(game: GameTree, binding: Binding) -> np.ndarray:
    """Return the first values of histories: 0, but where they replace the walk's, payoffs at the game's ends."""
    if not binding.plan.by_history:
        return np.zeros((1, 0))
    values = np.zeros((2 if binding.abstraction.best_response else 1, game.num_histories))
    if binding.plan.values_replace:
        ends = game.histories["actor"] == TERMINAL
        values[:, ends] = utility_of(game.histories)[ends]
    return values


def saved_values(values: np.ndarray) -> dict[str, np.ndarray]:
    """Return the values of histories by their name in a file; an empty dict if there are none."""
    return {HISTORY_VALUES: values} if values.size else {}


def restore_values(values: np.ndarray, saved: Mapping[str, np.ndarray]) -> None:
    """Overwrite the values of histories with those that :func:`saved_values` returned."""
    if values.size:
        values[...] = saved[HISTORY_VALUES]
