"""The best algorithm in hindsight: on a game (VBS), with a component of one's own, and over other games (SBS)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from rlccfr.agents.baselines.task import Worths
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.identity import unversioned
from rlccfr.envs.reward import Worth
from rlccfr.errors import RLCCFRError
from rlccfr.registry import REGISTRIES


def virtual_best(worths: Worths) -> Cell:
    """Return the virtual best solver (VBS) of a game: the algorithm with the largest worth, in a tie the first.

    Raises:
        RLCCFRError: there are no algorithms.
    """
    if not worths:
        raise RLCCFRError("no algorithms to choose from: measure some first")
    return max(worths, key=worths.__getitem__)


def best_with_own(worths: Worths) -> dict[str, Cell]:
    """Return, for each component of another author's or read from a file, the best algorithm of a game that has it."""
    own = {
        id for registry, ids in zip(REGISTRIES, zip(*worths, strict=True), strict=True)
        for id in dict.fromkeys(ids) if unversioned(registry[id])
    }  # fmt: skip
    return {id: virtual_best({cell: worth for cell, worth in worths.items() if id in cell}) for id in sorted(own)}


def single_best(worths_by_game: Mapping[str, Worths], game: str) -> Cell:
    """Return the single best solver (SBS) for a game: the best algorithm over the *other* games.

    It converges on as many of these games as any algorithm does. Among several such, it has the highest mean R̄.

    Args:
        worths_by_game: worths of the same algorithms on each game; ``game`` itself need not be among the games.

    Raises:
        RLCCFRError: there is no other game, or games were measured on different algorithms.
    """
    others = [worths for name, worths in worths_by_game.items() if name != game]
    if not others:
        raise RLCCFRError(f"the single best solver for {game!r} needs measurements of at least one other game")
    if any(worths.keys() != others[0].keys() for worths in others):
        raise RLCCFRError("the games were measured on different algorithms: measure one catalog on all of them")
    return virtual_best({cell: _sum_of(worths[cell] for worths in others) for cell in others[0]})


def _sum_of(worths: Iterable[Worth]) -> Worth:
    converged, rewards = zip(*worths, strict=True)
    return Worth(sum(converged), math.fsum(rewards))
