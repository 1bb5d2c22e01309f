from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

import pytest

from rlccfr.agents.team.team import SelectorTeam
from rlccfr.agents.team.team_file import FILE_NAME
from rlccfr.cli.team_directory import new_directory, trained_directory
from rlccfr.envs import LiveEvaluator
from rlccfr.envs.reward import PRESETS
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


def test_a_scale_other_than_the_weights_own_is_in_the_name():
    assert new_directory(["kuhn"], USUAL, ["accuracy"], "linear") == Path("runs/kuhn-linear")
    assert new_directory(["kuhn"], USUAL, ["paper-kuhn"], "log") == Path("runs/kuhn-paper-kuhn-log")
    assert new_directory(["kuhn"], USUAL, ["paper-kuhn"], "units") == Path("runs/kuhn-paper-kuhn")


def test_weights_written_otherwise_have_one_directory():
    assert new_directory(["kuhn"], USUAL, ["(0.7, 0.3)"]) == new_directory(["kuhn"], USUAL, ["0.7,0.3"])


def test_unknown_weights_are_refused():
    with pytest.raises(RLCCFRError, match="unknown preset 'fast'"):
        new_directory(["kuhn"], USUAL, ["fast"])


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Return a function that saves a team in a directory below ``runs``, later than the teams before it."""
    monkeypatch.chdir(tmp_path)
    times = itertools.count()

    def save_team(name, games, *budgets, preset="accuracy"):
        catalog = {"update_rules": ["cfr"], "samplers": ["none"], "abstractions": ["none"]}
        team = SelectorTeam(games, list(budgets or USUAL), preset=preset, catalog=catalog, evaluator=LiveEvaluator())
        when = next(times)
        os.utime(team.save(Path("runs") / name), (when, when))

    return save_team


@pytest.mark.usefixtures("save")
def test_without_teams_there_is_no_directory():
    assert trained_directory("kuhn", None, None) is None
    (Path("runs") / "kuhn").mkdir(parents=True)
    assert trained_directory("kuhn", None, None) is None


@pytest.mark.slow
def test_the_team_for_the_question_is_found_or_else_the_games_last(save):
    save("kuhn-1-second", "kuhn", *SECOND)
    save("kuhn-paper-kuhn", "kuhn", preset="paper-kuhn")
    save("elsewhere", ["kuhn", "leduc"], *USUAL, {"unit": "iterations", "amount": 5})
    save("kuhn-like", "goofspiel")  # a name tells nothing
    assert trained_directory("kuhn", SECOND[0], None) == Path("runs/kuhn-1-second")
    assert trained_directory("kuhn", SECOND[0], "paper-kuhn") == Path("runs/kuhn-1-second")  # the budget goes first
    assert trained_directory("kuhn", None, "paper-kuhn") == Path("runs/kuhn-paper-kuhn")
    assert trained_directory("kuhn", {"unit": "iterations", "amount": 5}, None) == Path("runs/elsewhere")
    assert trained_directory("kuhn_poker", None, None) == Path("runs/elsewhere")
    assert trained_directory("leduc", SECOND[0], None) == Path("runs/elsewhere")
    assert trained_directory("royal", None, None) is None
    save("kuhn-log", "kuhn", preset=replace(PRESETS["paper-kuhn"], scale="log"))
    assert trained_directory("kuhn", None, "paper-kuhn") == Path("runs/kuhn-paper-kuhn")
    assert trained_directory("kuhn", None, "paper-kuhn", "log") == Path("runs/kuhn-log")
    save("kuhn-1-second-paper-kuhn", "kuhn", *SECOND, preset="paper-kuhn")
    assert trained_directory("kuhn", SECOND[0], "accuracy") == Path("runs/kuhn-1-second")
    assert trained_directory("kuhn", SECOND[0], None) == Path("runs/kuhn-1-second-paper-kuhn")
    assert trained_directory("kuhn", None, None) == Path("runs/kuhn-1-second-paper-kuhn")


def test_a_damaged_team_does_not_count(save):
    for name in ("kuhn", "kuhn-1-second"):
        save(name, "kuhn", *(USUAL if name == "kuhn" else SECOND))
    (Path("runs") / "kuhn-1-second" / FILE_NAME).write_bytes(b"damaged")
    assert trained_directory("kuhn", SECOND[0], None) == Path("runs/kuhn")
