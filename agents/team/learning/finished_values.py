"""A fit of finished values: learning without bootstrapping, from the last agent to the first.

No episode is replayed: the memories hold all that is known. Agent C's memory holds C's reward for each abstraction. B's
holds B's reward for each sampler, with C then following its Q-values. A's holds A's reward for each update rule, with
both following theirs. With several segments, the value that the agent expects at the next decision is added; only
algorithms measured there count. Reward weights are drawn anew in each round.

A team for games outside its training games learns differently (ADR 16). Picks are judged by R̄, so each agent learns
R̄. The costs are those of imagined games.
"""

from __future__ import annotations

import numpy as np

from rlccfr.agents.team.learning.records import Records
from rlccfr.envs.observation import GAME, with_weights

DRAWS = 64
"""Number of draws of reward weights per episode start and round; fewer if the memories can't hold as many.

A team with only one choice of reward weights has one draw.
"""

ROWS = 4096
"""Largest number of situations per round, unless a single episode start has led to more."""


class FinishedValues:
    """The learning of a team from all of its records at once.

    Args:
        records: what the team has measured. If it is to pick for unseen games, each agent learns the mean of the three
            agents' rewards in place of its own.
    """

    def __init__(self, records: Records) -> None:
        self.team, self.records = records.team, records
        self._draws = DRAWS if records.uniform or len(self.team.env.presets) > 1 else 1

    def round(self, progress_remaining: float, steps: int) -> None:
        """Let each agent take ``steps`` gradient steps under newly drawn reward weights.

        Args:
            progress_remaining: share of all rounds that is left, from 1 to 0; the learning rate falls with it.
            steps: number of gradient steps per agent.
        """
        records, (rows, following, weights) = self.records, self._draw()
        known = records.known[rows]
        if not known.any():
            return
        expected = self._expected(rows, weights) if (following >= 0).any() else np.zeros((3, len(rows)))
        costs, games = records.lessons.draw(rows, self.team.generator)
        own = np.broadcast_to(weights.mean(axis=1, keepdims=True), weights.shape) if self.records.unseen else weights
        for agent, selector in reversed(list(enumerate(self.team.selectors))):
            met = np.nonzero(known.any(axis=-1))  # situations with the earlier agents' picks
            row, open_, leads_to = met[0], known[met], following[met]
            seen = with_weights(records.seen[agent][(rows[row], *met[1:])], weights[row])
            if games is not None:
                seen[:, GAME] = games[row]
            worth = 1 - (costs[met] * own[row, agent, None]).sum(axis=-1)
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
        records, capacity = self.records, self.team.hyperparameters.buffer_size
        drawn: list[np.ndarray] = []
        cells = situations = 0
        for number in self.team.generator.permutation(np.tile(np.arange(len(records.episodes)), self._draws)):
            episode = records.episodes[number]
            cells, situations = cells + int(records.known[episode].sum()), situations + len(episode)
            if drawn and (cells > capacity or situations > ROWS):
                break
            drawn.append(episode)
        rows = np.concatenate(drawn)
        lengths = [len(episode) for episode in drawn]
        row_of, following = np.full(len(records.known), -1), []
        for episode, end in zip(drawn, np.cumsum(lengths), strict=True):
            row_of[episode] = np.arange(end - len(episode), end)
            leads_to = records.following[episode]
            following.append(np.where(leads_to < 0, -1, row_of[leads_to]))
        return rows, np.concatenate(following), np.repeat(records.draw_weights(len(drawn)), lengths, axis=0)

    def _expected(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the value that each agent expects after the earlier agents' best measured picks, shape (3, rows)."""
        picks: tuple[np.ndarray, ...] = ()
        expected = []
        for agent, selector in enumerate(self.team.selectors):
            seen = with_weights(self.records.seen[agent][(rows, *picks)], weights)
            values = np.where(self.records.open(agent, rows, *picks), selector.q_values(seen), -np.inf)
            picks = (*picks, values.argmax(axis=-1))
            expected.append(values.max(axis=-1))
        return np.array(expected)
