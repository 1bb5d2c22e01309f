"""A sentence on the exact solution of a game, to show beside the results of algorithms that approach it."""

from __future__ import annotations

from functools import lru_cache

from rlccfr.engine.linear_program import predicted_time, solve_exactly
from rlccfr.errors import RLCCFRError, first_line
from rlccfr.games.compiled_games import compiled_tree
from rlccfr.games.flat_tree import GameTree

QUICK = 0.3
"""Predicted CPU seconds up to which a linear program is solved; the time of a longer one is only predicted."""


def exact_line(game: str, *, solve: bool) -> str:
    """Return a sentence on what a linear program achieves on a game, or on why it fails.

    Args:
        solve: whether to solve the program if its predicted time is at most :data:`QUICK`; if not, the time is only
            predicted.
    """
    try:
        tree = compiled_tree(game, "a linear program")
        return f"For reference, {game} {_how_solved(tree, solve)}."
    except RLCCFRError as error:
        return f"For reference, a linear program of {game} could not be made or solved: {first_line(error)}."


@lru_cache(maxsize=64)
def _how_solved(tree: GameTree, solve: bool) -> str:
    """Return the rest of the sentence: how a game is solved, and how well."""
    predicted = predicted_time(tree)
    if not solve or predicted.seconds > QUICK:
        return f"solved exactly by a linear program: about {predicted}, predicted from its size"
    solution = solve_exactly(tree)
    exploitability = max(solution.exploitability, 0.0)  # rounding may leave it slightly negative
    achieved = f"exploitability {exploitability:.1g} in {solution.cpu_seconds:.2g} CPU seconds"
    if solution.caveat:
        return f"solved by a linear program: {achieved}, {solution.caveat}"
    return f"solved exactly by a linear program: {achieved}"
