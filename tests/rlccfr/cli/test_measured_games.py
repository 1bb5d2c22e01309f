"""What a sweep lacks is said with the command that completes it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from rlccfr.catalog import Catalog
from rlccfr.cli.commands.sweep import LimitOptions, PlanOptions
from rlccfr.cli.measured_games import MeasurementOptions, measured
from rlccfr.cli.options import SeveralBudgets
from rlccfr.envs.measuring.record import make_record
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.sweeping.plan import Limits
from rlccfr.envs.sweeping.sweep import SweepPlan
from rlccfr.errors import RLCCFRError

NUMBERS = {"exploitability": 0.1, "nash_conv": 0.2, "throughput": 1e3, "reference_throughput": 1e3, "iterations": 1000}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """``store(plan, lost)`` keeps a record of every run of a plan but the last ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rlccfr.plugins.loaded.files", [])
    monkeypatch.setattr("rlccfr.plugins.loaded.plugins", False)

    def write(plan, lost):
        kept = Store("runs")
        for job in plan.jobs()[: len(plan.jobs()) - lost]:
            numbers = NUMBERS | {"iterations": job.limits.iterations}
            kept.put(make_record(job.request(), job.id, "ok", numbers=numbers))
        return kept

    return write


def message(games=None, results=None, **options):
    with pytest.raises(RLCCFRError) as caught:
        measured(games, SeveralBudgets(), MeasurementOptions(Path(results or "runs"), **options))
    return str(caught.value)


OTHER = "; if another catalog was swept, name it with --catalog and --networks"


@pytest.mark.parametrize(
    ("limits", "options", "more"),
    [
        pytest.param(Limits(), "", "", marks=pytest.mark.slow),
        (Limits(iterations=5, seconds=0.0), " --iterations 5 --seconds 0", ""),
        pytest.param(
            Limits(iterations=5, seconds=0.5),
            "",
            ", with the --iterations, --seconds and --further that it was started with",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_unfinished_sweep_tells_how_many_runs_it_lacks_and_how_to_go_on(store, limits, options, more):
    store(SweepPlan(["kuhn"], Catalog.tabular(), limits=limits), 9)
    assert message(catalog="tabular") == (
        f"""runs lacks 9 of 496 runs of the catalog 'tabular' on kuhn: continue with `rlccfr sweep "kuhn" --catalog """
        f""""tabular"{options} --store "runs"`{more}{OTHER}"""
    )


@pytest.mark.slow
def test_the_complete_games_of_an_unfinished_sweep_are_told(store):
    limits = Limits(iterations=5, seconds=0.0)
    store(SweepPlan(["kuhn"], Catalog.tabular(), 1, 1, limits=limits), 0)
    store(SweepPlan(["leduc"], Catalog.tabular(), 1, 1, limits=limits), 9)
    assert message(catalog="tabular").endswith('; or show only the complete games: "kuhn"')
    options = MeasurementOptions(Path("runs"), catalog="tabular")
    with pytest.raises(RLCCFRError, match='--game "kuhn"'):
        measured(None, SeveralBudgets(), options, game_option="--game")


@pytest.mark.slow
def test_the_printed_command_makes_the_runs_that_are_missing(store, run):
    plan = SweepPlan(["kuhn"], Catalog.tabular(), 2, 2, limits=Limits(iterations=3, seconds=0.0))
    kept = store(plan, 6)
    before = {record["cell_id"] for record in kept.records()}
    words = shlex.split(message(catalog="tabular").split("`")[1])
    assert words[:2] == ["rlccfr", "sweep"]
    assert run(*words[1:], "--no-pilot", "--workers", "1")[0] == 0
    after = {record["cell_id"] for record in kept.records()}
    assert after - before == {job.id for job in plan.jobs()[-6:]}


def test_what_was_swept_whole_is_shown(store):
    catalog = Catalog(("cfr", "dcfr"), ("none",), ("none",))
    kept = store(SweepPlan(["kuhn"], catalog, 1, 1, limits=Limits(iterations=5, seconds=0.0)), 0)
    for record in list(kept.records()):
        points = {"iteration": [1, 5], "nodes": [58, 290], "cpu_seconds": [0.001, 0.00567]}
        kept.put(record | {"curve": points | {"exploitability": [0.2, 0.1], "exploitability_current": [0.2, 0.1]}})
    found = measured(None, SeveralBudgets(), MeasurementOptions(Path("runs")))
    assert found.catalog == catalog
    assert found.games == ["kuhn"]
    assert found.budgets == [Budget("seconds", 0.0056)]  # shorter than the package's
    assert found.description == (
        "2 algorithms, --catalog \"cfr + dcfr\", from runs; runs of the catalog 'paper' are missing"
    )


@pytest.mark.slow
def test_what_was_swept_whole_is_told(store):
    store(SweepPlan(["kuhn"], Catalog.tabular(), 1, 1), 0)
    found = message(catalog="paper")
    assert found.startswith("runs lacks ")
    assert "runs of the catalog 'paper' on kuhn, but has all runs of 'tabular': give --catalog tabular" in found
    assert found.endswith('or complete the sweep with `rlccfr sweep "kuhn" --seeds 1 --store "runs"`')


@pytest.mark.slow
def test_a_sweep_of_the_public_catalog_is_told(store):
    store(SweepPlan(["bluff"], Catalog.public(), 1, 1, limits=Limits(iterations=3, seconds=0.0)), 0)
    assert "but has all runs of 'public': give --catalog public" in message(["bluff"], catalog="paper")


@pytest.mark.slow
def test_what_was_loaded_is_loaded_by_the_command(store, tmp_path, monkeypatch):
    store(SweepPlan(["kuhn"], Catalog.tabular()), 1)
    monkeypatch.setattr("rlccfr.plugins.loaded.files", [str(tmp_path / "my rule.py"), "/elsewhere/rule.py"])
    assert '`rlccfr --load "my rule.py" --load "/elsewhere/rule.py" sweep' in message(catalog="tabular")


@pytest.mark.slow
def test_a_file_of_runs_is_gone_on_from_by_importing_it(store):
    store(SweepPlan(["kuhn"], Catalog.tabular()), 1).compact("runs.parquet")
    assert '--catalog "tabular" --option import="runs.parquet"`' in message(results="runs.parquet", catalog="tabular")


@pytest.mark.slow
def test_networks_and_model_seeds_are_repeated(store):
    catalog = Catalog(("cfr", "deep_cfr"), ("none", "external", "outcome"), ("none",))
    store(SweepPlan(["kuhn"], catalog.with_networks("paper"), 3, 3), 1)
    found = message(catalog="paper", networks="paper")
    assert "of the catalog 'paper' with networks 'paper' on kuhn" in found
    assert '--networks "paper" --seeds 3 --model-seeds 3 --store' in found


@pytest.mark.slow
def test_a_game_without_runs_is_told_from_an_unfinished_one(store):
    store(SweepPlan(["kuhn"], Catalog.tabular()), 1)
    assert message(["leduc"], catalog="tabular") == "runs has no runs on 'leduc'; it has kuhn: name one of these"


def test_the_commands_defaults_are_those_of_a_plan():
    """The printed command leaves out options that have the plan's values."""
    for name in ("seeds", "model_seeds"):
        assert getattr(PlanOptions(), name) == getattr(SweepPlan, name)
    for name in ("iterations", "seconds"):
        assert getattr(LimitOptions(), name) == getattr(Limits, name)


def failed_plan(store):
    """Keep a sweep of which a tenth of the runs have failed, for one of two reasons; return the number of each."""
    plan, kept, counts = SweepPlan(["kuhn"], Catalog.tabular(), seeds=1, limits=Limits(iterations=5)), store, [0, 0]
    for number, job in enumerate(plan.jobs()):
        if number % 10:
            kept.put(make_record(job.request(), job.id, "ok", numbers=NUMBERS | {"iterations": 5}))
            continue
        counts[number % 20 > 0] += 1
        status, error = (("failed", "a\nb"), ("out_of_memory", "MemoryError"))[number % 20 > 0]
        kept.put(make_record(job.request(), job.id, status, error=error, traceback=""))
    return counts


@pytest.mark.slow
def test_why_runs_have_failed_is_said_by_the_sweep_and_by_what_reads_it(tmp_path, run):
    counts = failed_plan(Store("runs"))
    said = [f"{counts[0]} runs failed, such as ", f"{counts[1]} runs had too little memory, such as "]
    swept = ("--catalog", "tabular", "--iterations", "5")
    sweep = ("sweep", "kuhn", *swept, "--seeds", "1", "--store", "runs", "--status")
    for command in (sweep, ("results", "insights", "--results", "runs", *swept)):
        code, _, err = run(*command)
        assert code == 0
        assert [words for words in said if words not in err] == []
        assert "on kuhn: a b" in err


def test_tables_show_every_part_of_an_algorithm():
    """The commands name the parts themselves, because the catalog takes time to import."""
    from rlccfr.catalog import AXES
    from rlccfr.cli.commands import compare, table

    for command in (compare, table):
        assert tuple(column for column in command.SHOWN if column in AXES) == AXES
