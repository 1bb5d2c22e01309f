"""The exact solution of a game, as a line beside algorithms that approach it."""

from __future__ import annotations

from functools import lru_cache

from rlccfr.engine.linear_program import predicted_time, solve_exactly
from rlccfr.envs.measuring.compiled_games import compiled_tree
from rlccfr.errors import RLCCFRError, first_line
from rlccfr.games.flat_tree import GameTree

QUICK = 0.3
"""Predicted CPU seconds up to which a program is solved for the line; the time of a longer one is only predicted."""


def exact_line(game: str, *, solve: bool) -> str:
    """Return what a linear program achieves on a game, or why that can't be told.

    Args:
        solve: whether to solve a program that is predicted to be quick.
    """
    try:
        found = _found(compiled_tree(game, "a linear program"), solve)
        return f"For reference, {game} solved exactly by a linear program: {found}."
    except RLCCFRError as error:
        return f"For reference, a linear program of {game} could not be made or solved: {first_line(error)}."


@lru_cache(maxsize=64)
def _found(tree: GameTree, solve: bool) -> str:
    predicted = predicted_time(tree)
    if not solve or predicted.seconds > QUICK:
        return f"about {predicted}, predicted from its size"
    solution = solve_exactly(tree)
    return f"exploitability {max(solution.exploitability, 0.0):.1g} in {solution.cpu_seconds:.2g} CPU seconds"
