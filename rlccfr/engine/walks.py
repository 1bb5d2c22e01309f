"""Iterations by sampled walks through the history view."""

from __future__ import annotations

import numpy as np

from rlccfr import kernels
from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, FlatStepper, Stepper
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
        self._memory = handle_of(walk_memory(state, binding), WALK_MEMORY)

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
    )
    return WalkMemory(tables, frames_for(game), handle_of(binding.draws, DRAWS))
