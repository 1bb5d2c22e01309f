"""The page on steering."""

from __future__ import annotations

import pandas as pd
import pytest
from support import game

from benchmarks import control, control_page, control_pictures, overhead
from rlccfr.catalog.scheduled import controller_named
from rlccfr.components.controller import CHOICES
from rlccfr.envs.control.run import ControlRun, marks_of
from rlccfr.errors import RLCCFRError


def rows_of(errors: dict[str, float]) -> pd.DataFrame:
    """Return rows of the test split with one game, the same errors at each horizon."""
    return pd.DataFrame(
        {
            "split": "test",
            "controller": control.shipped(),
            "game": "kuhn",
            "histories": 58,
            "contender": name,
            "horizon": horizon,
            "iterations": horizon,
            "seconds": 1.0,
            "error": error,
        }
        for horizon in control.HORIZONS
        for name, error in errors.items()
    )


ERRORS = {control.OURS: -3.0, control.WITHOUT: -2.0, "dcfr": -2.0, "vad_cfr, blended": -2.9}


@pytest.mark.slow
def test_the_page_on_small_games(tmp_path, monkeypatch):
    monkeypatch.setattr(control_pictures, "GAMES", {f"Kuhn {k}": f"kuhn(cards={k})" for k in range(2, 14)})
    monkeypatch.setattr(control_page, "PUBLISHED", {"Kuhn": control_page.PUBLISHED["Kuhn"]})
    monkeypatch.setattr(control_page, "TEN_GAMES", {"Kuhn": "kuhn"})
    monkeypatch.setattr(control_page, "PAGE", tmp_path / "control.md")
    monkeypatch.setattr(overhead, "ROUNDS", 2)
    monkeypatch.setattr(control, "games_of", lambda split: ("kuhn",))
    monkeypatch.setattr(control, "FILE", tmp_path / "control.parquet")
    with pytest.raises(RLCCFRError, match="have not been measured: run"):
        control_page.main()
    rows_of(ERRORS).to_parquet(control.FILE)
    monkeypatch.setattr(control, "games_of", lambda split: ("kuhn", "leduc"))
    control_page.main()
    page = (tmp_path / "control.md").read_text()
    assert "**1 of the 2 games are not measured yet**: `leduc`." in page
    assert "| Kuhn | 58 | 0.000147 | " in page
    assert "| best fixed rule of each game, in hindsight | 1 | 10.00 | " in page
    for line in page.splitlines():
        if line.startswith("!["):
            assert (tmp_path / line.split("(")[1].rstrip(")")).stat().st_size > 1000


def test_gates_tell_what_is_missed():
    rows = rows_of(ERRORS | {control.UNTRAINED: -2.1, control.RANDOM: -2.5})
    found = {(row["iterations"], row["against"]): (row["reached"], row[""]) for row in control_page.gates(rows)}
    assert found["1,000", control.HINDSIGHT] == ("10", "met")
    assert found["1,000", "vad_cfr, blended"] == ("1.26", "**missed**")
    assert found["1,000", f"{control.UNTRAINED}, beside the {control.HINDSIGHT}"] == ("1.26", "met")
    assert found["1,000", f"{control.RANDOM}, beside the {control.HINDSIGHT}"] == ("3.16", "**missed**")


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
