"""What is asked of a game that is to be compiled: an object of OpenSpiel's, or the rules of a game in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import pyspiel

CHANCE_MOVES = int(pyspiel.PlayerId.CHANCE)
GAME_ENDS = int(pyspiel.PlayerId.TERMINAL)
BOTH_MOVE = int(pyspiel.PlayerId.SIMULTANEOUS)


class State(Protocol):
    """A history; its methods have the names and meanings of OpenSpiel's."""

    def current_player(self) -> Any:
        """Return 0, 1, CHANCE_MOVES or GAME_ENDS, or what ``int`` turns into one of them."""

    def information_state_string(self, player: int) -> str:
        """Return the name of the infoset of the player who decides."""

    def legal_actions(self) -> list[int]:
        """Return the actions of the player who decides."""

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """Return chance's outcomes with their probabilities."""

    def returns(self) -> Sequence[float]:
        """Return both players' utilities at the end."""

    def child(self, action: int) -> State:
        """Return the history after an action or outcome."""


class Playable(Protocol):
    """A game in which players move in turn."""

    def new_initial_state(self) -> State:
        """Return the root."""
