"""``rlccfr match`` against best responses."""

from __future__ import annotations

import json

import pytest
from support import game

import rlccfr


def test_a_best_response_wins_what_the_policy_can_lose(run):
    code, out, err = run("match", "kuhn", "uniform", "best", "--json")
    assert (code, err) == (0, "")
    policy = rlccfr.Policy.uniform(game("kuhn"))
    found = json.loads(out)
    assert found["value"] == pytest.approx(-policy.exploitability())
    gains = policy.values().best_response
    assert found["seats"] == pytest.approx([-gains[1], -gains[0]])


def test_games_are_played_out_against_it(run):
    code, out, _ = run("match", "kuhn", "uniform", "br", "--pairs", "2000", "--json")
    found = json.loads(out)
    assert code == 0
    expected = -rlccfr.Policy.uniform(game("kuhn")).exploitability()
    assert abs(found["value"] - expected) <= 2 * found["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("match", "kuhn", "best", "uniform"), "'best' responds to the first policy, so it must come second: exchange"),
        (("show", "best"), "'best' is a best response to another policy, so only `rlccfr match` takes it"),
    ],
)
def test_elsewhere_there_is_nothing_to_respond_to(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")


def test_a_file_of_that_name_is_a_policy(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rlccfr.Policy.uniform(game("kuhn")).save("best.npz")
    (tmp_path / "best.npz").rename(tmp_path / "best")
    code, _, err = run("match", "kuhn", "uniform", "best")
    assert code == 1
    assert "best response" not in err


@pytest.mark.slow
def test_an_opponent_may_have_other_buckets(run, tmp_path):
    name = "holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets={})"
    for buckets in (2, 3):
        path = str(tmp_path / f"{buckets}.npz")
        assert run("solve", name.format(buckets), "--iterations", "50", "--policy", path)[0] == 0
    arguments = ("match", name.format(2), str(tmp_path / "2.npz"), str(tmp_path / "3.npz"), "--json")
    exact = json.loads(run(*arguments)[1])
    played = json.loads(run(*arguments, "--pairs", "20000")[1])
    assert exact["error"] == 0.0
    assert abs(played["value"] - exact["value"]) <= 2 * played["error"]
    assert json.loads(run(*arguments[:3], "uniform", "--json")[1])["value"] > 0
    code, _, err = run("match", "kuhn", "uniform", str(tmp_path / "2.npz"))
    assert (code, err.count("\n")) == (1, 1)
