"""The comparison of runs over public trees with and without blends."""

from __future__ import annotations

import pandas as pd

from benchmarks import public_blends

GAME = "holdem(ranks=4,suits=2,private=1,flop=1)"


def test_a_game_is_measured_once_and_runs_stand_beside_each_other(monkeypatch, tmp_path):
    monkeypatch.setattr(public_blends, "FILE", tmp_path / "public-blends.csv")
    for name, value in (("RULES", ("dcfr",)), ("REPEATS", 2), ("TARGETS", ("1e-5x",)), ("BUDGETS", (300,))):
        monkeypatch.setattr(public_blends, name, value)
    rows = public_blends.measured([GAME])
    assert rows.groupby(["kind", "blend"]).size().to_dict() == {
        ("budget", False): 1,
        ("budget", True): 1,
        ("target", False): 2,
        ("target", True): 2,
    }
    assert (rows["reached"] | (rows["kind"] == "budget")).all()
    assert (rows.loc[rows["blend"], "blending_seconds"] > 0).all()
    lines = list(public_blends.report(rows))
    assert sum(line.startswith(f"| {GAME} | dcfr | 1e-5x |") for line in lines) == 1
    assert sum(line.startswith(f"| {GAME} | dcfr | 300 |") for line in lines) == 1
    monkeypatch.setattr(public_blends, "run", None)
    pd.testing.assert_frame_equal(public_blends.measured([GAME]), rows)
