"""Rules of games that are written in Python, and their registration with OpenSpiel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from rlccfr.game import ZERO_SUM, OpponentPayoffs
from rlccfr.games.parameters import name_taken
from rlccfr.games.playable import State

CHANCE, TERMINAL = pyspiel.PlayerId.CHANCE, pyspiel.PlayerId.TERMINAL


class Rules(ABC):
    """The rules of one game; a history, ``past``, is the tuple of all actions and chance outcomes so far.

    Attributes:
        most_actions: largest number of actions at a history.
        most_outcomes: largest number of chance outcomes at a history.
        longest_path: largest number of actions and chance outcomes on a path.
        largest_payoff: bound on the utility's absolute value.
    """

    most_actions: int
    most_outcomes: int
    longest_path: int
    largest_payoff: float

    def __deepcopy__(self, memo: Any) -> Rules:
        """Return the rules themselves, since they never change: OpenSpiel would copy them with every state."""
        return self

    opponent_payoffs: OpponentPayoffs = ZERO_SUM
    """Player 1's payoffs as a function of player 0's utility; by default, the game is zero-sum."""

    def new_initial_state(self) -> State:
        """Return the root of the game for the traversal, which then does without OpenSpiel's states."""
        return _History(self, ())

    @abstractmethod
    def actor(self, past: tuple[int, ...]) -> Any:
        """Return who is to move: 0, 1 or CHANCE; TERMINAL at the end."""

    @abstractmethod
    def actions(self, past: tuple[int, ...]) -> list[int]:
        """Return the legal actions, ascending."""

    @abstractmethod
    def outcomes(self, past: tuple[int, ...]) -> list[tuple[int, float]]:
        """Return the chance outcomes, ascending, with their probabilities."""

    @abstractmethod
    def utility(self, past: tuple[int, ...]) -> float:
        """Return player 0's utility at a terminal history."""

    @abstractmethod
    def seen(self, past: tuple[int, ...], player: int) -> str:
        """Return a player's information state string: all that the player has seen and done."""

    @abstractmethod
    def name(self, past: tuple[int, ...], action: int) -> str:
        """Return the name of an action or a chance outcome."""


class _History(NamedTuple):
    """A history under a game's rules; making one is ten times as fast as copying an OpenSpiel state in Python."""

    rules: Rules
    past: tuple[int, ...]

    def current_player(self) -> Any:
        return self.rules.actor(self.past)

    def information_state_string(self, player: int) -> str:
        return self.rules.seen(self.past, player)

    def legal_actions(self) -> list[int]:
        return self.rules.actions(self.past)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.rules.outcomes(self.past)

    def returns(self) -> tuple[float, float]:
        utility = self.rules.utility(self.past)
        return utility, -utility

    def child(self, action: int) -> _History:
        return _History(self.rules, (*self.past, action))


def rules_of(game: Any) -> Rules | None:
    """Return the rules of a game that :func:`register` has registered; None for any other OpenSpiel game."""
    rules = getattr(game, "rules", None)
    return rules if isinstance(rules, Rules) else None


class Parameter(NamedTuple):
    """A whole-number parameter of a generated game, with its default, its least and its largest value."""

    default: int
    least: int
    most: int


class Text(NamedTuple):
    """A string parameter of a game, such as the name of a file."""

    default: str


REGISTERED: set[str] = set()
"""Names that :func:`register` has registered."""


def register(
    name: str, long_name: str, parameters: Mapping[str, Parameter | Text], rules_of: Callable[..., Rules]
) -> None:
    """Register a family of games with OpenSpiel.

    Args:
        name: OpenSpiel's short name.
        long_name: OpenSpiel's long name.
        parameters: the parameters, by name.
        rules_of: function that is given the parameters as keyword arguments, and returns the rules.

    Raises:
        GameError: another game has been registered under the name.
    """
    if name in pyspiel.registered_names() and name not in REGISTERED:
        raise name_taken(name, "a game of this library's")
    REGISTERED.add(name)
    defaults = {parameter: bounds.default for parameter, bounds in parameters.items()}
    kind = _kind_of(name, long_name, defaults)
    # OpenSpiel makes a game object at each load; equal parameters share their rules, which may take long to make.
    cached = lru_cache(maxsize=8)(rules_of)

    # OpenSpiel calls the class with the parameters alone, so the class takes name and bounds from this function.
    class Generated(pyspiel.Game):  # type: ignore[misc]
        def __init__(self, arguments: Mapping[str, Any] | None = None) -> None:
            values = defaults | dict(arguments or {})
            for parameter, value in values.items():
                bounds = parameters[parameter]
                if isinstance(bounds, Parameter) and not bounds.least <= value <= bounds.most:
                    raise ValueError(f"{parameter} of {name} must be from {bounds.least} to {bounds.most}, not {value}")
            self.rules = cached(**values)
            info = pyspiel.GameInfo(
                num_distinct_actions=self.rules.most_actions,
                max_chance_outcomes=self.rules.most_outcomes,
                num_players=2,
                min_utility=-self.rules.largest_payoff,
                max_utility=self.rules.largest_payoff,
                # To OpenSpiel the game is zero-sum; player 1's true payoffs are a matter of the rules.
                utility_sum=0.0,
                max_game_length=self.rules.longest_path,
            )
            super().__init__(kind, info, values)

        def new_initial_state(self) -> pyspiel.State:
            return _State(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
            return _Observer()

    pyspiel.register_game(kind, Generated)


def _kind_of(name: str, long_name: str, defaults: Mapping[str, Any]) -> pyspiel.GameType:
    """Return OpenSpiel's description of a family of games, whose parameters have the given defaults."""
    return pyspiel.GameType(
        short_name=name,
        long_name=long_name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification=defaults,
    )


class _State(pyspiel.State):  # type: ignore[misc]
    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.rules = game.rules
        self.past: tuple[int, ...] = ()

    def __deepcopy__(self, memo: Any) -> _State:
        copy = _State(self.get_game())
        copy.past = self.past
        return copy

    def current_player(self) -> Any:
        return self.rules.actor(self.past)

    def _legal_actions(self, player: int) -> list[int]:
        return self.rules.actions(self.past)  # type: ignore[no-any-return]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.rules.outcomes(self.past)  # type: ignore[no-any-return]

    def _apply_action(self, action: int) -> None:
        self.past = (*self.past, int(action))

    def _action_to_string(self, player: int, action: int) -> str:
        return self.rules.name(self.past, action)  # type: ignore[no-any-return]

    def is_terminal(self) -> bool:
        return bool(self.current_player() == TERMINAL)

    def returns(self) -> list[float]:
        utility = self.rules.utility(self.past) if self.is_terminal() else 0.0
        return [utility, -utility]

    def __str__(self) -> str:
        return " ".join(map(str, self.past))


class _Observer:
    """The observer that OpenSpiel asks a game in Python for; it returns what a player has seen, but has no tensor."""

    def __init__(self) -> None:
        self.tensor = np.zeros(0, np.float32)
        self.dict: dict[str, np.ndarray] = {}

    def set_from(self, state: Any, player: int) -> None:
        """Do nothing, since there is no tensor to fill."""

    def string_from(self, state: Any, player: int) -> str:
        return state.rules.seen(state.past, player)  # type: ignore[no-any-return]
