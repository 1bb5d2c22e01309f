"""Exact passes over bundles of infosets; see :mod:`rlccfr.games.bundles`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.games.bundles import Bundles, aligned_zeros, bundles_of
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.records import WIDTH
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.jit import UNJITTED
from rlccfr.kernels.layout import BUNDLES, RUN, Procedure, Run, Scratch, Tables
from rlccfr.kernels.passes.bundled_iterations import bundled_iterations, fill_policies

COSTS = (9.67, 0.971)
"""Nanoseconds of an iteration per unit of each of the :func:`cost_terms`.

Fitted to CFR+ by ``python -m benchmarks.bundles --fit``.
"""


class BundledTables:
    """A copy of a run's tables over bundles, on which the passes work.

    Attributes:
        iteration_cost: predicted nanoseconds of an iteration.

    Args:
        bundles: the bundles of the form that ``tables`` are over.
        tables: the tables that are copied, and that :meth:`publish` overwrites.
        state: the run.
        binding: the run's components.
    """

    def __init__(self, bundles: Bundles, tables: Tables, state: RunState, binding: Binding) -> None:
        self.iteration_cost = bundled_cost(bundles)
        self._bundles = bundles
        self._tables = tables
        self._counts = state.counts
        self._published_at = state.iteration
        self._stores_policy = binding.flags.predicts
        self._entries = Tables(*map(bundles.bundled, tables))
        reach = aligned_zeros(bundles.num_entries + WIDTH)
        reach[bundles.num_entries :] = 1.0  # of the empty sequences
        unused = np.zeros(0)
        scratch = Scratch(reach, aligned_zeros(bundles.num_values), *[unused] * 6)
        arrays = Run(self._entries, state.scale, state.rng, state.counts, scratch)
        self._bundles_handle = handle_of(bundles.view, BUNDLES)
        self._run_handle = handle_of(arrays, RUN)

    def iterate(self, rule: Any, procedure: Procedure, rows: np.ndarray, cost: int) -> None:
        """Run iterations; see :func:`rlccfr.kernels.passes.bundled_iterations.bundled_iterations`."""
        bundled_iterations(self._bundles_handle, self._run_handle, rule, procedure, rows, cost)

    def publish(self) -> None:
        """Bring the tables that were copied up to date."""
        iteration = int(self._counts[0])
        if iteration == self._published_at:
            return
        self._published_at = iteration
        if not self._stores_policy:
            fill_policies(self._bundles_handle, self._run_handle)
        for entries, table in zip(self._entries, self._tables, strict=True):
            table[...] = entries[self._bundles.entry]


def bundled_tables(form: SequenceForm, tables: Tables, state: RunState, binding: Binding) -> BundledTables | None:
    """Return a copy of a run's tables over bundles; None if passes over bundles can't make the run, or save no time.

    They serve rules with discounts, a floor and at most a prediction, on one thread, and no best responses. They take
    the policy of a rule that does not predict from the regrets, and infosets with one action to have regret 0; so both
    must be so at the beginning.

    Args:
        form: the game or a quotient of it.
        tables: tables over the form's sequences.
    """
    flags = binding.flags
    is_simple = flags.plain or flags.predicts
    if UNJITTED or not is_simple or flags.uses_mass or flags.average_column >= 0 or binding.procedure.best_response:
        return None
    bundles = bundles_of(form)
    if bundles is None:
        return None
    actions = np.diff(form.view.first_sequence.astype(np.int64))[form.owner]
    if tables.regret[actions == 1].any():
        return None
    follows_regrets = np.allclose(tables.policy, form.normalised(np.maximum(tables.regret, 0.0)), rtol=1e-9, atol=1e-12)
    if not (flags.predicts or follows_regrets):
        return None
    return BundledTables(bundles, tables, state, binding)


def bundled_cost(bundles: Bundles) -> float:
    """Predict the nanoseconds of an exact iteration over bundles."""
    return sum(cost * term for cost, term in zip(COSTS, cost_terms(bundles), strict=True))


def cost_terms(bundles: Bundles) -> tuple[int, int]:
    """Return the numbers on which the time of an exact iteration depends: of actions of bundles, and of lines."""
    return bundles.num_entries // WIDTH, int(bundles.view.lines["lines"].sum())
