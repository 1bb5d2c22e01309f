"""The best cell in hindsight: of a game, and of other games."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rlccfr.agents.baselines.task import Rewards
from rlccfr.catalog import Cell
from rlccfr.errors import RLCCFRError


def virtual_best(rewards: Rewards) -> Cell:
    """The virtual best solver of a game: its best cell; of equals the first in the catalog's order.

    Raises:
        RLCCFRError: there are no cells.
    """
    if not rewards:
        raise RLCCFRError("no cells to choose from: measure some first")
    return max(rewards, key=rewards.__getitem__)


def single_best(rewards_by_game: Mapping[str, Rewards], game: str) -> Cell:
    """The single best solver for a game: the cell with the highest mean R-bar over the *other* games.

    Args:
        rewards_by_game: R-bar of the same cells on each game; ``game`` itself need not be among them.

    Raises:
        RLCCFRError: no other game, or games measured on different cells.
    """
    others = [rewards for name, rewards in rewards_by_game.items() if name != game]
    if not others:
        raise RLCCFRError(f"the single best solver for {game!r} needs measurements of at least one other game")
    if any(rewards.keys() != others[0].keys() for rewards in others):
        raise RLCCFRError("the games were measured on different cells: measure one catalog on all of them")
    return virtual_best({cell: math.fsum(rewards[cell] for rewards in others) for cell in others[0]})
