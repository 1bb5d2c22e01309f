"""Games held by their public trees, in environments and sweeps."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rlccfr
from rlccfr.agents import Hyperparameters, SelectorTeam
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import ControlEnv, LiveEvaluator, SelectorEnv
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.games.compiled_games import compiled

GAME = "holdem(ranks=4,suits=2,private=2,flop=2)"
SMALL = Catalog(("cfr", "dcfr"), ("none", "public_chance", "external"), ("none", "cfr_br"))
BUDGET = {"unit": "iterations", "amount": 20}


@pytest.mark.slow
def test_an_environment_measures_a_public_tree_game():
    env = SelectorEnv(GAME, BUDGET, catalog=SMALL)
    check_env(env, skip_render_check=True)
    env.reset(seed=0)
    *_, info = env.step(np.array([1, 1, 0]))
    assert info["status"] == "ok"
    solver = rlccfr.Solver(compiled(GAME), "dcfr", "public_chance")
    assert info["exploitability"] == solver.run(iterations=20).exploitability


def test_what_does_not_run_there_is_unavailable():
    env = SelectorEnv(GAME, BUDGET, catalog=SMALL)
    env.reset(seed=0)
    *_, info = env.step(np.array([0, 2, 0]))
    assert info["status"] == "unavailable"


def test_features_of_a_public_tree_game_are_in_range():
    found = GameFeatures.of(compiled(GAME))
    assert all(0 <= value <= 1 for value in found)
    assert len(set(found)) > len(found) / 2


def test_exact_passes_are_deterministic_and_draws_are_not():
    tree = compiled(GAME)
    assert is_deterministic((Cell("cfr", "none", "cfr_br"),), tree)
    assert not is_deterministic((Cell("cfr", "public_chance", "none"),), tree)


@pytest.mark.slow
def test_a_team_learns_on_a_public_tree_game():
    team = SelectorTeam(GAME, BUDGET, catalog=SMALL, evaluator=LiveEvaluator(), seed=3,
                        hyperparameters=Hyperparameters(settling=4, gradient_steps=4))  # fmt: skip
    team.train(4)
    assert team.pick() in set(SMALL)


def test_a_controller_refuses_it_in_one_line():
    with pytest.raises(rlccfr.GameError, match="needs a game's histories"):
        ControlEnv(GAME)
