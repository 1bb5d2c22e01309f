"""Conversion of OpenSpiel's policies, in all their forms, to probabilities over sequences.

OpenSpiel has four forms of policies: a C++ object, whose method takes a state; a Python object, whose method may also
take a state of a simultaneous game and a player; a function of a state; and a table keyed by information states. An
algorithm for one player, such as a best response, returns a policy in one of these forms that has probabilities only at
this player's states.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pyspiel

from rlccfr.errors import PolicyError, RLCCFRError, brief, what_failed
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.openspiel_policies import states_of
from rlccfr.games.records import CHANCE
from rlccfr.interrupts import raise_if_interrupt

Reader = Callable[[Any, int], Any]
"""Function ``(state, player)`` that returns a policy's answer at a turn-based state at which the player moves.

The answer is None if the policy has nothing for the state.
"""

FORMS = (
    "a policy object, a function, a table {information state: {action: probability}}, or a list of two of these, one "
    "for each player"
)


def from_openspiel(tree: GameTree, policy: Any) -> np.ndarray:
    """Return an OpenSpiel policy's probabilities over sequences, (m,), read at one history of each infoset.

    Args:
        policy: see :meth:`rlccfr.Policy.from_openspiel`.

    Raises:
        PolicyError: the policy fails, gives no probabilities for a state, or gives something other than probabilities
            of the state's actions.
    """
    readers = _readers_of(policy)
    probabilities = np.zeros(tree.num_sequences)
    visited = np.zeros(tree.num_infosets, np.bool_)
    missing = np.zeros(tree.num_infosets, np.bool_)
    for history, state in states_of(tree):
        record = tree.histories[history]
        infoset = int(record["infoset"])
        # The policy is read only at the first history of each infoset.
        if record["actor"] >= CHANCE or visited[infoset]:
            continue
        visited[infoset] = True
        player = int(record["actor"])
        answer = readers[player](state, player)
        sequences = tree.infoset_sequences(infoset)
        actions = tree.sequence_action[sequences]
        distribution = _distribution(answer, tree.infoset_keys[infoset], actions)
        if distribution:
            probabilities[sequences] = [distribution.get(int(action), 0.0) for action in actions]
        else:
            missing[infoset] = True
    if missing.any():
        raise PolicyError(_what_is_missing(tree, missing))
    return probabilities


def _what_is_missing(tree: GameTree, missing: np.ndarray) -> str:
    """Return a message about the infosets for which a policy has no probabilities.

    Args:
        missing: mask of these infosets, (infosets,).
    """
    by_player = (missing[tree.infosets_of(0)], missing[tree.infosets_of(1)])
    example = brief(tree.infoset_keys[int(np.flatnonzero(missing)[0])])
    for player, absent in enumerate(by_player):
        if absent.all() and not by_player[1 - player].any():
            pair = "[policy, another]" if player == 1 else "[another, policy]"
            return (
                f"the policy has no probabilities for player {player}'s information states, such as {example}; if the "
                f"policy is only player {1 - player}'s, give one for each player, as in {pair}"
            )
    return (
        f"the policy has no probabilities for {missing.sum():,} of the {len(missing):,} information states of "
        f"{tree.name!r}, such as {example}"
    )


def _readers_of(policy: Any) -> list[Reader]:
    """Return for each player the function that reads a policy at that player's states.

    Raises:
        PolicyError: the policy is not in one of OpenSpiel's forms.
    """
    if isinstance(policy, Sequence) and not isinstance(policy, (str, bytes)):
        if len(policy) != 2:
            raise PolicyError(f"a list of policies must have one for each of the two players, not {len(policy)}")
        return [_reader_of(each) for each in policy]
    return [_reader_of(policy)] * 2


def _reader_of(policy: Any) -> Reader:
    if type(policy) is pyspiel.TabularPolicy:
        return _table_reader(policy.policy_table())
    if isinstance(policy, Mapping):
        return _table_reader(policy)
    method = getattr(policy, "action_probabilities", policy)
    if not callable(method) or isinstance(policy, type):
        raise PolicyError(f"a policy of OpenSpiel's must be given as {FORMS}, not as {brief(policy)}")
    return _object_reader(method)


def _table_reader(table: Mapping[str, Any]) -> Reader:
    """Return a function that looks a state up in a table.

    The table of a simultaneous game is keyed by that game's information states, which lack the text that the game's
    turn-based form adds to them.
    """

    def read(state: Any, player: int) -> Any:
        row = table.get(state.information_state_string(player))
        if row is None and isinstance(state, pyspiel.TurnBasedSimultaneousState):
            row = table.get(state.simultaneous_game_state().information_state_string(player))
        if isinstance(row, Integral) and not isinstance(row, bool):
            return {int(row): 1.0}  # a best response's action
        return row

    return read


def _object_reader(method: Callable[..., Any]) -> Reader:
    """Return a function that calls a method or function of a third-party policy, as OpenSpiel's algorithms do.

    A turn-based state shows whose turn it is, so it is the only argument, unless the policy requires a player. A policy
    of a simultaneous game may know only that game's states, with which OpenSpiel also passes a player.
    """
    takes_player = _accepts(method, None, 0)
    insists_on_player = takes_player and not _accepts(method, None)

    def read(state: Any, player: int) -> Any:
        arguments = (state, player) if insists_on_player else (state,)
        answer = _asked(method, arguments, player)
        if _is_empty(answer) and takes_player and isinstance(state, pyspiel.TurnBasedSimultaneousState):
            answer = _asked(method, (state.simultaneous_game_state(), player), player)
        return answer

    return read


def _accepts(function: Callable[..., Any], *arguments: Any) -> bool:
    """Return whether a function accepts ``arguments``; a C++ function, which has no signature, accepts only a state."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        return len(arguments) == 1
    return True


def _asked(method: Callable[..., Any], arguments: tuple[Any, ...], player: int) -> Any:
    """Return a policy's answer at a state; None if its table lacks the state.

    Raises:
        PolicyError: the policy raised an error, which the message repeats.
    """
    try:
        return method(*arguments)
    except (RLCCFRError, MemoryError):
        raise
    except Exception as error:  # another author's policy may raise anything
        raise_if_interrupt(error)
        key = arguments[0].information_state_string(player)
        if isinstance(error, KeyError) and error.args == (key,):
            return None
        function = inspect.unwrap(getattr(method, "__func__", method))
        functions = [function] if hasattr(function, "__code__") else []
        raise PolicyError(f"the policy fails at {brief(key)}: {what_failed(error, functions)}") from error


def _is_empty(answer: Any) -> bool:
    return answer is None or (isinstance(answer, (Mapping, Sequence)) and not answer)


def _real(number: Any) -> float:
    """Return a number as a float; unlike ``float``, raise ``TypeError`` for a string."""
    if isinstance(number, (str, bytes)):
        raise TypeError
    return float(number)


def _distribution(answer: Any, key: str, actions: np.ndarray) -> dict[int, float] | None:
    """Return probabilities by action; None if the answer is empty, as when a C++ policy does not know a state.

    Args:
        answer: the policy's answer: a dict, or pairs of an action and its probability.
        key: information state, for messages.
        actions: the actions that are legal there.

    Raises:
        PolicyError: the answer has another form, has an action twice, or has a probability for an illegal action.
    """
    if _is_empty(answer):
        return None
    try:
        pairs: Iterable[tuple[Any, Any]] = answer.items() if isinstance(answer, Mapping) else answer
        # Both conversions are strict: a float is no action, and a string is no probability.
        listed = [(operator.index(action), _real(probability)) for action, probability in pairs]
    except (TypeError, ValueError):
        raise PolicyError(
            f"at {brief(key)} the policy gives {brief(answer)}, which is neither {{action: probability}} nor a list of "
            "pairs (action, probability)"
        ) from None
    distribution = dict(listed)
    if len(distribution) < len(listed):
        raise PolicyError(f"at {brief(key)} the policy gives an action twice: {brief(listed)}; give each once")
    legal = set(actions.tolist())
    for action, probability in distribution.items():
        # An illegal action of probability 0 does no harm: the caller reads only the legal ones.
        if probability and action not in legal:
            raise PolicyError(
                f"at {brief(key)} the policy gives probability {probability:g} to the action {action}, but the legal "
                f"actions are {', '.join(map(str, sorted(legal)))}: is it a policy of another game?"
            )
    return distribution
