"""Teams that begin with what was learned on other games."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.baselines.informed_search import informed_search
from rlccfr.agents import Task, choose, informed_team
from rlccfr.agents.team.informed import CANDIDATES, LEAST_CANDIDATES, _ladder
from rlccfr.catalog import Catalog
from rlccfr.envs import Budget, LiveEvaluator
from rlccfr.envs.reward import PRESETS
from rlccfr.errors import ComponentError, RLCCFRError

NEW = "kuhn(cards=7)"
BUDGET = Budget("iterations", 400)
ACCURACY = PRESETS["accuracy"]


def team_for(catalog, evaluator=None):
    return informed_team(NEW, BUDGET, catalog=catalog, evaluator=evaluator or LiveEvaluator(keep_runs=8))


def weights(team):
    return [array for selector in team.selectors for array in selector.state().values()]


def test_it_ranks_all_algorithms_before_it_has_measured_any():
    team = team_for("tabular")
    ranked = team.ranked()
    assert set(ranked) == set(Catalog.tabular())
    assert team.evaluations == 0
    assert ranked[0].sampler == "none"  # exact passes, on so small a game
    assert team.ranked(NEW, Budget("seconds", 0.01), PRESETS["paper-speed"]) != ranked


def test_an_algorithm_is_worth_what_the_most_sceptical_agent_thinks():
    team = team_for("tabular")
    env = team.env_for()
    env.reset()

    def least(cell):
        rule, sampler, abstraction = team.catalog.index(cell)
        values = (team.q_values(env)[rule], team.q_values(env, (rule,))[sampler])
        return min(*values, team.q_values(env, (rule, sampler))[abstraction])

    values = list(map(least, team.ranked()))
    assert values == sorted(values, reverse=True)


def test_components_that_the_networks_do_not_know_come_last():
    ranked = team_for("paper").ranked()
    assert set(ranked[: len(Catalog.tabular())]) <= set(Catalog.tabular())
    with pytest.raises(ComponentError, match="the catalog lacks"):
        team_for(Catalog(("cfr",), ("none",), ("none",)))


@pytest.mark.parametrize("evaluations", [0.1, 1, 3, 7.5, 14, 100, 1000])
def test_a_ladder_takes_no_more_than_it_may(evaluations):
    ladder = _ladder(336, evaluations)
    assert ladder[0][0] == min(336, max(LEAST_CANDIDATES, math.ceil(CANDIDATES * evaluations)))
    counts, shares = zip(*ladder, strict=True)
    assert list(counts) == sorted(counts, reverse=True)
    assert list(shares) == sorted(shares)
    assert shares[-1] <= 1
    spent = sum(count * (share - before) for (count, share), before in zip(ladder, (0.0, *shares), strict=False))
    assert spent <= evaluations + 1e-9


@pytest.mark.slow
def test_its_picks_climb_a_ladder_and_the_networks_learn_from_their_runs():
    evaluator = LiveEvaluator(keep_runs=8)
    team = team_for("tabular", evaluator)
    before = weights(team)
    first = team.ranked()[:LEAST_CANDIDATES]
    shares = []
    halving = choose(team, 1, learn=False, progress=shares.append)
    assert set(halving.longest_runs) == set(first)
    assert halving.rungs == ((4, Budget("iterations", 50)), (2, Budget("iterations", 150)))
    assert halving.spent == pytest.approx(1.0)
    assert shares[-1] == 1.0
    assert team.evaluations == len(first)
    assert {situation.budget.amount for situation, _, _ in team.experience} == {50, 150}
    assert all(map(np.array_equal, before, weights(team)))
    assert choose(team, 1).cell == halving.cell  # nothing runs again, and now the networks learn
    assert not all(map(np.array_equal, before, weights(team)))
    task = Task(evaluator, Catalog.tabular(), NEW, BUDGET, ACCURACY)
    assert informed_search(task, evaluations=1).cell == halving.cell


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf])
def test_no_time_is_refused(wrong):
    with pytest.raises(RLCCFRError, match="evaluations must be a positive, finite number"):
        choose(team_for("tabular"), wrong)


def test_several_segments_are_refused():
    team = informed_team(NEW, BUDGET, catalog="tabular", segments=2)
    with pytest.raises(RLCCFRError, match="give segments=1, not 2"):
        choose(team, 1)
