"""The exact solution of a game, as a line beside algorithms that approach it."""

from __future__ import annotations

from functools import lru_cache

from rlccfr.engine.linear_program import predicted_time, solve_exactly
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.games.flat_tree import GameTree

QUICK = 0.3
"""Predicted CPU seconds up to which a program is solved for the line; the time of a longer one is only predicted."""


def exact_line(game: str) -> str:
    """Return what a linear program would achieve on a game.

    Raises:
        GameError: the game can't be loaded.
    """
    return f"For reference, {game} solved exactly by a linear program: {_found(compiled(game))}."


@lru_cache(maxsize=64)
def _found(tree: GameTree) -> str:
    predicted = predicted_time(tree)
    if predicted.seconds > QUICK:
        return f"about {predicted}, predicted from its size"
    solution = solve_exactly(tree)
    return f"exploitability {max(solution.exploitability, 0.0):.1g} in {solution.cpu_seconds:.2g} CPU seconds"
