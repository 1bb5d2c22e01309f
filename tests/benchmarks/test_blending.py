"""The comparison of runs with and without blends."""

from __future__ import annotations

import pandas as pd
from support import game

from benchmarks import blending


def test_a_game_is_measured_once_and_blends_are_told_beside_the_best(monkeypatch, tmp_path):
    fixed = [("cfr", {"update_rule": "cfr"}), ("dcfr", {"update_rule": "dcfr"})]
    monkeypatch.setattr(blending, "FILE", tmp_path / "blending.csv")
    monkeypatch.setattr(blending, "fixed_algorithms", lambda horizon: iter(fixed))
    monkeypatch.setattr(blending, "BLENDED", ("cfr", "dcfr"))
    monkeypatch.setattr(blending, "control_games", lambda split: ["kuhn"])
    monkeypatch.setattr(blending, "LARGER", ("leduc",))
    lines = blending.report(100)
    rows = pd.read_csv(blending.FILE)
    assert set(rows["contender"]) == {blending.OURS, "controlled", "cfr", "dcfr", "cfr, blended", "dcfr, blended"}
    assert set(rows.groupby("game")["histories"].first()) == {game("kuhn").num_histories, game("leduc").num_histories}
    assert sum(line.startswith("| dcfr, blended |") for line in lines) == 2
    monkeypatch.setattr(blending, "contenders", None)
    assert blending.report(100) == lines
