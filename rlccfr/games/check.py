"""Checks that a game in the cache, or the game of a name, is the game that OpenSpiel has."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pyspiel

from rlccfr.games.claims import near
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE, TERMINAL, utility_of
from rlccfr.interrupts import raise_if_interrupt

SHIPPED_IN = ("pyspiel", "open_spiel")
"""Packages whose games change only with OpenSpiel's version."""

OWN_PACKAGE = "rlccfr"
"""Package whose games are determined by their parameters."""

MOST_COMPARED = 20_000
"""Largest number of histories of two games that are compared one by one."""

GAMES_OF_PAYOFFS = (pyspiel.MatrixGame, pyspiel.TensorGame)
"""Classes of games whose strings do not have their payoffs."""

PLAYOUTS = 20
"""Number of random playouts that are compared; together they take about a millisecond for a game in C++."""


def registered_code(game: Any, name: str, known: Collection[str], load: Callable[..., Any]) -> tuple[type, ...] | None:
    """Return the Python classes of a game that are not OpenSpiel's, or None for a game that OpenSpiel ships.

    A game counts as shipped if two conditions hold. First, its class and the classes of all games inside it (games
    that are its parameters) belong to OpenSpiel's packages. Second, every game that the string names is the loaded
    game, or is inside it. The second condition fails if a user has registered, under one name, a function that makes a
    game of another name. Such a game is not shipped, even if all its classes are OpenSpiel's; an empty
    tuple is then returned.

    Args:
        game: the game that OpenSpiel loaded.
        name: the string by which the game was loaded.
        known: the names registered with OpenSpiel.
        load: OpenSpiel's ``load_game(name, parameters)``.
    """
    try:
        games = [game, *_inside(game, load)]
    except Exception as error:  # some of OpenSpiel's games, such as those read from files, do not give their parameters
        raise_if_interrupt(error)
        return _strangers([game])
    named = {word for word in re.findall(r"\w+", name) if word in known}
    loaded = {inner.get_type().short_name for inner in games}
    strangers = _strangers(games)
    return strangers if strangers or not named <= loaded else None


def _strangers(games: Iterable[Any]) -> tuple[type, ...]:
    """Return those classes of the games that do not belong to OpenSpiel's packages."""
    return tuple(type(game) for game in games if _package_of(game) not in SHIPPED_IN)


def _inside(game: Any, load: Callable[..., Any]) -> Iterator[Any]:
    """Yield the games that are parameters of a game, such as the game that ``misere`` inverts."""
    for value in game.get_parameters().values():
        if isinstance(value, dict) and "name" in value:
            parameters = {key: parameter for key, parameter in value.items() if key != "name"}
            inner = load(value["name"], parameters)
            yield inner
            yield from _inside(inner, load)


def string_identifies(game: Any, loaded: Any, load: Callable[..., Any]) -> bool:
    """Return whether OpenSpiel loads a game object itself by the object's string.

    A string has the values of a game's parameters, but not the payoffs of a matrix, nor what else a program has given
    to an object of a class in Python. Objects of a user's class count as equal if all their attributes are equal. Where
    a game is inside another one, as in a conversion to turns, its attributes are out of reach: then the payoffs of a
    matrix, or random playouts, are compared. Random playouts also judge games of OpenSpiel's own classes in Python
    whose attributes differ, since these may change while the games are played.

    Args:
        game: the object.
        loaded: the game that OpenSpiel loads by the object's string.
        load: OpenSpiel's ``load_game(name, parameters)``.
    """
    try:
        games = [game, *_inside(game, load)]
    except Exception as error:  # some of OpenSpiel's games, such as those read from files, do not give their parameters
        raise_if_interrupt(error)
        games = [game]
    if isinstance(game, GAMES_OF_PAYOFFS):
        return False
    if any(isinstance(inner, GAMES_OF_PAYOFFS) for inner in games):
        return _has_equal_histories(game, loaded)
    is_foreign = [_package_of(inner) not in (*SHIPPED_IN, OWN_PACKAGE) for inner in games]
    if is_foreign[0]:
        return _are_alike(game, loaded)
    is_in_python = hasattr(game, "__dict__")
    is_unchanged = not any(is_foreign) and (not is_in_python or _are_alike(game, loaded))
    return is_unchanged or _are_played_alike(game, loaded)


def _package_of(game: Any) -> str:
    """Return the name of the package to which a game's class belongs."""
    return type(game).__module__.partition(".")[0]


def _are_alike(game: Any, other: Any) -> bool:
    """Return whether two games in Python have the same class and equal attributes."""
    if type(game) is not type(other):
        return False
    attributes = vars(game)
    other_attributes = vars(other)
    if attributes.keys() != other_attributes.keys():
        return False
    return all(_are_equal(value, other_attributes[name]) for name, value in attributes.items())


def _are_equal(value: Any, other: Any) -> bool:
    """Return whether two values are equal; False if this can't be found out."""
    try:
        if (value == other) is True:
            return True
        return pickle.dumps(value) == pickle.dumps(other)  # such as arrays, which are compared entry by entry
    except Exception as error:  # classes in Python raise errors of any class
        raise_if_interrupt(error)
        return False


def _has_equal_histories(game: Any, other: Any) -> bool:
    """Return whether two small games in turns have the same histories and returns; False if they are too large."""
    try:
        pending = [(game.new_initial_state(), other.new_initial_state())]
        for _ in range(MOST_COMPARED):
            if not pending:
                return True
            state, other_state = pending.pop()
            if str(state) != str(other_state) or state.is_terminal() != other_state.is_terminal():
                return False
            if state.is_terminal():
                if list(state.returns()) != list(other_state.returns()):
                    return False
                continue
            actions = state.legal_actions()
            if actions != other_state.legal_actions():
                return False
            if state.is_chance_node() and state.chance_outcomes() != other_state.chance_outcomes():
                return False
            pending += [(state.child(action), other_state.child(action)) for action in actions]
    except Exception as error:  # games in Python raise errors of any class
        raise_if_interrupt(error)
    return False


def _are_played_alike(game: Any, other: Any) -> bool:
    """Return whether random playouts of two games in turns agree; they are the same each time."""
    rng = np.random.default_rng(0)
    try:
        return all(_is_alike_playout(game.new_initial_state(), other.new_initial_state(), rng) for _ in range(PLAYOUTS))
    except Exception as error:  # games in Python raise errors of any class
        raise_if_interrupt(error)
        return False


def _is_alike_playout(state: Any, other: Any, rng: np.random.Generator) -> bool:
    """Return whether one random playout from the roots of two games agrees; both states are changed."""
    while not state.is_terminal():
        actor = state.current_player()
        if other.is_terminal() or other.current_player() != actor:
            return False
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            is_same = outcomes == other.chance_outcomes()
            actions = [action for action, _ in outcomes]
        else:
            actions = state.legal_actions()
            is_same = actions == other.legal_actions()
            is_same = is_same and state.information_state_string(actor) == other.information_state_string(actor)
        if not is_same:
            return False
        action = int(rng.choice(actions))
        state.apply_action(action)
        other.apply_action(action)
    return bool(other.is_terminal() and list(state.returns()) == list(other.returns()))


def is_played_as(tree: GameTree, game: Any, utility_sum: float = 0.0) -> bool:
    """Return whether random playouts of an OpenSpiel game agree with a compiled game.

    Actors, actions, chance probabilities, information states and both players' returns are compared. The playouts are
    the same each time. A difference that lies on none of them goes unnoticed.

    Args:
        tree: the compiled game.
        game: OpenSpiel's game.
        utility_sum: what the players' returns must sum to.
    """
    rng = np.random.default_rng(0)
    try:
        return all(_agrees(tree, game.new_initial_state(), utility_sum, rng) for _ in range(PLAYOUTS))
    except Exception as error:  # an error shows that the game has changed; compiling then reports what is wrong
        raise_if_interrupt(error)
        return False


def _agrees(tree: GameTree, state: Any, utility_sum: float, rng: np.random.Generator) -> bool:
    """Return whether one random playout of OpenSpiel's game, from its root ``state``, agrees with a compiled game.

    The playout changes ``state``.
    """
    number = 0
    while True:
        record = tree.histories[number]
        if record["actor"] == TERMINAL or state.is_terminal():
            both_end = record["actor"] == TERMINAL and state.is_terminal()
            if not both_end:
                return False
            utility, opponent_utility = state.returns()
            # The rounding error of a sum of returns is in proportion to the sizes of the returns.
            size = abs(utility) + abs(opponent_utility)
            same_sum = near(utility + opponent_utility, utility_sum, size)
            return bool(utility == utility_of(tree.histories)[number] and same_sum)
        first_child = int(record["first_child"])
        children = slice(first_child, first_child + int(record["num_children"]))
        if state.is_chance_node():
            # The compiled game has no outcomes of probability 0 either.
            outcomes = [(action, chance) for action, chance in state.chance_outcomes() if chance != 0]
            actions = [action for action, _ in outcomes]
            chances = [chance for _, chance in outcomes]
            same = record["actor"] == CHANCE and chances == list(tree.probability[children])
        else:
            actor = int(state.current_player())
            actions = state.legal_actions()
            same = record["actor"] == actor and (
                tree.infoset_keys[record["infoset"]] == state.information_state_string(actor)
            )
        # Their order counts, too: an index must stand for one move in both games.
        if not same or actions != tree.edge_action[children].tolist():
            return False
        index = int(rng.integers(len(actions)))
        state.apply_action(actions[index])
        number = first_child + index
