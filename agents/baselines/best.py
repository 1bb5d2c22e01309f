"""The best algorithm in hindsight: on a game (VBS), among those with a user's component, or over other games (SBS)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from rlccfr.agents.baselines.task import Rank, Worths
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.identity import unversioned
from rlccfr.envs.reward import Worth
from rlccfr.errors import RLCCFRError
from rlccfr.registry import REGISTRIES


def virtual_best(worths: Mapping[Cell, Worth | Rank]) -> Cell:
    """Return the virtual best solver (VBS) of a game: the first algorithm with the largest worth or rank.

    Raises:
        RLCCFRError: there are no algorithms.

    Examples:
        >>> from rlccfr.envs.reward import Worth
        >>> cfr, dcfr = Cell("cfr", "none", "none"), Cell("dcfr", "none", "none")
        >>> str(virtual_best({cfr: Worth(1, 0.7), dcfr: Worth(1, 0.9)}))
        'dcfr x none x none'
    """
    if not worths:
        raise RLCCFRError("no algorithms to choose from: measure some first")
    return max(worths, key=worths.__getitem__)


def best_with_own(worths: Mapping[Cell, Worth | Rank]) -> dict[str, Cell]:
    """Return, for each component that is third-party or has a controller from a file, the best algorithm with it.

    Args:
        worths: worth or rank of every algorithm on the game.

    Returns:
        The best algorithms, keyed by component id, in alphabetical order.
    """
    user_ids = set()
    for registry, ids in zip(REGISTRIES, zip(*worths, strict=True), strict=True):
        user_ids |= {id for id in dict.fromkeys(ids) if unversioned(registry[id])}
    return {id: virtual_best({cell: worth for cell, worth in worths.items() if id in cell}) for id in sorted(user_ids)}


def single_best(worths_by_game: Mapping[str, Worths], game: str) -> Cell:
    """Return the single best solver (SBS) for a game: the best algorithm over the *other* games.

    It converges on as many of these games as any algorithm does. Among several such algorithms, it is the one with the
    highest mean reward.

    Args:
        worths_by_game: worths of the same algorithms on each game; ``game`` itself need not be among the games.

    Raises:
        RLCCFRError: there is no other game, or the other games were measured with different algorithms.

    Examples:
        >>> from rlccfr.envs.reward import Worth
        >>> cfr, dcfr = Cell("cfr", "none", "none"), Cell("dcfr", "none", "none")
        >>> kuhn = {cfr: Worth(1, 0.7), dcfr: Worth(1, 0.9)}
        >>> leduc = {cfr: Worth(1, 0.6), dcfr: Worth(1, 0.5)}
        >>> str(single_best({"kuhn": kuhn, "leduc": leduc}, "kuhn"))
        'cfr x none x none'
    """
    other_games = [worths for name, worths in worths_by_game.items() if name != game]
    if not other_games:
        raise RLCCFRError(f"the single best solver for {game!r} needs measurements of at least one other game")
    if any(worths.keys() != other_games[0].keys() for worths in other_games):
        raise RLCCFRError("the games were measured with different algorithms: measure one catalog on all of them")
    # All algorithms have the same number of games, so sums rank as means do.
    return virtual_best({cell: _sum_of(worths[cell] for worths in other_games) for cell in other_games[0]})


def _sum_of(worths: Iterable[Worth]) -> Worth:
    """Return the number of games on which an algorithm converges, and the sum of its mean rewards on all games."""
    converged, rewards = zip(*worths, strict=True)
    return Worth(sum(converged), math.fsum(rewards))
