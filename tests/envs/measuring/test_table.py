from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from rlccfr.envs import Budget, Cell, LiveEvaluator, MissingCellError, Request, StoreError, TableEvaluator
from rlccfr.errors import RLCCFRError
from rlccfr.registry import update_rules

EXACT = Request("kuhn", (Cell("dcfr", "none", "none"),), Budget("iterations", 20))
SAMPLED = Request("kuhn", (Cell("cfr_plus", "external", "none"),), Budget("iterations", 20))
SEGMENTS = replace(SAMPLED, cells=SAMPLED.cells + EXACT.cells, segments=2)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    evaluator = LiveEvaluator(tmp_path_factory.mktemp("store"))
    for request in (EXACT, SAMPLED, replace(SAMPLED, segments=2), SEGMENTS):
        evaluator.measure(request)
    return evaluator


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["store", "directory", "parquet", "frame"])
def test_a_table_answers_as_the_engine_did(measured, kind):
    store = measured.store
    source = {
        "store": lambda: store,
        "directory": lambda: str(store.path),
        "parquet": store.compact,
        "frame": measured.frame,
    }[kind]()
    table = TableEvaluator(source)
    assert len(table) == 4
    for request in (EXACT, SAMPLED, replace(EXACT, seed=9), SEGMENTS, replace(SAMPLED, game="kuhn_poker")):
        assert table.known(request)
        assert table.measure(request) == measured.measure(request)
    pd.testing.assert_frame_equal(
        table.frame().sort_values("cell_id", ignore_index=True),
        measured.frame().sort_values("cell_id", ignore_index=True),
    )
    id = measured.measure(SAMPLED).cell_id
    if kind == "frame":
        assert table.result(id)["curve"].empty
    else:
        pd.testing.assert_frame_equal(table.result(id)["curve"], measured.result(id)["curve"])
        assert table.result(id) | {"curve": 0} == measured.result(id) | {"curve": 0}


@pytest.mark.parametrize(
    "missing",
    [
        replace(SAMPLED, seed=1),
        replace(SAMPLED, budget=Budget("iterations", 21)),
        replace(SAMPLED, budget=Budget("nodes", 10**6)),
        replace(SAMPLED, segments=3),
        replace(SAMPLED, game="leduc"),
        replace(SAMPLED, cells=(Cell("cfr", "external", "none"),)),
    ],
)
def test_a_missing_cell_is_named(measured, missing):
    table = TableEvaluator(measured.store)
    assert not table.known(missing)
    with pytest.raises(MissingCellError) as error:
        table.measure(missing)
    assert isinstance(error.value, RLCCFRError)
    assert isinstance(error.value, KeyError)
    message = str(error.value)
    assert not message.startswith(("'", '"'))
    for part in (str(missing.cells[0]), missing.game, str(missing.budget), f"seed {missing.seed}"):
        assert part in message
    with pytest.raises(MissingCellError):
        table.result("xyz")


def test_a_measurement_of_another_definition_does_not_count(measured, monkeypatch):
    table = TableEvaluator(measured.store)
    monkeypatch.setitem(update_rules._entries, "dcfr", replace(update_rules["dcfr"], version=2))
    assert table.known(SAMPLED)
    assert not table.known(EXACT)


def test_the_newest_of_several_counts(measured):
    frame = measured.frame()
    old = frame.assign(measured_at="2001-01-01T00:00:00+00:00", exploitability=9.0, cell_id=frame["cell_id"] + "-old")
    for frames in ([frame, old], [old, frame]):
        assert TableEvaluator(pd.concat(frames)).measure(SAMPLED) == measured.measure(SAMPLED)


@pytest.mark.parametrize("undated", [None, "", float("nan"), pd.NaT])
def test_a_row_without_a_date_is_older_than_any_other(undated):
    dates = [pd.Timestamp("2003-01-01", tz="UTC"), "2002-01-01T00:00:00+00:00", "2001-01-01", undated]
    rows = [table_by_hand(measured_at=when, exploitability=0.1 * k) for k, when in enumerate(dates, 1)]
    for frames in (rows, rows[::-1]):
        assert TableEvaluator(pd.concat(frames)).measure(EXACT).exploitability == 0.1
        assert TableEvaluator(pd.concat(frames)).frame()["measured_at"].notna().sum() == 3


def table_by_hand(**changes):
    return pd.DataFrame(
        [
            {
                "game": "kuhn",
                "update_rule": "dcfr",
                "sampler": "none",
                "abstraction": "none",
                "budget_unit": "iterations",
                "budget_amount": 20,
                "exploitability": 0.1,
                "uniform_exploitability": 0.5,
                "throughput": 10.0,
                "reference_throughput": 20.0,
            }
            | changes
        ]
    )


def test_a_table_by_hand_needs_no_more_than_the_numbers():
    measured = TableEvaluator(table_by_hand()).measure(EXACT)
    assert (measured.status, measured.exploitability, measured.throughput) == ("ok", 0.1, 10.0)
    again = TableEvaluator(TableEvaluator(table_by_hand()).frame())
    assert again.measure(EXACT).exploitability == 0.1
    assert TableEvaluator(table_by_hand(deterministic=True)).known(replace(EXACT, seed=5))
    assert not TableEvaluator(table_by_hand()).known(replace(EXACT, seed=5))


def test_what_is_no_table(tmp_path):
    with pytest.raises(RLCCFRError, match="no column 'throughput'"):
        TableEvaluator(table_by_hand().drop(columns="throughput"))
    with pytest.raises(RLCCFRError, match="status is 'fine'"):
        TableEvaluator(table_by_hand(status="fine"))
    with pytest.raises(StoreError, match="no table at"):
        TableEvaluator(tmp_path / "absent.parquet")
    (tmp_path / "text.parquet").write_text("not parquet")
    with pytest.raises(StoreError, match="not a whole table") as error:
        TableEvaluator(tmp_path / "text.parquet")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("exploitability", float("nan")),
        ("exploitability", -0.5),
        ("exploitability", "small"),
        ("throughput", 0.0),
        ("reference_throughput", float("inf")),
        ("uniform_exploitability", float("nan")),
        ("budget_amount", float("nan")),
        ("budget_unit", "hours"),
        ("cells", "[not json"),
        ("game", None),
        ("measured_at", 5),
        ("measured_at", "yesterday"),
        ("seed", "first"),
        ("segments", "one"),
        *(("curve_exploitability", [0.3, number]) for number in (float("nan"), float("inf"), None, -0.5, "small")),
        ("curve_exploitability", [0.3]),
        ("curve_exploitability", 0.3),
        ("curve_iteration", None),
        ("curve_nodes", [20, 10]),
        ("curve_cpu_seconds", [-0.1, 0.2]),
    ],
)
def test_a_row_that_was_never_measured_is_named(column, value):
    curve = {
        "curve_iteration": [1, 20], "curve_nodes": [10, 200], "curve_cpu_seconds": [0.1, 0.2],
        "curve_exploitability": [0.3, 0.1],
    }  # fmt: skip
    whole = table_by_hand()
    whole[list(curve)] = pd.DataFrame([curve])
    assert TableEvaluator(whole).measure(replace(EXACT, budget=Budget("iterations", 1))).exploitability == 0.3
    # The number is the row's in the given table, whatever the rows' dates.
    first = whole.assign(measured_at="2001-01-01", budget_amount=1.0)
    wrong = whole.assign(**{"measured_at": None, column: None}).astype(object)
    wrong.at[0, column] = value  # a list, too, goes into this one row
    with pytest.raises(RLCCFRError, match="row 1 of the table is not a measurement") as error:
        TableEvaluator(pd.concat([first, wrong]))
    assert "\n" not in str(error.value)
