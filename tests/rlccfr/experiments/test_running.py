"""Running experiments: what is measured is kept, and pages are written from it."""

from __future__ import annotations

from collections import Counter
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlccfr.errors import RLCCFRError
from rlccfr.experiments import EXPERIMENTS, load_experiment
from rlccfr.experiments.experiment import (
    ALIKE,
    COLUMNS,
    FAILS,
    HOLDS,
    NO_STAND_IN,
    OPEN,
    VERDICTS,
    Case,
    Claim,
    Experiment,
    Finding,
)
from rlccfr.experiments.pages import Ratio, interval, verdict_of
from rlccfr.experiments.running import cases_file, measure, stored, write_page

NFSP = "open_spiel.python.pytorch.nfsp"
WITH_AGENTS = ("policy-gradients", "deep-holdem")
RUNNABLE = pytest.mark.parametrize(
    "id",
    [
        pytest.param(id, marks=pytest.mark.skipif(
            id in WITH_AGENTS and find_spec(NFSP) is None, reason="this open_spiel lacks the agents"
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
        return [
            Claim("It has three rows", {"no game": Finding(verdict_of(len(rows) == 3), 0)}, f"{len(rows)}", NO_STAND_IN)
        ]

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
    assert len(cases_file(trial, tmp_path, False).read_text().splitlines()) == 2


@pytest.mark.parametrize("damage", [lambda text: text[:-3], lambda text: text.replace("1.0", "1.5", 1)])
def test_a_damaged_file_is_named_in_one_line(tmp_path, damage):
    measure(counting(Counter()), tmp_path, False)
    path = cases_file(counting(Counter()), tmp_path, False)
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


def test_that_a_ratio_is_one_can_be_refuted_but_not_proved():
    """The intervals are those of the test above."""
    assert Ratio.of([2.0, 8.0], [1.0, 1.0]).equals_one == ALIKE
    assert Ratio.of([2.0, 2.1, 1.9], [1.0, 1.0, 1.0]).equals_one == FAILS
    assert Ratio.of([1.0], [1.0]).equals_one == OPEN


def claim(**findings):
    return Claim(
        "It is better", {game: Finding(*finding) for game, finding in findings.items()}, "ratio 2", NO_STAND_IN
    )


def test_a_claim_tells_on_which_games_and_seeds_it_rests():
    together = claim(kuhn=(HOLDS, 5), leduc=(HOLDS, 5))
    assert dict(zip(COLUMNS, together.row, strict=True)) == {
        "said": "It is better",
        "here": "holds",
        "games": "kuhn; leduc",
        "seeds": "5",
        "stand-in": "-",
        "figures": "ratio 2",
    }
    apart = claim(kuhn=(HOLDS, 5), leduc=(HOLDS, 5), royal=(OPEN, 3))
    assert apart.verdict == "holds on kuhn, leduc; can't be told here on royal"
    assert apart.seeds == "5 on kuhn, leduc; 3 on royal"


def test_one_run_is_said_to_be_one():
    assert claim(kuhn=(HOLDS, 1)).verdict == "holds in the one run made"
    assert claim(kuhn=(OPEN, 1)).verdict == "can't be told here"
    assert (claim(kuhn=(HOLDS, 0)).verdict, claim(kuhn=(HOLDS, 0)).seeds) == ("holds", "nothing drawn")
    assert claim(texas=(OPEN, 0)).seeds == "-"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Finding("perhaps", 3), "a verdict must be one of holds, .* not 'perhaps'"),
        (lambda: Finding(HOLDS, -1), "number of seeds must not be negative, but it is -1"),
        (lambda: Claim("said", {}, "figures", "-"), "'said' must name the games"),
        (lambda: Claim("said", {"": Finding(HOLDS, 1)}, "figures", "-"), "'said' must name the games"),
        (lambda: Claim("said", {"kuhn": Finding(HOLDS, 1)}, "figures", ""), "needs a non-empty 'stand_in'"),
    ],
)
def test_a_claim_that_hides_what_it_rests_on_is_refused(make, message):
    with pytest.raises(RLCCFRError, match=message):
        make()


@pytest.mark.slow
def test_what_was_not_run_in_full_is_said(run, tmp_path):
    code, out, err = run("reproduce", "claims", "--quick")
    assert (code, out) == (1, "")
    assert "leave out --quick" in err
    code, out, _ = run("reproduce", "claims", "--store", str(tmp_path), "--out", str(tmp_path))
    assert code == 0
    assert out.count("This experiment has not been run in full yet.") == len(EXPERIMENTS)
    assert (tmp_path / "claims.md").read_text() == out


@pytest.mark.slow
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
    """Within about a minute; a second call measures nothing, and writes the same page.

    The rows have all that the claims read, but the verdicts of a quick run mean nothing.
    """
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
    claims = load_experiment(id).claims(measure(load_experiment(id), tmp_path, True))
    assert claims
    assert {finding.verdict for one in claims for finding in one.findings.values()} <= set(VERDICTS)


KEPT = Path(__file__).parents[3] / "benchmarks" / "results" / "experiments"


@pytest.mark.parametrize("id", [pytest.param(id, marks=[pytest.mark.slow] * (id == "rlccfr")) for id in EXPERIMENTS])
def test_the_committed_pages_have_the_claims_of_the_committed_runs(id):
    """Each claim's row stands on the experiment's page and on the page of all claims."""
    experiment = load_experiment(id)
    rows = stored(experiment, KEPT)
    assert rows is not None, f"run `rlccfr reproduce {id}` again: the kept runs lack some case"
    for page in (f"{id}.md", "claims.md"):
        text = (KEPT.parents[2] / "docs" / "experiments" / page).read_text().splitlines()
        for judged in experiment.claims(rows):
            assert f"| {' | '.join(judged.row)} |" in text
