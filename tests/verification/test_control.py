"""The gates of steering: on test games, beside DDCFR's published figures, and its cost.

The test games' figures are those that ``python -m benchmarks.control test`` recorded with the shipped controller.
"""

from __future__ import annotations

import pytest

from benchmarks import control, control_page, overhead


@pytest.mark.verify
def test_the_gates_at_equal_cpu_seconds(figures):
    assert control.missing("test") == []
    rows = list(control_page.gates(control.measured("test")))
    missed = [row for row in rows if row[""] != "met"]
    figures("Steering, test games, at equal CPU seconds", rows, summary=f"{len(missed)} of {len(rows)} missed")
    assert not missed


@pytest.mark.verify
def test_the_ten_games(figures):
    rows = control_page.ten_games()
    figures("Steering with blends beside its rivals on ten games, 1,000 iterations", rows)
    ratios = [row["times the best"] for row in rows]
    assert sum(ratio <= 1.2 for ratio in ratios) >= 8
    assert max(ratios) <= 2


@pytest.mark.verify
def test_published_figures_of_ddcfr(figures):
    rows = control_page.beside_ddcfr()
    figures("Steering beside DDCFR's published figures", rows)
    ratios = [one["DDCFR to schedule"] for one in rows if not control_page.PUBLISHED[one["game"]].differs]
    assert sum(ratio <= 1 for ratio in ratios) <= 1


@pytest.mark.verify
@pytest.mark.alone
def test_steering_costs_little(figures):
    ratio, low, high = overhead.steered().ratio("fixed", "steered")
    runs = overhead.episodes()
    figures("What steering costs", [{"time of a run": ratio, "from": low, "to": high, "training runs / s": runs}])
    assert ratio <= 1.02
    assert runs >= 20
