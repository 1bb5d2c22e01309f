from __future__ import annotations

import pytest

from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.facts import facts
from rlccfr.components import UpdateRule, always
from rlccfr.errors import ComponentError
from rlccfr.registry import update_rules


def test_every_cell_is_described():
    for cell in Catalog.extended():
        known = facts(cell)
        assert known.reason
        learns = cell.update_rule.startswith("deep_") or cell.abstraction == "rcfr"
        assert known.deterministic == (cell.sampler == "none" and not learns)
        assert known.cost.startswith("tree" if cell.sampler == "none" else "walk")
        assert ("fit" in known.cost) == learns == (known.needs == ("torch",))
        assert (known.guarantee == "conditional on fit") <= learns
        assert (known.guarantee == "none") or "20" in known.reason  # a year: it is published


def test_some_by_hand():
    assert facts(Cell("cfr_plus", "none", "cfr_br")).guarantee == "deterministic"
    assert facts(Cell("cfr", "outcome", "none")).guarantee == "high probability"
    assert facts(Cell("cfr", "external", "cfr_br")).guarantee == "none"
    assert facts(Cell("ecfr", "none", "none")).guarantee == "none"
    assert facts(Cell("dcfr", "external", "none")).cost == "walk"
    assert facts(Cell("deep_cfr", "external", "none")) == (
        "conditional on fit", "Brown et al. 2019 (Deep CFR), theorem 1", False, "walk + fit", ("torch",)
    )  # fmt: skip
    assert facts(Cell("cfr_plus", "none", "rcfr")).guarantee == "conditional on fit"
    assert facts(Cell("cfr", "external", "rcfr")).guarantee == "none"
    assert facts(Cell("deep_lcfr", "external", "none")).guarantee == "none"
    with pytest.raises(ComponentError):
        facts(Cell("cfr", "nothing", "none"))


@pytest.mark.parametrize("sampler", ["none", "external"])
def test_nothing_is_claimed_of_a_strangers_rule(monkeypatch, sampler):
    monkeypatch.setattr(update_rules, "_entries", dict(update_rules._entries))
    update_rules.register("test_mine", source="a test")(lambda decay=1.0: UpdateRule(average_decay=always(decay)))
    assert facts(Cell("test_mine", sampler, "none"))[:2] == ("none", "no theorem on record")
