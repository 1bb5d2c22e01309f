"""A team's experience as arrays, for learning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlccfr.agents.team.learning.lessons import Lessons, Measured, imagined
from rlccfr.envs.observation import weights_of
from rlccfr.envs.reward import SCALES, Costs

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

UNKNOWN = Costs(1.0, 1.0, 1.0, 1.0)
"""Costs that stand for those of algorithms that were not measured; nothing is learned from them."""


class Records:
    """What a team has measured, in n situations.

    Args:
        team: team that learns.
        uniform: share of reward weights that are drawn uniformly from [0, 1], on any scale of e; the others are the
            team's own.
        unseen: whether to learn to pick for games other than the team's own.

    Attributes:
        known: (n, rules, samplers, abstractions) which algorithms can be learned from.
        answers: same shape: which algorithms may be the answer to earlier picks. Those that have not converged at the
            end of an episode are not recommended, so they are no answers.
        following: same shape: the situation that each algorithm leads to; -1 where the episode ends.
        seen: what agents A, B and C saw, shapes (n, size), (n, rules, size) and (n, rules, samplers, size).
        lessons: source of costs.

    Raises:
        RLCCFRError: ``unseen``, and not every algorithm was measured in whole runs.
    """

    def __init__(self, team: SelectorTeam, uniform: float = 0.0, *, unseen: bool = False) -> None:
        self.team = team
        self.uniform = uniform
        situations = list(dict.fromkeys(situation for situation, _, _ in team.experience))
        numbers = {situation: number for number, situation in enumerate(situations)}
        shape = team.catalog.shape
        size = team.env.observe().shape
        count = len(situations)
        self.known = np.zeros((count, *shape), np.bool_)
        self.answers = np.zeros((count, *shape), np.bool_)
        self.following = np.full((count, *shape), -1)
        self.seen = [np.zeros((count, *shape[:agent], *size), np.float32) for agent in range(3)]
        costs = np.tile(UNKNOWN, (count, *shape, 1))
        for situation, cell, outcome in team.experience:
            index = (numbers[situation], *team.catalog.index(cell))
            following = -1 if outcome.done else numbers.get(situation.after(cell))
            for agent, seen in enumerate(outcome.observations):
                self.seen[agent][index[: agent + 1]] = seen
            if following is None:  # the rest of the episode was interrupted
                continue
            self.known[index] = True
            self.answers[index] = not outcome.done or outcome.costs.converged
            self.following[index] = following
            costs[index] = outcome.costs
        for _ in range(team.env.segments):  # drop algorithms that lead to situations without outcomes
            known = np.asarray(self.known.any(axis=(1, 2, 3)))
            dead = (self.following >= 0) & ~known[self.following]
            self.known &= ~dead
        self.answers &= self.known
        self.lessons: Lessons = imagined(team, numbers, self.known, costs, self.seen[0]) if unseen else Measured(costs)

    def open(self, agent: int, place: tuple[np.ndarray, ...], speed_alone: np.ndarray) -> np.ndarray:
        """Return which choices of an agent lead to answers, (b, choices).

        If no choice leads to an answer, these are the choices that lead to known runs.

        Args:
            agent: 0, 1 or 2.
            place: situations, (b,), and for later agents the picks before, each (b,).
            speed_alone: (b,) where the reward weights ask for speed alone, so that every known algorithm is an answer.
        """
        later_axes = tuple(range(2, 4 - agent))
        known = np.asarray(self.known[place].any(axis=later_axes))
        answers = np.asarray(self.answers[place].any(axis=later_axes))
        any_known = speed_alone | ~answers.any(axis=1)
        return np.where(any_known[:, None], known, answers)

    def draw_weights(self, count: int) -> np.ndarray:
        """Draw reward weights, shape (count, 9), as observations have them (:func:`weights_of`)."""
        generator = self.team.generator
        presets = np.array([weights_of(preset) for preset in self.team.env.presets])
        drawn = np.concatenate(
            [
                generator.uniform(size=(count, presets.shape[1] - len(SCALES))),
                np.eye(len(SCALES))[generator.integers(len(SCALES), size=count)],
            ],
            axis=1,
        )
        taken = generator.random(count) >= self.uniform
        drawn[taken] = presets[generator.integers(len(presets), size=int(taken.sum()))]
        return drawn


def agents_rewards(costs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return R of agents A, B and C, (b, 3).

    Args:
        costs: (b, 4) with the fields of :class:`Costs`.
        weights: (b, 9), as of :func:`weights_of`.
    """
    alpha_beta = weights[:, : -len(SCALES)].reshape(-1, 3, 2)
    scale_flags = weights[:, -len(SCALES) :]
    error = (costs[:, : len(SCALES)] * scale_flags).sum(axis=1)
    speed = costs[:, -1]
    return np.asarray(1.0 - (alpha_beta[:, :, 0] * error[:, None] + alpha_beta[:, :, 1] * speed[:, None]))


def asks_for_speed_alone(weights: np.ndarray) -> np.ndarray:
    """Return where reward weights, (b, 9), give no agent a weight on e, (b,)."""
    alphas = weights[:, : -len(SCALES)].reshape(-1, 3, 2)[:, :, 0]
    return np.asarray((alphas == 0).all(axis=1))
