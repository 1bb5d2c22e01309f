from __future__ import annotations

import pytest

from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.facts import facts
from rlccfr.errors import ComponentError


def test_every_cell_is_described():
    for cell in Catalog.extended():
        known = facts(cell)
        assert known.reason
        assert known.deterministic == (cell.sampler == "none")
        assert known.cost.startswith("tree" if known.deterministic else "walk")
        assert (known.guarantee == "none") or "20" in known.reason  # a year: it is published


def test_some_by_hand():
    assert facts(Cell("cfr_plus", "none", "cfr_br")).guarantee == "deterministic"
    assert facts(Cell("cfr", "outcome", "none")).guarantee == "high probability"
    assert facts(Cell("cfr", "external", "cfr_br")).guarantee == "none"
    assert facts(Cell("ecfr", "none", "none")).guarantee == "none"
    assert facts(Cell("dcfr", "external", "none")).cost == "walk"
    with pytest.raises(ComponentError):
        facts(Cell("cfr", "nothing", "none"))
