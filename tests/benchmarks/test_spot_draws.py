"""The comparison of exact passes with draws of the board on spots."""

from __future__ import annotations

import pytest

import rlccfr
from benchmarks import spot_draws


@pytest.mark.slow
def test_a_spot_has_a_row_for_each_rule_and_sampler(monkeypatch):
    monkeypatch.setattr(spot_draws, "TIMES", (1e-9, 0.05))
    monkeypatch.setattr(spot_draws, "SEEDS", 2)
    game = rlccfr.subgame("Td9d6hQc", pot=20, stack=10, oop="AA,KK", ip="QJ,TT", bets="a")
    rows = spot_draws.measured(game)
    pairs = list(zip(rows["update_rule"], rows["sampler"], strict=True))
    assert pairs == [(rule, sampler) for rule in spot_draws.RULES for sampler in spot_draws.SAMPLERS]
    assert (rows["1e-09 s"] == "-").all()  # before the first iteration has ended
    assert rows["0.05 s"].astype(float).between(0.0, 20.0).all()
