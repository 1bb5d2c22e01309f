"""Iterations by sampled walks through the history view."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, Stepper
from rlccfr.kernels.walks.quick_iterations import path_for, quick_iterations
from rlccfr.kernels.walks.sampled_iterations import sampled_iterations
from rlccfr.kernels.walks.walk_layout import ONE, UNVISITED, WalkTables, frames_for


class QuickStepper(Stepper):
    """External and outcome sampling with simple rules, in a kernel that does nothing else."""

    def __init__(self, state: RunState, binding: Binding, previous: Stepper | None = None) -> None:
        super().__init__(state, binding, previous)
        self._path = path_for(state.game)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding, game = self.state, self.binding, self.state.game
        quick_iterations(
            game.histories, game.view, state.tables, self._path, state.rng, state.scale,
            binding.rows(state.iteration + 1, min(iterations, CHUNK)), max_nodes,
            binding.plan.traverser == ONE, binding.plan.exploration, binding.rule.only_predicts, state.counts,
        )  # fmt: skip


class WalkStepper(Stepper):
    """Every sampler, with every rule."""

    def __init__(self, state: RunState, binding: Binding, previous: Stepper | None = None) -> None:
        super().__init__(state, binding, previous)
        self._walk_tables, self._frames = walk_tables(state, binding), frames_for(state.game)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding, game = self.state, self.binding, self.state.game
        first, iterations = state.iteration + 1, min(iterations, CHUNK)
        sampled_iterations(
            game.histories, game.view, state.tables, self._walk_tables, state.scratch, self._frames, state.rng,
            state.scale, binding.rows(first, iterations), binding.options.walks, max_nodes, binding.plan,
            *binding.walk_functions, binding.sampler.schedule(first, iterations),
            binding.abstraction.best_response, binding.options.simultaneous, *binding.rule_arguments, state.counts,
        )  # fmt: skip


def walk_tables(state: RunState, binding: Binding) -> WalkTables:
    """Return what walks read and add to: the run's tables, and working memory that is clean between iterations."""
    game, policy = state.game, state.tables.policy
    return WalkTables(
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


def walk_parameters(state: RunState, binding: Binding) -> tuple[Any, ...]:
    """Return what a single walk takes of a sampler: the plan, its functions, and their parameters now."""
    return binding.plan, *binding.walk_functions, binding.sampler.schedule(state.iteration + 1, 1)[0]
