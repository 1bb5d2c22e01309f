"""What a team learns in: measured costs, or those of imagined games near the measured ones.

A network that has learned thirty games may predict anything for other games. So it also learns imagined games
(Dyna: Sutton, 1991), which differ from real games as real games differ from one another. An algorithm's costs on them
are estimated from its costs on real games (:mod:`rlccfr.agents.predicting.kernel_regression`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rlccfr.agents.predicting.kernel_regression import CostRegression
from rlccfr.agents.team.experience import Situation
from rlccfr.envs.observation import GAME, uniform_of_feature
from rlccfr.envs.reward import SPEED, Costs, costs_on_all_scales
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

REACH = 0.3
"""Scale of the Cauchy distribution of an imagined game's offset from a real one.

The unit is the difference between two real games drawn at random.
"""

REAL = 0.3
"""Share of real games among those drawn; their costs, too, are estimated from their own and their neighbours'."""


class Imagination(CostRegression):
    """A source of imagined games and of the algorithms' costs on them."""

    def draw(
        self, games: np.ndarray, circumstances: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw one game near each of n real games; a share of :data:`REAL` are the real games themselves.

        Args:
            games, circumstances: indices of the real games and of their circumstances, shape (n,).

        Returns:
            Features, shape (n, features), and costs of the algorithms, shape (n, ..., 2); both within [0, 1].
        """
        count, real = len(games), self._features
        reach = np.where(generator.random(count) < REAL, 0.0, REACH * generator.standard_cauchy(count))
        one, other = generator.integers(len(real), size=(2, count))
        drawn = np.clip(real[games] + reach[:, None] * (real[one] - real[other]), 0.0, 1.0)
        return drawn, self.costs(drawn, circumstances)


class Lesson(NamedTuple):
    """The costs to learn from, for n situations."""

    costs: np.ndarray  # (n, rules, samplers, abstractions, 4): each algorithm's Costs
    games: np.ndarray | None  # (n, features), in place of the observed ones; None keeps those


class Lessons(Protocol):
    """A source of lessons."""

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Lesson:
        """Return the lesson for n situations, given by index."""


class Measured(NamedTuple):
    """Lessons from measured costs, for a team that picks for its own games."""

    costs: np.ndarray  # (situations, rules, samplers, abstractions, 4)

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Lesson:
        return Lesson(self.costs[rows], None)


class Imagined(NamedTuple):
    """Lessons from imagined games, for a team that picks for games outside its training games (ADR 16)."""

    imagination: Imagination
    game: np.ndarray  # (situations,): index of the game among the team's
    circumstance: np.ndarray  # (situations,): index of the engine seed and budget

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Lesson:
        games, predicted = self.imagination.draw(self.game[rows], self.circumstance[rows], generator)
        uniform = uniform_of_feature(games[:, -1]).reshape(-1, 1, 1, 1)
        return Lesson(costs_on_all_scales(predicted[..., 0], predicted[..., 1], uniform), games)


def imagined(
    team: SelectorTeam, numbers: Mapping[Situation, int], known: np.ndarray, costs: np.ndarray, seen: np.ndarray
) -> Imagined:
    """Return the lessons for a team that is to pick for other games.

    Costs on imagined games are regressed on the log scale of e alone; the other scales follow from them.

    Raises:
        RLCCFRError: not every algorithm was measured in whole runs on every game.
    """
    games = team.env.games
    circumstances = list(dict.fromkeys((one.engine_seed, one.budget) for one in numbers))
    situations = [[Situation(game, *one) for game in games] for one in circumstances]
    if set(numbers) != set(chain(*situations)) or not known[:, team.available].all():
        raise RLCCFRError("to learn for unseen games takes whole runs of every algorithm on every game of the team")
    rows = np.array([[numbers[one] for one in own] for own in situations])
    features, budgets = seen[rows[0], GAME].astype(np.float64), [budget for _, budget in circumstances]
    game, circumstance = np.empty((2, len(numbers)), np.intp)
    for number, row in enumerate(rows):
        game[row], circumstance[row] = np.arange(len(games)), number
    regressed = costs[rows][..., [Costs._fields.index("log"), SPEED]]
    return Imagined(Imagination(features, budgets, regressed), game, circumstance)
