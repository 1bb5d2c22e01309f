"""Running experiments: what is measured is kept, and pages are written from it."""

from __future__ import annotations

from collections import Counter
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlccfr.errors import RLCCFRError
from rlccfr.experiments import EXPERIMENTS, load_experiment
from rlccfr.experiments.experiment import Case, Claim, Experiment
from rlccfr.experiments.pages import FAILS, HOLDS, OPEN, Ratio, all_of, interval, told
from rlccfr.experiments.running import kept_at, measure, write_page

NFSP = "open_spiel.python.pytorch.nfsp"
RUNNABLE = pytest.mark.parametrize(
    "id",
    [
        pytest.param(id, marks=pytest.mark.skipif(
            id == "policy-gradients" and find_spec(NFSP) is None, reason="this open_spiel lacks the agents"
        ))
        for id in EXPERIMENTS
    ],
)  # fmt: skip


class Stopped(Exception):
    pass


def counting(calls: Counter, *, stop_at: str = "") -> Experiment:
    """Return an experiment of three cases that counts how often each is measured."""

    def observe(name):
        if name == stop_at:
            raise Stopped
        calls[name] += 1
        return [{"name": name, "value": calls[name]}]

    def page(rows, folder, quick):
        yield f"{len(rows)} rows{', quick' * quick}"

    def cases(quick):
        return [Case(name, partial(observe, name)) for name in "abc"]

    def claims(rows):
        return [Claim("It has three rows", told(len(rows) == 3), f"{len(rows)}")]

    return Experiment("trial", "A trial", "Nobody, 2026", cases, page, claims)


def test_a_run_goes_on_where_it_stopped(tmp_path):
    calls = Counter()
    with pytest.raises(Stopped):
        measure(counting(calls, stop_at="c"), tmp_path, False)
    shares = []
    rows = measure(counting(calls), tmp_path, False, lambda share, key: shares.append((round(share, 2), key)))
    assert calls == {"a": 1, "b": 1, "c": 1}
    assert rows["case"].tolist() == rows["name"].tolist() == ["a", "b", "c"]
    assert shares == [(0.0, "a"), (0.33, "b"), (0.67, "c")]


def test_a_quick_run_is_kept_apart(tmp_path):
    calls = Counter()
    for quick in (True, False):
        page = write_page(counting(calls), measure(counting(calls), tmp_path, quick), tmp_path, quick)
        assert page.read_text().startswith("# A trial\n")
        assert f"`rlccfr reproduce trial{' --quick' * quick}`, rlccfr 0.1.0" in page.read_text()
    assert set(calls.values()) == {2}


def test_runs_of_another_engine_are_measured_again_and_kept(tmp_path, monkeypatch):
    calls = Counter()
    measure(counting(calls), tmp_path, False)
    with monkeypatch.context() as patched:
        patched.setattr("rlccfr.experiments.running.engine_version", lambda: "0.1.0/0")
        measure(counting(calls), tmp_path, False)
    assert set(calls.values()) == {2}
    measure(counting(calls), tmp_path, False)
    assert set(calls.values()) == {2}


def test_cases_with_other_settings_are_measured_again(tmp_path):
    def value(number):
        return [{"value": number}]

    for number in (1, 2, 1):
        trial = Experiment("trial", "", "", lambda quick, n=number: [Case("a", partial(value, n))], None, None)
        assert measure(trial, tmp_path, False)["value"].tolist() == [number]
    assert len(kept_at(trial, tmp_path, False).read_text().splitlines()) == 2


@pytest.mark.parametrize("damage", [lambda text: text[:-3], lambda text: text.replace("1.0", "1.5", 1)])
def test_a_damaged_file_is_named_in_one_line(tmp_path, damage):
    measure(counting(Counter()), tmp_path, False)
    path = kept_at(counting(Counter()), tmp_path, False)
    path.write_text(damage(path.read_text()))
    with pytest.raises(RLCCFRError, match=r"trial\.jsonl can't be read .*: delete it to measure again") as error:
        measure(counting(Counter()), tmp_path, False)
    assert "\n" not in str(error.value)


def test_means_come_with_their_intervals():
    """For 1, 2, 3: the standard error is 1/sqrt 3, and Student's quantile with 2 degrees of freedom is 4.3027."""
    assert interval([1.0, 2.0, 3.0]) == "2 ± 2.5"
    assert interval([0.5]) == "0.5"


def test_a_ratio_is_judged_by_its_interval():
    """The logarithms of 2 and 8 have the mean log 4 and the standard error log 2; Student's quantile is 12.706."""
    wide = Ratio.of([2.0, 8.0], [1.0, 1.0])
    assert wide == pytest.approx((4.0, 4.0 / 2**12.706, 4.0 * 2**12.706), rel=1e-3)
    assert (wide.above_one, wide.below_one) == (OPEN, OPEN)
    high = Ratio.of([2.0, 2.1, 1.9], [1.0, 1.0, 1.0])
    assert (high.above_one, high.below_one) == (HOLDS, FAILS)
    assert str(Ratio.of([3.0], [1.0])) == "3"
    assert Ratio.of([3.0], [1.0]).above_one == OPEN


def test_verdicts_together():
    assert all_of([HOLDS, HOLDS]) == HOLDS
    assert all_of([HOLDS, OPEN, FAILS]) == FAILS
    assert all_of([HOLDS, OPEN]) == all_of([]) == OPEN


def test_what_was_not_run_in_full_is_said(run, tmp_path):
    code, out, err = run("reproduce", "claims", "--quick")
    assert (code, out) == (1, "")
    assert "leave out --quick" in err
    code, out, _ = run("reproduce", "claims", "--store", str(tmp_path), "--out", str(tmp_path))
    assert code == 0
    assert out.count("This experiment has not been run in full yet.") == len(EXPERIMENTS)
    assert (tmp_path / "claims.md").read_text() == out


@pytest.mark.parametrize("id", EXPERIMENTS)
@pytest.mark.parametrize("quick", [True, False])
def test_every_case_has_a_key_of_its_own(id, quick):
    found = load_experiment(id)
    keys = [case.key for case in found.cases(quick)]
    assert found.id == id
    assert len(set(keys)) == len(keys) > 1
    parts = {}
    for key in keys:
        kind, *rest = key.split("/")
        parts.setdefault(kind, set()).add(len(rest))
    assert all(len(lengths) == 1 for lengths in parts.values()), "a part has a slash of its own"


def test_the_guide_names_every_experiment():
    text = (Path(__file__).parents[3] / "docs/howto/run-published-experiments.md").read_text()
    assert all(f"| `{id}` |" in text for id in EXPERIMENTS)


@pytest.mark.slow
@RUNNABLE
def test_a_quick_run_writes_its_page(run, id, tmp_path):
    """Within about a minute; a second call measures nothing, and writes the same page."""
    arguments = ("reproduce", id, "--quick", "--out", str(tmp_path), "--store", str(tmp_path))
    code, out, _ = run(*arguments)
    page = tmp_path / "quick" / f"{id}.md"
    text = page.read_text()
    assert code == 0
    assert text in out
    assert "This is a quick run" in text
    assert "nan" not in text.replace("(", " ").split()
    assert "## What is said" not in text
    pictures = [line.partition("](")[2].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert pictures
    assert all((page.parent / name).stat().st_size > 1_000 for name in pictures)
    assert run(*arguments)[0] == 0
    assert page.read_text() == text


@pytest.mark.slow
@RUNNABLE
def test_claims_are_judged_by_the_rows_of_a_run(id, tmp_path):
    """A quick run's rows have all that the claims read; its verdicts mean nothing."""
    found = load_experiment(id)
    claims = found.claims(measure(found, tmp_path, True))
    assert claims
    assert {one.verdict for one in claims} <= {HOLDS, FAILS, OPEN}
    assert all(one.said for one in claims)
