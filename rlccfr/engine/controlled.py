"""Iterations by exact passes whose settings a controller chooses during the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr.components.controller import OBSERVATION
from rlccfr.engine.binding import Binding
from rlccfr.engine.evaluation import better_of
from rlccfr.engine.exact import QUICK_POWERS, ExactStepper
from rlccfr.engine.reduced import pass_cost
from rlccfr.engine.state import RunState
from rlccfr.engine.steering import control_of, first_state, move_horizon, restore_control, saved_control
from rlccfr.engine.stepper import Stepper
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.control.control_layout import (
    CONTROL,
    FIRST_SETTING,
    KEPT_VALUES,
    LOOKED_AT,
    MOMENTUM,
    NEVER,
    NEXT_LOOK,
    POWER,
    SETTINGS,
    Control,
)
from rlccfr.kernels.control.decide import needs_momentum
from rlccfr.kernels.control.looks import look_at_average, next_look
from rlccfr.kernels.handles import handle_of

if TYPE_CHECKING:
    from rlccfr.engine.bundled import BundledTables

LEAST_STEERED_COST = 1000.0
"""Least nanoseconds that an iteration over infosets is predicted to take for a run without blends to go over bundles.

Such a run returns to Python at each decision, which takes about 20 microseconds.
"""

_KEPT_POLICIES = "kept"
"""Name under which the best average policies are saved."""


class ControlledStepper(ExactStepper):
    """Stepper of exact iterations whose settings the rule's controller picks at each decision.

    Each player keeps its best average policy of the last eighth of the run; see :mod:`rlccfr.kernels.control.looks`. In
    a run with blends (:mod:`rlccfr.engine.blending`), no such policies are kept: the blends take their place.

    Attributes:
        control: the controller, and its state in this run.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        assert binding.rule.controller is not None
        game = state.game
        self.control = control_of(binding.rule.controller, features_of(game), game.utility_range)
        super().__init__(state, binding, previous)

    def _set_up(self, reduce: bool = True, bundle: bool = True) -> None:
        super()._set_up(reduce, bundle)
        self.take(self.control, keep=self.blender is None)

    def _load_kernels(self) -> None:
        super()._load_kernels()
        if self._bundled is not None:
            from rlccfr.kernels.control import scheduled_segments  # noqa: F401
        elif self._runs_in_one_call:
            from rlccfr.kernels.control import controlled_iterations  # noqa: F401
        else:
            from rlccfr.kernels.control import observed_runs  # noqa: F401

    @property
    def _runs_in_one_call(self) -> bool:
        """Whether a kernel makes iterations, decisions and looks in one call."""
        return self._crew is None and self._bundled is None and not self.binding.options.blend

    @property
    def _may_bundle(self) -> bool:
        """See :attr:`ExactStepper._may_bundle`; False in two further cases.

        A controller that observes the run needs its tables over infosets. And short iterations without blends are made
        over infosets, since one call of a kernel then makes many of them.
        """
        is_short = pass_cost(self.form.view) < LEAST_STEERED_COST and not self.binding.options.blend
        return super()._may_bundle and not self.control.observes_run and not is_short

    @property
    def _has_quick_powers(self) -> bool:
        """See :attr:`ExactStepper._has_quick_powers`; here for all powers that the controller may choose."""
        powers = self.control.choices[-self.control.layers[-1, -1] :, POWER - FIRST_SETTING[-2]]
        return bool(np.isin(powers, QUICK_POWERS).all())

    def take(self, control: Control, *, keep: bool = True) -> None:
        """Continue with another controller and its state.

        Args:
            control: the controller and its state.
            keep: whether the best average policies are kept.
        """
        self.control = control._replace(kept_policies=np.zeros(self.form.num_sequences if keep else 0))
        self._control_handle: Any = handle_of(self.control, CONTROL)

    @property
    def costs(self) -> dict[str, float]:
        return self._costs()

    def set_horizon(self, iterations: int) -> None:
        super().set_horizon(iterations)
        controller_state = self.control.state
        done = self.state.iteration
        controller_state[NEXT_LOOK] = next_look(done, iterations) if len(self.control.kept_policies) else NEVER
        move_horizon(controller_state, iterations, done)

    def _run(self, iterations: int) -> None:
        if not self._runs_in_one_call:
            super()._run(iterations)
        else:  # with all decisions that fall due
            from rlccfr.kernels.control.controlled_iterations import controlled_iterations

            game, run, control = self._handles
            rules = self.binding.rule_handle_without_momentum, self.binding.rule_handle
            procedure = self.binding.procedure
            controlled_iterations(game, run, rules, procedure, control, iterations, self.nodes_per_iteration)
        if self.state.iteration >= self.control.state[NEXT_LOOK]:
            self._publish_bundles()
            look_at_average(*self._handles)

    def _rows(self, iterations: int) -> np.ndarray:
        """See :meth:`ExactStepper._rows`. First, any measurement or decision that is due is made."""
        if self._copy is not None:
            self._copy.mark_changed()  # a decision may reset M
        if self._bundled is None:
            from rlccfr.kernels.control.observed_runs import prepare_segment_of_run

            count = prepare_segment_of_run(*self._handles, iterations)
        else:
            count = self._prepare_segment_of_bundles(self._bundled, iterations)
        return self.control.schedule[: count + 1]

    def _prepare_segment_of_bundles(self, bundled: BundledTables, iterations: int) -> int:
        """Make a decision if one is due, and write the rows up to the next decision or look; return their number.

        The controller reads only the run's progress.
        """
        from rlccfr.kernels.control.scheduled_segments import prepare_segment_by_progress

        iterations_to_look = int(self.control.state[NEXT_LOOK]) - self.state.iteration
        settings = self.control.state[SETTINGS:]
        with uninterrupted():  # M must be reset if the decision is recorded
            had_momentum = settings[MOMENTUM] != 0.0
            most = min(iterations, iterations_to_look)
            count: int = prepare_segment_by_progress(self._control_handle, self.state.iteration, most)
            if settings[MOMENTUM] != 0.0 and not had_momentum:
                bundled.clear_movement()  # whatever earlier segments have left in M
        return count

    @property
    def _rule_handle(self) -> Any:
        """See :attr:`ExactStepper._rule_handle`. Segments without momentum skip the work for it."""
        settings = self.control.state[SETTINGS:]
        return self.binding.rule_handle if needs_momentum(settings) else self.binding.rule_handle_without_momentum

    @property
    def _handles(self) -> tuple[Any, Any, Any]:
        """Handles of the game or quotient over which the passes run, of the run, and of the controller."""
        return self._arrays.game_handle, self._arrays.run_handle, self._control_handle

    def own_sums(self) -> np.ndarray:
        """See :meth:`FlatStepper.own_sums`; each player has its average policy, or its kept one if less exploitable."""
        controller_state = self.control.state
        sums = super().own_sums()
        looked_at = controller_state[LOOKED_AT]
        if looked_at < 0 or not np.isfinite(sums).all():  # kept policies must not hide an overflow
            return sums
        kept_sums = self._kept_sums()
        if looked_at < self.state.iteration:
            return better_of(self.form, kept_sums, controller_state[KEPT_VALUES : KEPT_VALUES + 2], sums)
        return kept_sums

    def _kept_sums(self) -> np.ndarray:
        """Return the kept policies, over the sequences of ``form``; empty if none is to be kept."""
        kept_sums = self.control.kept_policies
        if self._crew is None or not len(kept_sums):
            return kept_sums.copy()
        return kept_sums[self._crew.sequences]

    def restart(self) -> None:
        """Go back to the start of the run, which must have only one thread."""
        tables = self._arrays.tables
        tables.regret.fill(0.0)
        tables.policy_sum.fill(0.0)
        tables.state.fill(0.0)
        tables.policy[:] = self.form.uniform_policy()
        self.state.counts.fill(0)
        self.control.state[:] = first_state(self.state.game.utility_range)
        if self._copy is not None:
            self._copy.mark_changed()
        self._bundled = self._new_bundled(self._bundled is not None)
        self.blender = self._new_blender()

    def observe(self) -> np.ndarray:
        """Return what the controller would see now, (24,); see :data:`rlccfr.components.controller.OBSERVATION`."""
        from rlccfr.kernels.control.observed_runs import observe_run

        self._publish_bundles()
        observe_run(*self._handles)
        return self.control.inputs[: len(OBSERVATION)]

    def saved(self) -> dict[str, np.ndarray]:
        return {
            **super().saved(),
            **saved_control(self.control),
            _KEPT_POLICIES: self._kept_sums(),
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        restore_control(self.control, saved)
        super().restore(saved)
        kept_sums = saved[_KEPT_POLICIES]
        self.take(self.control, keep=len(kept_sums) > 0)
        if len(kept_sums):
            self.control.kept_policies[... if self._crew is None else self._crew.sequences] = kept_sums


def features_of(game: GameTree) -> np.ndarray:
    """Return the features of a game that controllers see, (5,); none of them grows with the game's size alone.

    They are the mean and the largest number of actions at infosets, each as n / (n + 4); the depth, as n / (n + 10);
    the share of chance nodes among the inner histories; and the share of terminal histories among all histories.
    """
    actor = np.ascontiguousarray(game.histories["actor"])  # contiguous, so that it is counted faster
    num_actions = np.diff(game.view.first_sequence.astype(np.int64))  # at each infoset
    num_inner = max(int(np.count_nonzero(actor != TERMINAL)), 1)
    mean_actions = float(num_actions.mean()) if len(num_actions) else 0.0
    most_actions = int(num_actions.max(initial=0))
    return np.array(
        [
            mean_actions / (mean_actions + 4),
            most_actions / (most_actions + 4),
            game.depth / (game.depth + 10),
            int(np.count_nonzero(actor == CHANCE)) / num_inner,
            1 - num_inner / game.num_histories,
        ]
    )
