from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks import methods
from benchmarks.methods import Trial, choices

TRIALS = [Trial("kuhn", "accuracy", "team", 100, seed) for seed in range(3)]


@pytest.fixture
def made(monkeypatch):
    """List the trials for which a choice was made; tests may change the inputs of choices."""
    asked = []

    def choose(trial):
        asked.append(trial)
        return {**trial._asdict(), "spent": 100, **methods.basis(trial.method, trial.game)}

    monkeypatch.setattr(methods, "choose", choose)
    monkeypatch.setattr(methods, "digest_of_runs", lambda table, games: "these")
    return asked


def chosen(kept, trials=TRIALS):
    with ThreadPoolExecutor(1) as executor:
        return choices(trials, executor, kept)


def test_choices_are_made_once(made, tmp_path):
    kept = tmp_path / "new" / "choices.jsonl"
    first = chosen(kept, TRIALS[1:])
    assert chosen(kept)[1:] == first
    assert made == [*TRIALS[1:], TRIALS[0]]


def test_a_line_cut_off_is_made_again_and_costs_no_other(made, tmp_path):
    kept = tmp_path / "choices.jsonl"
    whole = chosen(kept)
    kept.write_text(kept.read_text()[:-9])
    assert chosen(kept) == whole
    assert chosen(kept) == whole
    assert len(made) == len(TRIALS) + 1


def test_a_line_without_a_setting_belongs_to_the_papers(made, tmp_path):
    kept = tmp_path / "choices.jsonl"
    chosen(kept)
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    kept.write_text("".join(json.dumps({name: row[name] for name in row if name != "setting"}) + "\n" for row in rows))
    chosen(kept)
    assert made == TRIALS
    chosen(kept, [trial._replace(setting="demo") for trial in TRIALS])
    assert len(made) == 2 * len(TRIALS)


def test_choices_on_other_measurements_are_made_anew(made, tmp_path, monkeypatch):
    kept = tmp_path / "choices.jsonl"
    chosen(kept)
    monkeypatch.setattr(methods, "digest_of_runs", lambda table, games: "others")
    assert {row["measurements"] for row in chosen(kept)} == {"others"}
    assert made == [*TRIALS, *TRIALS]


def test_choices_by_another_version_of_their_method_are_made_anew(made, tmp_path, monkeypatch):
    kept = tmp_path / "choices.jsonl"
    chosen(kept)
    monkeypatch.setitem(methods.METHODS, "TPE", methods.METHODS["TPE"]._replace(version=99))
    chosen(kept)
    assert made == TRIALS
    monkeypatch.setitem(methods.METHODS, "team", methods.METHODS["team"]._replace(version=99))
    chosen(kept)
    assert made == [*TRIALS, *TRIALS]


def test_the_committed_choices_are_of_the_present_versions():
    rows = [json.loads(line) for line in methods.KEPT.read_text().splitlines()]
    assert len(rows) == 1330
    for row in rows:
        wanted = methods.basis(row["method"], row["game"])
        assert {name: row[name] for name in wanted} == wanted
