"""Iterations by exact passes over the sequence form."""

from __future__ import annotations

from rlccfr.engine.stepper import CHUNK, Stepper
from rlccfr.kernels.passes.exact_iterations import exact_iterations


class ExactStepper(Stepper):
    """Runs chunks of iterations in one kernel; a best response to each player costs two passes more."""

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding = self.state, self.binding
        best_response, options = binding.abstraction.best_response, binding.options
        per_iteration = (4 if best_response else 2) * state.game.num_histories
        iterations = min(iterations, CHUNK, -(-max_nodes // per_iteration))
        exact_iterations(
            state.game.view, state.tables, state.scratch, binding.rows(state.iteration + 1, iterations),
            best_response, options.simultaneous, options.pre_averaging,
            *binding.rule_arguments, state.counts, per_iteration,
        )  # fmt: skip
