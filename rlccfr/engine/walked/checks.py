"""Which games, rules, samplers and options run with networks over a public tree."""

from __future__ import annotations

from dataclasses import fields

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
    where = f"with networks, {game.name!r}"
    if not game.deals or game.pot is not None or game.lock is not None:
        raise ComponentError(
            f"{rule.id!r} has networks, which read the cards of hold'em without ranges and locks: use dcfr_plus on "
            f"{game.name!r}"
        )
    if not _is_external(sampler):
        raise ComponentError(f"{where} is sampled by walks: use sampler='external' instead of {sampler.id!r}")
    if abstraction.learns or abstraction.best_response:
        raise ComponentError(f"{where} takes no abstraction: leave out {abstraction.id!r}")
    if networks.action_weight is not None:
        raise ComponentError(
            f"{rule.id!r} has two networks per player, which {game.name!r} does not support: use deep_lcfr"
        )
    if networks.average == "table":
        raise ComponentError(f"{where} has no table of the average policy: leave out average='table'")
    if networks.skipped_steps:
        raise ComponentError(f"{where} takes no steps in place of a skipped fit: leave out skipped_steps")
    if networks.average == "value_networks" and networks.value.kind == "table":
        raise ComponentError(f"average='value_networks' needs networks: leave out model='table' for {game.name!r}")
    if networks.value.device == "cuda":
        raise ComponentError(f"{where} is solved on the CPU: leave out device='cuda'")
    if options.simultaneous or options.pre_averaging or options.threads > 1 or options.walks > 1:
        raise ComponentError(
            f"{where} is solved on one thread, with updates in alternation and the rule's own number of walks: leave "
            "out simultaneous, averaging, threads and walks; the rule takes traversals="
        )
    if options.dtype is not None or options.blend:
        raise ComponentError(f"{where} has no tables: leave out dtype and blend")


def _is_external(sampler: Sampler) -> bool:
    """Return whether a sampler does what external sampling does, whatever its name."""
    names = {field.name for field in fields(Sampler)} - {field.name for field in fields(Component)}
    return all(getattr(sampler, name) == getattr(EXTERNAL, name) for name in names)
