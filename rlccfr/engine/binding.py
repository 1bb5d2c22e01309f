"""Components as the kernels see them: checked and compiled before a run uses them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlccfr.components import SHARED_CHANCE, Abstraction, Sampler, UpdateRule
from rlccfr.components.combination import why_incompatible
from rlccfr.engine.chance_draws import NO_DRAWS, shared_draws
from rlccfr.errors import ComponentError, whole_number
from rlccfr.game import Form, Game
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import RULE, Procedure, Rule, RuleFlags
from rlccfr.kernels.plain_functions import (
    inclusion_function,
    mixture_function,
    policy_map_function,
    reads_regret,
    regularise_function,
    reweight_functions,
)
from rlccfr.kernels.walks.walk_layout import ALL, ONE, SAMPLING, SUBSET, Sampling, SharedDraws, WalkPlan
from rlccfr.plugins import is_the_librarys

PAUSE = 2**20
"""Number of histories after which walks pause, so that Ctrl-C and budgets take effect within hundredths of a second."""

SCHEDULED_AHEAD = 256
"""Least number of iterations whose schedule is evaluated at once; this many rows cost hardly more than one."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run that do not depend on its components.

    Attributes:
        simultaneous: whether both players are updated against the same policies, rather than in alternation.
        pre_averaging: whether both players' policies are added to the averages before either player's update; needs
            exact passes or ``simultaneous``.
        walks: number of walks per player and iteration.
        threads: number of threads of exact passes.
        reduce: whether exact passes run over the game's quotient where that gives the same iterates and is predicted
            to save time.
        bundles: whether exact passes go over bundles of infosets where that saves time; see
            :mod:`rlccfr.games.bundles`.
        blend: whether each player ends with its least exploitable blend; see :mod:`rlccfr.engine.blending`.
        dtype: type of the tables' numbers over a public tree, ``"int16"``, ``"float32"`` or ``"float64"``; None for
            the default.
        by_hand: whether passes over drawn boards have a row for each hand instead of one for each bucket history.
    """

    simultaneous: bool = False
    pre_averaging: bool = False
    walks: int = 1
    reduce: bool = False
    threads: int = 1
    blend: bool = False
    dtype: str | None = None
    by_hand: bool = False
    bundles: bool = True

    @classmethod
    def checked(
        cls, averaging: str, flags: Mapping[str, bool], *, walks: int, threads: int, dtype: str | None = None
    ) -> RunOptions:
        """Return the options that the arguments of :class:`rlccfr.Solver` describe.

        Args:
            averaging: ``"pre"`` to set ``pre_averaging``, or ``"matching"`` to leave it off.
            flags: ``simultaneous``, ``reduce``, ``blend`` and ``by_hand``.

        Raises:
            ComponentError: an argument is invalid.
        """
        if averaging not in ("matching", "pre"):
            raise ComponentError(f"averaging must be 'matching' or 'pre', not {averaging!r}")
        for name, value in flags.items():
            if not isinstance(value, bool):
                raise ComponentError(f"{name} must be True or False, not {value!r}")
        if dtype not in (None, "int16", "float32", "float64"):
            raise ComponentError(f"dtype must be 'int16', 'float32' or 'float64', not {dtype!r}")
        return cls(
            pre_averaging=averaging == "pre",
            walks=whole_number(walks, "walks", 1, ComponentError),
            threads=checked_threads(threads),
            dtype=dtype,
            **flags,
        )


def checked_threads(threads: int) -> int:
    """Check a number of threads, and return it.

    Raises:
        ComponentError: it is not a positive integer, or exceeds the number of cores that this process may use.
    """
    threads = whole_number(threads, "threads", 1, ComponentError)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads > cores:
        raise ComponentError(
            f"threads must be at most {cores}, the number of cores that this process may use, not {threads}"
        )
    return threads


class ScheduleRows:
    """The rows of a rule's schedule, evaluated some iterations ahead.

    Args:
        rule: the update rule.
        first: number of the next iteration.

    Raises:
        ComponentError: the schedule fails at that iteration.
    """

    def __init__(self, rule: UpdateRule, first: int) -> None:
        self._rule = rule
        self._rows = rule.schedule(first, 0)  # fails now, not in the run
        self._first = first
        self._ahead = SCHEDULED_AHEAD

    def __call__(self, first: int, count: int) -> np.ndarray:
        """Return the rows of iterations ``first`` to ``first + count``, (count + 1, 5 + p), with p parameters.

        See :meth:`rlccfr.components.UpdateRule.schedule`.

        Raises:
            ComponentError: the schedule fails at one of these iterations.
        """
        skip = first - self._first
        # Row ``skip + count`` is needed, too: an update also reads the discounts of the iteration after it.
        if skip < 0 or skip + count >= len(self._rows):
            try:
                self._rows = self._rule.schedule(first, max(count, self._ahead))
            except Exception:  # perhaps the schedule fails only after the iterations asked for
                self._ahead = 0
                self._rows = self._rule.schedule(first, count)
            self._first = first
            skip = 0
        return self._rows[skip : skip + count + 1]


@dataclass(frozen=True)
class Binding:
    """An update rule, a sampler, an abstraction and the options of a run, compiled for the kernels.

    Attributes:
        flags: how the rule differs from plain regret matching.
        plan: the sampler's settings for walks.
        draws: chance draws that several histories share; see :func:`rlccfr.engine.chance_draws.shared_draws`.
        procedure: how an iteration proceeds, for example with how many walks.
        rule_handle: handle of the rule and its functions, as kernels take it.
        rule_handle_without_momentum: handle of the same rule without its momentum, for those parts of a run in which
            the controller has switched momentum off.
        sampling_handle: handle of the sampler and its functions, as kernels take it.
        rows: the rows of the rule's schedule.
        form: form of the game to which the run's tables belong.
    """

    rule: UpdateRule
    sampler: Sampler
    abstraction: Abstraction
    options: RunOptions
    flags: RuleFlags
    plan: WalkPlan
    draws: SharedDraws
    procedure: Procedure
    rule_handle: Any
    rule_handle_without_momentum: Any
    sampling_handle: Any
    rows: ScheduleRows
    form: Form

    @property
    def foreign_functions(self) -> dict[str, Callable[..., Any]]:
        """The functions of third-party components, by the names that messages give them."""
        functions = {
            f"the reweight of {self.rule.title}": self.rule.reweight,
            f"the policy_map of {self.rule.title}": self.rule.policy_map,
            f"the regularise of {self.rule.title}": self.rule.regularise,
            f"the inclusion of {self.sampler.title}": self.sampler.inclusion,
            f"the mixture of {self.sampler.title}": self.sampler.mixture,
        }
        return {
            name: function
            for name, function in functions.items()
            if function is not None and not is_the_librarys(function)
        }

    @classmethod
    def of(
        cls,
        game: Game,
        rule: UpdateRule,
        sampler: Sampler,
        abstraction: Abstraction,
        options: RunOptions,
        iteration: int,
    ) -> Binding:
        """Check and compile components for a run.

        Args:
            game: the solver's game; for buckets of a public-tree game, the abstract game.
            iteration: number of iterations that the run has done.

        Raises:
            ComponentError: the combination is not sound, a function can't be compiled, or the schedule fails.
        """
        game.form.part("check_components")(game, rule, sampler, abstraction, options)
        _check_combination(rule, sampler, abstraction, options)
        flags = _flags_of(rule)
        plan = _plan_of(sampler)
        utility_range = game.utility_range or 1.0  # rules divide by the range, which is 0 if nothing is at stake
        # These fill the fields of ``Rule`` one by one, so their order matters.
        functions = (
            *reweight_functions(rule.reweight),
            policy_map_function(rule.policy_map),
            regularise_function(rule.regularise),
        )
        sampling = Sampling(plan, inclusion_function(sampler.inclusion), mixture_function(sampler.mixture))
        return cls(
            rule=rule,
            sampler=sampler,
            abstraction=abstraction,
            options=options,
            flags=flags,
            plan=plan,
            # Only compiled games have draws that histories share.
            draws=shared_draws(game, sampler) if isinstance(game, GameTree) else NO_DRAWS,
            procedure=Procedure(
                best_response=abstraction.best_response,
                simultaneous=options.simultaneous or rule.simultaneous,
                pre_averaging=options.pre_averaging,
                walks=options.walks,
                pause=PAUSE,
            ),
            rule_handle=handle_of(Rule(flags, *functions, utility_range), RULE),
            rule_handle_without_momentum=handle_of(Rule(_without_momentum(flags), *functions, utility_range), RULE),
            sampling_handle=handle_of(sampling, SAMPLING),
            rows=ScheduleRows(rule, iteration + 1),
            form=game.form,
        )

    @property
    def learns(self) -> bool:
        """Whether models are fitted between iterations."""
        return self.rule.learns or self.abstraction.learns or self.sampler.learns

    @property
    def is_quick(self) -> bool:
        """Whether the quick kernels can run the iterations.

        They can under four conditions. The sampler is external or outcome sampling, with one walk per player. The
        players are updated in alternation. The update rule consists of schedules, perhaps with a prediction. The
        opponent plays its current policy, not a best response.
        """
        has_simple_walks = self.plan.traverser in (ALL, ONE) and not any(
            self.plan._replace(traverser=0, exploration=0.0)  # all other settings are off
        )
        has_other_options = self.abstraction.best_response or self.options.simultaneous or self.options.walks > 1
        has_simple_rule = self.flags.plain or self.flags.predicts
        return has_simple_walks and not has_other_options and has_simple_rule

    def keeps_models_of(self, other: Binding) -> bool:
        """Return whether the tables and models of ``other`` stay valid under this binding."""
        return self.rule.same_as(other.rule) and self.abstraction.fits_as(other.abstraction)


def _check_combination(rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions) -> None:
    """Check that components and options fit each other, whatever the game.

    Raises:
        ComponentError: they do not fit.
    """
    if reason := why_incompatible(rule, sampler, abstraction):
        raise ComponentError(reason)
    if options.pre_averaging and not (sampler.exact or options.simultaneous):
        raise ComponentError(
            "averaging='pre' needs sampler='none' or simultaneous=True: use one of these, or averaging='matching'"
        )
    if options.blend and (abstraction.learns or rule.learns or not sampler.exact):
        raise ComponentError(
            "blends need exact passes and tables: leave out blend=True, or use sampler='none' and components without "
            "models"
        )
    if rule.output == "current" and options.blend:
        raise ComponentError(f"the result of {rule.title} is its current policy, not an average: leave out blend=True")
    if rule.regularise is not None and options.threads > 1:
        raise ComponentError(f"{rule.title} runs on one thread only: leave out threads={options.threads}")


def check_options_of_compiled(
    game: GameTree, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions
) -> None:
    """Check the options of a run on a compiled game; the form of compiled games has this as ``check_components``.

    The components need no check here, since all of them run on such a game.

    Raises:
        ComponentError: ``dtype`` is not double precision, or ``by_hand`` is on.
    """
    refuse_by_hand(game, options)
    if options.dtype not in (None, "float64"):
        raise ComponentError(
            f"tables of {game.name!r} are always in double precision: leave out dtype={options.dtype!r}"
        )


def refuse_by_hand(game: Game, options: RunOptions) -> None:
    """Check that the option ``by_hand`` is off; only hold'em in buckets has it.

    Raises:
        ComponentError: it is on.
    """
    if options.by_hand:
        raise ComponentError(
            "passes over hands are only for hold'em in buckets, such as 'texas_holdem(buckets=5)': leave out "
            f"by_hand=True for {game.name!r}"
        )


def _flags_of(rule: UpdateRule) -> RuleFlags:
    """Return the flags that say how a rule differs from plain regret matching."""
    return RuleFlags(
        plain=rule.is_plain,
        predicts=rule.only_predicts,
        has_momentum=rule.momentum is not None,
        reweights=rule.reweight is not None,
        reads_regret=reads_regret(rule.reweight),
        maps_policy=rule.policy_map is not None,
        regularises=rule.regularise is not None,
        uses_mass=rule.uses_mass,
        argmax_fallback=rule.fallback == "argmax",
        average_column=rule.arrays.index(rule.average_weight) if rule.average_weight else -1,
    )


def _without_momentum(flags: RuleFlags) -> RuleFlags:
    """Return a rule's flags with its momentum switched off, which leaves only its prediction."""
    return flags._replace(predicts=True, has_momentum=False) if flags.has_momentum else flags


def _plan_of(sampler: Sampler) -> WalkPlan:
    """Return a sampler's settings for walks."""
    return WalkPlan(
        # Shared draws are draws of labels; of the outcomes with a drawn label, a walk takes all.
        chance_all=sampler.chance != "one",
        chance_shared=sampler.chance in SHARED_CHANCE,
        opponent_all=sampler.opponent == "all",
        traverser={"all": ALL, "one": ONE, "subset": SUBSET}[sampler.traverser],
        internal_share=float(sampler.internal_share),
        exploration=float(sampler.exploration),
        probe=sampler.probe,
        baseline_rate=float(sampler.baseline_rate),
        subset_size=sampler.subset_size,
        mixes=sampler.mixture is not None,
        one_draw=sampler.one_draw,
        # Only inclusion and mixture functions read these counts.
        counts=sampler.inclusion is not None or sampler.mixture is not None,
        balanced=sampler.explores == "sequences",
        unweighted=not sampler.weighted,
        by_history=sampler.by_history,
        values_replace=sampler.values is not None,
        oracle="oracle" in (sampler.values, sampler.baseline),
        fitted=sampler.network is not None,
    )
