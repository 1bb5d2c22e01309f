from __future__ import annotations

import pytest

import rlccfr
from benchmarks.baselines.joint import joint_dqn
from rlccfr.agents import Hyperparameters
from rlccfr.agents.baselines.task import Task
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import preset

BUDGET = Budget("iterations", 1000)


def train(evaluator, catalog, evaluations, seed=0, **settings):
    task = Task(evaluator, catalog, "kuhn", BUDGET, preset("accuracy"))
    return joint_dqn(task, evaluations=evaluations, seed=seed, hyperparameters=Hyperparameters(**settings))


@pytest.mark.slow
def test_it_finds_the_best_of_few_when_it_has_seen_them_all(evaluator, small):
    found = train(evaluator, small, 100)
    assert found.cell == ("dcfr", "external", "none")
    assert found.evaluations == len(evaluator.records) == len(small)
    assert found.cpu_seconds > 0


def test_the_same_seed_gives_the_same_and_none_is_measured_twice(make_evaluator, small):
    runs = [train(make_evaluator(), small, 6, seed, gradient_steps=2, settling=5) for seed in (3, 3, 4)]
    assert list(runs[0].measurements) == list(runs[1].measurements)
    assert runs[0].cell == runs[1].cell
    assert list(runs[2].measurements) != list(runs[0].measurements)
    assert all(run.evaluations == 6 for run in runs)


def test_none_is_refused(evaluator, small):
    with pytest.raises(rlccfr.RLCCFRError, match="evaluations"):
        train(evaluator, small, 0)
