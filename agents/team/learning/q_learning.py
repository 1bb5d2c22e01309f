"""Double Q-learning of a team: replayed picks, bootstrapped targets, target networks.

All three agents learn R̄, the mean of their rewards, by which picks are judged. The target of agent C's pick is R̄ and
the value of the next decision, if there is one; that of an earlier agent's pick is the value of the next agent's best
answer. Only answers that were measured count: the highest values over all belong to picks that were never tried. A
measurement tells R̄ under any reward weights, so weights are drawn anew for each replayed pick.
"""

from __future__ import annotations

import numpy as np
import torch
from stable_baselines3.dqn.policies import DQNPolicy

from rlccfr.agents.double_q import Turns, best_answer, learn_in_turn, preferred
from rlccfr.agents.team.learning.records import Records
from rlccfr.envs.observation import GAME, with_weights


class QLearning:
    """The Q-learning of a team from its records.

    Args:
        records: what the team has measured.
    """

    def __init__(self, records: Records) -> None:
        self.team, self.records = records.team, records
        self._measured = np.argwhere(records.known)  # (m, 4): situation, update rule, sampler, abstraction

    def round(self, progress_remaining: float, steps: int) -> None:
        """Let each agent take gradient steps, each on a batch of measured picks.

        Args:
            progress_remaining: share of all rounds that is left, from 1 to 0; the learning rate falls with it.
            steps: number of gradient steps.
        """
        if not len(self._measured):
            return
        models, tau = [selector.model for selector in self.team.selectors], self.team.hyperparameters.tau
        rate, losses = models[0].lr_schedule(progress_remaining), np.zeros(3)
        for _ in range(steps):
            losses += learn_in_turn([model.policy for model in models], self._batch(), rate, tau)
        for model, loss in zip(models, losses / steps, strict=True):
            model.logger.record("train/loss", float(loss))

    def _batch(self) -> Turns:
        """Return measured picks drawn with replacement."""
        generator, settings = self.team.generator, self.team.hyperparameters
        drawn = self._measured[generator.integers(len(self._measured), size=settings.batch_size)]
        rows, picks = drawn[:, 0], drawn[:, 1:]
        weights = self.records.draw_weights(len(rows))
        costs, games = self.records.lessons.draw(rows, generator)
        paid = costs[(np.arange(len(rows)), *picks.T)]
        worth = 1.0 - (paid * weights.mean(axis=1)).sum(axis=1)
        later = self.records.following[tuple(drawn.T)]
        goes_on = later >= 0
        if goes_on.any():
            worth[goes_on] += settings.gamma * self._value(later[goes_on], weights[goes_on])
        places = [(rows, *picks[:, :agent].T) for agent in range(3)]
        return Turns(
            [self._given(agent, place, weights, games) for agent, place in enumerate(places)],
            [self._open(agent, place) for agent, place in enumerate(places)],
            torch.as_tensor(picks),
            torch.as_tensor(worth, dtype=torch.float32),
        )

    def _given(
        self, agent: int, place: tuple[np.ndarray, ...], weights: np.ndarray, games: np.ndarray | None = None
    ) -> torch.Tensor:
        """Return what an agent sees, (b, size), in situations and after picks."""
        seen = with_weights(self.records.seen[agent][place], weights)
        if games is not None:
            seen[:, GAME] = games
        return torch.as_tensor(seen)

    def _open(self, agent: int, place: tuple[np.ndarray, ...]) -> torch.Tensor:
        """Return which of an agent's choices lead to measured algorithms, (b, choices)."""
        return torch.as_tensor(self.records.open(agent, *place))

    def _turn(
        self, agent: int, place: tuple[np.ndarray, ...], weights: np.ndarray
    ) -> tuple[DQNPolicy, torch.Tensor, torch.Tensor]:
        """Return an agent's policy, what it sees, and which of its choices count."""
        policy = self.team.selectors[agent].model.policy
        return policy, self._given(agent, place, weights), self._open(agent, place)

    def _value(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the value of situations, (b,), if all agents pick what they prefer."""
        place: tuple[np.ndarray, ...] = (rows,)
        with torch.no_grad():
            for agent in range(2):
                place = (*place, preferred(*self._turn(agent, place, weights)).numpy())
            return np.asarray(best_answer(*self._turn(2, place, weights)).numpy())
