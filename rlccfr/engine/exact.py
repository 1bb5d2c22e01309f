"""Iterations by exact passes over the sequence form."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr import kernels
from rlccfr.engine.binding import Binding
from rlccfr.engine.blending_stepper import BlendingStepper
from rlccfr.engine.reduced import RunCopy, pass_cost, quotient_for_run
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import FlatStepper, Stepper
from rlccfr.errors import CheckpointError
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.quotient import Quotient
from rlccfr.kernels.layout import Tables

if TYPE_CHECKING:
    from rlccfr.engine.blending import Blender
    from rlccfr.engine.bundled import BundledTables
    from rlccfr.engine.threads import Crew

_OVER_CLASSES = "over_classes"
"""Name under which a saved run says whether its passes run over the quotient, where they round differently."""

_CENTRE = "centre"
"""Name, in a file, of the constant that was subtracted from all payoffs."""

_OVER_BUNDLES = "over_bundles"
"""Name under which a saved run says whether its passes go over bundles, where they may round differently, too."""

SPREADS = (1e-50, 1e50)
"""Utility ranges between which passes may go over bundles.

Those take sums of regrets, or of powers of regrets, up to 1e-300 for 0, and let powers overflow from 1e300 on.
"""

QUICK_POWERS = (1.0, 1.5, 2.0)
"""Powers of regrets, as in :class:`rlccfr.components.Momentum`, that passes over bundles compute.

Others take a function call for each lane, also for empty ones, and overflow sooner.
"""


@cache
def _exact_iterations() -> Any:
    """Return the kernel of passes over infosets.

    It takes some ten seconds to compile, so it is loaded only for runs that need it.
    """
    kernels.announce(kernels.PASSES, "passes over infosets")
    from rlccfr.kernels.passes.exact_iterations import exact_iterations

    return exact_iterations


class ExactStepper(BlendingStepper[RunState], FlatStepper):
    """Stepper that runs many exact iterations per kernel call; best responses cost two more passes per iteration.

    With the option ``reduce``, passes run over the game's quotient where that gives the same iterates and saves time.
    They go over bundles of infosets where that serves the rule and saves time (:mod:`rlccfr.engine.bundled`). Several
    threads share either, without a change of any bit.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        self._set_up()

    def _set_up(self, reduce: bool = True, bundle: bool = True) -> None:
        """Choose what passes go over, and the threads that make them.

        Args:
            reduce: whether passes may go over the game's quotient.
            bundle: whether they may go over bundles.
        """
        self._quotient = quotient_for_run(self.state, self.binding) if reduce else None
        self._copy = None if self._quotient is None else RunCopy(self.state, self._quotient)
        self._bundled = self._new_bundled(bundle and self._may_bundle)
        self._crew = None if self._bundled is not None else self._new_crew()
        if self._crew is not None:  # it needs infosets in another order, also without a quotient
            self._copy = RunCopy(self.state, self._crew.form)
        self._load_kernels()
        self.blender = self._new_blender()

    def _load_kernels(self) -> None:
        """Load the kernels that iterations need, so that the first of these takes no longer than others."""
        if self._bundled is None and self._crew is None:
            _exact_iterations()

    def _new_bundled(self, may_bundle: bool) -> BundledTables | None:
        """Return a copy of the tables over bundles; None if passes do not go over bundles."""
        if not may_bundle:
            return None
        from rlccfr.engine.bundled import bundled_tables

        return bundled_tables(self.form, self._arrays.tables, self.state, self.binding)

    def _publish_bundles(self) -> None:
        """Bring the tables over infosets up to date, if passes go over bundles."""
        if self._bundled is not None:
            self._bundled.publish()

    @property
    def _may_bundle(self) -> bool:
        """Whether passes over bundles could make the run: by its rule, its procedure and the size of payoffs."""
        flags = self.binding.flags
        is_simple = flags.plain or flags.predicts or (flags.has_momentum and self._has_quick_powers)
        needs_more = flags.uses_mass or flags.average_column >= 0 or self.binding.procedure.best_response
        least, most = SPREADS
        has_usual_payoffs = least < self.state.game.utility_range < most
        return self.binding.options.bundles and is_simple and not needs_more and has_usual_payoffs

    @property
    def _has_quick_powers(self) -> bool:
        """Whether the rule has momentum, with a power that the kernels for bundles support."""
        momentum = self.binding.rule.momentum
        return momentum is not None and momentum.power in QUICK_POWERS

    def _new_crew(self) -> Crew | None:
        """Return the threads that share passes over infosets; None if one thread makes them."""
        if self.binding.options.threads == 1:
            return None
        _exact_iterations()  # threads need their kernels, too
        from rlccfr.engine.threads import crew_for

        return crew_for(self._quotient or Quotient.whole(self.state.game), self.binding)

    def _new_blender(self) -> Blender | None:
        """Return a new blender, whose first window begins now; None in a run without blends."""
        if not self.binding.options.blend:
            return None
        from rlccfr.engine.blending import Blender
        from rlccfr.engine.flat_mixer import FlatMixer

        mixer = FlatMixer(self.form, self.state.game.utility_range)
        return Blender(mixer, self.state.iteration, self.run_sums)

    @property
    def _arrays(self) -> RunState | RunCopy:
        """The tables that passes work on, with their handles."""
        return self._copy or self.state

    def _run(self, iterations: int) -> None:
        rows = self._rows(self._until_next_window(iterations))
        with self._noting_decays(rows):
            self._iterate(rows)

    @property
    def run_sums(self) -> np.ndarray:
        return self.tables.policy_sum

    @property
    def iteration_seconds(self) -> float:
        cost = pass_cost(self.form.view) if self._bundled is None else self._bundled.iteration_cost
        return cost * 1e-9

    def _rows(self, iterations: int) -> np.ndarray:
        """Return the schedule's rows for at most ``iterations`` next iterations, and for the one after them."""
        return self.binding.rows(self.state.iteration + 1, iterations)

    def _iterate(self, rows: np.ndarray) -> None:
        """Run the iterations of a schedule."""
        game = self._arrays.game_handle
        run = self._arrays.run_handle
        binding = self.binding
        cost = self.nodes_per_iteration
        if self._bundled is not None:
            self._bundled.iterate(self._rule_handle, binding.procedure, rows, cost)
        elif self._crew is not None:
            self._crew.run(game, run, self._rule_handle, binding.procedure, rows, cost)
        else:
            _exact_iterations()(game, run, self._rule_handle, binding.procedure, rows, cost)

    @property
    def _rule_handle(self) -> Any:
        """Handle of the rule for the next iterations."""
        return self.binding.rule_handle

    def own_sums(self) -> np.ndarray:
        """See :meth:`FlatStepper.own_sums`; each player has its blend if that is less exploitable."""
        return self.blended_sums(super().own_sums())

    @property
    def form(self) -> SequenceForm:
        return self._quotient or self.state.game

    @property
    def tables(self) -> Tables:
        self._publish_bundles()
        if self._copy is None:
            return self.state.tables
        if self._crew is None:
            return self._copy.tables
        return Tables(*(table[self._crew.sequences] for table in self._copy.tables))

    def publish(self) -> None:
        self._publish_bundles()
        if self._copy is not None:
            self._copy.publish()

    def saved(self) -> dict[str, np.ndarray]:
        over_classes = np.array(self._quotient is not None)
        over_bundles = np.array(self._bundled is not None)
        centre = {} if self.centre == 0.0 else {_CENTRE: np.array(self.centre)}
        return {_OVER_CLASSES: over_classes, _OVER_BUNDLES: over_bundles, **centre, **super().saved()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        if self.centre != 0.0 and _CENTRE not in saved:  # values that such a file holds contain the constant
            raise CheckpointError(
                "the run was saved by a version that kept the constant in all payoffs; start a new run"
            )
        # The first versions' files have neither name; before there were bundles, no run went over them.
        self._set_up(bool(saved.get(_OVER_CLASSES, True)), bool(saved.get(_OVER_BUNDLES, False)))
        super().restore(saved)
