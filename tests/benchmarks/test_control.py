"""The comparison of ways to steer a run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pandas as pd
import pytest
from support import game

import rlccfr
from benchmarks import control, steering


def test_a_constant_schedule_is_a_point():
    values = np.tile([2.5, 5.0, 0.2], (10, 1))
    for horizon in (60, 90):
        solver = rlccfr.Solver(game("kuhn"), "scheduled(alpha=2.5,gamma=5,optimism=0.2)")
        solver.run(iterations=horizon, curve=False)
        share = solver.exploitability() / rlccfr.Policy.uniform(game("kuhn")).exploitability()
        assert steering.follow(game("kuhn"), values, horizon) == pytest.approx(np.log10(share), abs=1e-6)


def test_schedules_stay_in_their_bounds():
    for genes in (np.full(30, -50.0), np.zeros(30), np.full(30, 50.0)):
        found = steering.settings(genes)
        assert found.shape == (10, 3)
        assert ((found >= steering.LOW) & (found <= steering.HIGH)).all()


def test_hindsight_and_greed(monkeypatch):
    monkeypatch.setattr(steering, "POINTS", steering.POINTS[:3])
    run = steering.ControlRun(game("kuhn"), steering.Controller.untrained(steering.CHOICES, ()), 30)
    errors = [run.episode(np.tile(point, (len(run.marks), 1))).errors for point in steering.POINTS]
    assert steering.best_point(game("kuhn"), 30) == min(error[-1] for error in errors)
    alone = steering.ControlRun(game("kuhn"), steering.Controller.untrained(steering.CHOICES, ()), 2)
    assert len(alone.marks) == 1
    errors = [alone.episode(point[None]).errors for point in steering.POINTS]
    assert steering.greedy(game("kuhn"), 2) == min(error[-1] for error in errors)


def test_a_report_compares_with_the_best_of_each_game(monkeypatch):
    monkeypatch.setattr(control, "FEW", 2)
    rows = pd.DataFrame(
        {"horizon": 100, "histories": histories, "game": one, "contender": name, "error": error}
        for one, histories, errors in (
            ("poker(1)", 1_000_000, (-3.0, -2.0, -2.5)),
            ("poker(2)", 100, (-2.0, -1.0, -3.0)),
            ("dice", 200, (-2.0, -1.0, -1.0)),
        )
        for name, error in zip((control.OURS, "cfr", "dcfr"), errors, strict=True)
    )
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in control.report(rows)]
    found = {line[0]: line[1:] for line in lines if line}
    assert found["best fixed algorithm of each game, in hindsight"] == [
        "3", "1.47", "0.10 to 10.00", "2", "1", "0.1", "10"
    ]  # fmt: skip
    assert found["best fixed algorithm on average over these games, dcfr"][0] == "3"
    assert found["dice"] == ["1", "10.00", "-", "1", "0", "10", "10"]
    assert found["poker"] == ["2", "0.56", "0.10 to 3.16", "1", "1", "0.1", "3.16"]
    sizes = [title for title in found if "times" in title or title == "more"]
    assert [found[title][0] for title in sizes] == ["2", "1"]
    assert sizes[-1] == "more"


def test_rows_take_the_place_of_those_of_the_same_contender(tmp_path, monkeypatch):
    monkeypatch.setattr(control, "FILE", tmp_path / "control.csv")
    monkeypatch.setattr(
        control, "identity", lambda split, horizon, controller=None: dict(zip(control.KEYS, (split, horizon, "x")))
    )
    assert control.measured("test", 100).empty
    control.add("test", 100, game("kuhn"), [{"contender": name, "error": -1.0} for name in ("cfr", "dcfr")])
    control.add("test", 100, game("kuhn"), [{"contender": "cfr", "error": -2.0}])
    control.add("test", 1000, game("kuhn"), [{"contender": "cfr", "error": -3.0}])
    assert control.measured("test", 100).set_index("contender")["error"].to_dict() == {"cfr": -2.0, "dcfr": -1.0}


def test_a_game_with_other_contenders_alone_is_not_measured_yet(tmp_path, monkeypatch):
    monkeypatch.setattr(control, "FILE", tmp_path / "control.csv")
    monkeypatch.setattr(
        control, "identity", lambda split, horizon, controller=None: dict(zip(control.KEYS, (split, horizon, "5e12")))
    )
    monkeypatch.setattr(control, "control_games", lambda split: ("kuhn",))
    calls = []
    found = [{"contender": name, "iterations": 1, "error": -1.0} for name in (control.OURS, "cfr")]
    monkeypatch.setattr(control, "contenders", lambda tree, horizon: calls.append(tree.name) or found)
    control.add("test", 1, game("kuhn"), [{"contender": "trees", "error": -1.0}])
    for _ in range(2):
        assert len(control.measure("test", 1)) == 3
    assert calls == ["kuhn"]


def test_with_workers_a_slow_game_does_not_hold_back_the_others(monkeypatch):
    others_are_kept = Event()
    monkeypatch.setattr(control, "trial", lambda name, horizon: name != "slow" or others_are_kept.wait(timeout=60))
    with ThreadPoolExecutor(2) as workers:
        found = control.trials(["slow", "quick", "quicker"], 1, workers)
        assert {next(found)[0], next(found)[0]} == {"quick", "quicker"}
        others_are_kept.set()
        assert next(found) == ("slow", True)
