"""Double Q-learning of a team: replayed picks, bootstrapped targets, target networks.

By default, all three agents learn R̄, the mean of their rewards, by which picks are judged. The target of agent C's pick
is R̄ and the value of the next decision, if there is one; that of an earlier agent's pick is the value of the next
agent's best answer. Only measured answers count: the highest values over all belong to picks that were never tried.

With ``rewards="own"``, each agent learns its own reward. The value of another agent's answer is then of no use to it.
The target of its pick is its own reward of the triple that the later agents complete by their preferred answers, which
was measured, and its own value of the next decision.

A measurement tells the rewards under any reward weights, so weights are drawn anew for each replayed pick.
"""

from __future__ import annotations

import numpy as np
import torch
from stable_baselines3.dqn.policies import DQNPolicy

from rlccfr.agents.double_q import Picks, best_answer, learn_from, preferred, values_of_answers
from rlccfr.agents.team.learning.records import Records, agents_rewards, asks_for_speed_alone
from rlccfr.envs.observation import GAME, with_weights


class QLearning:
    """The Q-learning of a team from its records.

    Args:
        records: what the team has measured.
    """

    def __init__(self, records: Records) -> None:
        self.team = records.team
        self.records = records
        self._measured = np.argwhere(records.known)  # (m, 4): situation, update rule, sampler, abstraction

    def round(self, progress_remaining: float, steps: int) -> None:
        """Let each agent take gradient steps, each on a batch of measured picks.

        Args:
            progress_remaining: share of all rounds that is left, from 1 to 0; the learning rate falls with it.
            steps: number of gradient steps.
        """
        if not len(self._measured):
            return
        models = [selector.model for selector in self.team.selectors]
        policies = [model.policy for model in models]
        rate = models[0].lr_schedule(progress_remaining)
        losses = np.zeros(3)
        for _ in range(steps):
            picks, targets = self._batch()
            losses += learn_from(policies, picks, targets, rate, self.team.hyperparameters.tau)
        for model, loss in zip(models, losses / steps, strict=True):
            model.logger.record("train/loss", float(loss))

    def _batch(self) -> tuple[Picks, list[torch.Tensor]]:
        """Return measured picks, drawn with replacement, and the target of each agent's, (b,)."""
        generator = self.team.generator
        drawn = self._measured[generator.integers(len(self._measured), size=self.team.hyperparameters.batch_size)]
        rows = drawn[:, 0]
        triples = drawn[:, 1:]
        weights = self.records.draw_weights(len(rows))
        costs, games = self.records.lessons.draw(rows, generator)
        places = [(rows, *triples[:, :agent].T) for agent in range(3)]
        picks = Picks(
            [self._given(agent, place, weights, games) for agent, place in enumerate(places)],
            [self._open(agent, place, weights) for agent, place in enumerate(places)],
            torch.as_tensor(triples),
        )
        if self.team.hyperparameters.rewards == "own":
            return picks, self._own_targets(rows, triples, weights, costs, games)
        # The mean reward: earlier agents bootstrap from the value of the next agent's best answer.
        worth = self._returns(rows, triples, weights, costs).mean(axis=1)
        policies = [selector.model.policy for selector in self.team.selectors]
        return picks, [*values_of_answers(policies, picks), torch.as_tensor(worth, dtype=torch.float32)]

    def _own_targets(
        self, rows: np.ndarray, triples: np.ndarray, weights: np.ndarray, costs: np.ndarray, games: np.ndarray | None
    ) -> list[torch.Tensor]:
        """Return the target of each agent's pick, (b,): its own return, if the later agents pick what they prefer."""
        targets = []
        for agent in range(3):
            place: tuple[np.ndarray, ...] = (rows, *triples[:, : agent + 1].T)
            with torch.no_grad():
                for later in range(agent + 1, 3):
                    answer = preferred(*self._turn(later, place, weights, games)).numpy()
                    place = (*place, answer)
            completed = np.stack(place[1:], axis=1)
            own_return = self._returns(rows, completed, weights, costs)[:, agent]
            targets.append(torch.as_tensor(own_return, dtype=torch.float32))
        return targets

    def _returns(self, rows: np.ndarray, triples: np.ndarray, weights: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """Return each agent's reward and the discounted value of its next decision, (b, 3).

        Args:
            rows: situations, (b,).
            triples: action indices of the algorithms, (b, 3).
            weights: reward weights, (b, 9).
            costs: (b, rules, samplers, abstractions, 4).
        """
        paid = costs[(np.arange(len(rows)), *triples.T)]
        worth = agents_rewards(paid, weights)
        next_rows = self.records.following[(rows, *triples.T)]
        goes_on = next_rows >= 0
        if goes_on.any():
            worth[goes_on] += self.team.hyperparameters.gamma * self._values(next_rows[goes_on], weights[goes_on])
        return worth

    def _given(
        self, agent: int, place: tuple[np.ndarray, ...], weights: np.ndarray, games: np.ndarray | None = None
    ) -> torch.Tensor:
        """Return what an agent sees, (b, size), in situations and after picks."""
        seen = with_weights(self.records.seen[agent][place], weights)
        if games is not None:
            seen[:, GAME] = games
        return torch.as_tensor(seen)

    def _open(self, agent: int, place: tuple[np.ndarray, ...], weights: np.ndarray) -> torch.Tensor:
        """Return which of an agent's choices lead to answers, (b, choices)."""
        return torch.as_tensor(self.records.open(agent, place, asks_for_speed_alone(weights)))

    def _turn(
        self, agent: int, place: tuple[np.ndarray, ...], weights: np.ndarray, games: np.ndarray | None = None
    ) -> tuple[DQNPolicy, torch.Tensor, torch.Tensor]:
        """Return an agent's policy, what it sees, and which of its choices count."""
        policy = self.team.selectors[agent].model.policy
        return policy, self._given(agent, place, weights, games), self._open(agent, place, weights)

    def _values(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return each agent's value of situations, (b, 3), if all agents pick what they prefer.

        For the mean reward, all agents' values are the last agent's, who knows the others' picks.
        """
        place: tuple[np.ndarray, ...] = (rows,)
        values = []
        with torch.no_grad():
            for agent in range(3):
                turn = self._turn(agent, place, weights)
                values.append(best_answer(*turn).numpy())
                place = (*place, preferred(*turn).numpy())
        if self.team.hyperparameters.rewards == "mean":
            values = [values[-1]] * 3
        return np.stack(values, axis=1)
