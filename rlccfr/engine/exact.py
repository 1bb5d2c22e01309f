"""Iterations by exact passes over the sequence form."""

from __future__ import annotations

from rlccfr.engine.stepper import CHUNK, Stepper
from rlccfr.kernels.passes.exact_iterations import exact_iterations


class ExactStepper(Stepper):
    """Stepper that runs many exact iterations per kernel call; best responses cost two more passes per iteration."""

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding = self.state, self.binding
        per_iteration = (4 if binding.procedure.best_response else 2) * state.game.num_histories
        iterations = min(iterations, CHUNK, -(-max_nodes // per_iteration))
        exact_iterations(
            state.game_handle,
            state.run_handle,
            binding.rule_handle,
            binding.procedure,
            binding.rows(state.iteration + 1, iterations),
            per_iteration,
        )
