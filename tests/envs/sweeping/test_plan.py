from __future__ import annotations

import numpy as np
import pytest

import rlccfr
from rlccfr.catalog import Catalog, Cell
from rlccfr.components.text import parse
from rlccfr.envs.sweeping.plan import PATIENCE, Job, Limits, jobs
from rlccfr.registry import update_rules


@pytest.mark.slow
def test_each_algorithm_has_the_seeds_that_make_a_difference():
    planned = jobs(
        {"kuhn": range(5), "goofspiel": range(3)}, Catalog.paper().with_networks("sweep"), model_seeds=(0, 1)
    )
    seeds = {}
    for job in planned:
        seeds.setdefault((job.game, *job.cell), []).append(job.seed)
    assert len(seeds) == 2 * 336
    assert seeds["kuhn", "dcfr", "none", "none"] == [0]
    assert seeds["kuhn", "dcfr", "external", "none"] == [0, 1, 2, 3, 4]
    assert seeds["kuhn", "dcfr", "none", "rcfr"] == [0, 1]
    assert seeds["kuhn", "deep_cfr(preset='sweep')", "none", "none"] == [0, 1]
    assert seeds["goofspiel", "dcfr", "chance", "none"] == [0]  # its prizes come in a fixed order
    assert len({job.id for job in planned}) == len(planned)


def test_a_runs_id_is_that_of_what_it_measures():
    cell = Cell("cfr", "external", "none")
    job = Job("kuhn", cell, 0, Limits())
    assert job.id == Job("kuhn", cell, 0, Limits(timeout=1.0, megabytes=99)).id
    assert job.id != Job("kuhn", cell, 1, Limits()).id
    assert job.id != Job("kuhn", cell, 0, Limits(seconds=2.0)).id
    assert job.id != Job("kuhn", cell, 0, Limits(further=2_000)).id
    assert job.id == Job("kuhn", cell, 0, Limits(further=1_000)).id
    deep = Cell("deep_cfr(preset='sweep')", "none", "none")  # its number of iterations is fixed
    assert Job("kuhn", deep, 0, Limits()).id == Job("kuhn", deep, 0, Limits(further=2_000)).id


def test_a_run_goes_on_to_its_further_iterations_if_these_are_quick():
    limits = Limits(iterations=100, further=10_000)
    assert limits.goal(0.9 * PATIENCE / 10_000) == 10_000
    assert limits.goal(1.1 * PATIENCE / 10_000) == 100
    assert Limits(iterations=100, further=50).goal(1e-9) == 100
    assert Limits(iterations=100).goal(1e-9) == 100


@pytest.mark.parametrize(
    "wrong", [{"iterations": 0}, {"further": -1}, {"seconds": -1.0}, {"timeout": 0.0}, {"megabytes": -1}]
)
def test_senseless_limits_are_refused(wrong):
    with pytest.raises(rlccfr.BudgetError, match=next(iter(wrong))):
        Limits(**wrong)


def test_all_of_the_public_catalog_runs_on_public_trees():
    tree = rlccfr.load_game("holdem(ranks=4,suits=2)")
    assert Catalog.public().shape == (10, 5, 2)
    for cell in Catalog.public():
        rlccfr.Solver(tree, *cell).run(iterations=1, curve=False)
    for rule in set(Catalog.extended_tabular().update_rules) - set(Catalog.public().update_rules):
        with pytest.raises(rlccfr.errors.RLCCFRError, match="changes regrets or policies by functions"):
            rlccfr.Solver(tree, rule, "none")


@pytest.mark.slow
def test_all_of_the_catalog_of_buckets_runs_there():
    game = rlccfr.load_game("holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=2)")
    assert Catalog.buckets().shape == (10, 3, 1)
    for cell in Catalog.buckets():
        rlccfr.Solver(game, *cell).run(iterations=1, curve=False)


def test_schedules_are_points_of_one_rule():
    catalog = Catalog.schedules()
    assert catalog.shape == (105, 1, 1)
    assert len(set(catalog.update_rules)) == 105
    assert {parse(id)["id"] for id in catalog.update_rules} == {"scheduled"}
    assert update_rules.resolve("scheduled(alpha=1.5,beta=0.0,floor=False,gamma=3.5,optimism=0.2)").floor == -np.inf
    assert "scheduled(alpha=1.5,beta=0.0,floor=False,gamma=3.5,optimism=0.2)" in catalog.update_rules


def test_every_catalog_takes_the_networks_preset():
    rules = Catalog.extended().with_networks("sweep").update_rules
    assert "deep_dcfr(preset='sweep')" in rules
    assert not any(rule.startswith("deep_") and "sweep" not in rule for rule in rules)
    assert len(rules) == len(Catalog.extended().update_rules)
