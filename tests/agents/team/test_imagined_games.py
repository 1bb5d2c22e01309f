from __future__ import annotations

import math

import numpy as np

from rlccfr.agents.team.imagined_games import REAL, Imagination
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.request import Budget

GAMES, LENGTH = 5, len(GameFeatures._fields)
FEATURES = np.random.default_rng(0).random((GAMES, LENGTH))
BUDGETS = (Budget("seconds", 0.1), Budget("seconds", 10), Budget("iterations", 100))
COSTS = np.random.default_rng(1).uniform(0.4, 0.6, (len(BUDGETS), GAMES, 4, 2))


def test_games_are_real_or_lie_beside_real_ones():
    imagination, count = Imagination(FEATURES, BUDGETS, COSTS), 4000
    generator = np.random.default_rng(3)
    games, circumstances = generator.integers(GAMES, size=count), generator.integers(len(BUDGETS), size=count)
    features, costs = imagination.draw(games, circumstances, np.random.default_rng(1))
    real = (features == FEATURES[games]).all(axis=1)
    share = REAL + (1 - REAL) / GAMES  # the drawn difference may be one between a game and itself
    assert abs(real.mean() - share) < 4 * math.sqrt(share * (1 - share) / count)
    for values in (features, costs):
        assert values.min() >= 0
        assert values.max() <= 1
    np.testing.assert_array_equal(costs, imagination.costs(features, circumstances))


def test_a_single_game_is_all_that_can_be_drawn_near_it():
    alone = Imagination(FEATURES[:1], BUDGETS[2:], COSTS[2:, :1])
    features, costs = alone.draw(np.zeros(2, np.intp), np.zeros(2, np.intp), np.random.default_rng(4))
    np.testing.assert_array_equal(features, FEATURES[[0, 0]])
    np.testing.assert_allclose(costs, COSTS[2, [0, 0]])
