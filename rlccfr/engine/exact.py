"""Iterations by exact passes over the sequence form."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.reduced import RunCopy, quotient_for_run
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, Stepper
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.quotient import Quotient
from rlccfr.kernels.layout import Tables
from rlccfr.kernels.passes.exact_iterations import exact_iterations

_OVER_CLASSES = "over_classes"
"""Name under which a saved run says whether its passes run over the quotient: the two differ by rounding."""


class ExactStepper(Stepper):
    """Stepper that runs many exact iterations per kernel call; best responses cost two more passes per iteration.

    Where the game's quotient gives the same iterates, the passes run over the quotient.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper | None = None) -> None:
        super().__init__(state, binding, previous)
        self._set_up()

    def _set_up(self, reduce: bool = True) -> None:
        """Choose the game or, if ``reduce``, perhaps its quotient, and divide it among threads if there are several."""
        quotient = quotient_for_run(self.state, self.binding) if reduce else None
        self._quotient, self._crew = quotient, None
        if self.binding.options.threads > 1:
            from rlccfr.engine.threads import crew_for

            self._crew = crew_for(quotient or Quotient.whole(self.state.game), self.binding)
        if self._crew is not None:
            quotient = self._crew.form
        self._copy = None if quotient is None else RunCopy(self.state, quotient)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding = self.state, self.binding
        cost = self.nodes_per_iteration
        iterations = min(iterations, CHUNK, -(-max_nodes // cost))
        over = self._copy or state
        rows = binding.rows(state.iteration + 1, iterations)
        if self._crew is not None:
            self._crew.run(over.game_handle, over.run_handle, binding, rows, cost)
            return
        exact_iterations(over.game_handle, over.run_handle, binding.rule_handle, binding.procedure, rows, cost)

    @property
    def nodes_per_iteration(self) -> int:
        """Number of histories that an iteration touches."""
        return (4 if self.binding.procedure.best_response else 2) * self.state.game.num_histories

    @property
    def form(self) -> SequenceForm:
        return self._quotient or self.state.game

    @property
    def tables(self) -> Tables:
        if self._copy is None:
            return self.state.tables
        if self._crew is None:
            return self._copy.tables
        return Tables(*(table[self._crew.sequences] for table in self._copy.tables))

    def publish(self) -> None:
        if self._copy is not None:
            self._copy.publish()

    def saved(self) -> dict[str, np.ndarray]:
        return {_OVER_CLASSES: np.array(self._quotient is not None)}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        self._set_up(bool(saved.get(_OVER_CLASSES, True)))  # files of earlier versions do not say it
