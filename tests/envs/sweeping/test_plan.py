from __future__ import annotations

import pytest

import rlccfr
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.sweeping.plan import Job, Limits, jobs


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


@pytest.mark.parametrize("wrong", [{"iterations": 0}, {"seconds": -1.0}, {"timeout": 0.0}, {"megabytes": -1}])
def test_senseless_limits_are_refused(wrong):
    with pytest.raises(rlccfr.BudgetError, match=next(iter(wrong))):
        Limits(**wrong)


def test_every_catalog_takes_the_networks_preset():
    rules = Catalog.extended().with_networks("sweep").update_rules
    assert "deep_dcfr(preset='sweep')" in rules
    assert not any(rule.startswith("deep_") and "sweep" not in rule for rule in rules)
    assert len(rules) == len(Catalog.extended().update_rules)
