"""Checks of *claims*: conditions that every game must meet, such as that chance's probabilities sum to 1.

A run does not notice that a game breaks a claim: if chance's probabilities sum to 0.9, or if both players win, values
and exploitabilities are wrong without any sign. So all claims are checked here, on the list of histories from which
every compiled game is made. OpenSpiel's games in C++ and in Python, simultaneous games, matrices, Gambit's files,
generated games and abstract games differ only in how this list is made. Public trees
(:mod:`rlccfr.games.public.claims`) use the same tolerances and messages.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rlccfr.errors import GameError, brief
from rlccfr.games.histories import Traversal, actions_to
from rlccfr.games.records import CHANCE, TERMINAL

ROUNDING = 1e-9
"""Largest difference that is allowed between a sum of probabilities and 1."""

OF_SIZE = 1e-12
"""Largest difference that is always allowed between the sum of both players' payoffs and its declared value.

It is a share of these payoffs; :func:`sum_tolerance` adds to it what rounding may explain.
"""

UNITS = 64
"""Rounding error that is allowed in computed payoffs, as a multiple of the machine epsilon times the largest payoff."""

MOST_OF_SIZE = 1e-6
"""Largest rounding error that is allowed at a terminal history, as a share of the payoffs there."""

MOST_OF_TYPICAL = 1e-9
"""Largest rounding error that is allowed at a terminal history where payoffs cancel out.

It is a share of the geometric mean of the absolute values of all payoffs.
"""

DOUBLE = float(np.finfo(float).eps)
"""Machine epsilon of doubles."""


def broken_at(name: str, place: str, fault: str) -> GameError:
    """Return the error for a game that breaks a claim.

    Args:
        name: the game's name as the user knows it.
        place: where the claim is broken, in words, as :func:`after` returns them.
        fault: what is wrong there, and what it should be.
    """
    return GameError(f"{name!r} can't be solved: {place}, {fault}")


def after(actions: list[int]) -> str:
    """Describe in words the history to which a list of actions and chance outcomes leads."""
    return f"after the actions {brief(actions)}" if actions else "at the root"


def check_claims(walk: Traversal, name: str, utility_sum: float = 0.0) -> None:
    """Check a game's claims at all of its histories.

    Args:
        walk: the game's histories.
        name: the game's name, for the error.
        utility_sum: what the players' utilities must sum to.

    Raises:
        GameError: a claim is broken; the message names the game and the first history at which the claim is broken, and
            says what was found there and what was expected.
    """
    counts = walk.num_children
    first_child = 1 + np.cumsum(counts) - counts
    faults = (
        _listed_twice(walk)
        or _other_actions(walk, counts, first_child)
        or _wrong_chances(walk, counts, first_child)
        or _wrong_utilities(walk, utility_sum)
    )
    if faults:
        history, fault = faults
        raise broken_at(name, after(actions_to(history, walk.parent, walk.action)), fault)


Fault = tuple[int, str] | None
"""The first history at which a claim is broken, and what is wrong there; None if the claim holds everywhere."""


def _listed_twice(walk: Traversal) -> Fault:
    """Find a history that lists an action or a chance outcome twice."""
    parent = walk.parent[1:]
    action = walk.action[1:]
    siblings = parent[1:] == parent[:-1]
    if not (siblings & (action[1:] <= action[:-1])).any():
        return None  # every list ascends, as in nearly all games
    order = np.lexsort((action, parent))  # equal actions of one history are then neighbours
    twice = (np.diff(parent[order]) == 0) & (np.diff(action[order]) == 0)
    if not twice.any():
        return None
    child = 1 + int(order[np.flatnonzero(twice)[0]])
    what = "chance outcome" if walk.actor[walk.parent[child]] == CHANCE else "legal action"
    return int(walk.parent[child]), repeated(what, int(walk.action[child]))


def _other_actions(walk: Traversal, counts: np.ndarray, first_child: np.ndarray) -> Fault:
    """Find a history whose actions are not those of its infoset's first history, in the same order."""
    decisions = np.flatnonzero(walk.infoset >= 0)
    if not len(decisions):
        return None
    first_of_infoset = np.empty(len(walk.infoset_keys), np.int64)
    first_of_infoset[walk.infoset[decisions[::-1]]] = decisions[::-1]  # the first history is written last, and stays
    counterpart = np.zeros(len(counts), np.int64)  # of each decision, its infoset's first history
    counterpart[decisions] = first_of_infoset[walk.infoset[decisions]]
    differs = counts[decisions] != counts[counterpart[decisions]]
    if differs.any():
        history = int(decisions[differs][0])
    else:
        # Each action is compared with the one in the same place at the infoset's first history.
        child = np.flatnonzero(walk.infoset[walk.parent[1:]] >= 0) + 1
        parent = walk.parent[child]
        counterpart_child = first_child[counterpart[parent]] + child - first_child[parent]
        other_action = walk.action[child] != walk.action[counterpart_child]
        if not other_action.any():
            return None
        history = int(parent[other_action][0])

    def actions_at(number: int) -> str:
        return brief(walk.action[first_child[number] : first_child[number] + counts[number]].tolist())

    first = int(counterpart[history])
    key = brief(walk.infoset_keys[walk.infoset[history]])
    after_first = after(actions_to(first, walk.parent, walk.action))
    return history, (
        f"infoset {key} of player {walk.actor[history]} offers the actions {actions_at(history)}, but "
        f"{actions_at(first)} {after_first}; all histories of an infoset must offer the same actions"
    )


def _wrong_chances(walk: Traversal, counts: np.ndarray, first_child: np.ndarray) -> Fault:
    """Find a chance node whose numbers are not probabilities."""
    parent = walk.parent[1:]
    probability = walk.probability[1:]
    sums = np.bincount(parent, probability, len(counts))
    wrong = (walk.actor == CHANCE) & ~near(sums, 1.0)
    wrong[parent[~(probability >= 0)]] = True  # the negation finds NaN, too
    if not wrong.any():
        return None
    history = int(np.flatnonzero(wrong)[0])
    children = slice(int(first_child[history]), int(first_child[history] + counts[history]))
    return history, not_probabilities(walk.probability[children])


def _wrong_utilities(walk: Traversal, utility_sum: float) -> Fault:
    """Find a terminal history at which the players' utilities are not finite or do not sum to ``utility_sum``."""
    ends = np.flatnonzero(walk.actor == TERMINAL)
    first = walk.utility[ends]
    second = walk.opponent_utility[ends]
    # Infinite returns come first: they would make the tolerance below infinite everywhere.
    finite = np.isfinite(first) & np.isfinite(second)
    if not finite.all():
        place = int(np.flatnonzero(~finite)[0])
        return int(ends[place]), f"the returns are {first[place]:g} and {second[place]:g}; they must be finite"
    sound = np.abs(first + second - utility_sum) <= sum_tolerance(np.maximum(np.abs(first), np.abs(second)))
    if sound.all():
        return None
    place = int(np.flatnonzero(~sound)[0])
    return int(ends[place]), (
        f"the returns are {first[place]:.12g} and {second[place]:.12g}, which sum to "
        f"{first[place] + second[place]:.12g}; they must sum to {utility_sum:g} everywhere"
    )


def sum_tolerance(sizes: np.ndarray, unit: float = DOUBLE) -> np.ndarray:
    """Return how far the sum of both players' payoffs may be from its declared value at each terminal history.

    The tolerance at a terminal is small compared with the payoffs at that terminal: if a penalty of 1e15 serves to
    forbid a move, a sum that is wrong by 1 at another terminal is not due to rounding. But a game that adds up its
    payoffs along a path may have rounding errors at a terminal that come from a larger payoff earlier on the path. Such
    an error may be at most a small share of the payoffs at the terminal or, where payoffs cancel out, of a typical
    payoff.

    Args:
        sizes: absolute values of the payoffs at each terminal, of any shape.
        unit: machine epsilon of the payoffs' type.

    Returns:
        Array of the shape of ``sizes``.
    """
    paid = sizes[sizes > 0]
    if not len(paid):
        return np.zeros_like(sizes)
    typical = float(np.exp(np.log(paid).mean()))
    of_largest = UNITS * unit * float(paid.max())
    of_size = np.minimum(of_largest, max(MOST_OF_SIZE, UNITS * unit) * sizes)
    of_typical = min(of_largest, max(MOST_OF_TYPICAL, UNITS * unit) * typical)
    return np.asarray(max(OF_SIZE, UNITS * unit) * sizes + np.maximum(of_size, of_typical))


def near(sums: npt.ArrayLike, expected: npt.ArrayLike, scale: float = 1.0) -> np.ndarray:
    """Return whether each sum is finite, and as expected up to :data:`ROUNDING` times ``scale``."""
    close: np.ndarray = np.abs(np.asarray(sums) - np.asarray(expected)) <= ROUNDING * scale
    return close


def repeated(what: str, number: int) -> str:
    """Describe what is wrong with a list of actions or chance outcomes in which a number occurs twice.

    Args:
        what: what the numbers stand for: ``"legal action"`` or ``"chance outcome"``.
        number: the number that occurs twice.
    """
    return f"the {what} {number} is listed twice; each must be listed once"


def no_moves(actor: int) -> str:
    """Describe what is wrong with a history that is not terminal but has no moves.

    Args:
        actor: 0, 1 or CHANCE.
    """
    if actor == CHANCE:
        return "chance has no outcome with a positive probability; it needs at least one"
    return f"player {actor} has no legal actions; the player to move needs at least one"


def not_probabilities(numbers: np.ndarray) -> str:
    """Describe what is wrong with numbers that should be the probabilities at one chance node."""
    return (
        f"chance's probabilities {brief(numbers.tolist())} sum to {float(numbers.sum()):.12g}; they must be at least 0 "
        "and sum to 1"
    )
