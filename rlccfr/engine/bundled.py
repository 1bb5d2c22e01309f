"""Exact passes over bundles of infosets; see :mod:`rlccfr.games.bundles`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.reduced import LEAST_GAIN, bundled_cost
from rlccfr.engine.state import RunState
from rlccfr.games.bundles import Bundles, aligned_zeros, bundles_of
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.records import BUNDLE_LANES
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.jit import UNJITTED
from rlccfr.kernels.layout import BUNDLES, RUN, Procedure, Run, Scratch, Tables
from rlccfr.kernels.passes.bundled_iterations import bundled_iterations, fill_policies

if TYPE_CHECKING:
    from rlccfr.engine.workers import Workers

LEAST_SHARED_COST = 50_000.0
"""Threads share passes if one thread is predicted to take at least this many nanoseconds for an iteration.

In a shorter iteration, threads would lose too much time: they wait for each other at least four times. Two threads are
about 1.8 times as fast as one on Royal and on Liar's dice with six faces, 1.6 times on Liar's dice with five faces, and
1.1 times on Leduc (``python -m benchmarks.threads``, on an idle machine).
"""


class BundledTables:
    """A copy of a run's tables over bundles, on which the passes work.

    Args:
        bundles: the bundles of the form that ``tables`` are over.
        tables: the tables that are copied, and that :meth:`publish` overwrites.
        state: the run.
        binding: the run's components.

    Attributes:
        iteration_cost: predicted nanoseconds of an iteration.
        workers: the threads that share the passes; None if one thread makes them.
    """

    def __init__(self, bundles: Bundles, tables: Tables, state: RunState, binding: Binding) -> None:
        self.iteration_cost, self.workers = _cost_and_workers(bundles, binding.options.threads)
        self._bundles = bundles
        self._tables = tables
        self._counts = state.counts
        self._published_at = state.iteration
        self._stores_policy = not binding.flags.plain
        self._entries = Tables(*map(bundles.bundled, tables))
        # The table of momentum needs neighbouring lanes, and the rule has no other array.
        self._movement = bundles.bundled(tables.state[:, 0]) if binding.flags.has_momentum else np.zeros(0)
        reach = aligned_zeros(bundles.num_entries + BUNDLE_LANES)
        reach[bundles.num_entries :] = 1.0  # of the empty sequences
        unused = np.zeros(0)
        scratch = Scratch(
            reach=reach,
            gradient=aligned_zeros(bundles.num_values),
            mass=unused,
            response=unused,
            response_reach=unused,
            line_reach=unused,
            leaf=unused,
            past_regret=unused,
        )
        arrays = Run(self._entries, state.scale, state.rng, state.counts, scratch)
        self._bundles_handle = handle_of(bundles.view, BUNDLES)
        self._run_handle = handle_of(arrays, RUN)

    def iterate(self, rule: Any, procedure: Procedure, rows: np.ndarray, cost: int) -> None:
        """Run iterations; see :func:`rlccfr.kernels.passes.bundled_iterations.bundled_iterations`."""
        arguments = self._bundles_handle, self._run_handle, self._movement, rule, procedure, rows, cost
        if self.workers is None:
            bundled_iterations(*arguments)
            return
        from rlccfr.kernels.passes.threaded_bundles import threaded_bundled_iterations

        self.workers.run(partial(threaded_bundled_iterations, *arguments))

    def clear_movement(self) -> None:
        """Set the running sum M of a rule with momentum to 0, also in the tables that were copied."""
        self._movement.fill(0.0)
        self._tables.state[:, 0] = 0.0

    def publish(self) -> None:
        """Bring the tables that were copied up to date."""
        iteration = int(self._counts[0])
        if iteration == self._published_at:
            return
        if not self._stores_policy:
            fill_policies(self._bundles_handle, self._run_handle)
        if len(self._movement):
            self._entries.state[:, 0] = self._movement
        for entries, table in zip(self._entries, self._tables, strict=True):
            table[...] = entries[self._bundles.entry]
        self._published_at = iteration  # last, so that a publication that Ctrl-C has cut short is made again


def bundled_tables(form: SequenceForm, tables: Tables, state: RunState, binding: Binding) -> BundledTables | None:
    """Return a copy of a run's tables over bundles; None if they can't serve the run, or the form is not cut.

    Passes over bundles take the policy of a plain rule from the regrets, and the regret of an infoset with one action
    to be 0. So both must be so at the beginning.

    Args:
        form: the game or a quotient of it.
        tables: tables over the form's sequences.
        state, binding: the run and its components, which passes over bundles serve.
    """
    bundles = bundles_of(form)
    if bundles is None:
        return None
    actions = np.diff(form.view.first_sequence.astype(np.int64))[form.owner]
    if tables.regret[actions == 1].any():
        return None
    if binding.flags.plain:
        with np.errstate(over="ignore", invalid="ignore"):
            expected = form.normalised(np.maximum(tables.regret, 0.0))
        if not np.allclose(tables.policy, expected, rtol=1e-9, atol=1e-12):
            return None
    return BundledTables(bundles, tables, state, binding)


def _cost_and_workers(bundles: Bundles, threads: int) -> tuple[float, Workers | None]:
    """Return the predicted nanoseconds of an iteration over bundles, and the threads that share it.

    There are none if one thread makes the passes: if one was asked for, if the kernels are not compiled, if an
    iteration is short, or if threads are not predicted to be LEAST_GAIN times as fast.
    """
    cost = bundled_cost(bundles)
    if threads == 1 or UNJITTED or cost < LEAST_SHARED_COST:
        return cost, None
    from rlccfr.engine.bundled_threads import divided_bundles
    from rlccfr.engine.workers import Workers

    division = divided_bundles(bundles, threads)
    if cost < LEAST_GAIN * division.time:
        return cost, None
    return division.time, Workers(division.shares(bundles, threads))
