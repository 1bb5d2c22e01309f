from __future__ import annotations

import numpy as np
import pytest
from support import game

from rlccfr.catalog import make
from rlccfr.networks.inputs import inputs_of
from rlccfr.networks.learners import Advantages

TREE = game("kuhn")
MASS = np.linspace(0.1, 1.2, 12)
GAIN = np.random.default_rng(0).normal(size=24)
FIRST = slice(0, 12)
WIDE = np.repeat(MASS, 2)


def advantages(rule: str, **settings) -> Advantages:
    made = make(rule, **{"model": "table", "memory": 1000} | settings)
    return Advantages(TREE, 0, made, inputs_of(TREE, 0, per_sequence=False), [0])


def test_v_is_the_mean_weighted_by_mass():
    learner = advantages("deep_cfr")
    learner.observe(MASS, GAIN, 1.0, 1.0)
    learner.observe(3 * MASS, 5 * GAIN, 1.0, 1.0)
    learner.learn()
    assert learner.predicted_regrets() == pytest.approx((6 * GAIN / (4 * WIDE))[FIRST])


def test_negative_advantages_are_relabelled_with_the_ratio_of_the_discounts():
    """N V is the regret: positive parts are discounted by 0.8 twice, negative ones by 0.5 twice or floored."""
    for rule, negative in (("deep_dcfr", 0.25), ("deep_cfr_plus", 0.0)):
        learner = advantages(rule)
        learner.observe(MASS, GAIN, 1.0, 1.0)
        learner.learn()
        learner.observe(MASS, 0 * GAIN, 0.8, 0.5)
        learner.observe(0 * MASS - 1, 0 * GAIN, 0.8, 0.5)  # no infoset was visited
        learner.learn()
        regret = np.where(GAIN > 0, 0.64 * GAIN, negative * GAIN)
        assert learner.predicted_regrets() == pytest.approx((regret / (0.64 * WIDE + 0.8 * WIDE))[FIRST])


def test_where_no_advantage_is_positive_the_best_is_the_best_unweighted():
    """ECFR's factors favour actions that did well; multiplied by a negative advantage they would do the reverse."""
    learner = advantages("deep_ecfr")
    learner.observe(np.ones(12), np.tile([-0.2, -0.1], 12), 1.0, 1.0)
    learner.learn()
    learner.observe(np.ones(12), np.tile([0.1, -0.1], 12), 1.0, 1.0)
    learner.learn()
    rows = learner.predicted_regrets()
    assert (rows < 0).all()
    assert rows == pytest.approx(learner._value_learner.values)
    assert rows == pytest.approx(learner.predicted_regrets_of(learner.snapshot()))


def test_bootstrapped_iterations_of_one_fit_all_count():
    one, four = (advantages("deep_cfr_plus", mode="bootstrapped") for _ in range(2))
    for learner, every in ((one, 1), (four, 4)):
        for t in range(8):
            learner.observe(MASS, np.abs(GAIN), 1.0, 1.0)
            if t % every == every - 1:
                learner.learn()
    assert one.predicted_regrets() == pytest.approx(four.predicted_regrets())
    assert one.predicted_regrets() == pytest.approx((8 * np.abs(GAIN) / WIDE)[FIRST])


def test_the_past_is_discounted_but_never_dropped():
    learner = advantages("deep_lcfr", memory=1)
    learner.enter(MASS, GAIN, 7.0)
    assert learner.predicted_regrets() == pytest.approx((GAIN / WIDE)[FIRST])
    for _ in range(50):
        learner.observe(MASS, GAIN, 0.9, 0.9)
        learner.learn()
    past = learner.state()["value.past_mass"]
    assert past[:6] == pytest.approx(0.9**50 * MASS[:6])


def test_learners_resume():
    whole, first, second = (advantages("deep_ecfr_plus", model="mlp", memory=20, train_every=2) for _ in range(3))
    for t in range(9):
        for learner in (whole, first if t < 5 else second):
            learner.observe(MASS, np.roll(GAIN, t), 0.9, 0.5)
            if t % 2:
                learner.learn()
        if t == 4:
            second.restore(first.state())
    for name, array in whole.state().items():
        assert np.array_equal(array, second.state()[name]), name
