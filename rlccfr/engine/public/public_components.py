"""What can run on a public tree: the kinds of iteration, the components and options, and the run to use by default."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.components.controller import SCHEDULE
from rlccfr.engine.binding import RunOptions, refuse_by_hand
from rlccfr.engine.public.public_state import bytes_of
from rlccfr.engine.stepper import StepperKind
from rlccfr.errors import ComponentError
from rlccfr.games.memory import available_memory
from rlccfr.games.public.records import SHORT
from rlccfr.games.public.view import PublicGame
from rlccfr.games.target_runs import NUM_TABLES_WITH_MOMENTUM

NUM_PLAIN_TABLES = 2
"""Number of tables over all sequences of a plain rule: regrets and policy sums."""

STEPPERS = (
    StepperKind(lambda binding: binding.rule.learns, "rlccfr.engine.walked.holdem_stepper:HoldemStepper"),
    StepperKind(
        lambda binding: binding.rule.controller is not None, "rlccfr.engine.public.steered_passes:SteeredPublicStepper"
    ),
    StepperKind(lambda binding: binding.sampler.exact, "rlccfr.engine.public.passes:PublicStepper"),
    StepperKind(lambda binding: True, "rlccfr.engine.public.passes:DrawnStepper"),
)
"""All kinds of iteration over a public tree; a run uses the first one that serves its binding."""


def check_components(
    game: PublicGame, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions
) -> None:
    """Check that components and options can be used on a public tree.

    Raises:
        ComponentError: a component or an option can't.
    """
    refuse_by_hand(game, options)
    # Deep rules keep no tables, so the checks below do not apply to them.
    if rule.learns:
        from rlccfr.engine.walked.checks import check_networks

        check_networks(game, rule, sampler, abstraction, options)
        return
    where = f"{game.name!r} is solved on its public tree, where"
    has_functions = not (rule.is_plain or rule.only_predicts or rule.momentum is not None)
    if rule.average_weight or has_functions:
        raise ComponentError(
            f"{where} {rule.title} does not run, since it changes regrets or policies by functions of its own: use "
            "dcfr_plus"
        )
    if rule.controller is not None and rule.controller.observes_run:
        raise ComponentError(
            f"{where} a controller can't observe the run: use the controller {SCHEDULE!r}, which reads only the run's "
            "progress"
        )
    if rule.output == "current" or rule.simultaneous:
        raise ComponentError(
            f"{where} players are updated in alternation and the result is the average policy: use dcfr_plus instead "
            f"of {rule.title}"
        )
    # Passes follow all actions, so only chance can be sampled: public outcomes, and private states.
    draws_chance_alone = sampler.opponent == "all" and sampler.traverser == "all" and sampler.chance != "all"
    has_walk_settings = sampler.baseline_rate or sampler.probe or sampler.one_draw
    if not sampler.exact and (not draws_chance_alone or has_walk_settings):
        raise ComponentError(
            f"{where} samplers can draw only chance outcomes: use sampler='public_chance' instead of {sampler.title}"
        )
    if options.walks > 1 and not sampler.exact:
        raise ComponentError(f"{where} an iteration has one pass for each player: leave out walks={options.walks}")
    if abstraction.learns:
        raise ComponentError(
            f"{where} regrets are stored in tables, not fitted: use abstraction='none' instead of {abstraction.title}"
        )
    if options.simultaneous or options.pre_averaging:
        raise ComponentError(
            f"{where} players are updated in alternation: leave out simultaneous=True and averaging='pre'"
        )
    if options.dtype == SHORT.name:
        _check_short(rule, sampler, options)


def tables_fit(game: PublicGame, num_tables: int, dtype: str | None = None) -> bool:
    """Return whether a run can have a number of tables over all sequences in the available memory.

    Only plain rules can have tables of 16-bit numbers, so more than two such tables never fit.

    Args:
        game: the game.
        num_tables: number of tables.
        dtype: type of the tables' numbers; None for the game's default.
    """
    if dtype == SHORT.name and num_tables > NUM_PLAIN_TABLES:
        return False
    available = available_memory()
    return available is None or bytes_of(game, num_tables, np.dtype(dtype or game.dtype)) <= available


def best_run_of(game: PublicGame, dtype: str | None = None) -> dict[str, Any]:
    """Return the arguments of the best run on a game, or of a run that needs less memory if the best one does not fit.

    The best run's schedule has momentum. The rule that reaches coarse targets soonest is plain, so it needs fewer
    tables, of any type.

    Args:
        game: the game.
        dtype: type of the tables' numbers; None for the game's default.
    """
    if tables_fit(game, NUM_TABLES_WITH_MOMENTUM, dtype):
        return dict(game.form.best_run)
    run = game.form.run_to(game, decades=0.0, dtype=dtype)
    assert run is not None  # coarse targets have a run on each of these forms
    rule = dict(run.arguments)
    return rule if dtype == SHORT.name else {**rule, "blend": True}


def _check_short(rule: UpdateRule, sampler: Sampler, options: RunOptions) -> None:
    """Check that the rule, the sampler and the options can be used with tables of 16-bit numbers.

    Raises:
        ComponentError: one of them can't.
    """
    if not rule.is_plain:
        raise ComponentError(
            f"only regrets and policy sums can have 16 bits, and {rule.title} needs another table: use dcfr, or leave "
            "out dtype='int16'"
        )
    if not sampler.exact:
        raise ComponentError(
            f"tables of 16-bit numbers need exact passes: use sampler='none' instead of {sampler.title}, or leave out "
            "dtype='int16'"
        )
    if options.blend:
        raise ComponentError("blends need tables of more than 16 bits: leave out blend=True or dtype='int16'")
