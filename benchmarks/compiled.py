"""The benchmark's games."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import rlccfr

GAMES = {
    "kuhn": "kuhn",
    "goofspiel": "goofspiel",
    "leduc": "leduc",
    "liars_dice": "liars_dice(numdice=1)",
    "royal": "royal",
}


@cache
def tree(name: str) -> rlccfr.GameTree:
    """Return a compiled game, by its name in :data:`GAMES`."""
    return rlccfr.load_game(GAMES[name])


@cache
def spiel(name: str) -> Any:
    """Return OpenSpiel's form of a game; the information states of its Royal forget the order of public cards."""
    from rlccfr.games.openspiel import openspiel_game

    return openspiel_game(tree(name))


@contextmanager
def over_infosets() -> Iterator[None]:
    """Let the passes of solvers that are made in a block of code go over infosets, not over bundles of them."""
    steppers = ("exact.ExactStepper", "controlled.ControlledStepper")
    with ExitStack() as stack:
        for stepper in steppers:
            stack.enter_context(patch(f"rlccfr.engine.{stepper}._may_bundle", False))
        yield
