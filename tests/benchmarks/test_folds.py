from __future__ import annotations

import pytest

from benchmarks import folds
from rlccfr.catalog.games import TRAIN
from rlccfr.envs.cells import compiled


@pytest.mark.parametrize("fold", folds.FOLDS)
def test_teams_are_judged_on_members_to_learn_on_that_they_did_not_learn_on(fold):
    own, judged_on = map(set, folds.split(fold))
    assert own
    assert judged_on
    assert not own & judged_on
    assert own | judged_on <= set(TRAIN)


def test_every_game_is_judged_on_once_by_thirds_and_once_by_families():
    for name in ("third", "family"):
        judged_on = [game for fold in folds.FOLDS if fold.startswith(name) for game in folds.split(fold)[1]]
        assert sorted(judged_on) == sorted(TRAIN)


def test_larger_games_are_more_than_three_times_as_large():
    own, judged_on = ([compiled(game).num_histories for game in games] for games in folds.split(folds.LARGER))
    assert 3 * max(own) < min(judged_on)
