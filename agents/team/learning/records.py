"""A team's experience as arrays, for learning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlccfr.agents.team.learning.lessons import Lessons, Measured, imagined

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam


class Records:
    """What a team has measured, in n situations.

    Args:
        team: team that learns.
        uniform: share of reward weights that are drawn uniformly from [0, 1]; the others are the team's own.
        unseen: whether to learn to pick for games other than the team's own.

    Attributes:
        known: (n, rules, samplers, abstractions) which algorithms can be learned from.
        following: same shape: the situation that each algorithm leads to; -1 where the episode ends.
        seen: what agents A, B and C saw, shapes (n, size), (n, rules, size) and (n, rules, samplers, size).
        lessons: source of costs.

    Raises:
        RLCCFRError: ``unseen``, and not every algorithm was measured in whole runs.
    """

    def __init__(self, team: SelectorTeam, uniform: float = 0.0, *, unseen: bool = False) -> None:
        self.team, self.uniform, self.unseen = team, uniform, unseen
        situations, shape = list(dict.fromkeys(situation for situation, _, _ in team.experience)), team.catalog.shape
        numbers = {situation: number for number, situation in enumerate(situations)}
        size, count = team.env.observe().shape, len(situations)
        self.known = np.zeros((count, *shape), np.bool_)
        costs = np.ones((count, *shape, 2))
        self.following = np.full((count, *shape), -1)
        self.seen = [np.zeros((count, *shape[:agent], *size), np.float32) for agent in range(3)]
        for situation, cell, outcome in team.experience:
            index = (numbers[situation], *team.catalog.index(cell))
            following = -1 if outcome.done else numbers.get(situation.after(cell))
            for agent, seen in enumerate(outcome.observations):
                self.seen[agent][index[: agent + 1]] = seen
            if following is not None:  # None where the rest of the episode was interrupted
                self.known[index], costs[index], self.following[index] = True, outcome.costs, following
        for _ in range(team.env.segments):  # drop algorithms that lead to situations without outcomes
            known = np.asarray(self.known.any(axis=(1, 2, 3)))
            dead = (self.following >= 0) & ~known[self.following]
            self.known &= ~dead
        begins = [numbers[situation._replace(cells=())] for situation in situations]
        self.episodes = [np.flatnonzero(np.array(begins) == numbers[start]) for start in team.experience.starts]
        """The situations of each episode start."""
        self.lessons: Lessons = imagined(team, numbers, self.known, costs, self.seen[0]) if unseen else Measured(costs)

    def open(self, agent: int, *place: np.ndarray) -> np.ndarray:
        """Return which choices of an agent lead to known algorithms, (b, choices).

        Args:
            place: situations, (b,), and for later agents the picks before, each (b,).
        """
        found: np.ndarray = self.known[place].any(axis=tuple(range(2, 4 - agent)))
        return found

    def draw_weights(self, count: int) -> np.ndarray:
        """Draw alpha and beta of each agent, shape (count, 3, 2)."""
        generator, presets = self.team.generator, np.array([preset.weights for preset in self.team.env.presets])
        drawn = generator.uniform(size=(count, 3, 2))
        taken = generator.random(count) >= self.uniform
        drawn[taken] = presets[generator.integers(len(presets), size=int(taken.sum()))]
        return drawn
