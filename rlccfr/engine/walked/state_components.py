"""What can run on games represented by OpenSpiel's states: components, options and kinds of iteration."""

from __future__ import annotations

from dataclasses import replace

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.engine.binding import RunOptions, refuse_by_hand
from rlccfr.engine.stepper import StepperKind
from rlccfr.engine.walked.checks import is_external, refuse_settings
from rlccfr.errors import ComponentError
from rlccfr.games.walked.generated_game import GeneratedGame

STEPPERS = (
    StepperKind(lambda binding: binding.sampler.traverser == "one", "rlccfr.engine.walked.path_stepper:PathStepper"),
    StepperKind(lambda binding: True, "rlccfr.engine.walked.state_stepper:StateStepper"),
)
"""The kinds of iteration over a game represented by states; a run uses the first one that serves its binding."""

MOST_PER_WALK = 500_000
"""Largest mean number of histories per walk that is supported; all histories of one depth are in memory at once.

The mean is estimated under uniform policies.
"""


SHORT_WALK = 1_000
"""Mean number of histories per walk up to which :func:`best_run_of` counts a sampler's walks as short."""


def best_run_of(game: GeneratedGame, dtype: str | None = None) -> dict[str, str]:
    """Return the arguments of the default run on a game represented by OpenSpiel's states.

    The sampler is external sampling if its walks are short (:data:`SHORT_WALK`); otherwise robust sampling of two
    actions if that has short walks; otherwise ESCHER. ``rlccfr reproduce deep-states`` compares them: external sampling
    is as good as the others or better where its walks meet 17 to 78 histories. Robust sampling of two actions and
    ESCHER are equally good where walks of the former meet about 250. The limit for short walks is a guess.
    """
    for sampler, size in (("external", 0), ("robust_k(k=2)", 2)):
        if game.playouts.histories_per_walk(size) <= SHORT_WALK:
            return {"update_rule": "deep_lcfr(preset='states')", "sampler": sampler}
    return {
        "update_rule": "deep_lcfr(preset='states',traversals=1000)",
        "sampler": "escher(value='network',explores='actions',preset='states')",
    }


def check_generated(
    game: GeneratedGame, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions
) -> None:
    """Check that components and options run on a game represented by states; this is its form's ``check_components``.

    Raises:
        ComponentError: they don't.
    """
    refuse_by_hand(game, options)
    if rule.networks is None:
        raise ComponentError(
            f"{rule.title} needs tables over infosets, and {game.name!r} has none: use a deep rule and a sampler, such "
            "as 'deep_lcfr' and 'external'"
        )
    # Before the general check of samplers, whose error would not say what is wrong with this one.
    if sampler.explores == "sequences" and sampler.network is not None:
        raise ComponentError(
            f"{sampler.title} can't count the sequences of {game.name!r}, which is not compiled: use explores='actions'"
        )
    if not (_is_robust(sampler) or _is_one_path(sampler)):
        raise ComponentError(
            f"networks for {game.name!r} do not support {sampler.title}: use sampler='external', 'robust_k(k=2)', "
            "'outcome', 'dream' or \"escher(value='network', explores='actions')\""
        )
    if rule.networks.value.kind == "cards":
        raise ComponentError(f"model='cards' is for hold'em and compiled games, not for {game.name!r}: use model='mlp'")
    refuse_settings(game, rule, abstraction, options)
    per_walk = game.playouts.histories_per_walk(sampler.most_taken)
    if per_walk > MOST_PER_WALK:
        smaller = "a smaller k" if sampler.subset_size > 1 else "sampler='robust_k(k=1)'"
        raise ComponentError(
            f"a walk by {sampler.title} meets about {per_walk:.2g} histories of {game.name!r}, and at most "
            f"{MOST_PER_WALK:,} are supported: use {smaller}"
        )


def _is_one_path(sampler: Sampler) -> bool:
    """Return whether a sampler walks one path, perhaps with values of histories from a network."""
    takes = (sampler.traverser, sampler.chance, sampler.opponent)
    if sampler.exact or takes != ("one", "one", "one") or sampler.mixture is not None or sampler.probe:
        return False
    if sampler.explores != "actions":
        return False
    if sampler.network is not None:
        return sampler.network.model.kind == "mlp"
    return sampler.values is None and not sampler.baseline_rate and sampler.baseline == "sequence"


def _is_robust(sampler: Sampler) -> bool:
    """Return whether a sampler does what external or robust sampling does, whatever its name."""
    if sampler.traverser == "subset" and sampler.inclusion is None:
        return is_external(replace(sampler, traverser="all", subset_size=0))
    return is_external(sampler)
