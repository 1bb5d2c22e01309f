"""Files of costs, from which choosers learn."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from known_costs import BUDGETS, CATALOG, LEARNED, known_table, log_error

from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.request import Budget
from rlccfr.errors import RLCCFRError
from rlccfr.games.compiled_games import uniform_exploitability

COSTS = MeasuredCosts(
    Catalog(("cfr", "dcfr"), ("none",), ("none",)),
    ("kuhn", "leduc"),
    (Budget("seconds", 0.1), Budget("iterations", 10)),
    np.array([[0.5, 1.0], [0.25, 2.0]]),
    np.array([0.4, 2.5]),
    np.arange(16.0).reshape(2, 2, 2, 2) / 32,  # exact in single precision
)


def test_costs_are_read_as_they_were_written(tmp_path):
    COSTS.save(tmp_path / "costs")
    again = MeasuredCosts.load(tmp_path / "costs")
    assert again[:3] == COSTS[:3]
    assert np.array_equal(again.features, COSTS.features)
    assert np.array_equal(again.uniform, COSTS.uniform)
    assert np.array_equal(again.costs, COSTS.costs)


def test_bad_files_are_refused(tmp_path):
    path = tmp_path / "costs"
    with pytest.raises(RLCCFRError, match="there is no file"):
        MeasuredCosts.load(path)
    COSTS.save(path)
    whole = path.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], b"x" * 100):
        path.write_bytes(broken)
        with pytest.raises(RLCCFRError, match="is not a complete file of costs"):
            MeasuredCosts.load(path)
    buffer = io.BytesIO()
    np.savez(buffer, header=np.array(json.dumps({"format": "other"})), features=COSTS.features, costs=COSTS.costs)
    path.write_bytes(buffer.getvalue())
    with pytest.raises(RLCCFRError, match="is not a costs file, since its format is 'other'"):
        MeasuredCosts.load(path)


def test_measured_costs_are_in_the_order_of_budgets_games_and_algorithms():
    measured = MeasuredCosts.read(known_table(), CATALOG, LEARNED, BUDGETS)
    assert measured.costs.shape == (3, 6, 6, 2)
    cell = Cell("lcfr", "external", "none")
    assert measured.costs[1, 2, CATALOG.flat(cell)] == pytest.approx([log_error(LEARNED[2], cell, 1_000), 0.5])
    assert measured.uniform == pytest.approx([uniform_exploitability(game) for game in LEARNED])
