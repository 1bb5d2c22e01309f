"""Learning of the values of picks from all measurements, from the last agent to the first.

Gradient steps are cheap compared with measurements, so no episode is replayed: the memories hold all that is known.
Agent C's memory holds C's reward for each abstraction. B's holds B's reward for each sampler, with C then following its
Q-values. A's holds A's reward for each update rule, with both following theirs. With several segments, the value
that the agent expects at the next decision is added; only algorithms measured there count. Reward weights are drawn
anew in each round.

A team for games outside its training games learns differently (ADR 16). Picks are judged by R̄, so each agent learns
R̄. Its lessons include imagined games. The costs of real games, too, are estimated from those of similar games.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rlccfr.agents.team.experience import Outcome, Situation
from rlccfr.agents.team.imagination import Imagination
from rlccfr.envs.observation import GAME, with_weights
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

DRAWS = 64
"""Number of draws of reward weights per episode start and round; fewer if the memories can't hold as many.

A team with only one choice of reward weights has one draw.
"""

ROWS = 4096
"""Largest number of situations per round, unless a single episode start has led to more."""


def measure_everything(team: SelectorTeam) -> None:
    """Measure every available algorithm in every situation, and add the outcomes to a team's experience.

    Args:
        team: team with one segment.

    Raises:
        MissingCellError: the team's evaluator is a table that lacks a measurement.
    """
    env = team.env
    for game in env.games:
        for budget in env.budgets:
            for seed in env.engine_seeds:
                env.reset(options={"game": game, "budget": budget, "engine_seed": seed})
                for index in np.argwhere(team.available):
                    cell = team.catalog.cell(*map(int, index))
                    seen = np.stack([env.observe(cell[:agent]) for agent in range(3)])
                    measured = env.evaluator.measure(env.request(cell))
                    outcome = Outcome.of(seen, measured, env.scale, done=True)
                    team.experience.add(Situation(game, seed, budget), cell, outcome)


class Lesson(NamedTuple):
    """The content of one round of learning, for n situations."""

    costs: np.ndarray  # (n, rules, samplers, abstractions, 2): e and s of each algorithm
    weights: np.ndarray  # (n, 3, 2): alpha and beta by which each agent learns
    games: np.ndarray | None  # (n, features), in place of the observed ones; None keeps those


class Lessons(Protocol):
    """A source of lessons."""

    def draw(self, rows: np.ndarray, weights: np.ndarray, generator: np.random.Generator) -> Lesson:
        """Return the lesson for n situations, given by index, under each agent's weights, shape (n, 3, 2)."""


class Measured(NamedTuple):
    """Lessons from measured costs, for a team that picks for its own games.

    Each agent learns under its own weights.
    """

    costs: np.ndarray  # (situations, rules, samplers, abstractions, 2)

    def draw(self, rows: np.ndarray, weights: np.ndarray, generator: np.random.Generator) -> Lesson:
        return Lesson(self.costs[rows], weights, None)


class Imagined(NamedTuple):
    """Lessons from imagined games, for a team that picks for games outside its training games (ADR 16).

    Each agent learns under the mean of the three agents' weights.
    """

    imagination: Imagination
    game: np.ndarray  # (situations,): index of the game among the team's
    circumstance: np.ndarray  # (situations,): index of the engine seed and budget

    def draw(self, rows: np.ndarray, weights: np.ndarray, generator: np.random.Generator) -> Lesson:
        games, costs = self.imagination.draw(self.game[rows], self.circumstance[rows], generator)
        return Lesson(costs, np.broadcast_to(weights.mean(axis=1, keepdims=True), weights.shape), games)


def _imagined(
    team: SelectorTeam, numbers: Mapping[Situation, int], known: np.ndarray, costs: np.ndarray, seen: np.ndarray
) -> Imagined:
    """Return the lessons for a team that is to pick for other games.

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
    return Imagined(Imagination(features, budgets, costs[rows]), game, circumstance)


class Induction:
    """The learning of a team from all of its experience at once.

    Args:
        team: team that learns.
        uniform: share of reward weights that are drawn uniformly from [0, 1]; the others are the team's own.
        unseen: whether to learn to pick for games other than the team's own.

    Raises:
        RLCCFRError: ``unseen``, and not every algorithm was measured in whole runs (:func:`measure_everything`).
    """

    def __init__(self, team: SelectorTeam, uniform: float = 0.0, *, unseen: bool = False) -> None:
        self.team, self._uniform = team, uniform
        self._draws = DRAWS if uniform or len(team.env.presets) > 1 else 1
        situations, shape = list(dict.fromkeys(situation for situation, _, _ in team.experience)), team.catalog.shape
        numbers = {situation: number for number, situation in enumerate(situations)}
        size, count = team.env.observe().shape, len(situations)
        self._known = np.zeros((count, *shape), np.bool_)
        self._costs = np.ones((count, *shape, 2))
        self._next = np.full((count, *shape), -1)  # index of the situation afterwards; -1 where the episode ends
        self._seen = [np.zeros((count, *shape[:agent], *size), np.float32) for agent in range(3)]
        for situation, cell, outcome in team.experience:
            index = (numbers[situation], *team.catalog.index(cell))
            following = -1 if outcome.done else numbers.get(situation.after(cell))
            for agent, seen in enumerate(outcome.observations):
                self._seen[agent][index[: agent + 1]] = seen
            if following is not None:  # None where the rest of the episode was interrupted
                self._known[index], self._costs[index], self._next[index] = True, outcome.costs, following
        for _ in range(team.env.segments):  # drop algorithms that lead to situations without outcomes
            known = np.asarray(self._known.any(axis=(1, 2, 3)))
            dead = (self._next >= 0) & ~known[self._next]
            self._known &= ~dead
        starts = [numbers[situation] for situation in team.experience.starts]
        begins = [numbers[situation._replace(cells=())] for situation in situations]
        self._episodes = [np.flatnonzero(np.array(begins) == start) for start in starts]
        self._lessons: Lessons = (
            _imagined(team, numbers, self._known, self._costs, self._seen[0]) if unseen else (Measured(self._costs))
        )

    def round(self, progress_remaining: float, steps: int) -> None:
        """Let each agent take ``steps`` gradient steps under newly drawn reward weights.

        Args:
            progress_remaining: share of all rounds that is left, from 1 to 0; the learning rate falls with it.
            steps: number of gradient steps per agent.
        """
        rows, following, weights = self._draw()
        known = self._known[rows]
        if not known.any():
            return
        expected = self._expected(rows, weights) if (following >= 0).any() else np.zeros((3, len(rows)))
        lesson = self._lessons.draw(rows, weights, self.team.generator)
        costs = lesson.costs
        for agent, selector in reversed(list(enumerate(self.team.selectors))):
            met = np.nonzero(known.any(axis=-1))  # situations with the earlier agents' picks
            row, open_, leads_to = met[0], known[met], following[met]
            seen = with_weights(self._seen[agent][(rows[row], *met[1:])], weights[row])
            if lesson.games is not None:
                seen[:, GAME] = lesson.games[row]
            worth = 1 - (costs[met] * lesson.weights[row, agent, None]).sum(axis=-1)
            worth += self.team.hyperparameters.gamma * np.where(leads_to < 0, 0.0, expected[agent][leads_to])
            one, choice = np.nonzero(open_)
            selector.buffer.refill(seen[one], choice, worth[one, choice])
            selector.learn(progress_remaining, steps)
            best = np.zeros(known.shape[:-1], np.intp)
            best[met] = np.where(open_, selector.q_values(seen), -np.inf).argmax(axis=-1)
            costs = np.take_along_axis(costs, best[..., None, None], axis=-2)[..., 0, :]
            following = np.take_along_axis(following, best[..., None], axis=-1)[..., 0]
            known = np.asarray(known.any(axis=-1))

    def _draw(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw whole episodes with their reward weights.

        Returns:
            Indices of n situations, shape (n,); the row among these that each algorithm leads to, -1 where the episode
            ends, shape (n, rules, samplers, abstractions); and weights, shape (n, 3, 2).
        """
        generator, capacity = self.team.generator, self.team.hyperparameters.buffer_size
        drawn: list[np.ndarray] = []
        cells = situations = 0
        for number in generator.permutation(np.tile(np.arange(len(self._episodes)), self._draws)):
            episode = self._episodes[number]
            cells, situations = cells + int(self._known[episode].sum()), situations + len(episode)
            if drawn and (cells > capacity or situations > ROWS):
                break
            drawn.append(episode)
        rows = np.concatenate(drawn)
        lengths = [len(episode) for episode in drawn]
        row_of, following = np.full(len(self._known), -1), []
        for episode, end in zip(drawn, np.cumsum(lengths), strict=True):
            row_of[episode] = np.arange(end - len(episode), end)
            leads_to = self._next[episode]
            following.append(np.where(leads_to < 0, -1, row_of[leads_to]))
        return rows, np.concatenate(following), np.repeat(self._weights(len(drawn)), lengths, axis=0)

    def _weights(self, count: int) -> np.ndarray:
        """Draw alpha and beta of each agent, shape (count, 3, 2)."""
        generator, presets = self.team.generator, np.array([preset.weights for preset in self.team.env.presets])
        drawn = generator.uniform(size=(count, 3, 2))
        taken = generator.random(count) >= self._uniform
        drawn[taken] = presets[generator.integers(len(presets), size=int(taken.sum()))]
        return drawn

    def _expected(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the value that each agent expects after the earlier agents' best measured picks, shape (3, rows)."""
        everywhere, known = np.arange(len(rows)), self._known[rows]
        picks: tuple[np.ndarray, ...] = ()
        expected = []
        for agent, selector in enumerate(self.team.selectors):
            seen = with_weights(self._seen[agent][(rows, *picks)], weights)
            open_ = known[(everywhere, *picks)].any(axis=tuple(range(2, 4 - agent)))
            values = np.where(open_, selector.q_values(seen), -np.inf)
            picks = (*picks, values.argmax(axis=-1))
            expected.append(values.max(axis=-1))
        return np.array(expected)
