"""The judge of the default: finalists take turns, what misses a target counts as such, and the page says it."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import rlccfr
from benchmarks import default, default_page, unfinished
from rlccfr.limits import uniform_exploitability

GAMES = ("kuhn", "random_poker(seed=1,hands=4,boards=1,raises=1)")


@pytest.mark.slow
def test_finalists_take_turns_and_the_page_has_their_times(monkeypatch, tmp_path):
    monkeypatch.setattr(default, "FILE", tmp_path / "default.csv")
    monkeypatch.setattr(default, "games_of", lambda split: GAMES)
    monkeypatch.setattr(default_page.new_games, "names", lambda: GAMES)
    monkeypatch.setattr(unfinished, "FILE", tmp_path / "parts.jsonl")
    monkeypatch.setattr(default, "TARGETS", (1e-2, 1e-3))
    monkeypatch.setattr(default, "recommended", lambda name, seconds: {"update_rule": "dcfr"})
    turns = []
    run = default._run

    def noted(game, target, limit, components):
        turns.append((target, str(components.get("update_rule"))))
        return run(game, target, limit, components)

    monkeypatch.setattr(default, "_run", noted)
    rows = default.measure("test")
    for _, of_target in rows.groupby(["game", "share"]):
        names = set(of_target["contender"])
        assert {default.OURS, default.PLAIN, default.RECOMMENDED, default.STEERED} <= names
        assert len(names) <= 4 + default.FINALISTS
    of_last = rows[(rows["game"] == GAMES[-1]) & (rows["share"] == 1e-3) & (rows["contender"] != default.OURS)]
    count = int((of_last["seconds"] < math.inf).sum())
    assert turns[-count:] == turns[-2 * count : -count]  # one after another, in each round
    text = "\n".join(default_page.page(rows))
    assert "on 2 test games" in text
    assert text.count("| **no** |") + text.count("| yes |") == 8

    turns.clear()
    assert default.measure("test").equals(rows)
    assert not turns


def test_a_rival_that_misses_a_target_counts_as_far_behind():
    seconds = {default.OURS: 1.0, default.PLAIN: math.inf, "dcfr": 0.5, default.RECOMMENDED: 2.0, default.STEERED: 3.0}
    frame = pd.DataFrame({"game": "kuhn", "share": 1e-2, "contender": seconds.keys(), "seconds": seconds.values()})
    ratios = default.ratios(frame).clip(1 / default.LONGEST, default.LONGEST)
    assert ratios.iloc[0].tolist() == [0.5, default.LONGEST, 2.0, 3.0]


def test_a_run_on_a_public_tree_continues_to_the_next_target_until_it_misses_one():
    game = rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=1)")
    uniform = uniform_exploitability(game)
    limits = {1e-2: 10.0, 1e-3: 10.0, 1e-4: 1e-3, 1e-5: 10.0}
    rows = list(default.continued_run(game, uniform, "dcfr", limits, update_rule="dcfr"))
    seconds = [row["seconds"] for row in rows]
    assert 0 < seconds[0] < seconds[1] < math.inf
    assert seconds[2:] == [math.inf, math.inf]
    assert 0 < rows[0]["iterations"] < rows[1]["iterations"]


def test_an_interrupted_measurement_keeps_its_parts(monkeypatch, tmp_path):
    monkeypatch.setattr(unfinished, "FILE", tmp_path / "folder" / "parts.jsonl")
    for game in ("kuhn", "leduc"):
        assert unfinished.kept(game, "dcfr", lambda: [{"seconds": math.inf}]) == [{"seconds": math.inf}]
    with unfinished.FILE.open("a") as file:
        file.write('{"game": "leduc", "part": "cfr", "ro')  # a command that was killed while it wrote
    assert unfinished.kept("leduc", "cfr", lambda: [{"seconds": 1.0}]) == [{"seconds": 1.0}]
    assert unfinished.kept("leduc", "cfr", pytest.fail) == [{"seconds": 1.0}]
    unfinished.forget("leduc")
    assert unfinished.kept("kuhn", "dcfr", pytest.fail) == [{"seconds": math.inf}]
    assert unfinished.kept("leduc", "dcfr", lambda: [{"seconds": 2.0}]) == [{"seconds": 2.0}]
