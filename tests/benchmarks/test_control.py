"""The comparison of ways to steer a run."""

from __future__ import annotations

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


def test_a_report_compares_with_the_best_of_each_game():
    rows = pd.DataFrame(
        {"horizon": 100, "game": one, "contender": name, "error": error}
        for one, errors in (("first", (-3.0, -2.0, -2.5)), ("second", (-2.0, -1.0, -3.0)))
        for name, error in zip((control.OURS, "cfr", "dcfr"), errors, strict=True)
    )
    lines = control.report(rows)
    best = next(line for line in lines if line.startswith("| best fixed algorithm of each game"))
    assert [cell.strip() for cell in best.split("|")[2:]] == ["2", "0.56", "0.10 to 3.16", "1", "1", "0.1", "3.16", ""]
    once = next(line for line in lines if "on average over these games" in line)
    assert "dcfr" in once
