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
        for line in results:
            verify.result_file(tmp_path / name, line["test"]).write_text(json.dumps(line))
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


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """A folder that stands for the repository, with one module of long tests."""
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    monkeypatch.setattr(verify, "RESULTS", tmp_path / "results")
    for name in ("docs", "tests", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "tests" / "t.py").write_text('"""Letters are letters.\n\nMore on them."""\n')
    return tmp_path


def test_a_page_names_failures_other_commits_and_what_did_not_run(suite):
    failed = result(FAILED, False) | {"title": "B", "summary": "3 letters, gate 2"}
    results = [result(PASSED, True), result(OLD, True, "old"), failed]
    verify.write_report(verify.AT_SCALE, results, PRESENT | {"tests/t.py::test_d": "new"})
    page = (suite / "docs" / "reliability.md").read_text()
    assert "\n2 checks passed, 1 failed.\n\nMade from earlier sources: 1.\n\n" in page
    assert "\nThey were made on the commits commit-old (1).\n" in page
    assert "\nWithout a result (not run, or skipped): 1.\n" in page
    assert f"\n## Failed\n\n- **B**: 3 letters, gate 2 (`{FAILED}`)\n\n## All checks\n" in page
    assert page.endswith("| Letters are letters | `tests/t.py` | 2 | 1 | 1 |\n")
    assert "[reliability.jsonl](../benchmarks/results/reliability.jsonl)" in page


def test_a_page_without_failures_says_nothing_of_them(suite):
    verify.write_report(verify.AT_SCALE, [result(PASSED, True)], {PASSED: "new"})
    page = (suite / "docs" / "reliability.md").read_text()
    assert "\n1 checks passed, 0 failed.\n" in page
    assert page.endswith("| Letters are letters | `tests/t.py` | 1 | 0 |\n")
    assert not any(words in page for words in ("## Failed", "earlier", "Without a result"))


def test_a_page_tells_how_long_tests_took_where_that_is_known(suite):
    results = [result(PASSED, True) | {"seconds": 45.0}, result(FAILED, True) | {"seconds": 45.5}, result(OLD, True)]
    verify.write_report(verify.AT_SCALE, results, PRESENT)
    page = (suite / "docs" / "reliability.md").read_text()
    assert "| tests | passed | failed | minutes |" in page
    assert page.endswith("| Letters are letters | `tests/t.py` | 3 | 0 | 1.5 |\n")
    (suite / "tests" / "u.py").write_text("")
    other = "tests/u.py::test_e"
    verify.write_report(verify.AT_SCALE, [*results, result(other, True)], PRESENT | {other: "new"})
    assert (suite / "docs" / "reliability.md").read_text().endswith("| u | `tests/u.py` | 1 | 0 | not known |\n")


def test_tables_are_printed_by_name_or_title(suite, monkeypatch, capsys):
    results = [result(PASSED, True) | {"title": "Letters", "note": "In order."}, result(FAILED, False, "old")]
    verify.LONG.results.write_text("".join(f"{json.dumps(line)}\n" for line in results))
    monkeypatch.setattr(sys, "argv", ["verify", "--table", "letter"])
    assert verify.main() == 0
    printed = capsys.readouterr().out
    assert "## Letters\n" in printed
    assert f"`{PASSED}`: passed on commit commit-new, 2026-01-02\n\nIn order.\n\n| runs |\n| --- |\n| 1 |\n" in printed
    assert FAILED not in printed
    monkeypatch.setattr(sys, "argv", ["verify", "--table", "test_b"])
    assert verify.main() == 0
    assert f"`{FAILED}`: **FAILED** on commit commit-old" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["verify", "--table", "numbers"])
    assert verify.main() == 1
    assert capsys.readouterr().out == "no check's name or title contains 'numbers'\n"


TESTS = """
import os, pytest

@pytest.fixture
def breaks(request):
    if request.param == "before":
        raise OSError
    yield
    raise OSError

def test_passes(figures):
    figures("A table", [{"runs": 3}], "A note.", "A summary.")

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
    assert all(one["seconds"] >= 0 for one in found.values())
    table = {"title": "A table", "note": "A note.", "summary": "A summary.", "rows": [{"runs": 3}]}
    assert found["test_passes"].items() >= table.items()
    assert found["test_fails"]["rows"] == [{"runs": 4}]
    assert "2 failed, 1 passed, 2 skipped, 2 errors" in again  # after a test that passed, its fixture fails
