"""The comparison of steered runs over public trees with fixed rules."""

import math

import pandas as pd
import pytest

import rlccfr
from benchmarks import public_steering
from benchmarks.control import OURS, Comparison
from benchmarks.public_steering import BEFORE, GATES, OTHERS, TREES, games_of, judged


def test_no_game_is_in_two_splits():
    names = [name for split in TREES for _, name in games_of(split)]
    assert len(set(names)) == len(names)


def made_up(factor: float) -> pd.DataFrame:
    """Return rows of eight test games on which rules are all above the steered run by a factor."""
    contenders = {OURS: -3.0, "dcfr": -3.0, "dcfr, blended": -3.0, "cfr": -2.0}
    rows = [
        {"split": "test", "kind": OTHERS, "game": game, "contender": name, "horizon": horizon, "error": error}
        for game in TREES["test"]
        for horizon in public_steering.HORIZONS
        for name, error in contenders.items()
    ]
    frame = pd.DataFrame(rows)
    frame.loc[frame["contender"] == OURS, "error"] -= math.log10(factor)
    return frame


@pytest.mark.parametrize(("factor", "met"), [(0.95, 1), (1.6, 5), (5.0, len(GATES))])
def test_gates_are_judged_by_the_geometric_mean(factor, met):
    table = judged(made_up(factor))
    assert len(table) == len(GATES)
    assert set(table["found"].astype(float)) == {float(f"{factor:.3g}")}
    assert (table["met"] == "yes").sum() == met
    assert table["rival"].iloc[0] == BEFORE


def test_a_comparison_leaves_out_rules_that_do_not_run(monkeypatch):
    monkeypatch.setattr("benchmarks.control.fixed_rules", lambda: ["dcfr", "hedge"])
    monkeypatch.setattr("benchmarks.every_rule.TRIAL", 0.001)
    game = rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=1)")
    rows = pd.DataFrame(Comparison(game, [20]).rows())
    assert rows["contender"].tolist() == [OURS, "steered", "dcfr", "dcfr, blended"]
    assert (rows["seconds"] > 0).all()
