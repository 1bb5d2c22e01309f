"""The page on steering."""

from __future__ import annotations

import pytest
from support import game

from benchmarks import control, control_page, control_pictures, overhead
from rlccfr.catalog.scheduled import controller_named
from rlccfr.components.controller import CHOICES
from rlccfr.envs.control.run import ControlRun, marks_of
from rlccfr.errors import RLCCFRError


@pytest.mark.slow
def test_the_page_on_small_games(tmp_path, monkeypatch):
    monkeypatch.setattr(control_pictures, "GAMES", {f"Kuhn {k}": f"kuhn(cards={k})" for k in range(2, 14)})
    monkeypatch.setattr(control_page, "PUBLISHED", {"Kuhn": control_page.PUBLISHED["Kuhn"]})
    monkeypatch.setattr(control_page, "PAGE", tmp_path / "control.md")
    monkeypatch.setattr(overhead, "ROUNDS", 2)
    monkeypatch.setattr(control, "control_games", lambda split: ("kuhn",))
    monkeypatch.setattr(control, "FILE", tmp_path / "control.csv")
    with pytest.raises(RLCCFRError, match="on all 1 test games"):
        control_page.main()
    errors = {control.OURS: 0.0, "cfr": -1.0, "dcfr": -2.0}
    rows = [{"contender": name, "iterations": 1000, "error": error} for name, error in errors.items()]
    control.add("test", 1000, game("kuhn"), rows)
    control_page.main()
    page = (tmp_path / "control.md").read_text()
    assert "| Kuhn | 58 | 0.000147 | " in page
    assert "| best fixed algorithm of each game, in hindsight | 1 | 0.01 | " in page
    for line in page.splitlines():
        if line.startswith("!["):
            assert (tmp_path / line.split("(")[1].rstrip(")")).stat().st_size > 1000


def test_each_decision_has_its_settings():
    found = control_pictures.settings_of("kuhn")
    assert [mark for mark, _ in found] == list(marks_of(control_pictures.HORIZON))
    run = ControlRun(game("kuhn"), controller_named("shipped"), control_pictures.HORIZON)
    for (_, settings), picks in zip(found, run.episode().picks, strict=True):
        assert settings["gamma"] == CHOICES[1][picks[1], 0]
        assert settings["optimism"] == CHOICES[2][picks[2], 0]


def test_discounts_in_few_letters():
    shown = [
        control_pictures.discounts({"alpha": alpha, "beta": beta, "floor": floor})
        for alpha, beta, floor in ((None, None, True), (1.5, None, True), (2.5, -2.0, False))
    ]
    assert shown == ["- |", "1.5 |", "2.5 -2"]
