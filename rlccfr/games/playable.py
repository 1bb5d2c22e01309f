"""The methods that a game needs to be compiled, whether it is an OpenSpiel game or the rules of a game in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import pyspiel

CHANCE_MOVES = int(pyspiel.PlayerId.CHANCE)
GAME_ENDS = int(pyspiel.PlayerId.TERMINAL)
BOTH_MOVE = int(pyspiel.PlayerId.SIMULTANEOUS)


class State(Protocol):
    """A history; its methods have the names and meanings of OpenSpiel's."""

    def current_player(self) -> Any:
        """Return 0, 1, CHANCE_MOVES or GAME_ENDS, or an object that ``int`` converts to one of them."""

    def information_state_string(self, player: int) -> str:
        """Return the name of the infoset of the player to move."""

    def legal_actions(self) -> list[int]:
        """Return the legal actions of the player to move."""

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """Return the chance outcomes with their probabilities."""

    def returns(self) -> Sequence[float]:
        """Return both players' utilities; the history is terminal."""

    def child(self, action: int) -> State:
        """Return the history after an action or outcome."""


class Playable(Protocol):
    """A game in which players move in turn."""

    def new_initial_state(self) -> State:
        """Return the root."""


class PythonGame(NamedTuple):
    """An OpenSpiel game that is written in Python, with states of the class :class:`PythonState`."""

    game: Any

    def new_initial_state(self) -> State:
        return PythonState(self.game.new_initial_state())


class PythonState(NamedTuple):
    """A state of a :class:`PythonGame`.

    Its ``current_player`` returns ``GAME_ENDS`` at a terminal state. The game's own method need not: OpenSpiel's
    algorithms call ``is_terminal`` first, so the method may return any player once the game is over.
    """

    state: Any

    def current_player(self) -> Any:
        return GAME_ENDS if self.state.is_terminal() else self.state.current_player()

    def information_state_string(self, player: int) -> str:
        text: str = self.state.information_state_string(player)
        return text

    def legal_actions(self) -> list[int]:
        actions: list[int] = self.state.legal_actions()
        return actions

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        outcomes: Sequence[tuple[int, float]] = self.state.chance_outcomes()
        return outcomes

    def returns(self) -> Sequence[float]:
        returns: Sequence[float] = self.state.returns()
        return returns

    def child(self, action: int) -> State:
        return PythonState(self.state.child(action))


def playable(game: Any) -> Playable:
    """Return an OpenSpiel game as a :class:`Playable`, which the traversal reads."""
    in_python = type(game).__module__ != pyspiel.__name__
    return PythonGame(game) if in_python else game
