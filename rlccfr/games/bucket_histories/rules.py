"""Names of hold'em games in buckets: ``holdem``, ``flop_holdem`` and ``texas_holdem`` with a parameter ``buckets``.

Every name of a game is looked up here, so this module loads no kernels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rlccfr.errors import GameError
from rlccfr.games.parameters import parsed, parts_of
from rlccfr.games.public.holdem import Holdem
from rlccfr.games.public.names import PUBLIC

PARAMETER = "buckets"
"""The parameter that every name of a game in buckets has."""


class Rules(NamedTuple):
    """The rules of a game in buckets; equal rules mean equal games.

    Attributes:
        holdem: the rules of the game whose hands are put in buckets.
        buckets: number of buckets into which each round splits the hands of each bucket history of the round before.
    """

    holdem: Holdem
    buckets: int


def is_in_buckets(name: Any) -> bool:
    """Return whether a name stands for a hold'em game in buckets.

    Raises:
        GameError: a parameter is given twice, or is not a whole number.
    """
    parts = parts_of(name, PUBLIC) if isinstance(name, str) else None
    return parts is not None and PARAMETER in parts[1]


def bucket_rules(name: str) -> Rules:
    """Return the rules that the name of a game in buckets stands for.

    Raises:
        GameError: a parameter is unknown, a value is out of range, or the game is not hold'em.
    """
    parts = parsed(name)
    assert parts is not None
    short_name, arguments = parts
    buckets = arguments.pop(PARAMETER)
    games = PUBLIC[short_name]
    rules = games.rules(games.values(arguments))
    if not isinstance(rules, Holdem):
        raise GameError(
            f"only hold'em's hands are put in buckets, not the rolls of {short_name}: leave out {PARAMETER}"
        )
    if not 1 <= buckets <= rules.deck.num_hands:
        raise GameError(f"{PARAMETER} of {name!r} must be from 1 to {rules.deck.num_hands:,}, the number of hands")
    return Rules(rules, buckets)
