"""Which games, rules, samplers and options run with networks, without tables over infosets."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.components.component import Component
from rlccfr.engine.binding import RunOptions, refuse_by_hand
from rlccfr.errors import ComponentError
from rlccfr.games.public.view import PublicGame
from rlccfr.games.walked.generated_game import GeneratedGame
from rlccfr.games.walked.playouts import Playouts

EXTERNAL = Sampler(traverser="all", opponent="one", chance="one")

MOST_PER_WALK = 500_000
"""Largest number of histories that a walk may meet, of which all those of one depth are in memory at once."""


def check_networks(
    game: PublicGame, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions
) -> None:
    """Check that a deep rule can be used on a public-tree game with the other components and options.

    Raises:
        ComponentError: it can't.
    """
    networks = rule.networks
    assert networks is not None
    if not game.deals or game.pot is not None or game.lock is not None:
        raise ComponentError(
            f"networks need hold'em without ranges and locks, and {game.name!r} is another game: use dcfr_plus instead "
            f"of {rule.id!r}"
        )
    if not _is_external(sampler):
        raise ComponentError(
            f"networks for {game.name!r} learn from walks: use sampler='external' instead of {sampler.id!r}"
        )
    _refuse_settings(game, rule, abstraction, options)


def check_generated(
    game: GeneratedGame, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions
) -> None:
    """Check that components and options run on a game by its states; the ``check_components`` of its form.

    Raises:
        ComponentError: they don't.
    """
    refuse_by_hand(game, options)
    if rule.networks is None:
        raise ComponentError(
            f"{rule.title} needs tables over infosets, and {game.name!r} has none: use a deep rule, such as "
            f"'deep_lcfr', or load_game({game.inner_name!r})"
        )
    if sampler.explores == "sequences" and sampler.network is not None:
        raise ComponentError(
            f"{sampler.id!r} can't count the sequences of {game.name!r}, which is not compiled: use explores='actions'"
        )
    if not (_is_robust(sampler) or _is_one_path(sampler)):
        raise ComponentError(
            f"networks for {game.name!r} learn from walks: use sampler='external', 'robust_k(k=2)', 'outcome', 'dream' "
            f"or \"escher(value='network', explores='actions')\" instead of {sampler.id!r}"
        )
    if rule.networks.value.kind == "cards":
        raise ComponentError(f"model='cards' is for hold'em and compiled games, not for {game.name!r}: use 'mlp'")
    if rule.networks.average == "value_networks":
        raise ComponentError(
            f"networks for {game.name!r} do not support average='value_networks': leave it out, so that a network "
            "learns the average policy"
        )
    _refuse_settings(game, rule, abstraction, options)
    per_walk = histories_per_walk(game.playouts, sampler)
    if per_walk > MOST_PER_WALK:
        smaller = "a smaller k" if sampler.subset_size > 1 else "sampler='robust_k(k=1)'"
        raise ComponentError(
            f"a walk by {sampler.id!r} meets about {per_walk:.2g} histories of {game.name!r}, and at most "
            f"{MOST_PER_WALK:,} are supported: use {smaller}"
        )


def histories_per_walk(playouts: Playouts, sampler: Sampler) -> float:
    """Estimate how many histories a walk by a sampler meets."""
    return playouts.histories_per_walk(1 if sampler.traverser == "one" else sampler.subset_size)


def _refuse_settings(game: Any, rule: UpdateRule, abstraction: Abstraction, options: RunOptions) -> None:
    """Check the settings and options that no run with networks supports that has no tables.

    Raises:
        ComponentError: one of them is set.
    """
    networks = rule.networks
    assert networks is not None
    refused = {
        "action_weight, as in deep_ecfr (use deep_lcfr)": networks.action_weight is not None,
        "average='table'": networks.average == "table",
        "skipped_steps": networks.skipped_steps > 0,
        "average='value_networks' with model='table'": (
            networks.average == "value_networks" and networks.value.kind == "table"
        ),
        "device='cuda'": networks.value.device == "cuda",
        f"abstraction={abstraction.id!r}": abstraction.learns or abstraction.best_response,
        "simultaneous=True": options.simultaneous,
        "averaging='pre'": options.pre_averaging,
        f"threads={options.threads}": options.threads > 1,
        f"walks={options.walks} (a deep rule has traversals=)": options.walks > 1,
        f"dtype={options.dtype!r}": options.dtype is not None,
        "blend=True": options.blend,
    }
    for setting, is_set in refused.items():
        if is_set:
            raise ComponentError(f"networks for {game.name!r} do not support {setting}: leave it out")


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
        return _is_external(replace(sampler, traverser="all", subset_size=0))
    return _is_external(sampler)


def _is_external(sampler: Sampler) -> bool:
    """Return whether a sampler does what external sampling does, whatever its name."""
    names = {field.name for field in fields(Sampler)} - {field.name for field in fields(Component)}
    return all(getattr(sampler, name) == getattr(EXTERNAL, name) for name in names)
