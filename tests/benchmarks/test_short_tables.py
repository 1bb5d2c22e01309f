"""Tables of 16-bit numbers beside others, on smaller spots."""

from __future__ import annotations

import pytest
from subgames import RIVER

from benchmarks import flops, short_tables


@pytest.mark.slow
def test_types_are_measured_side_by_side(monkeypatch):
    monkeypatch.setattr(short_tables, "SPOTS", {"river": RIVER})
    monkeypatch.setattr(short_tables, "MARKS", {"river": (3, 10)})
    lines = short_tables.report()
    assert len(lines) == 2 + len(short_tables.DTYPES)
    assert all(line.count("|") == lines[0].count("|") for line in lines)
    for row in short_tables.measure("river"):
        assert row["shares"][0] > row["shares"][1] > 0.0
        assert 0.0 < row["seconds"] < 1.0


@pytest.mark.slow
def test_a_flop_is_solved_to_its_target(monkeypatch):
    """With a river in the flop's place."""
    monkeypatch.setattr(flops, "FAST", RIVER)
    row = short_tables.solve_flop("3betpotFAST", "int16")
    assert row["share"] <= flops.TARGETS["3betpotFAST"]
    assert row["peak"] > 0.0
