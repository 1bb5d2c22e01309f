"""The best algorithm in hindsight: on a game (VBS), with a component of one's own, and over other games (SBS)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rlccfr.agents.baselines.task import Rewards
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.identity import unversioned
from rlccfr.errors import RLCCFRError
from rlccfr.registry import REGISTRIES


def virtual_best(rewards: Rewards) -> Cell:
    """Return the virtual best solver (VBS) of a game: its best algorithm, in a tie the first of ``rewards``.

    Raises:
        RLCCFRError: there are no algorithms.
    """
    if not rewards:
        raise RLCCFRError("no algorithms to choose from: measure some first")
    return max(rewards, key=rewards.__getitem__)


def best_with_own(rewards: Rewards) -> dict[str, Cell]:
    """Return, for each component of another author's or read from a file, the best algorithm of a game that has it."""
    own = {
        id for registry, ids in zip(REGISTRIES, zip(*rewards, strict=True), strict=True)
        for id in dict.fromkeys(ids) if unversioned(registry[id])
    }  # fmt: skip
    return {id: virtual_best({cell: one for cell, one in rewards.items() if id in cell}) for id in sorted(own)}


def single_best(rewards_by_game: Mapping[str, Rewards], game: str) -> Cell:
    """Return the single best solver (SBS) for a game: the algorithm with the highest mean R̄ over the *other* games.

    Args:
        rewards_by_game: R̄ of the same algorithms on each game; ``game`` itself need not be among the games.

    Raises:
        RLCCFRError: there is no other game, or games were measured on different algorithms.
    """
    others = [rewards for name, rewards in rewards_by_game.items() if name != game]
    if not others:
        raise RLCCFRError(f"the single best solver for {game!r} needs measurements of at least one other game")
    if any(rewards.keys() != others[0].keys() for rewards in others):
        raise RLCCFRError("the games were measured on different algorithms: measure one catalog on all of them")
    return virtual_best({cell: math.fsum(rewards[cell] for rewards in others) for cell in others[0]})
