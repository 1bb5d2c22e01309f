"""Trees in place of networks."""

from __future__ import annotations

import numpy as np
import pytest
from support import game

from benchmarks import trees
from rlccfr.agents.control.collecting import random_picks
from rlccfr.agents.control.replay_buffer import ReplayBuffer
from rlccfr.components.controller import OBSERVATION
from rlccfr.envs.control.run import ControlRun, Episode

pytestmark = pytest.mark.slow


def test_trees_find_picks_that_are_good_only_together():
    rng, memory, found = np.random.default_rng(0), ReplayBuffer([1], 20_000, 100.0), trees.Trees()
    seen = np.zeros((1, len(OBSERVATION)))
    for _ in range(20_000):
        picks = random_picks(1, rng, 1.0)
        together = picks[0, 1] == 3 and picks[0, 2] == 5
        memory.add(0, Episode(seen, picks, np.array([0.0, -4.0 if together else 0.3])))
    found.fit(memory, rng)
    best = trees.PICKS[found.values(seen).argmax(axis=1)[0]]
    assert best[1:].tolist() == [3, 5]


def test_training_and_steering(monkeypatch):
    for name, value in (("HORIZON", 40), ("ROUNDS", 2), ("EPSILONS", [0.3]), ("RUNS", 2), ("SAMPLE", 300)):
        monkeypatch.setattr(trees, name, value)
    learned = trees.train([game("kuhn")])
    run = ControlRun(game("kuhn"), trees.Controller.untrained(trees.CHOICES, ()), 40)
    one, other = (trees.steer(learned, [run], 0.0, np.random.default_rng(seed))[0] for seed in (0, 1))
    assert np.array_equal(one.picks, other.picks)
    chosen = [trees.PICKS[learned.values(row[None]).argmax()].tolist() for row in one.observations]
    assert chosen == one.picks.tolist()
