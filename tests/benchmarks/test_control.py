"""The comparison of ways to steer a run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pandas as pd
import pytest
from support import game, without_bundles

import rlccfr
from benchmarks import control, steering
from rlccfr.catalog.scheduled import controller_named
from rlccfr.components.controller import SETTINGS, Controller
from rlccfr.games.flat_tree import COMPILED


def schedule(**settings: float) -> np.ndarray:
    """Return a schedule that holds some settings; no discount, floor, optimism or momentum otherwise."""
    held = {"alpha": np.inf, "beta": np.inf, "floor": 0.0, "gamma": 0.0, "optimism": 0.0} | settings
    row = [held.get(name, 1.0 if name == "power" else 0.0) for name in SETTINGS]
    return np.tile(row, (steering.KNOTS, 1))


def test_a_constant_schedule_is_a_point():
    constant = schedule(alpha=2.5, beta=-1.0, gamma=5.0, optimism=0.2, momentum=0.5, memory=0.85, power=1.5)
    run = steering.new_run(game("kuhn"), steering.scheduled_controller(constant[:1]), 60)
    picks = np.zeros((len(run.marks), 3), dtype=int)
    assert steering.follow(game("kuhn"), constant, 60) == steering.last_error(run, picks)
    rule = "scheduled(alpha=2.5,beta=-1,floor=False,gamma=5,optimism=0.2,momentum=0.5,memory=0.85,power=1.5)"
    solver = rlccfr.Solver(game("kuhn"), rule)
    solver.run(iterations=60, curve=False)
    share = solver.exploitability() / rlccfr.Policy.uniform(game("kuhn")).exploitability()
    # The run's average is one of the policies among which each player keeps the best.
    assert steering.follow(game("kuhn"), constant, 60) <= np.log10(share) + 1e-6


def test_schedules_stay_in_their_bounds():
    columns = {name: index for index, name in enumerate(SETTINGS)}
    for genes in (np.full(steering.NUM_GENES, -50.0), np.zeros(steering.NUM_GENES), np.full(steering.NUM_GENES, 50.0)):
        found = steering.schedule_of(genes, 1000)
        assert found.shape == (steering.KNOTS, len(SETTINGS))
        for name, (low, high) in steering.BOUNDS.items():
            values = found[:, columns[name]]
            assert ((values >= low) & (values <= high)).all()


def test_each_gene_changes_one_setting():
    middle = steering.schedule_of(np.zeros(steering.NUM_GENES), 1000)
    changed = [steering.schedule_of(2 * one, 1000) != middle for one in np.eye(steering.NUM_GENES)]
    assert [int(cells.any(axis=0).sum()) for cells in changed] == [1] * steering.NUM_GENES
    varying = steering.VARYING * steering.KNOTS
    assert [int(cells.sum()) for cells in changed[:varying]] == [1] * varying


def test_the_search_tries_fast_powers_only():
    tried = {1000: set(), 100: set()}
    for horizon, powers in tried.items():
        for gene in np.linspace(-9, 9):
            found = steering.schedule_of(np.full(steering.NUM_GENES, gene), horizon)
            powers.add(float(found[0, SETTINGS.index("power")]))
    assert tried == {1000: {1.0, 1.5, 2.0}, 100: {1.0}}


def test_short_runs_have_no_momentum():
    found = steering.schedule_of(np.full(steering.NUM_GENES, 50.0), 100)
    assert (found[:, SETTINGS.index("momentum")] == 0).all()


def test_points_are_held_over_the_run(monkeypatch):
    monkeypatch.setattr(steering, "POINTS", steering.POINTS[:3])
    run = steering.new_run(game("kuhn"), Controller.untrained(steering.CHOICES, ()), 30)
    errors = [steering.last_error(run, np.tile(point, (len(run.marks), 1))) for point in steering.POINTS]
    assert steering.point_errors(game("kuhn"), 30) == errors


def test_an_interrupted_search_goes_on(monkeypatch, tmp_path):
    pytest.importorskip("cma")
    for name, value in (("GAMES", 2), ("POPULATION", 4), ("GENERATIONS", 12), ("STATE", tmp_path / "state")):
        monkeypatch.setattr(steering, name, value)
    monkeypatch.setattr(steering, "SCHEDULES", tmp_path / "schedules.json")
    monkeypatch.setattr(steering, "control_games", lambda split: ("kuhn",))
    whole = list(steering.search(4))
    again = list(steering.search(4))
    assert [generation for generation, _, _ in again] == [11, 12]
    assert [error for _, error, _ in again] == [error for _, error, _ in whole[-2:]]
    steering.record(4, *whole[-1][::2])
    assert np.allclose(steering.recorded_schedules()[4], whole[-1][2], atol=1e-4)


def test_the_package_has_the_recorded_schedules(monkeypatch):
    without_bundles(monkeypatch)  # as in episodes
    schedules = steering.recorded_schedules()
    shipped = controller_named("schedule")
    assert shipped.digest == steering.together(schedules).digest
    assert not shipped.observes_run
    uniform = rlccfr.Policy.uniform(game("leduc")).exploitability()
    for horizon, schedule in schedules.items():
        solver = rlccfr.Solver(game("leduc"), control="schedule", blend=horizon >= COMPILED.least_blended)
        solver.run(iterations=horizon, curve=False)
        followed = steering.follow(game("leduc"), schedule, horizon)
        assert np.log10(solver.exploitability() / uniform) == pytest.approx(followed, abs=0.01)


@pytest.fixture
def measured_file(tmp_path, monkeypatch):
    """A file of its own for the rows, and two short horizons."""
    monkeypatch.setattr(control, "FILE", tmp_path / "control.parquet")
    monkeypatch.setattr(control, "HORIZONS", (8, 240))
    monkeypatch.setattr(control, "LONGEST_UNLEARNED", 8)
    monkeypatch.setattr(control.every_rule, "TRIAL", 0.001)
    monkeypatch.setattr(control.steering, "POINTS", steering.POINTS[:2])
    monkeypatch.setattr(control, "fixed_rules", lambda: ["dcfr", "ddcfr_schedule"])


@pytest.mark.usefixtures("measured_file")
def test_every_contender_has_a_row_at_each_horizon():
    rows = pd.DataFrame(control.trial("kuhn"))
    counts = rows.groupby("horizon")["contender"].nunique()
    assert counts.to_dict() == {8: len(rows[rows["horizon"] == 8]), 240: len(rows[rows["horizon"] == 240])}
    timed = {control.OURS, control.WITHOUT, "dcfr", "dcfr, blended", "ddcfr_schedule"}
    assert timed <= set(rows[rows["horizon"] == 240]["contender"])
    assert {control.UNTRAINED, control.RANDOM} <= set(rows[rows["horizon"] == 8]["contender"])
    fixed = rows[rows["contender"].isin(["dcfr", "ddcfr_schedule"])]
    assert (fixed["iterations"] >= fixed["horizon"]).all()
    assert rows["error"].between(-9, 1).all()


@pytest.mark.usefixtures("measured_file")
def test_a_game_is_measured_once(monkeypatch):
    monkeypatch.setattr(control, "games_of", lambda split: ("kuhn",))
    assert control.missing("test") == ["kuhn"]
    first = control.measure("test")
    monkeypatch.setattr(control, "trial", None)
    assert control.measure("test").equals(first)
    assert control.missing("test") == []


def test_a_report_compares_with_the_best_of_each_game(monkeypatch):
    monkeypatch.setattr(control, "FEW", 2)
    names = (control.OURS, "cfr", "dcfr", "dcfr, blended", control.WITHOUT)
    rows = pd.DataFrame(
        {"horizon": 100, "histories": histories, "game": one, "contender": name, "error": error}
        for one, histories, errors in (
            ("poker(1)", 1_000_000, (-3.0, -2.0, -2.5, -1.0, -2.0)),
            ("poker(2)", 100, (-2.0, -1.0, -3.0, -1.0, -2.0)),
            ("dice", 200, (-2.0, -1.0, -1.0, -1.0, -2.0)),
        )
        for name, error in zip(names, errors, strict=True)
    )
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in control.report(rows, 100)]
    found = {line[0]: line[1:] for line in lines if line}
    assert found[control.HINDSIGHT] == ["3", "1.47", "0.10 to 10.00", "2", "1", "0.1", "10"]
    assert found["best fixed rule on average over these games, dcfr"][0] == "3"
    assert found["dcfr, blended"] == found[control.BLENDED_HINDSIGHT]
    assert found[control.WITHOUT][1] == f"{10 ** (1 / 3):.2f}"
    assert found["dice"] == ["1", "10.00", "-", "1", "0", "10", "10"]
    assert found["poker"] == ["2", "0.56", "0.10 to 3.16", "1", "1", "0.1", "3.16"]
    sizes = [title for title in found if "times" in title or title == "more"]
    assert [found[title][0] for title in sizes] == ["2", "1"]


def test_with_workers_a_slow_game_does_not_hold_back_the_others(monkeypatch):
    others_are_kept = Event()
    monkeypatch.setattr(control, "trial", lambda name: name != "slow" or others_are_kept.wait(timeout=60))
    with ThreadPoolExecutor(2) as workers:
        found = control.trials(["slow", "quick", "quicker"], workers)
        assert {next(found)[0], next(found)[0]} == {"quick", "quicker"}
        others_are_kept.set()
        assert next(found) == ("slow", True)
