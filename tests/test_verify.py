"""The long suites' records outlive a machine, and pages tell on which commit a check ran."""

from __future__ import annotations

import json

import pytest

from tests import verify


@pytest.fixture
def folder(tmp_path):
    """Folder of a suite on sources ``new``, with one record that passed and one that failed."""
    own = tmp_path / "new-at-scale"
    own.mkdir()
    for name, passed in (("test_a[x]", True), ("test_b", False)):
        record = {"passed": passed, "test": f"tests/t.py::{name}", "title": name, "note": "", "rows": [{"runs": 1}]}
        (own / f"{name}.json").write_text(json.dumps(record))
    return own


def test_records_that_passed_count_on_another_machine(folder, tmp_path):
    path, elsewhere, later = tmp_path / "kept.jsonl", tmp_path / "elsewhere" / "new", tmp_path / "later"
    verify.keep(folder, path, {"tests/t.py::test_a[x]", "tests/t.py::test_b"})
    verify.restore(elsewhere, path)
    assert [one.name for one in elsewhere.iterdir()] == ["test_a[x].json"]  # what failed is run again
    verify.restore(later, path)
    assert not later.exists()  # other sources


def test_the_last_record_of_each_test_that_there_is_is_kept(folder, tmp_path):
    path = tmp_path / "kept.jsonl"
    old = [
        {"passed": True, "test": f"tests/t.py::{name}", "sources": "old", "rows": []}
        for name in ("test_b", "gone", "c")
    ]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in old))
    verify.keep(folder, path, {"tests/t.py::test_a[x]", "tests/t.py::test_b", "tests/t.py::c"})
    kept = {test.partition("::")[2]: (one["passed"], one["sources"]) for test, one in verify.kept_in(path).items()}
    assert kept == {"c": (True, "old"), "test_a[x]": (True, "new"), "test_b": (False, "new")}


def test_a_page_names_earlier_commits_and_what_did_not_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    path = tmp_path / "kept.jsonl"
    early = {
        "passed": True,
        "title": "C",
        "note": "",
        "rows": [],
        "sources": "old",
        "commit": "abc",
        "date": "2026-01-02",
    }
    path.write_text(json.dumps({**early, "test": "c"}) + "\n")
    verify.keep(folder, path, {"c", "tests/t.py::test_a[x]", "tests/t.py::test_b"})
    verify.write_report(verify.AT_SCALE, "new", list(verify.kept_in(path).values()), {"d"})
    page = (tmp_path / "docs" / "reliability.md").read_text()
    assert "\n2 checks passed, 1 failed.\n\n1 of them ran on earlier sources" in page
    assert "Without a record, since they did not run or were skipped:\n\n- `d`\n" in page
    assert "`c`: passed on commit abc, 2026-01-02\n" in page
    assert "`tests/t.py::test_a[x]`: passed\n" in page
    assert page.index("test_b`: **FAILED**") < page.index("test_a[x]`: passed")
