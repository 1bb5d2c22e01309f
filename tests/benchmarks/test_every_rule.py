"""The page of every rule: its runs, what is not run again, and a rule of one's own beside the others."""

from __future__ import annotations

import sys

import pytest
from support import game

import rlccfr
from benchmarks import every_rule

OWN_RULE = """
from rlccfr.components import UpdateRule
from rlccfr.registry import update_rule


@update_rule("test_of_every_rule", source="a test")
def test_of_every_rule(floor: float = 0.0) -> UpdateRule:
    return UpdateRule(floor=floor)
"""


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Make the page small, and put it into a folder."""
    monkeypatch.setattr(every_rule, "GAMES", {"Kuhn": "kuhn", "Hold'em": "holdem(ranks=4,suits=2)"})
    monkeypatch.setattr(every_rule, "rules", lambda: ["dcfr", "hs_dcfr", "aod_cfr", "rtcfr_plus"])
    monkeypatch.setattr(every_rule, "BUDGETS", (*every_rule.ITERATIONS[:2], every_rule.Budget("seconds", 0.01)))
    monkeypatch.setattr(every_rule, "draw", lambda curves: None)
    for name, file in (("FILE", "runs.parquet"), ("CURVES", "curves.parquet"), ("PAGE", "page.md")):
        monkeypatch.setattr(every_rule, name, tmp_path / file)
    return tmp_path


def call(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["every_rule", *arguments])
    every_rule.main()


@pytest.mark.slow
def test_each_cell_is_the_run_that_it_names(monkeypatch, small):
    call(monkeypatch)
    rows = every_rule.labelled(every_rule.recorded())
    for rule, blend in (("dcfr", False), ("dcfr", True), ("hs_dcfr(horizon=1000)", False)):
        solver = rlccfr.Solver(game("kuhn"), rule, blend=blend)
        result = solver.run(iterations=1000, curve=False)
        chosen = (rows["game"] == "Kuhn") & (rows["rule"] == rule.split("(")[0]) & (rows["blend"] == blend)
        row = rows[chosen & (rows["budget"] == "1,000 its.")].iloc[0]
        assert row["exploitability"] == pytest.approx(result.exploitability, rel=1e-6)
        assert row["current"] == pytest.approx(result.points[-1].exploitability_current, rel=1e-6)
    page = (small / "page.md").read_text()
    assert f"{rows['uniform'].iloc[0]:.4g}" in page
    assert "| aod_cfr |" in page.split("## Kuhn")[1].split("## Hold'em")[0]
    assert "| rtcfr_plus |" in page.split("## Kuhn")[1].split("## Hold'em")[0]
    assert not rows.loc[rows["rule"] == "rtcfr_plus", "blend"].any()  # it has no average to blend
    assert "aod_cfr" not in page.split("## Hold'em")[1]  # its functions do not run on public trees


def test_recorded_runs_are_not_made_again_and_an_own_rule_stands_beside_them(
    monkeypatch, small, capsys, own_components
):
    monkeypatch.setattr(every_rule, "GAMES", {"Kuhn": "kuhn"})
    call(monkeypatch)
    before = (small / "runs.parquet").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(every_rule, "runs", None)  # a call would fail
        call(patched)
    (small / "own.py").write_text(OWN_RULE)
    call(monkeypatch, "--load", str(small / "own.py"), "--rule", "test_of_every_rule(floor=0.5)", "--game", "kuhn")
    printed = capsys.readouterr().out
    assert "| test_of_every_rule(floor=0.5) |" in printed
    assert "| hs_dcfr |" in printed
    assert (small / "runs.parquet").read_bytes() == before
