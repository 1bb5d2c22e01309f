from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rlccfr.agents import SelectorTeam
from rlccfr.agents.predicting import kernel_regression
from rlccfr.agents.team.experience import Outcome, Situation
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.learning import imagination
from rlccfr.agents.team.learning.finished_values import DRAWS, FinishedValues
from rlccfr.agents.team.learning.records import Records
from rlccfr.agents.team.pretraining import measure_everything, train_on_table
from rlccfr.agents.team.selector import Selector
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.episode import EpisodeSpec
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.observation import OBSERVATION_SIZE
from rlccfr.envs.reward import PRESETS
from rlccfr.errors import RLCCFRError

CATALOG = Catalog(("cfr", "dcfr"), ("none",), ("cfr_br", "none"))
FITTED = Hyperparameters(hidden=(32, 32), settling=20, learner="finished_values")
BUDGET, UNIFORM = Budget("iterations", 10), 0.5
ERRORS = {("cfr", "cfr_br"): 0.2, ("cfr", "none"): 0.9, ("dcfr", "cfr_br"): 0.8, ("dcfr", "none"): 0.0}
"""Cost e by rule and abstraction, linear in log exploitability. Algorithms with cfr_br are fast, the others slow."""

HASTY = ((1, 0), (1, 0), (0, 1))
"""Reward weights under which agent C counts speed alone, and A and B exploitability alone."""


@pytest.fixture(scope="module")
def table():
    rows = [
        {
            "game": "kuhn", **Cell(rule, "none", abstraction)._asdict(), "budget_unit": BUDGET.unit,
            "budget_amount": BUDGET.amount, "deterministic": True, "exploitability": UNIFORM * 10 ** (8 * (error - 1)),
            "uniform_exploitability": UNIFORM, "throughput": 1e5 if abstraction == "cfr_br" else 1.0,
            "reference_throughput": 1e3, "cpu_seconds": 1.0,
        }
        for (rule, abstraction), error in ERRORS.items()
    ]  # fmt: skip
    return TableEvaluator(pd.DataFrame(rows))


@pytest.mark.slow
def test_each_agent_does_its_best_given_what_the_later_ones_do(table):
    settings = replace(FITTED, gradient_steps=100)
    team = train_on_table(EpisodeSpec.parse("kuhn", budget=BUDGET, catalog=CATALOG, evaluator=table), settings=settings)
    assert team.cost == (4, 4.0)
    assert team.pick("kuhn", BUDGET, "accuracy") == Cell("dcfr", "none", "none")
    assert team.pick("kuhn", BUDGET, HASTY) == Cell("cfr", "none", "cfr_br")


@pytest.mark.slow
def test_for_unseen_games_each_agent_does_what_is_best_for_all(table):
    """By its own reward, agent C would take the fast abstraction, which costs the others more than C gains."""
    settings = replace(FITTED, gradient_steps=100)
    weights, found = ((1, 0), (1, 0), (0, 0.1)), []
    for unseen in (False, True):
        team = train_on_table(
            EpisodeSpec.parse("kuhn", budget=BUDGET, catalog=CATALOG, evaluator=table), settings=settings, unseen=unseen
        )
        found.append(team.pick("kuhn", BUDGET, weights))
    assert found == [Cell("cfr", "none", "cfr_br"), Cell("dcfr", "none", "none")]


def test_what_is_imagined_of_a_real_game_is_its_own(monkeypatch):
    """With only real games and no noise, costs are the measured ones, in any order of games, budgets and seeds."""
    monkeypatch.setattr(imagination, "REAL", 1.0)
    monkeypatch.setattr(kernel_regression, "NOISE", 1e-9)
    games, generator = ("leduc(ranks=3,suits=1,raises=1)", "kuhn(cards=5)", "kuhn"), np.random.default_rng(0)
    budgets = (Budget("seconds", 1.0), Budget("iterations", 10), Budget("seconds", 0.1))
    rows = [
        {
            "game": game, **cell._asdict(), "budget_unit": budget.unit, "budget_amount": budget.amount, "seed": seed,
            "exploitability": generator.uniform(1e-4, 0.1), "uniform_exploitability": UNIFORM, "throughput": 1e3,
            "reference_throughput": 1e3, "cpu_seconds": 1.0,
        }
        for game in games for cell in CATALOG for budget in budgets for seed in (0, 1)
    ]  # fmt: skip
    table = TableEvaluator(pd.DataFrame(rows))
    team = SelectorTeam(games, budgets, preset=HASTY, catalog=CATALOG, engine_seeds=(1, 0), evaluator=table)
    measure_everything(team)
    FinishedValues(Records(team, unseen=True)).round(1.0, 1)
    buffer, weights = team.selectors[2].buffer, np.mean(HASTY, axis=0)
    assert buffer.size() == len(rows)
    expected = sorted(
        (*outcome.observations[2], CATALOG.index(cell)[2], 1 - np.dot(outcome.costs, weights))
        for _, cell, outcome in team.experience
    )
    stored = zip(buffer.observations[:, 0], buffer.actions[:, 0, 0], buffer.rewards[:, 0], strict=True)
    found = sorted((*seen, *rest) for seen, *rest in list(stored)[: buffer.size()])
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.slow
def test_to_learn_for_unseen_games_takes_everything(table):
    team = SelectorTeam("kuhn", BUDGET, catalog=CATALOG, evaluator=table)
    team.train(3)
    with pytest.raises(RLCCFRError, match="every algorithm on every game"):
        Records(team, unseen=True)


def test_memories_hold_every_choice_with_its_reward(table):
    team = SelectorTeam("kuhn", BUDGET, preset=tuple(PRESETS.values()), catalog=CATALOG, evaluator=table)
    measure_everything(team)
    assert team.evaluations == 4
    FinishedValues(Records(team)).round(1.0, 1)
    a, b, c = (selector.buffer for selector in team.selectors)
    assert (a.size(), b.size(), c.size()) == (DRAWS * 2, DRAWS * 2, DRAWS * 4)
    speed = {"cfr_br": 1 / (1 + 1e5 / 1e3), "none": 1 / (1 + 1 / 1e3)}  # cost s of each abstraction
    for agent, buffer in enumerate((a, b, c)):
        assert buffer.dones[: buffer.size()].all()
        possible = {
            (cell[agent], round(1 - (alpha * e + beta * speed[abstraction]), 4))
            for (rule, abstraction), e in ERRORS.items()
            for cell in [CATALOG.index(Cell(rule, "none", abstraction))]
            for alpha, beta in {preset.weights[agent] for preset in PRESETS.values()}
        }
        stored = zip(buffer.actions[: buffer.size(), 0, 0], buffer.rewards[: buffer.size(), 0], strict=True)
        found = {(int(action), round(float(reward), 4)) for action, reward in stored}
        # An early agent meets only the algorithms that the later agents would choose; the last agent meets all.
        assert found == possible if agent == 2 else found < possible


def test_memories_that_are_too_small_hold_some_of_the_situations(table):
    settings = Hyperparameters(hidden=(8,), batch_size=8, buffer_size=9)
    team = SelectorTeam(
        "kuhn", BUDGET, preset=["accuracy", HASTY], catalog=CATALOG, evaluator=table, hyperparameters=settings
    )
    measure_everything(team)
    FinishedValues(Records(team)).round(1.0, 1)
    assert team.selectors[2].buffer.size() == 8


def test_a_refilled_memory_holds_nothing_else():
    selector = Selector(3, 2, Hyperparameters(hidden=(4,), buffer_size=4), seed=0)
    seen = np.arange(6, dtype=np.float32).reshape(2, 3)
    selector.buffer.refill(seen[:1], np.array([1]), np.array([5.0]))
    selector.buffer.refill(seen, np.array([1, 0]), np.array([0.5, -0.5]))
    assert drawn(selector) == {((0, 1, 2), 1, 0.5), ((3, 4, 5), 0, -0.5)}


def test_of_more_than_a_memory_holds_it_takes_some():
    selector = Selector(1, 9, Hyperparameters(hidden=(4,), buffer_size=4), seed=0)
    numbers = np.arange(9)
    taken = set()
    for _ in range(20):
        selector.buffer.refill(numbers[:, None].astype(np.float32), numbers, numbers / 8)
        found = drawn(selector)
        assert len(found) == 4
        assert all(seen == (action,) and worth == action / 8 for seen, action, worth in found)
        taken |= {action for _, action, _ in found}
    assert taken == set(range(9))


def drawn(selector):
    sample = selector.buffer.sample(200)
    assert sample.dones.all()
    return {
        (tuple(map(float, seen)), int(action), float(worth))
        for seen, action, worth in zip(sample.observations, sample.actions, sample.rewards, strict=True)
    }


def test_what_was_never_measured_promises_nothing(table):
    """With two segments, a pick's value is its reward plus the best measured next one, whatever networks predict."""
    team = SelectorTeam("kuhn", BUDGET, segments=2, catalog=CATALOG, evaluator=table)
    start, cell = Situation("kuhn", 0, BUDGET), Cell("dcfr", "none", "none")
    seen = np.zeros((3, OBSERVATION_SIZE), np.float32)
    for situation, done in ((start, False), (start.after(cell), True)):
        team.experience.add(situation, cell, Outcome(seen, (0.5, 0.0), done, str(done), 1.0))
    for selector, pick in zip(team.selectors, CATALOG.index(cell), strict=True):
        selector.restore({name: np.zeros_like(array) for name, array in selector.state().items()})
        output = list(selector.model.q_net.parameters())[-1]
        output.data[:] = 10.0
        output.data[pick] = 0.25
    FinishedValues(Records(team)).round(1.0, 1)
    for selector in team.selectors:
        assert sorted(worth for _, _, worth in drawn(selector)) == [0.5, 0.75]
