"""The page on hold'em and Bluff."""

from __future__ import annotations

from benchmarks import holdem

SMALL = "holdem(ranks=4,suits=2,private=1,flop=1)"


def test_a_line_tells_when_each_target_was_reached(monkeypatch):
    monkeypatch.setattr(holdem, "POKER", {"small": SMALL})
    monkeypatch.setattr(holdem, "THREADED", "small")
    monkeypatch.setattr(holdem, "TARGETS", (100, 10))
    monkeypatch.setattr(holdem, "BLUFF", "bluff")
    monkeypatch.setattr(holdem, "DICE_TARGETS", (0.1,))
    monkeypatch.setattr(holdem, "LARGEST", "bluff")
    monkeypatch.setattr(holdem, "LONG", (0.01, 0.01))
    lines = [*holdem.page(), *holdem.long_page()]
    assert sum(line.startswith("| small | 352 |") for line in lines) == 1
    assert sum("24,576" in line for line in lines) == 2
    assert any("times as fast as one" in line for line in lines)
    assert any("100 mbb/g | 10 mbb/g" in line for line in lines)
