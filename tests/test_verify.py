"""The long suites' records outlive a machine, and pages tell on which commit a check ran."""

from __future__ import annotations

import json

import pytest

from tests import verify

PASSED, FAILED, OLD = "tests/t.py::test_a[x]", "tests/t.py::test_b", "tests/t.py::test_c"


def record(test, passed, sources="new", at="2026-01-02T03:04:05+00:00"):
    stamp = {"sources": sources, "commit": f"commit-{sources}", "at": at}
    return {"passed": passed, "test": test, "title": test, "note": "", "rows": [{"runs": 1}], **stamp}


@pytest.fixture
def folder(tmp_path):
    """Function that writes records to the folder of a suite, and returns it."""

    def write(*records, name="suite"):
        (tmp_path / name).mkdir(exist_ok=True)
        for one in records:
            (tmp_path / name / f"{one['test'].rpartition('::')[2]}.json").write_text(json.dumps(one))
        return tmp_path / name

    return write


def test_another_machine_gets_the_records_of_its_sources(folder, tmp_path):
    path = tmp_path / "kept.jsonl"
    verify.keep(folder(record(PASSED, True), record(OLD, True, "old")), path, {PASSED, OLD})
    verify.restore(tmp_path / "elsewhere", path, "new")
    assert [one.name for one in (tmp_path / "elsewhere").iterdir()] == ["test_a[x].json"]
    verify.restore(tmp_path / "later", path, "newest")
    assert not (tmp_path / "later").exists()


def test_of_two_machines_records_the_newer_one_is_kept(folder, tmp_path):
    path, early, late = tmp_path / "kept.jsonl", "2026-01-02T03:04:05+00:00", "2026-01-03T03:04:05+00:00"
    mine = folder(record(FAILED, False, at=early), name="mine")
    verify.keep(folder(record(FAILED, True, at=late), name="yours"), path, {FAILED})
    assert [one["passed"] for one in verify.keep(mine, path, {FAILED})] == [True]
    verify.restore(mine, path, "new")
    assert json.loads((mine / "test_b.json").read_text())["passed"]
    folder(record(FAILED, False, at="2026-01-04T03:04:05+00:00"), name="mine")
    verify.restore(mine, path, "new")
    assert not verify.keep(mine, path, {FAILED})[0]["passed"]


def test_only_tests_that_exist_keep_records(folder, tmp_path):
    path = tmp_path / "kept.jsonl"
    assert verify.keep(folder(), path, {PASSED}) == []
    assert not path.exists()
    verify.keep(folder(record(PASSED, True), record(OLD, True)), path, {PASSED, OLD})
    assert [one["test"] for one in verify.keep(folder(), path, {OLD})] == [OLD]
    assert list(verify.kept_in(path)) == [OLD]


def test_a_page_names_other_commits_and_what_did_not_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    records = [record(PASSED, True), record(OLD, True, "old"), record(FAILED, False)]
    verify.write_report(verify.AT_SCALE, "new", records, {"tests/t.py::test_d"})
    page = (tmp_path / "docs" / "reliability.md").read_text()
    assert "\n2 checks passed, 1 failed.\n\nMade from other sources, as each entry says with its commit: 1.\n" in page
    assert "Without a record (not run, skipped, or not set up):\n\n- `tests/t.py::test_d`\n" in page
    assert f"`{OLD}`: passed on commit commit-old, 2026-01-02\n" in page
    assert f"`{PASSED}`: passed\n" in page
    assert page.index(f"`{FAILED}`: **FAILED**") < page.index(f"`{PASSED}`: passed")
