"""Choosing an algorithm for a game that was not measured.

A team of three DQN agents that has learned from other games sees the game's features, the budget and the reward
weights. The algorithm with the largest Q-value is the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

BY_TEAM = "the DQN team"
"""The name of :class:`ByTeam`."""


class Chooser(Protocol):
    """A way of choosing an algorithm for a game."""

    @property
    def catalog(self) -> Catalog:
        """The algorithms to choose from."""

    @property
    def games(self) -> Sequence[str]:
        """The games that the chooser has learned from."""

    @property
    def budgets(self) -> Sequence[Budget]:
        """The budgets that the chooser has learned from."""

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm chosen for a game, a budget and reward weights."""

    def left(self, budget: Budget) -> Budget:
        """Return what is left of a budget after choosing."""


class ByTeam:
    """A chooser that picks the algorithm with the largest Q-value and runs nothing.

    Args:
        team: team that has learned from other games.
    """

    def __init__(self, team: SelectorTeam) -> None:
        self.team = team
        self.catalog = team.catalog
        self.games = team.env.games
        self.budgets = team.env.budgets

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the algorithm with the largest Q-value."""
        return self.team.ranked(game, budget, preset)[0]

    def left(self, budget: Budget) -> Budget:
        """Return the whole budget."""
        return budget
