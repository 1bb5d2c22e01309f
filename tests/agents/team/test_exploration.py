from __future__ import annotations

import numpy as np
import pytest

from rlccfr.agents.team.exploration import greedy_triple, next_to_measure
from rlccfr.envs.reward import Worth
from rlccfr.errors import RLCCFRError

SHAPE = (4, 3, 2)
EVERYWHERE = np.ones(SHAPE, bool)
VALUES = [np.array([0.0, 3.0, 2.0, 1.0]), np.array([1.0, 0.0, 2.0]), np.array([0.0, 1.0])]


def q(picks):
    return VALUES[len(picks)]


def test_greedy_picks_in_turn():
    assert greedy_triple(q, EVERYWHERE) == (1, 2, 1)
    assert greedy_triple(q, EVERYWHERE, (3,)) == (3, 2, 1)
    assert greedy_triple(q, EVERYWHERE, (3, 0, 0)) == (3, 0, 0)


def test_later_agents_know_the_earlier_picks():
    def reply(picks):
        return np.eye(3)[2] if picks == (1,) else np.eye(3)[0] if len(picks) == 1 else VALUES[len(picks)]

    assert greedy_triple(reply, EVERYWHERE)[1] == 2
    assert greedy_triple(reply, EVERYWHERE, (0,))[1] == 0


def test_greedy_keeps_to_what_is_allowed():
    among = np.zeros(SHAPE, bool)
    among[0, 1, 0] = among[2, 0, 1] = True
    assert greedy_triple(q, among) == (2, 0, 1)


def test_every_component_is_tried_first():
    generator = np.random.default_rng(0)
    for _ in range(20):
        measured = {}
        for _ in range(4):  # length of the longest axis, so fewer triples can't cover it
            triple = next_to_measure(q, measured, EVERYWHERE, 0.0, generator)
            measured[triple] = Worth(1.0, 0.0)
        assert [len({triple[axis] for triple in measured}) for axis in range(3)] == list(SHAPE)


def covered():
    rewards = {(0, 0, 0): 0.1, (1, 1, 0): 0.2, (2, 0, 0): 0.9, (3, 2, 0): 0.3, (0, 1, 1): 0.4}
    return {triple: Worth(1.0, reward) for triple, reward in rewards.items()}


def test_then_the_greedy_triple_then_deviations_of_one_agent_from_the_best():
    generator = np.random.default_rng(0)
    measured = covered()
    triple = next_to_measure(q, measured, EVERYWHERE, 0.0, generator)
    assert triple == (1, 2, 1)
    measured[triple] = Worth(1.0, 0.5)  # the agents were wrong: the best is still (2, 0, 0)
    around = {(0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 1, 0), (2, 2, 0), (2, 0, 1)} - set(measured)
    seen = set()
    for _ in range(len(around)):
        triple = next_to_measure(q, measured, EVERYWHERE, 0.0, generator)
        measured[triple] = Worth(1.0, 0.0)
        seen.add(triple)
    assert seen == around
    beyond = next_to_measure(q, measured, EVERYWHERE, 0.0, generator)  # no neighbour of the best is left
    assert beyond not in measured


def test_nothing_is_measured_twice_and_nothing_that_can_not_run():
    available = EVERYWHERE.copy()
    available[2] = False
    generator = np.random.default_rng(1)
    measured = {}
    for count in range(int(available.sum())):
        assert len(measured) == count
        triple = next_to_measure(q, measured, available, 0.3, generator)
        measured[triple] = Worth(float(generator.random() < 0.5), generator.random())
    assert all(available[triple] for triple in measured)
    with pytest.raises(RLCCFRError, match="nothing left"):
        next_to_measure(q, measured, available, 0.3, generator)


def test_epsilon_one_explores_at_random():
    generator = np.random.default_rng(0)
    drawn = {next_to_measure(q, covered(), EVERYWHERE, 1.0, generator) for _ in range(400)}
    assert len(drawn) == EVERYWHERE.sum() - len(covered())
