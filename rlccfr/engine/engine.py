"""A run: its tables, the components bound to it, and the stepper that advances it."""

from __future__ import annotations

import time

import numpy as np

from rlccfr import kernels
from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.quotient import Quotient

kernels.prepare_cache()

from rlccfr.engine.binding import Binding, RunOptions, checked_threads  # noqa: E402
from rlccfr.engine.evaluation import evaluated  # noqa: E402
from rlccfr.engine.state import RunState  # noqa: E402
from rlccfr.engine.stepper import CHUNK, Stepper  # noqa: E402
from rlccfr.engine.steppers import stepper_for  # noqa: E402
from rlccfr.kernels.handles import handle_of  # noqa: E402
from rlccfr.kernels.layout import TABLES  # noqa: E402
from rlccfr.kernels.passes.exact_iterations import refresh_policies  # noqa: E402

__all__ = ["CHUNK", "Engine", "RunOptions", "checked_threads"]

_STEPPER = "learned_"
"""Prefix of the stepper's arrays in a file; it comes from the time when only models had some."""


class Engine:
    """One run of three components on a game; the components may be changed during the run.

    Args:
        seed: seed of the walks and the models.
        options: None for the defaults of :class:`RunOptions`.
    """

    def __init__(self, game: GameTree, seed: int, options: RunOptions | None = None) -> None:
        self.game = game
        self.options = options or RunOptions()
        self._state = RunState.at_start(game, seed)
        self._stepper: Stepper | None = None

    @property
    def state(self) -> RunState:
        """The run's tables, up to date."""
        if self._stepper is not None:
            self._stepper.publish()
        return self._state

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return self._state.iteration

    @property
    def nodes(self) -> int:
        """Number of histories touched."""
        return self._state.nodes

    @property
    def stepper(self) -> Stepper:
        """The stepper of the bound components."""
        assert self._stepper is not None, "bind components first"
        return self._stepper

    @property
    def learns(self) -> bool:
        """Whether policies come from models, so that an iteration may take a while."""
        return self.stepper.learns

    def bind(self, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction) -> float:
        """Bind components, at the start or during the run; if this fails, the earlier components stay bound.

        A change of the rule or of the regressor updates the whole table: pending discounts are applied, then the rule's
        floor and policy map. Otherwise, infosets that walks do not visit would miss them.

        Returns:
            CPU seconds spent on fitting models to the tables; 0 without models.

        Raises:
            ComponentError: the combination is not sound, a function can't be compiled, the schedule fails, or the
                components need models and the game offers no features.
        """
        binding = Binding.of(self.game, rule, sampler, abstraction, self.options, self.iteration)
        previous = self._stepper
        new = previous is None or not binding.keeps_models_of(previous.binding)
        state = self.state.ready_for(rule)
        if new:
            ahead = binding.rows(self.iteration + 1, 0)[0]
            tables = handle_of(state.tables, TABLES)
            refresh_policies(state.game_handle, tables, binding.rule_handle, ahead, rule.floor)
        stepper = stepper_for(state, binding, None if new else previous)
        begin = time.thread_time()
        if new and self.iteration:
            stepper.enter()
        elapsed = time.thread_time() - begin if stepper.learns else 0.0
        self._state, self._stepper = state, stepper
        return elapsed

    @property
    def costs(self) -> dict[str, float] | None:
        """What an iteration is expected to use of each budget; None if the components do not plan."""
        return self.stepper.costs

    def aim(self, iterations: int) -> None:
        """Tell the stepper how many iterations the run is meant to have in all; 0 if that is open."""
        self.stepper.aim(iterations)

    def finish(self) -> bool:
        """End the run, which may go on later; return whether its components blend average policies."""
        return self.stepper.finish()

    def advance(self, iterations: int, max_nodes: int) -> int:
        """Run at most ``iterations`` iterations, and stop once ``max_nodes`` more histories have been touched.

        Returns:
            The number of iterations run, at most CHUNK if policies come from tables.
        """
        before = self.iteration
        self.stepper.advance(iterations, max_nodes)
        return self.iteration - before

    def average_sums(self) -> np.ndarray:
        """Return an array (m,) proportional to the average policy at each infoset."""
        sums, form = self.stepper.average_sums(), self.stepper.form
        return sums[form.place] if isinstance(form, Quotient) else sums

    def average_value(self) -> tuple[float, float, float]:
        """Return player 0's value of the average policy, and each player's value of a best response to it.

        A value is the player's own expected utility.
        """
        form = self.stepper.form
        return evaluated(form, form.normalised(self.stepper.average_sums()))

    def current_value(self) -> tuple[float, float, float]:
        """Return the same for the current policy."""
        return evaluated(self.stepper.form, self.stepper.tables.policy)

    def draw_policy(self, rng: np.random.Generator) -> np.ndarray:
        """Return a policy (m,) drawn from the average policy's mixture; see :meth:`rlccfr.Solver.draw_policy`.

        Raises:
            ComponentError: the rule keeps no mixture, or no iteration has been run yet.
        """
        return self.stepper.draw_policy(rng)

    def is_finite(self) -> bool:
        """Return whether every table and model is finite; infinities and NaN never disappear again."""
        return self.stepper.is_finite()

    def saved(self) -> dict[str, np.ndarray]:
        """Return, by name, all arrays that the next iteration depends on, except for the components."""
        return {**{f"{_STEPPER}{name}": array for name, array in self.stepper.saved().items()}, **self.state.saved()}

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`saved` returned; the same components must be bound."""
        self._state = self._state.restored(saved)
        learned = {name.removeprefix(_STEPPER): a for name, a in saved.items() if name.startswith(_STEPPER)}
        self.stepper.restore(learned)
