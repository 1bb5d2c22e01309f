from __future__ import annotations

import json

import pytest

from benchmarks import readme, simpler

TEXT = """before
<!-- one: written by python -m benchmarks.readme -->
old
and older
<!-- end of one -->
between
<!-- two: written by python -m benchmarks.readme -->
old
<!-- end of two -->
after"""


def test_a_place_is_filled_and_the_rest_stays():
    found = readme.filled(TEXT, {"one": lambda: r"new \\1"})
    assert found == TEXT.replace("old\nand older", r"new \\1")
    assert readme.filled(found, {"one": lambda: r"new \\1"}) == found


@pytest.mark.parametrize("text", ["nothing", TEXT + TEXT])
def test_a_place_must_be_marked_once(text):
    with pytest.raises(ValueError, match="must have one place marked <!-- one: written by"):
        readme.filled(text, {"one": lambda: "new"})


def test_the_speeds_are_those_of_the_newest_report(tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "RESULTS", tmp_path)
    monkeypatch.setattr(readme, "SHOWN", (("CFR+, exact", "kuhn"),))
    row = {"row": "CFR+, exact", "game": "kuhn", "target": 10, "per second": {"rlccfr": 2e6, "peer": 4e4},
           "peer": "peer", "ratio": 50.0, "low": 40.0, "high": 60.0, "missed": False}  # fmt: skip
    other = {**row, "game": "leduc"}
    for date, ratio in (("2026-11-21", 50.0), ("2027-01-02", 5.0)):
        report = {"date": date, "processor": "Elbrus", "rows": [other, {**row, "ratio": ratio, "missed": ratio < 10}]}
        (tmp_path / f"{date}.json").write_text(json.dumps(report))
    (tmp_path / "selection.json").write_text("{}")
    told = readme.speeds()
    assert told.startswith("Measured on 2027-01-02 on one core of an Elbrus.")
    assert told.splitlines()[-1] == "| CFR+, exact | kuhn | 2e+06 | peer: 4e+04 | 5 | 40 to 60 | 10 **missed** |"
    assert "leduc" not in told


def test_the_worth_of_choices_is_told_from_the_figures(tmp_path, monkeypatch):
    gain = {"gain": 0.006, "gain from": -0.001, "gain to": 0.013}
    figures = {
        "hundred": {"team": 0.0, "no network": 0.0012, "successive halving": -0.00001},
        "ladder": {method: {"14": score, "56": score, "100": 1.0} for method, score in
                   (("team", 0.4), ("successive halving", 1.0))},
        "demo": {"team": 0.99, "no network": 1.0},
        "unseen games": {
            "all": {"games": 35.0, **gain},
            "preset": [{**gain, "gain from": 0.1}, gain],
            "budget": [gain, {"gain": 0.2}],
        },
    }  # fmt: skip
    monkeypatch.setattr(simpler, "FIGURES", tmp_path / "selection.json")
    simpler.keep(figures)
    told = " ".join(readme.choosing().split())
    for words in (
        "With 14 and 56 evaluations of 336, the mean normalised score of successive halving is 1.00 and 1.00; the "
        "fresh team's is 0.40 and 0.40.",
        "With the 24 evaluations of 112 that `make demo` makes, the exploration alone scores 1.000 on Kuhn poker, and "
        "the fresh team 0.990.",
        "With 100 of 336, the mean regret of the exploration alone is 0.0012, the fresh team's 0, and successive "
        "halving's 0.",
        "On 35 games that the package's team has not learned from,",
        "by 0.006 (95 % interval -0.001 to 0.013), over all reward weights;",
        "The interval is above 0 for 1 of 2 reward weights and 0 of 2 budgets.",
    ):
        assert words in told


@pytest.mark.slow
def test_lines_are_short_and_none_ends_inside_code():
    text = readme.package()
    assert len(text.splitlines()) > 3
    for line in text.splitlines():
        assert len(line) <= 120
        assert line.count("`") % 2 == 0
