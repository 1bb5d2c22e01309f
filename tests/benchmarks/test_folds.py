from __future__ import annotations

import numpy as np
import pytest

from benchmarks import folds
from benchmarks.baselines import kernel_regression
from benchmarks.methods import SECOND
from benchmarks.teams import others
from rlccfr.agents import shipped
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.catalog.families import TRAIN
from rlccfr.envs.reward import PRESETS, mean_reward


@pytest.mark.parametrize("fold", folds.FOLDS)
def test_choosers_are_judged_on_members_to_learn_on_that_they_did_not_learn_on(fold):
    own, judged_on = map(set, folds.split(fold))
    assert own
    assert judged_on
    assert not own & judged_on
    assert own | judged_on <= set(TRAIN)


def test_every_game_is_judged_on_once_by_thirds_and_once_by_families():
    for name in ("third", "family"):
        judged_on = [game for fold in folds.FOLDS if fold.startswith(name) for game in folds.split(fold)[1]]
        assert sorted(judged_on) == sorted(TRAIN)


@pytest.mark.slow
def test_the_regression_alone_knows_the_games_that_it_is_of(monkeypatch):
    monkeypatch.setattr(kernel_regression, "NOISE", 1e-9)
    games = ("kuhn(cards=3)", "kuhn(cards=5)", "leduc(ranks=3,suits=1,raises=1)")
    budget, preset = SECOND, PRESETS["accuracy"]
    regression = folds.learned("kernel regression", games)
    for game in games:
        runs = Evidence.measured(others(), shipped.tabular(), game, budget).choosing
        rewards = {cell: np.mean([mean_reward(run, preset) for run in own]) for cell, own in runs.items()}
        assert rewards[regression.pick(game, budget, preset)] == pytest.approx(max(rewards.values()))
