"""The gates of steering: on test games, beside DDCFR's published figures, and its cost.

The test games' figures are those that ``python -m benchmarks.control`` recorded with the shipped controller.
"""

from __future__ import annotations

import pandas as pd
import pytest

from benchmarks import control, control_page, overhead
from rlccfr.agents.control.games import control_games


def gains(contender: str) -> pd.Series:
    """Return the decades by which a contender ends below the best fixed algorithm of each test game, in hindsight."""
    rows = control.measured("test", 1000)
    errors = rows.pivot_table(index="game", columns="contender", values="error")
    return (errors[control.fixed(rows)].min(axis=1) - errors[contender]).dropna()


def row(contender: str) -> dict:
    own = gains(contender)
    low, high = control.interval(own.to_numpy())
    return {
        "contender": contender, "games": len(own), "geometric mean of the ratios": 10 ** own.mean(),
        "from": 10**low, "to": 10**high, "worst game": 10 ** own.min(),
    }  # fmt: skip


def mean_of(row: dict) -> str:
    return (
        f"ratio {row['geometric mean of the ratios']:.3g} in the geometric mean, gate 1.5; "
        f"95 % interval from {row['from']:.3g} to {row['to']:.3g}, gate above 1"
    )


def worst_of(row: dict) -> str:
    return f"ratio {row['worst game']:.3g}, gate 0.5"


@pytest.mark.verify
def test_the_controller_beats_the_best_fixed_algorithm_of_each_test_game(figures):
    found = row(control.OURS)
    title = "Steering, test games, against the best fixed algorithm of each game in hindsight"
    figures(title, [found], summary=mean_of(found))
    assert found["games"] == len(control_games("test"))
    assert found["geometric mean of the ratios"] >= 1.5
    assert found["from"] > 1


@pytest.mark.verify
def test_the_controller_loses_by_at_most_half_on_any_test_game(figures):
    found = row(control.OURS)
    figures("Steering, the worst test game (gate: 0.5)", [found], summary=worst_of(found))
    assert found["worst game"] >= 0.5


@pytest.mark.verify
def test_what_has_not_learned_does_not_pass(figures):
    rows = [row(name) for name in ("untrained networks", "random picks", "greedy choices")]
    figures("Steering without having learned (gate: below 1.5)", rows)
    assert all(one["geometric mean of the ratios"] < 1.5 for one in rows)


@pytest.mark.verify
def test_published_figures_of_ddcfr(figures):
    rows = control_page.beside_ddcfr()
    figures("Steering beside DDCFR's published figures", rows)
    ratios = [one["ratio to DDCFR"] for one in rows if not control_page.PUBLISHED[one["game"]].differs]
    assert sum(ratio <= 1 for ratio in ratios) <= 1


@pytest.mark.verify
@pytest.mark.alone
def test_steering_costs_little(figures):
    ratio, low, high = overhead.steered().ratio("fixed", "steered")
    runs = overhead.episodes()
    figures("What steering costs", [{"time of a run": ratio, "from": low, "to": high, "training runs / s": runs}])
    assert ratio <= 1.02
    assert runs >= 20
