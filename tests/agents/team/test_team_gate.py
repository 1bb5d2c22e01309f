"""Gates of a team: after 24 of 112 evaluations, at least random search's score and 90 % of the best."""

from __future__ import annotations

import numpy as np
import pytest

from rlccfr.agents import SelectorTeam, measure_all, random_search
from rlccfr.agents.baselines.task import Task, rewards_of
from rlccfr.agents.judging.scores import bootstrap_interval, interquartile_mean, normalised_score
from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import preset

EVALUATIONS = 24
BUDGET = Budget("iterations", 1000)
PRESET = preset("paper-kuhn")


def scores_of(rewards):
    mean, best = float(np.mean(list(rewards.values()))), max(rewards.values())
    return {cell: normalised_score(reward, mean, best) for cell, reward in rewards.items()}


def summary(name, scores):
    low, high = bootstrap_interval([scores], lambda values: float(values.mean()))
    return {
        "choice by": name,
        "mean normalised score": float(np.mean(scores)),
        "95 % from": low,
        "to": high,
        "interquartile mean": interquartile_mean(scores),
        "least": min(scores),
    }


@pytest.mark.verify
@pytest.mark.alone
def test_team_on_kuhn(figures):
    catalog, evaluator = Catalog.tabular(), LiveEvaluator()
    score = scores_of(rewards_of(measure_all(evaluator, catalog, "kuhn", BUDGET), PRESET)).__getitem__

    trained, untrained, searched = [], [], []
    for seed in range(10):
        team = SelectorTeam("kuhn", BUDGET, preset=PRESET, catalog=catalog, evaluator=evaluator, seed=seed)
        untrained.append(score(team.recommend().cell))
        team.train(EVALUATIONS)
        assert team.evaluations == EVALUATIONS
        trained.append(score(team.recommend().cell))
        found = random_search(Task(evaluator, catalog, "kuhn", BUDGET, PRESET), evaluations=EVALUATIONS, seed=seed)
        searched.append(score(found.cell))
    generator = np.random.default_rng(0)  # ten searches are few, so a mean over many is a second yardstick
    cells = np.array([score(cell) for cell in catalog])
    many = [float(generator.choice(cells, EVALUATIONS, replace=False).max()) for _ in range(5000)]

    rows = [
        summary("the team", trained),
        summary("random search, the same 10 seeds", searched),
        summary("random search, 5,000 seeds", many),
        summary("an untrained team", untrained),
    ]
    figures(
        f"Choices on Kuhn: {EVALUATIONS} evaluations of {len(catalog)} algorithms, 10 seeds",
        rows,
        f"{BUDGET}, preset {PRESET.name}. The best algorithm scores 1, and all algorithms 0 on average. A "
        "team's pick is the argmax of its Q-networks; random search recommends the best algorithm that it measured.",
    )
    assert np.mean(trained) >= max(np.mean(searched), np.mean(many))
    assert np.mean(trained) >= 0.9
    assert np.mean(untrained) < 0.9


ELSEWHERE = [
    ("goofspiel", Budget("iterations", 1000), "accuracy"),
    ("goofspiel", Budget("iterations", 1000), "paper-goofspiel"),
    ("kuhn", Budget("seconds", 0.1), "paper-speed"),
    ("kuhn", Budget("seconds", 0.1), "accuracy"),
    ("leduc", Budget("iterations", 1000), "accuracy"),
    ("leduc", Budget("iterations", 1000), "paper-leduc"),
]


@pytest.mark.verify
@pytest.mark.alone
def test_teams_elsewhere(figures):
    """A team beats random search on average over games, budgets and weights for which it was not tuned."""
    catalog, evaluator, rows = Catalog.tabular(), LiveEvaluator(), []
    for game, budget, name in ELSEWHERE:
        scores = scores_of(rewards_of(measure_all(evaluator, catalog, game, budget), preset(name)))
        trained = []
        for seed in range(5):
            team = SelectorTeam(game, budget, preset=name, catalog=catalog, evaluator=evaluator, seed=seed)
            team.train(EVALUATIONS)
            trained.append(scores[team.recommend().cell])
        generator = np.random.default_rng(0)
        many = [generator.choice(list(scores.values()), EVALUATIONS, replace=False).max() for _ in range(5000)]
        rows.append(
            {"game": game, "budget": str(budget), "preset": name, "team, 5 seeds": float(np.mean(trained)),
             "least": min(trained), "random search, 5,000 seeds": float(np.mean(many))}
        )  # fmt: skip
    figures(f"Choices on other games, budgets and weights: mean normalised score, {EVALUATIONS} evaluations", rows)
    team, search = (np.mean([row[name] for row in rows]) for name in ("team, 5 seeds", "random search, 5,000 seeds"))
    assert team > search
