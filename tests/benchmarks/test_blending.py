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
    lines = {split: blending.report(blending.measured(split, 100)) for split in ("validation", "larger")}
    rows = pd.read_csv(blending.FILE)
    assert set(rows["contender"]) == {blending.OURS, "controlled", "cfr", "dcfr", "cfr, blended", "dcfr, blended"}
    assert set(rows.groupby("game")["histories"].first()) == {game("kuhn").num_histories, game("leduc").num_histories}
    assert all(sum(line.startswith("| dcfr, blended |") for line in own) == 1 for own in lines.values())
    monkeypatch.setattr(blending, "contenders", None)
    assert {split: blending.report(blending.measured(split, 100)) for split in lines} == lines
