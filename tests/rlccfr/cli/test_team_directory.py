from __future__ import annotations

import os
from pathlib import Path

import pytest

from rlccfr.agents.team.team_file import FILE_NAME
from rlccfr.cli.team_directory import new_directory, trained_directory
from rlccfr.errors import RLCCFRError

USUAL = [{"unit": "iterations", "amount": 1000}]
SECOND = [{"unit": "seconds", "amount": 1.0}]


@pytest.mark.parametrize(
    ("games", "budgets", "presets", "name"),
    [
        (["kuhn"], USUAL, ["accuracy"], "kuhn"),
        (["kuhn", "leduc(ranks=4)"], USUAL, ["accuracy"], "kuhn+leduc_ranks=4"),
        (["kuhn"], SECOND, ["accuracy"], "kuhn-1-second"),
        (["kuhn"], USUAL, ["paper-kuhn"], "kuhn-paper-kuhn"),
        (["kuhn"], [*USUAL, {"unit": "iterations", "amount": 5}], ["accuracy", "0.7,0.3"],
         "kuhn-1000-iterations+5-iterations-accuracy+_0.7_0.3_0.7_0.3_0.7_0.3"),
        (["a" * 300], SECOND, ["accuracy"], "a" * 100 + "-1-second"),
    ],
)  # fmt: skip
def test_budget_and_weights_are_in_the_name_unless_they_are_the_defaults(games, budgets, presets, name):
    assert new_directory(games, budgets, presets) == Path("runs") / name


def test_weights_written_otherwise_have_one_directory():
    assert new_directory(["kuhn"], USUAL, ["(0.7, 0.3)"]) == new_directory(["kuhn"], USUAL, ["0.7,0.3"])


def test_unknown_weights_are_refused():
    with pytest.raises(RLCCFRError, match="unknown preset 'fast'"):
        new_directory(["kuhn"], USUAL, ["fast"])


def test_the_team_for_the_question_is_found_or_else_the_games_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert trained_directory("kuhn", None, None) is None
    teams = ("kuhn-1-second", "kuhn-paper-kuhn", "kuhn+leduc", "leduc")
    for when, name in enumerate(teams):
        file = Path("runs") / name / FILE_NAME
        file.parent.mkdir(parents=True)
        file.touch()
        os.utime(file, (when, when))
    (Path("runs") / "kuhn").mkdir()  # without a team
    assert trained_directory("kuhn", SECOND[0], None) == Path("runs/kuhn-1-second")
    assert trained_directory("kuhn", None, "paper-kuhn") == Path("runs/kuhn-paper-kuhn")
    assert trained_directory("kuhn", None, None) == Path("runs/kuhn-paper-kuhn")
    assert trained_directory("goofspiel", None, None) is None
    (Path("runs") / "kuhn" / FILE_NAME).touch()
    os.utime(Path("runs") / "kuhn" / FILE_NAME, (0, 0))
    assert trained_directory("kuhn", None, None) == Path("runs/kuhn")
