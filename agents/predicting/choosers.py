"""Ways of choosing an algorithm for a game that was not measured.

A team of three DQN agents that has learned from other games sees the game's features, the budget and the reward
weights. Either the algorithm with the largest Q-value is the choice, or the algorithms with the largest Q-values
compete on the game by successive halving.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rlccfr.agents.baselines.halving import climb, equal_rungs, share_of
from rlccfr.agents.baselines.task import Task
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

BY_TEAM = "the DQN team"
BY_HALVING = "the DQN team, then halving"
NAMES = (BY_TEAM, BY_HALVING)
"""Names of the choosers."""

SHARE = 0.1
"""Share of the budget that :class:`ByHalving` spends on successive halving."""

RUNGS = (4, 2)
"""Number of algorithms in each rung of the successive halving of :class:`ByHalving`.

These numbers were chosen by cross-validation, which left out a third of the training games at a time; ``python -m
benchmarks.prior`` repeats it.
"""


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


class ByHalving(ByTeam):
    """A chooser that picks among the algorithms with the largest Q-values, by successive halving on the game.

    The run of the chosen algorithm continues afterwards, so only the runs of the other algorithms cost budget.

    Args:
        team: team that has learned from other games.
        evaluator: evaluator that runs the algorithms, or a table of runs that are at least as long as the halving's.
        rungs: number of algorithms in each rung.
    """

    def __init__(self, team: SelectorTeam, evaluator: Evaluator, rungs: Sequence[int] = RUNGS) -> None:
        super().__init__(team)
        self.evaluator = evaluator
        self._ladder = equal_rungs(rungs, SHARE)

    def pick(self, game: str, budget: Budget, preset: Preset) -> Cell:
        """Return the winner of the halving.

        Raises:
            MissingCellError: the evaluator is a table that lacks a run.
        """
        task = Task(self.evaluator, self.catalog, game, budget, preset)
        return climb(task, self.team.ranked(game, budget, preset), self._ladder).cell

    def left(self, budget: Budget) -> Budget:
        """Return the part of the budget that the runs of the other algorithms have not used."""
        _, winners_share = self._ladder[-1]
        return share_of(budget, 1 - SHARE + winners_share)


def named(name: str, team: SelectorTeam, evaluator: Evaluator) -> Chooser:
    """Return the chooser with a given name.

    Args:
        name: one of :data:`NAMES`.
        team: team that has learned from other games.
        evaluator: evaluator that runs the algorithms of the halving.
    """
    return {BY_TEAM: ByTeam(team), BY_HALVING: ByHalving(team, evaluator)}[name]
