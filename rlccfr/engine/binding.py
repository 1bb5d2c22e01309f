"""Components as the kernels see them: made and checked before a run takes them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.errors import ComponentError
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.layout import RuleFlags
from rlccfr.kernels.plain import inclusion_function, mixture_function, policy_map_function, reweight_function
from rlccfr.kernels.walks.walk_layout import ALL, ONE, SUBSET, WalkPlan

AHEAD = 256
"""Fewest iterations whose schedule is evaluated at once: so many rows cost hardly more than one."""


@dataclass(frozen=True)
class RunOptions:
    """How a run iterates, whatever its components are.

    Attributes:
        simultaneous: both players move from the same policies, rather than in alternation.
        pre_averaging: both players are averaged before their updates; exact passes only.
        walks: number of walks per player and iteration.
    """

    simultaneous: bool = False
    pre_averaging: bool = False
    walks: int = 1


class ScheduleRows:
    """The rows of a rule's schedule, evaluated some iterations ahead.

    Args:
        first: the next iteration.

    Raises:
        ComponentError: the schedule fails at that iteration.
    """

    def __init__(self, rule: UpdateRule, first: int) -> None:
        self._rule = rule
        self._rows, self._first, self._ahead = rule.schedule(first, 0), first, AHEAD

    def __call__(self, first: int, count: int) -> np.ndarray:
        """Return the rows of iterations ``first`` to ``first + count``, see ``UpdateRule.schedule``."""
        skip = first - self._first
        if skip < 0 or skip + count >= len(self._rows):
            try:
                self._rows = self._rule.schedule(first, max(count, self._ahead))
            except Exception:  # perhaps only of an iteration that nobody asked for: a schedule may end
                self._ahead = 0
                self._rows = self._rule.schedule(first, count)
            self._first, skip = first, 0
        return self._rows[skip : skip + count + 1]


@dataclass(frozen=True)
class Binding:
    """Three components and the options of a run, compiled for the kernels.

    Attributes:
        rule_arguments: what every fold takes: the rule's flags, the handles of ``reweight`` and ``policy_map``, and
            the game's utility range.
        walk_functions: the handles of the sampler's ``inclusion`` and ``mixture``.
    """

    rule: UpdateRule
    sampler: Sampler
    abstraction: Abstraction
    options: RunOptions
    rule_arguments: tuple[RuleFlags, Any, Any, float]
    plan: WalkPlan
    walk_functions: tuple[Any, Any]
    rows: ScheduleRows

    @classmethod
    def of(
        cls,
        game: GameTree,
        rule: UpdateRule,
        sampler: Sampler,
        abstraction: Abstraction,
        options: RunOptions,
        iteration: int,
    ) -> Binding:
        """Check and compile components for a run that has done so many iterations.

        Raises:
            ComponentError: the combination is not sound, a function can't be compiled, or the schedule fails.
        """
        if rule.exact_only and not sampler.exact:
            raise ComponentError(f"{rule.id!r} in this mode is not sound with estimates; use sampler='none'")
        if options.pre_averaging and not (sampler.exact or options.simultaneous):
            raise ComponentError("averaging='pre' needs sampler='none' or simultaneous updates; use 'matching'")
        rule_arguments = (
            _flags_of(rule),
            reweight_function(rule.reweight),
            policy_map_function(rule.policy_map),
            game.utility_range or 1.0,  # 0 if nothing is at stake; rules divide by it
        )
        walk_functions = inclusion_function(sampler.inclusion), mixture_function(sampler.mixture)
        rows = ScheduleRows(rule, iteration + 1)
        return cls(rule, sampler, abstraction, options, rule_arguments, _plan_of(sampler), walk_functions, rows)

    @property
    def learns(self) -> bool:
        """Whether policies come from models."""
        return self.rule.learns or self.abstraction.learns

    @property
    def is_quick(self) -> bool:
        """Whether kernels/walks/quick_iterations.py serves: external or outcome sampling, a simple fold, one walk."""
        flags = self.rule_arguments[0]
        simple = self.plan.traverser in (ALL, ONE) and not any(self.plan._replace(traverser=0, exploration=0.0))
        alone = not (self.abstraction.best_response or self.options.simultaneous or self.options.walks > 1)
        return simple and alone and (flags.plain or flags.predicts)

    def keeps_models_of(self, other: Binding) -> bool:
        """Return whether the tables and models of ``other`` stay as they are under this binding."""
        return self.rule.same_as(other.rule) and self.abstraction.fits_as(other.abstraction)


def _flags_of(rule: UpdateRule) -> RuleFlags:
    """Return how a rule differs from plain regret matching."""
    return RuleFlags(
        plain=rule.is_plain,
        predicts=rule.only_predicts,
        reweights=rule.reweight is not None,
        maps_policy=rule.policy_map is not None,
        uses_mass=rule.uses_mass,
        argmax_fallback=rule.fallback == "argmax",
        average_column=rule.arrays.index(rule.average_weight) if rule.average_weight else -1,
    )


def _plan_of(sampler: Sampler) -> WalkPlan:
    """Return a sampler's settings of the walk."""
    return WalkPlan(
        chance_all=sampler.chance == "all",
        opponent_all=sampler.opponent == "all",
        traverser={"all": ALL, "one": ONE, "subset": SUBSET}[sampler.traverser],
        exploration=float(sampler.exploration),
        probe=sampler.probe,
        baseline_rate=float(sampler.baseline_rate),
        subset_size=sampler.subset_size,
        mixes=sampler.mixture is not None,
        one_draw=sampler.one_draw,
        counts=sampler.inclusion is not None or sampler.mixture is not None,
    )
