"""Small games as trees of places, some with a planted fault, played by OpenSpiel or traversed without it."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pyspiel
from random_games import Node

CHANCE, END = -1, -4
"""What OpenSpiel's ``current_player`` says where no player decides."""


@dataclass
class Place:
    """A history.

    Attributes:
        actor: what ``current_player`` says.
        key: information state of the player to move.
        actions: the actions or outcomes in the order in which the game lists them.
        children: the place after each of them.
        chances: probability of each chance outcome.
        returns: the players' returns at the end.
    """

    actor: int
    key: str = ""
    actions: list[int] = field(default_factory=list)
    children: list[Place] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)
    returns: list[float] = field(default_factory=list)


def end(first: float, second: float | None = None) -> Place:
    """Return the end of a game with both players' returns; by default player 1's are the negative of player 0's."""
    return Place(END, returns=[first, -first if second is None else second])


def placed(node: Node) -> Place:
    """Return a random game's tree as places; its actions are numbered from 0."""
    if node.actor is None:
        return Place(END, returns=[node.utility, -node.utility])
    children = [placed(child) for child in node.children]
    actions = list(range(len(children)))
    if node.actor == "chance":
        return Place(CHANCE, "", actions, children, [weight / sum(node.weights) for weight in node.weights])
    return Place(int(node.actor), f"infoset {node.infoset}", actions, children)


def places(root: Place) -> Iterator[tuple[Place, list[int]]]:
    """Yield each place and the actions that lead to it, level by level."""
    level: list[tuple[Place, list[int]]] = [(root, [])]
    while level:
        yield from level
        level = [
            (child, [*path, action])
            for place, path in level
            for action, child in zip(place.actions, place.children, strict=True)
        ]


class PlaceState:
    """A place with the methods of OpenSpiel's states that the traversal calls."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def current_player(self) -> int:
        return self._place.actor

    def information_state_string(self, player: int) -> str:
        return self._place.key

    def legal_actions(self) -> list[int]:
        return list(self._place.actions)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(zip(self._place.actions, self._place.chances, strict=True))

    def returns(self) -> list[float]:
        return self._place.returns

    def child(self, action: int) -> PlaceState:
        return PlaceState(self._place.children[self._place.actions.index(action)])


class PlaceGame:
    """A tree of places that is traversed without OpenSpiel."""

    def __init__(self, root: Place) -> None:
        self._root = root

    def new_initial_state(self) -> PlaceState:
        return PlaceState(self._root)


def game_type(
    name: str,
    utility: Any = pyspiel.GameType.Utility.ZERO_SUM,
    dynamics: Any = pyspiel.GameType.Dynamics.SEQUENTIAL,
    *,
    tensor: bool = False,
) -> pyspiel.GameType:
    """Return the type of a two-player game in Python."""
    return pyspiel.GameType(
        short_name=name,
        long_name=name,
        dynamics=dynamics,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=tensor,
        provides_observation_string=False,
        provides_observation_tensor=False,
    )


class Observer:
    """What OpenSpiel's games in C++ ask a game in Python for."""

    tensor, dict = None, {}

    def set_from(self, state: Any, player: int) -> None:
        """Do nothing."""

    def string_from(self, state: Any, player: int) -> str:
        return state.information_state_string(player)


class SpielGame(pyspiel.Game):
    """A tree of places as a game of OpenSpiel's in Python.

    Args:
        root: the tree.
        name: the game's name.
        utility: OpenSpiel's kind of utility.
        utility_sum: what the game declares that returns sum to.
        tensor_of: function that returns the information state tensor, (columns,), of the player to move at a state;
            None if the game has no tensors.
        num_actions: number of different actions that the game declares.
    """

    def __init__(
        self,
        root: Place,
        name: str = "planted",
        utility: Any = pyspiel.GameType.Utility.ZERO_SUM,
        utility_sum: float | None = 0.0,
        tensor_of: Callable[[SpielState], Any] | None = None,
        num_actions: int = 100,
    ) -> None:
        info = pyspiel.GameInfo(
            num_distinct_actions=num_actions,
            max_chance_outcomes=100,
            num_players=2,
            min_utility=-100.0,
            max_utility=100.0,
            utility_sum=utility_sum,
            max_game_length=100,
        )
        super().__init__(game_type(name, utility, tensor=tensor_of is not None), info, {})
        self.root = root
        self.tensor_of = tensor_of

    def new_initial_state(self) -> SpielState:
        return SpielState(self)

    def make_py_observer(self, kind: Any = None, params: Any = None) -> Observer:
        return Observer() if self.tensor_of is None else TensorObserver(self)


class TensorObserver(Observer):
    """What OpenSpiel asks a game in Python for that has tensors."""

    def __init__(self, game: SpielGame) -> None:
        self._game = game
        self.tensor = np.zeros(len(game.tensor_of(game.new_initial_state())), np.float32)
        self.dict = {"observed": self.tensor}

    def set_from(self, state: Any, player: int) -> None:
        """Write a state's tensor."""
        self.tensor[:] = self._game.tensor_of(state)


def one_hot_keys(root: Place) -> Callable[[SpielState], Any]:
    """Return a function from a state to a tensor with a 1 in the column of its information state."""
    keys = sorted({place.key for place, _ in places(root)})
    return lambda state: np.eye(len(keys))[keys.index(state.place.key)]


class SpielState(pyspiel.State):
    """A place as a state of OpenSpiel's."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.place = game.root

    def __deepcopy__(self, memo: Any) -> SpielState:
        other = SpielState(self.get_game())
        other.place = self.place
        return other

    def current_player(self) -> int:
        return self.place.actor

    def is_terminal(self) -> bool:
        return self.place.actor == END

    def _legal_actions(self, player: int) -> list[int]:
        return list(self.place.actions)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(zip(self.place.actions, self.place.chances, strict=True))

    def _apply_action(self, action: int) -> None:
        self.place = self.place.children[self.place.actions.index(action)]

    def _action_to_string(self, player: int, action: int) -> str:
        return str(action)

    def returns(self) -> list[float]:
        return self.place.returns or [0.0, 0.0]

    def information_state_string(self, player: int | None = None) -> str:
        return self.place.key

    def __str__(self) -> str:
        return ""


Planting = Callable[[Place, Random], str | None]
"""A function that plants a fault in a tree, and returns what the error must match; None if there is no place for it."""


def _at(path: list[int]) -> str:
    return re.escape(f"after the actions {path}, " if path else "at the root, ")


def _drawn(root: Place, random: Random, fits: Callable[[Place], bool]) -> tuple[Place, str] | None:
    """Return a random place that fits, and a pattern of the words that say where it is."""
    fitting = [(place, path) for place, path in places(root) if fits(place)]
    if not fitting:
        return None
    place, path = random.choice(fitting)
    return place, _at(path)


def _wrong_returns(returns: Callable[[float], list[float]], message: str) -> Planting:
    def plant(root: Place, random: Random) -> str | None:
        drawn = _drawn(root, random, lambda place: place.actor == END)
        if drawn is None:
            return None
        place, where = drawn
        place.returns = returns(place.returns[0])
        return where + message

    return plant


def _wrong_chances(chances: Callable[[list[float]], list[float]], message: str) -> Planting:
    def plant(root: Place, random: Random) -> str | None:
        drawn = _drawn(root, random, lambda place: place.actor == CHANCE and len(place.actions) > 1)
        if drawn is None:
            return None
        place, where = drawn
        place.chances = chances(place.chances)
        return where + message

    return plant


def _wrong_actor(actor: int, message: str) -> Planting:
    def plant(root: Place, random: Random) -> str | None:
        drawn = _drawn(root, random, lambda place: place.actor in (0, 1))
        if drawn is None:
            return None
        place, where = drawn
        place.actor = actor
        return where + message

    return plant


def _nothing_to_do(place: Place) -> None:
    place.actions, place.children, place.chances = [], [], []


def _no_moves(actors: tuple[int, ...], message: str) -> Planting:
    def plant(root: Place, random: Random) -> str | None:
        drawn = _drawn(root, random, lambda place: place.actor in actors)
        if drawn is None:
            return None
        place, where = drawn
        _nothing_to_do(place)
        return where + message

    return plant


def _listed_twice(root: Place, random: Random) -> str | None:
    drawn = _drawn(root, random, lambda place: place.actor in (0, 1, CHANCE))
    if drawn is None:
        return None
    place, where = drawn
    again = random.randrange(len(place.actions))
    place.actions.append(place.actions[again])
    place.children.append(copy.deepcopy(place.children[again]))
    if place.chances:
        place.chances[again] /= 2
        place.chances.append(place.chances[again])
        return where + "the chance outcome . is listed twice"
    return "(the legal action . is listed twice|offers the actions)"


def _shared(root: Place) -> list[Place]:
    """Return the places whose infoset has another place, too."""
    counts: dict[tuple[int, str], int] = {}
    for place, _ in places(root):
        counts[place.actor, place.key] = counts.get((place.actor, place.key), 0) + 1
    return [place for place, _ in places(root) if place.actor in (0, 1) and counts[place.actor, place.key] > 1]


def _other_actions(change: Callable[[Place], None]) -> Planting:
    def plant(root: Place, random: Random) -> str | None:
        shared = _shared(root)
        if not shared:
            return None
        place = random.choice(shared)
        key = place.key
        change(place)
        return f"infoset '{key}' of player . offers the actions .* must offer the same actions"

    return plant


def _renamed(place: Place) -> None:
    place.actions[-1] += 50


def _missing(place: Place) -> None:
    place.actions, place.children = place.actions[1:], place.children[1:]
    if not place.actions:  # the only action is replaced by two
        place.actions, place.children = [7, 8], [Place(END, returns=[0.0, 0.0]), Place(END, returns=[1.0, -1.0])]


FAULTS: dict[str, Planting] = {
    "both win": _wrong_returns(lambda worth: [worth, 1.5 - worth], "the returns are .* must sum to 0 everywhere"),
    "payoff of nan": _wrong_returns(lambda worth: [float("nan"), -worth], "the returns are nan .* must be finite"),
    "opponent gets inf": _wrong_returns(lambda worth: [worth, -float("inf")], "the returns are .* must be finite"),
    "three returns": _wrong_returns(lambda worth: [worth, -worth, 0.0], "there are 3 returns"),
    "chances below 1": _wrong_chances(lambda p: [0.9 * one for one in p], "chance's probabilities .* sum to 0.9; "),
    "negative chance": _wrong_chances(
        lambda p: [p[0] + 2 * p[1], -p[1], *p[2:]], "chance's probabilities .* at least 0"
    ),
    "chance of nan": _wrong_chances(lambda p: [float("nan"), *p[1:]], "chance's probabilities .* sum to nan"),
    "only chances of 0": _wrong_chances(lambda p: [0.0] * len(p), "chance has no outcome with a positive probability"),
    "no outcomes": _no_moves((CHANCE,), "chance has no outcome with a positive probability"),
    "no actions": _no_moves((0, 1), "player . has no legal actions"),
    "third player": _wrong_actor(2, "the player to move is 2; it must be 0, 1"),
    "both move": _wrong_actor(-2, "both players move at once"),
    "listed twice": _listed_twice,
    "another action": _other_actions(_renamed),
    "missing action": _other_actions(_missing),
}
"""Faults by name."""


def reordered(root: Place, random: Random) -> Place:
    """Return the same game with each list of actions and outcomes in a random order, and with outcomes of chance 0."""
    order = random.sample(range(len(root.children)), len(root.children))
    children = [reordered(root.children[k], random) for k in order]
    chances = [root.chances[k] for k in order] if root.chances else []
    actions = [root.actions[k] for k in order]
    if root.actor == CHANCE:
        at = random.randint(0, len(actions))
        actions.insert(at, 99)
        chances.insert(at, 0.0)
        children.insert(at, Place(END, returns=[50.0, 50.0]))
    return Place(root.actor, root.key, actions, children, chances, root.returns)
