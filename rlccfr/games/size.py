"""Early errors for games with more histories than the limit allows, or than fit into the available memory.

The limit is by default :data:`rlccfr.games.openspiel.MAX_HISTORIES`. Here, sizes are estimated. The traversal
(:mod:`rlccfr.games.traversal`) counts histories, and raises an error once there are more than the limit.
"""

from __future__ import annotations

import sys

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.memory import available_memory
from rlccfr.games.playable import CHANCE_MOVES, Playable, State

BYTES = 300
"""Peak memory per history in bytes while a game is compiled, infosets included."""

BYTES_TO_BUILD = 200
"""The part of :data:`BYTES` that is allocated after the traversal."""

ESTIMATES = 31
"""Number of estimates of a game's size, each the mean of PLAYOUTS playouts."""

PLAYOUTS = 32

CERTAINLY = 10
"""A game counts as too large if most estimates exceed this many times the limit.

A playout's estimate of the number of histories is unbiased (Knuth 1975), and so is the mean of several. By Markov's
inequality, the mean exceeds ten times the true number with a probability of at most 0.1. The probability that 16 of 31
such means do so is below 1e-8.
"""


class TooLargeError(GameError):
    """Error for a game with more histories than the limit allows, or than fit into memory."""


def check_size(game: Playable, name: str, max_histories: int) -> None:
    """Raise an error if a game is almost certainly too large.

    The check takes at most ESTIMATES x PLAYOUTS (about a thousand) playouts, and as many again if a game exceeds the
    limit and memory would allow more histories than the limit.

    Raises:
        TooLargeError: the game almost certainly has more histories than the limit, or than fit into memory.
    """
    available = available_memory()
    memory_limit = sys.maxsize if available is None else available // BYTES
    if not _certainly_exceeds(min(max_histories, memory_limit), game):
        return
    # If memory is too small as well, the error must not recommend a larger limit.
    if available is not None and (memory_limit <= max_histories or _certainly_exceeds(memory_limit, game)):
        raise _out_of_memory(name, available)
    raise too_many_histories(name, max_histories)


def _certainly_exceeds(limit: int, game: Playable) -> bool:
    """Return whether most estimates of the number of histories exceed CERTAINLY times a limit."""
    rng = np.random.default_rng(0)
    num_above = 0
    for count in range(1, ESTIMATES + 1):
        num_above += _estimated_above(CERTAINLY * limit, game, rng)
        if max(num_above, count - num_above) > ESTIMATES // 2:  # a majority, whatever the other estimates say
            break
    return num_above > ESTIMATES // 2


def check_memory(name: str, histories: int) -> None:
    """Check that there is enough memory to compile the histories found so far.

    Raises:
        TooLargeError: there is too little memory.
    """
    available = available_memory()
    if available is not None and histories * BYTES_TO_BUILD > available:
        raise _out_of_memory(name, available)


def too_many_histories(name: str, max_histories: int) -> TooLargeError:
    """Return the error for a game with more histories than the limit."""
    return TooLargeError(
        f"{name!r} has more than {max_histories:,} histories, the size limit; raise the limit by load_game(..., "
        "max_histories=N) or `rlccfr solve --option max-histories=N`"
    )


def _out_of_memory(name: str, available: int | None) -> TooLargeError:
    return TooLargeError(
        f"{name!r} does not fit into memory: compiling takes about {BYTES} bytes per history, and "
        f"{(available or 0) / 1e9:.3g} GB are available; choose a smaller game"
    )


def _estimated_above(bound: int, game: Playable, rng: np.random.Generator) -> bool:
    """Return whether the mean of several playouts' estimates of the number of histories exceeds a bound."""
    total = 0
    for _ in range(PLAYOUTS):
        # Knuth's estimate: the sum over depths of the product of the numbers of children on the path to that depth.
        state = game.new_initial_state()
        width = 1
        total += 1
        while moves := _moves(state):
            width *= len(moves)
            total += width
            if total > bound * PLAYOUTS:
                return True
            state = state.child(moves[int(rng.integers(len(moves)))])
    return False


def _moves(state: State) -> list[int]:
    """Return the actions or chance outcomes that may follow; none at a terminal history."""
    actor = int(state.current_player())
    if actor in (0, 1):
        return state.legal_actions()
    if actor == CHANCE_MOVES:
        return [outcome for outcome, probability in state.chance_outcomes() if probability != 0]
    return []
