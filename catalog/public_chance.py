"""Samplers that distinguish public chance outcomes from players' private states."""

from __future__ import annotations

from rlccfr.catalog.samplers import UNBIASED
from rlccfr.catalog.sources import JOHANSON_2012
from rlccfr.components import Sampler
from rlccfr.registry import sampler


@sampler(
    "public_chance", source=f"{JOHANSON_2012} (PCS)", guarantee=UNBIASED, aliases=("PCS", "public chance sampling")
)
def public_chance() -> Sampler:
    """One drawn outcome where both players see what chance does; all private states, and all actions of both players.

    Only chance outcomes may be hidden in the game. After the last decision, all chance outcomes are visited.
    """
    return Sampler(chance="public", opponent="all")


@sampler(
    "opponent_public_chance",
    source=f"{JOHANSON_2012} (OPCS)",
    guarantee=UNBIASED,
    aliases=("OPCS", "opponent public chance sampling"),
)
def opponent_public_chance() -> Sampler:
    """One drawn private state of the opponent, all private states of the traverser; otherwise as public_chance."""
    return Sampler(chance="opponent", opponent="all")


@sampler(
    "self_public_chance",
    source=f"{JOHANSON_2012} (SPCS)",
    guarantee=UNBIASED,
    aliases=("SPCS", "self public chance sampling"),
)
def self_public_chance() -> Sampler:
    """One drawn private state of the traverser, all private states of the opponent; otherwise as public_chance."""
    return Sampler(chance="own", opponent="all")
