from __future__ import annotations

import json
import logging
import os
import random

import pandas as pd
import pytest

from rlccfr.envs import Budget, Cell, LiveEvaluator, Request, Store, StoreError, TableEvaluator
from rlccfr.envs.measuring.record import COLUMNS, fingerprint, make_record, to_measurement
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.store import CELL_ID, OPENING
from rlccfr.envs.sweeping.plan import Job, Limits
from rlccfr.errors import RLCCFRError

CURVE = pd.DataFrame(
    {
        "iteration": [1, 2],
        "nodes": [10, 20],
        "cpu_seconds": [0.1, 0.2],
        "exploitability": [0.3, 0.2],
        "exploitability_current": [0.4, float("nan")],
    }
)
ID = "0123456789abcdef0123"
"""An id of the form that measurements have."""

NUMBERS = {
    "exploitability": 0.1 + 0.2,  # not exact in decimal, yet it must be read back bit for bit
    "nash_conv": 0.6,
    "throughput": 1e6 / 3,
    "reference_throughput": 2e5,
    "cpu_seconds": 0.2,
    "nodes_touched": 20,
    "iterations": 2,
    "timed_runs": 1,
}


def record(cell_id="a", status="ok", seed=0):
    request = Request("kuhn", (Cell("cfr", "external", "none"),), Budget("iterations", 2), seed=seed)
    if status == "ok":
        return make_record(request, cell_id, status, numbers=NUMBERS, curve=CURVE)
    return make_record(request, cell_id, status, error="RuntimeError: no", traceback="Traceback ...")


def test_a_record_comes_back_bit_for_bit(tmp_path):
    store = Store(tmp_path / "deep" / "store")
    written = record()
    store.put(written)
    assert Store(store.path).get("a") == written
    assert to_measurement(store.get("a")).exploitability == NUMBERS["exploitability"]
    assert store.get("b") is None


def test_a_record_says_where_it_comes_from(tmp_path):
    store = Store(tmp_path)
    store.put(record("f", "failed"))
    failed = store.get("f")
    assert failed["traceback"] == "Traceback ..."
    assert failed["exploitability"] is None
    assert {"python", "numpy", "numba", "open_spiel"} <= failed["libraries"].keys()
    assert failed["engine_version"].startswith("0.")
    assert failed["processor"]
    assert not to_measurement(failed).ok


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"[]",
        lambda data: b"\xff\xfe\x00",
        lambda data: data.replace(b"0.6", b"0.7"),
        lambda data: json.dumps({**json.loads(data), "checksum": None}).encode(),
    ],
)
def test_a_damaged_file_is_set_aside_with_one_line(tmp_path, caplog, damage):
    store = Store(tmp_path)
    store.put(record(ID))
    store.put(record("b"))
    path = tmp_path / f"{ID}.json"
    path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert store.get(ID) is None
        assert store.get(ID) is None
    assert len(caplog.records) == 1
    assert f"{ID}.json is damaged" in caplog.text
    assert "\n" not in caplog.records[0].getMessage()
    assert (tmp_path / f"{ID}.json.corrupt").exists()
    assert store.ids() == ["b"]
    store.put(record(ID))
    assert len(list(store.records())) == 2


def test_a_record_under_another_name_is_damage(tmp_path):
    store = Store(tmp_path)
    store.put(record("a"))
    os.rename(tmp_path / "a.json", tmp_path / "b.json")
    assert store.get("b") is None


def test_a_restart_is_a_set_difference(tmp_path):
    store = Store(tmp_path)
    for id in ("a", ID, "c"):
        store.put(record(id))
    (tmp_path / f"{ID}.json").write_text("{")
    assert Store(tmp_path).missing(["a", ID, "c", "d", "d"]) == [ID, "d"]
    store.discard("c")
    store.discard("never there")
    assert store.missing(["a", ID, "c"]) == [ID, "c"]


def test_a_write_that_breaks_off_leaves_the_old_record(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put(record("a", seed=1))

    def broken(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(StoreError, match="No space left"):
        store.put(record("a", seed=2))
    monkeypatch.undo()
    assert store.get("a")["seed"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_an_unfinished_file_is_no_record(tmp_path):
    store = Store(tmp_path)
    store.put(record("a"))
    (tmp_path / ".b.json.x8f2").write_text("{")  # what a killed writer leaves
    assert store.ids() == ["a"]
    assert len(store.frame()) == 1


@pytest.mark.parametrize("create", [False, True])
def test_files_of_the_users_own_are_left_alone(tmp_path, caplog, create):
    own_files = {"package.json": '{"name": "mine"}', "1.json": "[1]", "cafe.json": "", "notes.txt": "x"}
    for name, text in own_files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder.json").mkdir()
    store = Store(tmp_path, create=create)
    store.put(record(ID))
    store.put(record("row-0"))
    assert store.ids() == [ID, "row-0"]
    assert (len(store), len(store.frame())) == (2, 2)
    assert store.get("package") is None
    assert {name: (tmp_path / name).read_text() for name in own_files} == own_files
    assert caplog.text == ""


def test_a_store_that_is_only_read_renames_nothing(tmp_path, caplog):
    (tmp_path / f"{ID}.json").write_text("{")
    assert Store(tmp_path, create=False).frame().empty
    assert [path.name for path in tmp_path.iterdir()] == [f"{ID}.json"]
    assert "it counts as missing" in caplog.text


def test_ids_have_the_form_by_which_records_are_recognised(tmp_path):
    request = Request("kuhn", (Cell("cfr", "none", "none"),), Budget("iterations", 2))
    ids = [LiveEvaluator(keep_runs=keep_runs).measure(request).cell_id for keep_runs in (0, 1)]
    ids.append(Job("kuhn", Cell("cfr", "none", "none"), 0, Limits()).id)
    assert all(CELL_ID.fullmatch(id) for id in ids)
    Store(tmp_path).put(record())
    assert (tmp_path / "a.json").read_bytes().startswith(OPENING)


def test_paths_that_can_be_no_store(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StoreError, match="is a file"):
        Store(file)
    with pytest.raises(StoreError, match="can't make"):
        Store(file / "below")
    with pytest.raises(StoreError, match="no store"):
        Store(tmp_path / "absent", create=False)
    with pytest.raises(RLCCFRError, match="is a file"):
        LiveEvaluator(file)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(StoreError, match="can't be written"):
        Store(tmp_path)
    tmp_path.chmod(0o755)


def test_a_record_goes_through_a_table_into_a_store(tmp_path):
    there, here = Store(tmp_path / "there"), Store(tmp_path / "here")
    there.put(record())  # one of whose values was too large to be measured
    here.put(TableEvaluator(there.compact()).record("a"))
    assert here.get("a") == there.get("a")


def test_compact_is_parquet_that_pandas_reads(tmp_path):
    store = Store(tmp_path / "store")
    assert list(store.frame().columns) == list(COLUMNS)
    store.put(record("a"))
    store.put(record("f", "failed"))
    frame = pd.read_parquet(store.compact())
    assert frame["cell_id"].tolist() == ["a", "f"]
    assert frame.loc[0, "exploitability"] == NUMBERS["exploitability"]
    assert frame.loc[0, "curve_iteration"].tolist() == [1, 2]
    assert json.loads(frame.loc[0, "components"])[0][0]["id"] == "cfr"
    assert pd.isna(frame.loc[1, "exploitability"])
    assert store.compact(tmp_path / "table.parquet").stat().st_size > 0
    assert store.ids() == ["a", "f"]
    pd.testing.assert_frame_equal(store.frame(), frame[list(COLUMNS)])


@pytest.mark.parametrize("small", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_table_with_any_bit_changed_is_an_error_or_the_same(tmp_path, small):
    store = Store(tmp_path / "store")
    store.put(record("a"))
    store.put(record("f", "failed"))
    file = store.compact(tmp_path / "table.parquet", small=small)
    data, whole = file.read_bytes(), fingerprint(load_results(file))
    changes = random.Random(0)
    for _ in range(300):
        changed = bytearray(data)
        changed[changes.randrange(len(data))] ^= 1 << changes.randrange(8)
        file.write_bytes(changed)
        try:
            assert fingerprint(load_results(file)) == whole
        except StoreError as error:
            assert "\n" not in str(error)  # noqa: PT017
    for end in (0, 1, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:end])
        with pytest.raises(StoreError, match="not a whole table"):
            load_results(file)
