"""The long suites' results outlive a machine, and pages name the commits of those from earlier sources."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests import verify

PASSED, FAILED, OLD = "tests/t.py::test_a[x]", "tests/t.py::test_b", "tests/t.py::test_c"
EARLY, LATE = "2026-01-02T03:04:05+00:00", "2026-01-03T03:04:05+00:00"
PRESENT = {PASSED: "new", FAILED: "new", OLD: "new"}


def result(test, passed, sources="new", at=EARLY):
    stamp = {"sources": sources, "commit": f"commit-{sources}", "at": at}
    return {"passed": passed, "test": test, "title": test, "note": "", "rows": [{"runs": 1}], **stamp}


@pytest.fixture
def folder(tmp_path):
    """Function that writes results to the folder of a suite, and returns it."""

    def write(*results, name="suite"):
        (tmp_path / name).mkdir(exist_ok=True)
        for one in results:
            verify.result_file(tmp_path / name, one["test"]).write_text(json.dumps(one))
        return tmp_path / name

    return write


def test_another_machine_gets_the_results(folder, tmp_path):
    path, here = tmp_path / "kept.jsonl", [result(OLD, True, "old"), result(PASSED, True)]
    verify.keep(folder(*here), path, PRESENT)
    verify.restore(tmp_path / "elsewhere", path, PRESENT)
    assert sorted(verify.written_to(tmp_path / "elsewhere"), key=lambda one: one["sources"]) == here[::-1]


def test_of_two_machines_results_the_newer_one_is_kept(folder, tmp_path):
    path = tmp_path / "kept.jsonl"
    mine = folder(result(FAILED, False), name="mine")
    verify.keep(folder(result(FAILED, True, at=LATE), name="yours"), path, PRESENT)
    assert [one["passed"] for one in verify.keep(mine, path, PRESENT)] == [True]
    verify.restore(mine, path, PRESENT)
    assert verify.written_to(mine)[0]["passed"]
    folder(result(FAILED, False, at="2026-01-04T03:04:05+00:00"), name="mine")
    verify.restore(mine, path, PRESENT)
    assert not verify.keep(mine, path, PRESENT)[0]["passed"]


def test_a_later_result_of_earlier_sources_hides_no_failure(folder, tmp_path):
    path = tmp_path / "kept.jsonl"
    verify.keep(folder(result(FAILED, True, "old", LATE), name="old"), path, PRESENT)
    kept = verify.keep(folder(result(FAILED, False, "new", EARLY)), path, PRESENT)
    assert [(one["sources"], one["passed"]) for one in kept] == [("new", False)]


def test_of_two_lines_of_one_test_the_newer_one_counts(tmp_path):
    path = tmp_path / "kept.jsonl"
    lines = [json.dumps(result(FAILED, passed, at=at)) for passed, at in ((False, LATE), (True, EARLY))]
    path.write_text("\n".join(lines))
    assert [one["passed"] for one in verify.keep(tmp_path / "none", path, PRESENT)] == [False]


def test_only_tests_that_exist_keep_results(folder, tmp_path):
    path = tmp_path / "kept.jsonl"
    assert verify.keep(folder(), path, PRESENT) == []
    assert not path.exists()
    verify.keep(folder(result(PASSED, True), result(OLD, True)), path, PRESENT)
    assert [one["test"] for one in verify.keep(folder(), path, {OLD: "new"})] == [OLD]
    assert [one["test"] for one in verify.kept_in(path)] == [OLD]


def test_a_page_names_other_commits_and_what_did_not_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    results = [result(PASSED, True), result(OLD, True, "old"), result(FAILED, False)]
    verify.write_report(verify.AT_SCALE, results, PRESENT | {"tests/t.py::test_d": "new"})
    page = (tmp_path / "docs" / "reliability.md").read_text()
    assert "\n2 checks passed, 1 failed.\n\nMade from earlier sources, whose commit each of these names: 1.\n" in page
    assert "Without a result (not run, or skipped): 1.\n\n- `tests/t.py::test_d`\n" in page
    assert f"`{OLD}`: passed on commit commit-old, 2026-01-02\n" in page
    assert f"`{PASSED}`: passed\n" in page
    assert page.index(f"`{FAILED}`: **FAILED**") < page.index(f"`{PASSED}`: passed")


TESTS = """
import os, pytest

@pytest.fixture
def breaks(request):
    if request.param == "before":
        raise OSError
    yield
    raise OSError

def test_passes(figures):
    figures("A table", [{"runs": 3}], "A note.")

def test_fails(figures):
    figures("A table", [{"runs": 4}])
    assert False

@pytest.mark.parametrize("breaks", ["before", "after"], indirect=True)
def test_fixture(breaks): ...

def test_skips():
    pytest.skip()

def test_dies():
    os._exit(1)
"""


@pytest.mark.slow
def test_each_long_test_leaves_its_result(tmp_path):
    """Run by two processes, of which one dies; what passed is skipped in the second run."""
    module = verify.ROOT / "tests" / f"long_{tmp_path.name}.py"  # no other pytest finds it by its name
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", str(module), f"--results={tmp_path / 'results'}"]
    try:
        module.write_text(TESTS)
        subprocess.run(command, cwd=verify.ROOT, capture_output=True)
        found = {one["test"].rpartition("::")[2]: one for one in verify.written_to(tmp_path / "results")}
        again = subprocess.run(command, cwd=verify.ROOT, capture_output=True, text=True).stdout
    finally:
        module.unlink()
    passed = {name: one["passed"] for name, one in found.items()}
    broken = dict.fromkeys(("test_fails", "test_fixture[before]", "test_fixture[after]", "test_dies"), False)
    assert passed == {"test_passes": True, **broken}
    table = {"title": "A table", "note": "A note.", "rows": [{"runs": 3}]}
    assert found["test_passes"].items() >= table.items()
    assert found["test_fails"]["rows"] == [{"runs": 4}]
    assert "2 failed, 1 passed, 2 skipped, 2 errors" in again  # after a test that passed, its fixture fails
