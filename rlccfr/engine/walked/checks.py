"""Checks of whether games, rules, samplers and options can be used with networks, without tables over infosets."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.components.component import Component
from rlccfr.engine.binding import RunOptions
from rlccfr.errors import ComponentError
from rlccfr.games.public.view import PublicGame

EXTERNAL = Sampler(traverser="all", opponent="one", chance="one")


def check_networks(
    game: PublicGame, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions
) -> None:
    """Check that a deep rule can be used on a public-tree game with the other components and options.

    Raises:
        ComponentError: it can't.
    """
    networks = rule.networks
    assert networks is not None
    # Bluff has no deals of cards, and a subgame has a pot.
    if not game.deals or game.pot is not None or game.lock is not None:
        raise ComponentError(
            f"networks need hold'em without ranges or locks, and {game.name!r} is another game: use dcfr_plus instead "
            f"of {rule.title}"
        )
    if not is_external(sampler):
        raise ComponentError(f"networks for {game.name!r} do not support {sampler.title}: use sampler='external'")
    for settings in (networks.value, networks.policy):
        if settings.kind == "mlp" and settings.layers < 1:  # the sum of the two codes is a hidden layer
            raise ComponentError(
                f"networks for {game.name!r} have at least one hidden layer: use layers=1 or more, not "
                f"layers={settings.layers!r}"
            )
    refuse_settings(game, rule, abstraction, options)


def refuse_settings(game: Any, rule: UpdateRule, abstraction: Abstraction, options: RunOptions) -> None:
    """Refuse settings and options that runs of networks without tables do not support.

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
        f"abstraction={abstraction.title}": abstraction.learns or abstraction.best_response,
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


def is_external(sampler: Sampler) -> bool:
    """Return whether a sampler does what external sampling does, whatever its name."""
    names = {field.name for field in fields(Sampler)} - {field.name for field in fields(Component)}
    return all(getattr(sampler, name) == getattr(EXTERNAL, name) for name in names)
