"""Gradient-boosted trees in place of the controller's networks: ``python -m benchmarks.trees SPLIT...``

The trees learn by fitted Q iteration (Ernst, Geurts and Wehenkel, Tree-based batch mode reinforcement learning, JMLR
2005). Each round makes runs on the controller's training games, epsilon-greedily, and then fits a regression to
bootstrapped targets. Trees see what the networks see, and have the same joint choices, but a seventh of the runs, all
of 1,000 iterations. Then they steer a run on each game of the splits. The rows go to benchmarks/results/control.csv,
beside the controller's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import product

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import rlccfr
from benchmarks import control
from rlccfr.agents.control.collecting import held_picks
from rlccfr.agents.control.games import control_games
from rlccfr.agents.control.replay_buffer import ReplayBuffer
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.envs.control.run import ControlRun, Episode

NAME = "gradient-boosted trees"
HORIZON = 1000
ROUNDS, RUNS = 24, 6
"""Rounds of training, and runs per game and round; the picks of the first round are random."""

SAMPLE, STEPS, CAP = 40_000, 3, 3.0
"""Decisions per regression, decisions whose rewards are counted, and the cap of rewards, as for networks."""

EPSILONS = np.linspace(0.3, 0.05, ROUNDS - 1)
"""Probability of a random pick in each round after the first."""

PICKS = np.array(list(product(*(range(len(own)) for own in CHOICES))))
SETTINGS = np.hstack([own[picks] for own, picks in zip(CHOICES, PICKS.T, strict=True)])
"""Each joint choice as the agents' picks, (1632, 3), and as settings, (1632, 8)."""


class Trees:
    """Values of decisions, by regression; 0 before the first fit."""

    def __init__(self) -> None:
        self.model: HistGradientBoostingRegressor | None = None

    def values(self, observations: np.ndarray) -> np.ndarray:
        """Return the value of each joint choice, (n, 1632), at n observations."""
        if self.model is None:
            return np.zeros((len(observations), len(PICKS)))
        rows = np.hstack([np.repeat(observations, len(PICKS), 0), np.tile(SETTINGS, (len(observations), 1))])
        values: np.ndarray = self.model.predict(rows).reshape(-1, len(PICKS))
        return values

    def fit(self, memory: ReplayBuffer, rng: np.random.Generator) -> None:
        """Fit the values of decisions drawn from the replay buffer."""
        drawn = memory.sample(SAMPLE, STEPS, rng)
        later = np.concatenate([self.values(part).max(axis=1) for part in np.array_split(drawn.later, 40)])
        targets = drawn.rewards + np.where(drawn.over, 0.0, later)
        made = np.hstack([own[picks] for own, picks in zip(CHOICES, drawn.picks.T, strict=True)])
        model = HistGradientBoostingRegressor(max_iter=150, max_leaf_nodes=63, min_samples_leaf=40, random_state=0)
        self.model = model.fit(np.hstack([drawn.observations, made]), targets)


def steer(trees: Trees, runs: Sequence[ControlRun], epsilon: float, rng: np.random.Generator) -> list[Episode]:
    """Make a run of each game by the trees' values, with random picks at a rate of ``epsilon``."""
    seen, made = [], []
    for run in runs:
        run.restart()
    for _ in runs[0].marks:
        seen.append(np.stack([run.observe() for run in runs]))
        best = trees.values(seen[-1]).argmax(axis=1)
        random = rng.random(len(runs)) < epsilon
        made.append(PICKS[np.where(random, rng.integers(len(PICKS), size=len(runs)), best)])
        for run, picks in zip(runs, made[-1], strict=True):
            run.step(picks)
    return [run.episode(np.stack([picks[k] for picks in made])) for k, run in enumerate(runs)]


def train(games: Sequence[rlccfr.GameTree], seed: int = 0) -> Trees:
    """Return trees that were trained on runs of these games."""
    rng, trees = np.random.default_rng(seed), Trees()
    runs = [ControlRun(game, Controller.untrained(CHOICES, ()), HORIZON) for game in games]
    decisions = len(runs[0].marks)
    memory = ReplayBuffer([decisions] * len(runs), len(runs) * RUNS * ROUNDS, CAP)
    for number in range(ROUNDS):
        for _ in range(RUNS):
            if number == 0:
                episodes = [run.episode(held_picks(decisions, rng)) for run in runs]
            else:
                episodes = steer(trees, runs, EPSILONS[number - 1], rng)
            for task, episode in enumerate(episodes):
                memory.add(task, episode)
        if number == 0:
            memory.set_averages()
        trees.fit(memory, rng)
        print(number, np.mean([episode.errors[-1] for episode in episodes]), file=sys.stderr, flush=True)
    return trees


def main(splits: Sequence[str]) -> None:
    """Train, and add a row for each game of the splits."""
    if not splits or not set(splits) <= {"validation", "test"}:
        sys.exit("usage: python -m benchmarks.trees validation|test ...")
    trees, rng = train([rlccfr.load_game(name) for name in control_games("train")]), np.random.default_rng(0)
    for split in splits:
        for name in control_games(split):  # type: ignore[arg-type]
            game = rlccfr.load_game(name, max_histories=control.MOST_TEST)
            run = ControlRun(game, Controller.untrained(CHOICES, ()), HORIZON, keep=True)
            error = float(steer(trees, [run], 0.0, rng)[0].errors[-1])
            control.add(split, HORIZON, game, [{"contender": NAME, "iterations": HORIZON, "error": error}])


if __name__ == "__main__":
    main(sys.argv[1:])
