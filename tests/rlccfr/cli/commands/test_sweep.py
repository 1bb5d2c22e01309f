from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from holding import other_process_holding

from rlccfr.cli.commands.sweep import _counting


@pytest.mark.slow
def test_a_sweep_on_dask_connects_before_its_pilot(run, monkeypatch):
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    monkeypatch.setattr("rlccfr.envs.sweeping.estimate.total_cost", lambda *_: pytest.fail("the pilot ran"))
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        code, out, err = run("sweep", "kuhn", "--catalog", "tabular", "--dask", "127.0.0.1:1")
    assert (code, out) == (1, "")
    assert re.fullmatch("error: there is no Dask scheduler at 127.0.0.1:1 .*\n", err)


@pytest.mark.slow
def test_a_sweep_on_a_local_dask_cluster_says_where_its_dashboard_is(run, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("rlccfr.envs.sweeping.runner.Runner.run", lambda *_: None)
    code, _, err = run("sweep", "kuhn", "--catalog", "tabular", "--no-pilot", "--dask", "local", "--workers", "1")
    assert code == 0
    assert re.fullmatch(r"Dask's dashboard: http://127\.0\.0\.1:\d+/status\n", err)


@pytest.mark.slow
def test_a_second_sweep_on_one_store_says_so_and_takes_another_order(run, monkeypatch):
    """What it would measure is noted; the process that holds the store stands for the first sweep."""
    planned = []
    monkeypatch.setattr("rlccfr.envs.sweeping.runner.Runner.run", lambda self, jobs: planned.append(jobs))
    sweep = ("sweep", "kuhn", "--catalog", "tabular", "--no-pilot", "--workers", "1", "--store", "store")
    assert run(*sweep)[::2] == (0, "")
    with other_process_holding(Path("store")) as process:
        code, _, err = run(*sweep)
        assert run(*sweep, "--status")[::2] == (0, "")
    assert code == 0
    assert re.fullmatch(
        f"another sweep, process {process.pid} on .*, is also writing to store; this one performs .* random order .*\n",
        err,
    )
    assert planned[1] != planned[0]
    assert set(planned[1]) == set(planned[0])


@pytest.mark.slow
def test_the_estimate_of_a_short_sweep_is_in_seconds(run, monkeypatch):
    monkeypatch.setattr("rlccfr.envs.sweeping.runner.Runner.run", lambda *_: None)
    sweep = ("sweep", "kuhn", "--catalog", "tabular", "--seeds", "1", "--seconds", "0", "--iterations", "3")
    err = run(*sweep, "--workers", "1")[2]
    assert re.match(r"112 runs, (under 1 s|\d+ s|\d+ min( \d+ s)?) with 1 worker, estimated from", err)


def test_a_sweep_shows_how_many_runs_are_done_and_have_failed():
    shown = []
    report = _counting(1_000, lambda *now: shown.append(now))
    for status in ("ok", "timeout", "ok"):
        report(None, {"status": status})
    assert shown == [
        (0.001, "1 of 1,000 runs, 0 failed"),
        (0.002, "2 of 1,000 runs, 1 failed"),
        (0.003, "3 of 1,000 runs, 1 failed"),
    ]


@pytest.mark.parametrize(
    ("game", "runs"),
    [
        ("holdem(rounds=1,ranks=2,suits=2,private=1)", 100),
        ("holdem(rounds=1,ranks=2,suits=2,private=1,buckets=2)", 30),
    ],
)
def test_the_catalog_that_fits_the_game_is_measured_by_default(run, game, runs):
    code, out, _ = run("sweep", game, "--seeds", "1", "--store", ".", "--status", "--json")
    assert code == 0
    assert json.loads(out) == {game: {"missing": runs}}


def test_kinds_of_games_with_different_catalogs_are_not_measured_together(run):
    code, out, err = run("sweep", "kuhn", "holdem(rounds=1,ranks=2,suits=2,private=1)", "--store", ".", "--status")
    assert (code, out) == (1, "")
    assert "the default catalog is 'paper' for 'kuhn' and 'public' for" in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_hold_em_in_buckets_is_measured_and_its_results_are_shown(run):
    game = "holdem(rounds=1,ranks=2,suits=2,private=1,buckets=2)"
    limits = ("--seeds", "1", "--iterations", "10", "--seconds", "0")
    code, out, _ = run("sweep", game, *limits, "--no-pilot", "--workers", "1", "--store", "runs", "--json")
    assert (code, json.loads(out)) == (0, {game: {"ok": 30}})
    code, out, err = run("results", "insights", game, "--results", "runs", "--iterations", "10")
    assert code == 0, err
    assert "public_chance" in out
