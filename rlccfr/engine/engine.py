"""A run: its tables, the components bound to it, and the stepper that advances it.

Each kind of iteration has a stepper; one is chosen when components are bound. To add a kind, write a module with a
:class:`~rlccfr.engine.stepper.Stepper` and add a line to :data:`STEPPERS`, or to the list of another form of games; see
:class:`rlccfr.game.Form`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

import numpy as np

from rlccfr import kernels
from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.errors import ComponentError, FailedRunError, PolicyError, RLCCFRError, what_failed
from rlccfr.game import Game, RunTables
from rlccfr.games.merging.cache import merged_game
from rlccfr.garbage import collector_paused

kernels.prepare_cache()

from rlccfr.engine.binding import Binding, RunOptions, checked_threads  # noqa: E402
from rlccfr.engine.state import RunState  # noqa: E402
from rlccfr.engine.stepper import CHUNK, Stepper, StepperKind  # noqa: E402

__all__ = ["CHUNK", "Engine", "RunOptions", "checked_threads"]

_STEPPER = "learned_"
"""Prefix, in a file, of the names of the stepper's arrays; it dates from when only steppers with models had any."""


STEPPERS = (
    StepperKind(lambda binding: binding.abstraction.responds, "rlccfr.engine.responding:RespondingStepper"),
    StepperKind(lambda binding: binding.learns, "rlccfr.engine.learning.learned:LearnedStepper"),
    StepperKind(lambda binding: binding.rule.controller is not None, "rlccfr.engine.controlled:ControlledStepper"),
    StepperKind(lambda binding: binding.sampler.exact, "rlccfr.engine.exact:ExactStepper"),
    StepperKind(lambda binding: binding.is_quick, "rlccfr.engine.walks:QuickStepper"),
    StepperKind(lambda binding: True, "rlccfr.engine.walks:WalkStepper"),
)
"""All kinds of iteration over a compiled game; a run uses the first one that serves its binding."""


def stepper_for(state: Any, binding: Binding, previous: Stepper[Any] | None = None) -> Stepper[Any]:
    """Return a new stepper of the first kind that serves a binding; see :class:`Stepper`."""
    path = next(kind.path for kind in binding.form.part("steppers") if kind.serves(binding))
    stepper: Stepper[Any] = resolve_name(path)(state, binding, previous)
    return stepper


@contextmanager
def _named_failures(binding: Binding) -> Iterator[None]:
    """Turn the error of another author's function into one that names the function.

    Raises:
        FailedRunError: such a function fails.
    """
    try:
        yield
    except (RLCCFRError, MemoryError):
        raise
    except Exception as error:  # another author's function may raise anything
        foreign_functions = binding.foreign_functions
        if not foreign_functions:
            raise
        hint = "; with NUMBA_DISABLE_JIT=1 in the environment, the error names the line"
        failure = what_failed(error, foreign_functions.values(), otherwise=hint)
        names = " or ".join(foreign_functions)
        raise FailedRunError(f"{names} fails in a run: {failure}") from error


class Engine:
    """A run of an update rule, a sampler and an abstraction on a game; these components may be changed during the run.

    Args:
        seed: seed of the walks and the models.
        options: None for the defaults of :class:`RunOptions`.
    """

    def __init__(self, game: Game, seed: int, options: RunOptions | None = None) -> None:
        self.game = game
        self.options = options or RunOptions()
        self.seed = seed
        self._state: Any = None
        self._stepper: Stepper[Any] | None = None

    @property
    def state(self) -> Any:
        """The run's tables, up to date."""
        if self._stepper is not None:
            self._stepper.publish()
        return self._state

    @property
    def dtype(self) -> str | None:
        """Type of the tables' numbers, where runs may choose it; else None."""
        chosen: str | None = self._state.chosen_dtype
        return chosen

    @property
    def buckets(self) -> str | None:
        """Hash of the buckets into which the run's infosets are merged; None without buckets."""
        return None if self._state.merged is None else str(self._state.merged.content_hash)

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return int(self._state.iteration)

    @property
    def nodes(self) -> int:
        """Number of histories touched so far; in a public-tree game, number of private states met so far."""
        return int(self._state.nodes)

    @property
    def stepper(self) -> Stepper[Any]:
        """The stepper of the bound components."""
        assert self._stepper is not None, "bind components first"
        return self._stepper

    def bind(self, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction) -> float:
        """Bind components, at the start or during the run; if this fails, the earlier components stay bound.

        A change of buckets before the first iteration makes new tables. A later change is refused, because the regrets
        of infosets can't be computed from those of buckets. A change of the rule or of the regressor updates the whole
        table: pending discounts are applied, then the rule's floor and policy map. Otherwise, infosets that walks do
        not visit would miss these updates.

        Returns:
            CPU seconds spent on fitting models to the tables; 0 without models or before the first iteration.

        Raises:
            ComponentError: the combination is not sound, a function can't be compiled, the schedule fails, or the
                components need models and the game offers no features.
            FailedRunError: a third-party component's function fails.
        """
        if abstraction.responds:  # before hands are split into buckets, which takes a while
            from rlccfr.engine.responding import check_responding  # which loads the kernels of public trees

            check_responding(rule, sampler, self.options, self.game.form)
        old_state = self._over_buckets(abstraction)
        if self.options.blend and old_state.merged is not None and not self.game.form.has_histories:
            raise ComponentError(
                f"with buckets, blends can be more exploitable in {self.game.name!r} than the average policy: leave "
                "out blend=True, or use abstraction='none'"
            )
        game = self.game if old_state.merged is None else old_state.merged.walked
        binding = Binding.of(game, rule, sampler, abstraction, self.options, old_state.iteration)
        # The old stepper's tables and models may stay valid; a new state, over other buckets, has none.
        previous = self._stepper if old_state is self._state else None
        if previous is not None:
            previous.publish()
        starts_anew = previous is None or not binding.keeps_models_of(previous.binding)
        # Build everything on a copy of the state, so that a failure leaves the old components bound.
        state = old_state.ready_for(binding)
        with _named_failures(binding):
            if starts_anew:
                state.refresh(binding)
            stepper = stepper_for(state, binding, None if starts_anew else previous)
            elapsed = 0.0
            if starts_anew and state.iteration:
                with collector_paused():
                    begin = time.thread_time()
                    stepper.enter()
                    elapsed = time.thread_time() - begin
        self._state = state
        self._stepper = stepper
        return elapsed if stepper.learns else 0.0

    def _over_buckets(self, abstraction: Abstraction) -> Any:
        """Return the run's state, or a new one if there is none or the abstraction has other buckets.

        Raises:
            ComponentError: the buckets would change during the run, or are not a sound map of the game's infosets.
        """
        merged = None
        if abstraction.buckets is not None:
            merged = merged_game(self.game, abstraction.buckets, abstraction.key)
            if merged.tree is self.game:  # each infoset is its own bucket
                merged = None
        if self._state is not None:
            present_merged = self._state.merged
            if merged is present_merged or (merged is not None and merged.alike(present_merged)):
                return self._state
            if self.iteration:
                raise ComponentError("buckets can't change during a run: keep the abstraction, or start a new solver")
        if merged is not None:
            return RunState.at_start(merged.tree, self.seed, merged=merged)
        run_tables: type[RunTables] = self.game.form.part("run_tables")
        return run_tables.at_start(self.game, self.seed, self.options.dtype)

    def advance(self, iterations: int, max_nodes: int) -> int:
        """Run at most ``iterations`` iterations, and stop once ``max_nodes`` more histories have been touched.

        Returns:
            The number of iterations run, at most :data:`CHUNK` if policies come from tables.

        Raises:
            FailedRunError: a third-party component's function fails.
        """
        before = self.iteration
        with _named_failures(self.stepper.binding):
            self.stepper.advance(iterations, max_nodes)
        return self.iteration - before

    def current_value(self) -> tuple[float, float, float]:
        """Return the values of the current policy; see :meth:`Stepper.current_value`.

        Raises:
            FailedRunError: the rule's policy map does not return a valid policy.
        """
        rule = self.stepper.binding.rule
        try:
            return self.stepper.current_value()
        except PolicyError as error:
            if rule.policy_map is None:
                raise
            raise FailedRunError(f"the policy_map of {rule.title} does not return a valid policy: {error}") from None

    def saved(self) -> dict[str, np.ndarray]:
        """Return all arrays on which the next iteration depends, by name; the components are not included."""
        stepper_arrays = {f"{_STEPPER}{name}": array for name, array in self.stepper.saved().items()}
        return {**stepper_arrays, **self.state.saved()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`saved` returned; the same components must be bound."""
        self._state = self._state.restored(saved)
        stepper_arrays = {name.removeprefix(_STEPPER): saved[name] for name in saved if name.startswith(_STEPPER)}
        self.stepper.restore(stepper_arrays)
