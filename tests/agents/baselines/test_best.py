"""The best algorithm with each component of another author's."""

from __future__ import annotations

import pytest

from rlccfr.agents.baselines.best import best_with_own
from rlccfr.catalog import Cell
from rlccfr.components import UpdateRule
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.controller_file import save_controller
from rlccfr.registry import update_rules


@pytest.fixture(autouse=True)
def own(monkeypatch):
    """A registered rule that is not this library's, which no other test sees."""
    monkeypatch.setattr(update_rules, "_entries", dict(update_rules._entries))

    @update_rules.register("test_own", source="a test")
    def test_own(power: float = 1.0) -> UpdateRule:
        """Linear averaging."""
        return UpdateRule(average_decay=lambda t: ((t - 1) / t) ** power)


def test_each_has_its_best_algorithm():
    rewards = {
        Cell("cfr", "none", "none"): 0.9,
        Cell("test_own", "none", "none"): 0.3,
        Cell("test_own", "external", "none"): 0.5,
        Cell("test_own(power=2)", "none", "none"): 0.4,
    }
    assert best_with_own(rewards) == {
        "test_own": Cell("test_own", "external", "none"),
        "test_own(power=2)": Cell("test_own(power=2)", "none", "none"),
    }


def test_the_librarys_own_have_none():
    assert best_with_own({Cell("cfr", "none", "none"): 0.9, Cell("dcfr", "external", "cfr_br"): 0.3}) == {}


def test_a_controller_from_a_file_is_ones_own(tmp_path):
    save_controller(Controller.untrained(CHOICES, (8,)), tmp_path / "mine.npz")
    own = f"controlled(controller={str(tmp_path / 'mine.npz')!r})"
    rewards = {Cell("controlled", "none", "none"): 0.9, Cell(own, "none", "none"): 0.3}
    assert best_with_own(rewards) == {own: Cell(own, "none", "none")}
