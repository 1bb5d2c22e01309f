"""Iterations over a public tree by passes that draw public outcomes, and perhaps private states."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.public.draws import logs_of
from rlccfr.engine.public.evaluation import memory_of
from rlccfr.engine.public.passes import PublicStepper
from rlccfr.engine.stepper import CHUNK
from rlccfr.kernels.layout import AVERAGE_DECAY, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
from rlccfr.kernels.public.drawing import AVERAGE
from rlccfr.kernels.public.public_iterations import drawn_iterations

_DISCOUNTS = [POSITIVE_DISCOUNT, NEGATIVE_DISCOUNT, AVERAGE_DECAY]


class DrawnStepper(PublicStepper):
    """Stepper that draws one outcome at each public chance; only evaluation uses several threads."""

    def _compile(self) -> None:
        self._iterate(self.binding.rows(self.state.iteration + 1, 0), 0)

    def advance(self, iterations: int, max_nodes: int) -> None:
        self._iterate(self.binding.rows(self.state.iteration + 1, min(iterations, CHUNK)), max_nodes)

    def _iterate(self, rows: np.ndarray, max_nodes: int) -> None:
        state, logs = self.state, logs_of(rows[:-1, _DISCOUNTS])
        if self.binding.abstraction.best_response:
            logs[:, AVERAGE] = 0.0  # the passes that find responses meet all averages, so that nothing is pending
        whole, outcomes = memory_of(state.game, state.dtype)
        drawn_iterations(
            state.game.view,
            state.tables,
            whole._replace(drawing=state.drawing),
            whole,
            outcomes,
            state.counts,
            self.scheduled(rows),
            logs,
            max_nodes,
        )
