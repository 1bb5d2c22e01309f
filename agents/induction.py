"""Learning from a whole table: what each choice is worth when the later agents do their best, the last agent first.

Where everything is measured there is nothing to explore, so the replay memories are filled directly: agent C's with its
reward for each abstraction, B's with its reward for each sampler when C then takes what its Q-values say, A's with its
reward for each update rule when both do. The agents' weights are drawn anew each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlccfr.agents.experience import Outcome, Situation
from rlccfr.envs.observation import with_weights
from rlccfr.envs.reward import PRESETS

if TYPE_CHECKING:
    from rlccfr.agents.team import SelectorTeam

NAMED = 0.5
"""Share of the draws that take a named preset's weights; those of the others are uniform in [0, 1]."""

DRAWS = 64
"""Of weights for each situation at a time, or fewer if the memories hold no more."""


def measure_everything(team: SelectorTeam) -> None:
    """Put every cell that can run, in every situation of a team of one segment, into its experience.

    Raises:
        MissingCellError: the team's evaluator is a table that lacks one.
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


class Induction:
    """Lets a team of one segment learn from its experience, all of it at once.

    Args:
        seed: of the weights that are drawn.
    """

    def __init__(self, team: SelectorTeam, seed: int = 0) -> None:
        self.team = team
        self.generator = np.random.default_rng(seed)
        starts, shape = team.experience.starts, team.catalog.shape
        size = team.env.observe().shape
        self._known = np.zeros((len(starts), *shape), np.bool_)
        self._costs = np.ones((len(starts), *shape, 2))
        self._seen = [np.zeros((len(starts), *shape[:agent], *size), np.float32) for agent in range(3)]
        for number, situation in enumerate(starts):
            for cell, outcome in team.experience.at(situation).items():
                index = (number, *team.catalog.index(cell))
                self._known[index], self._costs[index] = True, outcome.costs
                for agent, seen in enumerate(outcome.observations):
                    self._seen[agent][index[: agent + 1]] = seen
        room = team.hyperparameters.buffer_size // int(self._known.sum(axis=(1, 2, 3)).max())
        self._count = max(1, min(DRAWS * len(starts), room))

    def round(self, progress_remaining: float, steps: int) -> None:
        """Each agent learns for so many gradient steps under newly drawn weights.

        Args:
            progress_remaining: from 1 to 0 over all rounds; the learning rate falls with it.
        """
        every = np.tile(np.arange(len(self._known)), DRAWS)
        rows = self.generator.permutation(every)[: self._count]
        known, costs, weights = self._known[rows], self._costs[rows], self._weights(len(rows))
        for agent, selector in reversed(list(enumerate(self.team.selectors))):
            own = weights.reshape(len(rows), *[1] * agent, 3, 2)
            seen = with_weights(self._seen[agent][rows], own)
            rewards = 1 - (costs * own[..., None, agent, :]).sum(axis=-1)
            places = np.nonzero(known)
            selector.buffer.refill(seen[places[:-1]], places[-1], rewards[places])
            selector.learn(progress_remaining, steps)
            best = np.where(known, selector.q_values(seen), -np.inf).argmax(axis=-1)
            costs = np.take_along_axis(costs, best[..., None, None], axis=-2)[..., 0, :]
            known = np.asarray(known.any(axis=-1))

    def _weights(self, count: int) -> np.ndarray:
        """(count, 3, 2): alpha and beta of each agent."""
        named = np.array([preset.weights for preset in PRESETS.values()])
        drawn = self.generator.uniform(size=(count, 3, 2))
        taken = self.generator.random(count) < NAMED
        drawn[taken] = named[self.generator.integers(len(named), size=int(taken.sum()))]
        return drawn
